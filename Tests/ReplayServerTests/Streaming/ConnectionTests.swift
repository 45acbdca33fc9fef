import ArchiveStore
import Foundation
import TestSupport
import Testing

/// What happens on connections: order, ends, interruptions.
struct ConnectionTests {
    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        try await withServer { server in
            let path = try await server.place(patternBytes(300_000), as: "file")
            let file = try contents(of: path)
            let (port, host) = (server.port, server.host)
            try await onThread {
                let connection = try HTTPConnection(port: port)
                var all: [UInt8] = []
                for number in 0..<200 {
                    // Small ones from a buffer, large ones by sendfile, and every third from the router.
                    let last = number % 2 == 0 ? number + 100 : number + 100_000
                    all +=
                        number % 3 == 2
                        ? request("GET", "/api/archives/file/pages?offset=\(number)", host: host)
                        : request("GET", "/archives/file.wacz", host: host, [("Range", "bytes=\(number)-\(last)")])
                }
                try connection.send(all)
                for number in 0..<200 {
                    let answer = try connection.readAnswer()
                    if number % 3 == 2 {
                        #expect(answer.status == 200)
                        #expect(answer.text == "{\"pages\":[],\"total\":0}\n")
                    } else {
                        let last = number % 2 == 0 ? number + 100 : number + 100_000
                        #expect(answer["content-range"] == "bytes \(number)-\(last)/300000")
                        #expect(isSame(answer.body, Array(file[number...last])))
                    }
                }
            }
        }
    }

    @Test func requestArrivingByteByByteIsHandled() async throws {
        try await withServer { server in
            try await server.place(patternBytes(100), as: "file")
            let (port, host) = (server.port, server.host)
            try await onThread {
                let connection = try HTTPConnection(port: port)
                for byte in request("GET", "/archives/file.wacz", host: host, [("Range", "bytes=0-9")]) {
                    try connection.send([byte])
                }
                #expect(try connection.readAnswer().body == Array(patternBytes(100)[0..<10]))
            }
        }
    }

    /// RFC 9112 §9.3, §9.6.
    @Test(arguments: ["/archives/file.wacz", "/api/health"])
    func connectionsAreClosedOnRequestOnly(target: String) async throws {
        try await withServer { server in
            try await server.place(patternBytes(100_000), as: "file")
            let (port, host) = (server.port, server.host)
            try await onThread {
                let closing = try HTTPConnection(port: port)
                let last = try closing.ask("GET", target, host: host, [("Connection", "close")])
                #expect(last.status == 200)
                #expect(last["connection"] == "close")
                #expect(try closing.isAtEnd())

                let old = try HTTPConnection(port: port)
                try old.send("GET \(target) HTTP/1.0\r\nHost: \(host)\r\n\r\n")
                #expect(try old.readAnswer().status == 200)
                #expect(try old.isAtEnd())

                let kept = try HTTPConnection(port: port)
                try kept.send("GET \(target) HTTP/1.0\r\nHost: \(host)\r\nConnection: keep-alive\r\n\r\n")
                #expect(try kept.readAnswer()["connection"]?.lowercased() == "keep-alive")
                #expect(try kept.ask("GET", target, host: host).status == 200)
                #expect(try kept.ask("GET", target, host: host).status == 200)
            }
        }
    }

    @Test func sixteenConcurrentDownloadsAreComplete() async throws {
        try await withServer { server in
            let path = try await server.place(patternBytes(12_000_001), as: "large")
            let file = try contents(of: path)
            let (port, host) = (server.port, server.host)
            try await withThrowingTaskGroup(of: Bool.self) { tasks in
                for _ in 0..<16 {
                    tasks.addTask {
                        try await onThread {
                            let answer = try HTTPConnection(port: port).ask("GET", "/archives/large.wacz", host: host)
                            return answer.status == 200 && isSame(answer.body, file)
                        }
                    }
                }
                for try await isWhole in tasks { #expect(isWhole) }
            }
        }
    }

    @Test func disconnectingClientsLeakNothing() async throws {
        try await withServer { server in
            let path = try await server.place(patternBytes(12_000_001), as: "large")
            let file = try contents(of: path)
            let (port, host, stored) = (server.port, server.host, path)
            // Only descriptors of this file count: other tests run beside this one and open their own.
            let held = { @Sendable () -> Int in
                names(in: "/proc/self/fd").filter {
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == stored
                }.count
            }
            try await onThread { () throws in
                #expect(try HTTPConnection(port: port).ask("HEAD", "/archives/large.wacz", host: host).status == 200)
            }
            #expect(held() == 1, "the server keeps one descriptor of an archive that is read")
            try await onThread {
                let steady = try HTTPConnection(port: port, receiveBuffer: 1 << 18)
                try steady.send(request("GET", "/archives/large.wacz", host: host))
                #expect(try steady.read(15) == Array("HTTP/1.1 200 OK".utf8))
                for number in 0..<20 {
                    let leaving = try HTTPConnection(port: port, receiveBuffer: 1 << 18)
                    try leaving.send(request("GET", "/archives/large.wacz", host: host))
                    _ = try leaving.read(number * 1000)
                    if number % 2 == 0 { leaving.abort() }
                }
                #expect(isSame(try steady.readToEndOf(file.count), file))
            }
            #expect(try await eventually { held() == 1 }, "descriptors of ended downloads are closed")
        }
    }

    @Test func downloadInProgressIsFinishedOnStop() async throws {
        try await withServer { server in
            let path = try await server.place(patternBytes(12_000_001), as: "large")
            let file = try contents(of: path)
            let (port, host) = (server.port, server.host)
            let (slow, idle) = try await onThread {
                let slow = Handed(try HTTPConnection(port: port, receiveBuffer: 1 << 18))
                try slow.value.send(request("GET", "/archives/large.wacz", host: host))
                _ = try slow.value.read(1)
                let idle = Handed(try HTTPConnection(port: port))
                #expect(try idle.value.ask("GET", "/api/health", host: host).status == 200)
                return (slow, idle)
            }
            server.stop()
            try await onThread { () throws in
                #expect(try idle.value.isAtEnd(), "an idle connection is ended")
                #expect(isSame(try slow.value.readToEndOf(file.count), file))
            }
            #expect(try await becomesRefused(port: port))
        }
    }

    @Test func downloadOfRemovedArchiveIsFinished() async throws {
        try await withServer { server in
            let path = try await server.place(patternBytes(12_000_001), as: "large")
            let file = try contents(of: path)
            let (port, host) = (server.port, server.host)
            let slow = try await onThread {
                let slow = Handed(try HTTPConnection(port: port, receiveBuffer: 1 << 18))
                try slow.value.send(request("GET", "/archives/large.wacz", host: host))
                _ = try slow.value.read(1)
                return slow
            }
            #expect(try await server.ask("DELETE", "/api/archives/large", server.authority).status == 204)
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(try await server.ask("GET", "/archives/large.wacz").status == 404)
            try await onThread { () throws in #expect(isSame(try slow.value.readToEndOf(file.count), file)) }
        }
    }

    // RFC 9112 §2.2, §3, §3.2; RFC 6585 §5.
    @Test(arguments: [
        ("\u{1}\u{2}\u{3}\r\n\r\n", 400), ("GET / HTTP/9.9\r\n\r\n", 400), ("hello\r\n\r\n", 400),
        ("GET /\r\nHost: HOST\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost HOST\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: HOST\r\nBad Name: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\n\r\n", 400),
        ("GET /archives/file.wacz HTTP/1.1\r\n\r\n", 400),
        ("GET /archives/file.wacz HTTP/1.1\r\nHost: evil.example\r\nHost: HOST\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        ("GET / HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421), ("GET / HTTP/1.1\r\nHost: \r\n\r\n", 421),
    ])
    func malformedRequestIsRefused(text: String, status: Int) async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let (port, host) = (server.port, server.host)
            let answer = try await onThread {
                let connection = try HTTPConnection(port: port)
                try connection.send(text.replacingOccurrences(of: "HOST", with: host))
                return try connection.readAnswer()
            }
            #expect(answer.status == status)
            #expect(try await server.ask("GET", "/api/health").status == 200, "others are served as before")
        }
    }

    /// If the response was already sent, there is no second one.
    @Test func malformedBodyClosesConnection() async throws {
        try await withServer { server in
            let (port, host, authority) = (server.port, server.host, server.authority)
            for fields in [[], authority + [("Content-Type", "application/wacz")]] {
                let rest = try await onThread {
                    let connection = try HTTPConnection(port: port)
                    let head = request("POST", "/api/archives", host: host, fields + [("Transfer-Encoding", "chunked")])
                    try connection.send(head + Array("zz\r\nnot a chunk\r\n\r\n".utf8))
                    return String(decoding: try connection.readToEnd(), as: UTF8.self)
                }
                #expect(rest.components(separatedBy: "HTTP/1.1 ").count == 2, "one answer: \(rest)")
                // RFC 9112 §7.1. Without the right to import, 403 may come first.
                #expect(rest.hasPrefix("HTTP/1.1 400") || fields.isEmpty && rest.hasPrefix("HTTP/1.1 403"))
            }
            #expect(try await server.ask("GET", "/api/health").status == 200)
            #expect(names(in: server.store.layout.incoming).isEmpty)
        }
    }

    /// A request with a long head, and whether the browser is told to delete cookies.
    struct LongHead: Sendable {
        var name: String?
        var path = 1
        /// The length of each `Cookie` field.
        var cookies: [Int] = []
        var other = 0
        let clears: Bool
    }

    /// Cookies that archived pages set on a parent name grow until no request fits any more. Any site can make a URL long, and
    /// cookies of `localhost` belong to all programs there.
    @Test(arguments: [
        LongHead(name: "file.replayhost.localhost", cookies: [300_000], clears: true),
        LongHead(name: "replayhost.localhost", cookies: [40_000, 50_000], clears: true),
        LongHead(name: "FILE.replayhost.localhost", path: 30_000, cookies: [60_000], clears: true),
        LongHead(name: "file.replayhost.localhost", path: 82_000, clears: false),
        LongHead(name: "file.replayhost.localhost", path: 70_000, cookies: [12_000], clears: false),
        LongHead(name: "file.replayhost.localhost", path: 60_000, cookies: [40_000], clears: false),
        LongHead(name: "file.replayhost.localhost", other: 90_000, clears: false),
        LongHead(name: "file.replayhost.localhost", cookies: [1_200_000], clears: false),
        LongHead(path: 82_000, clears: false), LongHead(cookies: [300_000], clears: false),
        LongHead(name: "127.0.0.1", cookies: [90_000], clears: false),
        LongHead(name: "other.localhost", cookies: [90_000], clears: false),
        LongHead(name: "replayhost.localhost.example", cookies: [90_000], clears: false),
        LongHead(name: "notreplayhost.localhost", cookies: [90_000], clears: false),
    ])
    func tooLongHeadIsRefused(_ head: LongHead) async throws {
        try await withServer { server in
            let (port, host) = (server.port, head.name.map { "\($0):\(server.port)" } ?? server.host)
            let answer = try await onThread {
                let connection = try HTTPConnection(port: port)
                var fields = head.cookies.map { ("Cookie", String(repeating: "a=b; ", count: $0 / 5)) }
                if head.other > 0 { fields.append(("X-Other", String(repeating: "x", count: head.other))) }
                let path = "/" + String(repeating: "a", count: head.path)
                // The server may answer and close before all of it is sent.
                try? connection.send(request("GET", path, host: host, fields))
                return try connection.readAnswer()
            }
            #expect(answer.status == 431)
            #expect(answer["clear-site-data"] == (head.clears ? "\"cookies\"" : nil))
            #expect(answer["connection"] == "close")
        }
    }

    @Test func headOfOrdinaryLengthIsNotRefused() async throws {
        try await withServer { server in
            let cookies = String(repeating: "a=b; ", count: 9_000)
            let answer = try await server.ask("GET", "/api/health", [("Cookie", cookies)])
            #expect(answer.status == 200)
        }
    }

    @Test func pageSaysWhatToDoAboutLongCookies() async throws {
        try await withServer { server in
            let cookies = String(repeating: "a=b; ", count: 17_000)
            let answer = try await server.ask("GET", "/", [("Cookie", cookies)])
            #expect(answer.status == 431)
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(text.contains("delete the cookies of this host in the browser's settings"))
        }
    }

    /// RFC 9112 §3.2.2 asks servers to accept the absolute form, which only proxies get in practice,
    /// and its host can differ from the Host field. This server refuses it (`ConnectionGuard`).
    @Test(arguments: [
        ("http://HOST/archives/file.wacz", "HOST"), ("http://HOST/archives/file.wacz", "evil.example"),
        ("http://evil.example/archives/file.wacz", "HOST"), ("HTTP://HOST/api/health", "HOST"), ("http://HOST", "HOST"),
        ("*", "HOST"),
    ])
    func otherTargetFormsAreRefused(target: String, host: String) async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let answer = try await server.ask(
                "GET", target.replacingOccurrences(of: "HOST", with: server.host),
                host: host.replacingOccurrences(of: "HOST", with: server.host))
            #expect(answer.status == 400)
            #expect(answer["connection"] == "close")
        }
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
    func filesAreReadOnly(method: String) async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            for host in [server.host, server.host(of: "file")] {
                let answer = try await server.ask(method, "/archives/file.wacz", host: host)
                #expect(answer.status == 405)
                #expect(answer["allow"] == "GET, HEAD")
            }
        }
    }

    /// A connection that two threads use one after the other.
    private final class Handed: @unchecked Sendable {
        let value: HTTPConnection

        init(_ value: HTTPConnection) { self.value = value }
    }
}

extension HTTPConnection {
    /// Reads the body of a response whose head was partly read.
    func readToEndOf(_ count: Int) throws -> [UInt8] {
        var line: [UInt8] = []
        while !line.suffix(4).elementsEqual([13, 10, 13, 10]) { line += try read(1) }
        return try read(count)
    }
}
