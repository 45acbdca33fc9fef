import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import EgressGuard

struct EgressGuardTests {
    private final class Events: Sendable {
        private let all = Mutex<[EgressEvent]>([])
        func add(_ event: EgressEvent) { all.withLock { $0.append(event) } }
        var found: [EgressEvent] { all.withLock { $0 } }
    }

    /// A host on this computer that answers each connection by a function of what it has received so far.
    private static func host(
        _ respond: @escaping @Sendable (String) -> [UInt8]?, _ body: (Int) async throws -> Void
    ) async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let port = try #require(server.channel.localAddress?.port)
        try await withThrowingDiscardingTaskGroup { group in
            // Its end is a cancellation.
            group.addTask {
                try? await server.executeThenClose { clients in
                    try await withThrowingDiscardingTaskGroup { connections in
                        for try await client in clients { connections.addTask { try? await answer(client, respond) } }
                    }
                }
            }
            try await body(port)
            group.cancelAll()
        }
    }

    private static func answer(
        _ client: NIOAsyncChannel<ByteBuffer, ByteBuffer>, _ respond: @Sendable (String) -> [UInt8]?
    ) async throws {
        try await client.executeThenClose { inbound, outbound in
            var received = ""
            for try await bytes in inbound {
                received += String(buffer: bytes)
                if let response = respond(received) {
                    try await outbound.write(ByteBuffer(bytes: response))
                    break
                }
            }
            try await client.channel.writeAndFlush(ByteBuffer()).get()
        }
    }

    /// Sends text through a guard, and returns everything that comes back.
    ///
    /// - Parameter closes: Whether the tool closes its direction after it.
    private static func send(_ text: String, to path: String, closes: Bool = false) async throws -> [UInt8] {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(unixDomainSocketPath: path) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            if closes { outbound.finish() }
            var result: [UInt8] = []
            for try await bytes in inbound { result += bytes.readableBytesView }
            return result
        }
    }

    /// Runs a guard that lets `a.example` through to a port of this computer, under its own name and port.
    private static func withGuard(
        port: Int, change: (inout EgressRules) -> Void = { _ in },
        _ body: @escaping @Sendable (String, Events) async throws -> Void
    ) async throws {
        var rules = EgressRules()
        rules.allowed = [.init(host: "a.example", port: port)]
        change(&rules)
        let names = EgressNames(
            resolve: { host in host == "a.example" ? [try #require(IPAddress("127.0.0.1"))] : [] }, own: { [] })
        let events = Events()
        let egress = EgressGuard(rules: rules, names: names) { events.add($0) }
        let folder = try TemporaryFolder()
        try await egress.serve(in: folder.path, name: "egress.sock") {
            try await body("\(folder.path)/egress.sock", events)
        }
    }

    /// The host gets the path and its own fields; what it sends is passed on byte for byte.
    @Test func plainRequestsAreSentToTheirHost() async throws {
        let response =
            Array("HTTP/1.1 200 Fine\r\nx-Odd:  a\r\nConnection: keep-alive\r\n\r\n".utf8) + patternBytes(3_000_000)
        let requests = Mutex<[String]>([])
        try await Self.host { received in
            guard received.contains("\r\n\r\n") else { return nil }
            requests.withLock { $0.append(received) }
            return response
        } _: { port in
            try await Self.withGuard(port: port) { path, events in
                let request = """
                    GET http://a.example:\(port)/x/y?q=1#part HTTP/1.1\r
                    Host: other.example\r
                    Proxy-Connection: keep-alive\r
                    Proxy-Authorization: Basic c2VjcmV0\r
                    Connection: X-Secret\r
                    X-Secret: 1\r
                    Accept: */*\r
                    \r

                    """
                let got = try await Self.send(request, to: path)
                #expect(isSame(got, response))
                let event = try #require(events.found.first)
                #expect(event.host == "a.example")
                #expect(event.address == "127.0.0.1")
                #expect(event.refusal == nil)
            }
            let expected =
                "GET /x/y?q=1 HTTP/1.1\r\nHost: a.example:\(port)\r\nAccept: */*\r\nConnection: close\r\n\r\n"
            #expect(requests.withLock { $0 } == [expected])
        }
    }

    /// With a length and in chunks.
    @Test(arguments: [
        ("Content-Length: 5\r\n\r\nhello", "Content-Length: 5\r\nConnection: close\r\n\r\nhello"),
        (
            "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        ),
    ])
    func bodiesOfRequestsArePassedOn(_ sent: String, _ expected: String) async throws {
        let requests = Mutex<[String]>([])
        try await Self.host { received in
            guard received.hasSuffix("hello") || received.hasSuffix("0\r\n\r\n") else { return nil }
            requests.withLock { $0.append(received) }
            return Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)
        } _: { port in
            try await Self.withGuard(port: port) { path, _ in
                _ = try await Self.send("POST http://a.example:\(port)/ HTTP/1.1\r\nHost: x\r\n\(sent)", to: path)
            }
            #expect(requests.withLock { $0 } == ["POST / HTTP/1.1\r\nHost: a.example:\(port)\r\n\(expected)"])
        }
    }

    /// A tool may reuse a connection for another host: the first host must not get that request.
    @Test func aSecondRequestIsNotPassedOn() async throws {
        let received = Mutex("")
        try await Self.host { text in
            received.withLock { $0 = text }
            return text.contains("/second") ? Array("leaked".utf8) : nil
        } _: { port in
            try await Self.withGuard(port: port) { path, events in
                let first = "GET http://a.example:\(port)/first HTTP/1.1\r\nHost: x\r\n\r\n"
                let second = "GET http://b.example/second HTTP/1.1\r\nHost: x\r\nCookie: secret\r\n\r\n"
                _ = try await Self.send(first + second, to: path, closes: true)
                #expect(try await eventually { !events.found.isEmpty })
            }
            #expect(!received.withLock { $0 }.contains("second"))
        }
    }

    /// What a tool sends in one piece with CONNECT belongs to the tunnel, and so does everything that looks like HTTP.
    @Test(arguments: ["hello", "GET /secret HTTP/1.1\r\nHost: b.example\r\n\r\n", "\u{16}\u{3}\u{1}"])
    func tunnelsPassEverythingOn(_ text: String) async throws {
        try await Self.host {
            $0 == text + text ? Array("answer to \(text)".utf8) : nil
        } _: { port in
            try await Self.withGuard(port: port) { path, events in
                let got = try await Self.send(
                    "CONNECT a.example:\(port) HTTP/1.1\r\nHost: a.example\r\n\r\n\(text)\(text)", to: path)
                #expect(String(decoding: got, as: UTF8.self) == "HTTP/1.1 200 OK\r\n\r\nanswer to \(text)")
                #expect(events.found == [EgressEvent(host: "a.example", port: port, address: "127.0.0.1")])
            }
        }
    }

    /// Each is refused before anything is connected.
    @Test(arguments: [
        ("GET http://b.example/ HTTP/1.1", "403", "http_request_denied"),
        ("CONNECT a.example:22 HTTP/1.1", "403", "http_request_denied"),
        ("GET http://127.0.0.1/ HTTP/1.1", "502", "dns_error"),
        ("GET http://none.example:443/ HTTP/1.1", "502", "dns_error"),
        ("GET / HTTP/1.1", "400", "http_request_error"),
        ("GET https://a.example/ HTTP/1.1", "400", "http_request_error"),
        ("GET ftp://a.example/ HTTP/1.1", "400", "http_request_error"),
        ("GET http://user@a.example/ HTTP/1.1", "400", "http_request_error"),
        ("CONNECT a.example HTTP/1.1", "400", "http_request_error"),
        ("CONNECT http://a.example/ HTTP/1.1", "400", "http_request_error"),
        ("what is this", "400", "http_request_error"),
    ])
    func otherRequestsAreRefused(_ line: String, _ status: String, _ error: String) async throws {
        let change: @Sendable (inout EgressRules) -> Void = { $0.refusedHosts = ["b.example"] }
        try await Self.withGuard(port: 1, change: change) { path, events in
            let got = String(
                decoding: try await Self.send("\(line)\r\nHost: x\r\n\r\n", to: path), as: UTF8.self)
            #expect(got.hasPrefix("HTTP/1.1 \(status) "))
            #expect(got.contains("\r\nProxy-Status: replayhost; error=\(error)\r\n"))
            #expect(try await eventually { events.found.map(\.refusal?.rawValue) == [error] })
        }
    }

    /// Two lengths, or a length and chunks, are how requests are smuggled. RFC 9112 §11.2.
    @Test(arguments: [
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "X: a\rb\r\n\r\n", "X : a\r\n\r\n", "X\r\n\r\n",
    ])
    func ambiguousRequestsReachNoHost(_ fields: String) async throws {
        let received = Mutex("")
        try await Self.host { text in
            received.withLock { $0 = text }
            return Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
        } _: { port in
            try await Self.withGuard(port: port) { path, events in
                _ = try await Self.send(
                    "POST http://a.example:\(port)/ HTTP/1.1\r\nHost: x\r\n\(fields)", to: path, closes: true)
                #expect(try await eventually { events.found.first?.refusal == .invalid })
            }
            #expect(received.withLock { $0 } == "")
        }
    }

    @Test func bytesAreLimited() async throws {
        let response = Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + [UInt8](repeating: 0x61, count: 5_000_000)
        try await Self.host {
            $0.contains("\r\n\r\n") ? response : nil
        } _: { port in
            try await Self.withGuard(port: port) {
                $0.bytesMax = 1_000_000
            } _: { path, events in
                let request = "GET http://a.example:\(port)/ HTTP/1.1\r\nHost: x\r\n\r\n"
                let got = try await Self.send(request, to: path)
                #expect(got.count < 1_000_000)
                #expect(try await eventually { events.found.map(\.refusal) == [nil, .limit] })
                let next = String(decoding: try await Self.send(request, to: path), as: UTF8.self)
                #expect(next.contains("error=connection_limit_reached"))
            }
        }
    }

    @Test func connectionsAreLimited() async throws {
        try await Self.host {
            $0.contains("\r\n\r\n") ? Array("HTTP/1.1 200 OK\r\n\r\n".utf8) : nil
        } _: { port in
            try await Self.withGuard(port: port) {
                $0.connectionsMax = 2
            } _: { path, _ in
                let request = "GET http://a.example:\(port)/ HTTP/1.1\r\nHost: x\r\n\r\n"
                for status in [200, 200, 503] {
                    let got = String(decoding: try await Self.send(request, to: path), as: UTF8.self)
                    #expect(got.contains(" \(status) "))
                }
            }
        }
    }

    /// When an attempt ends, so do its connections.
    @Test func theEndOfTheGuardClosesItsConnections() async throws {
        let isConnected = Mutex(false)
        try await Self.host { _ in
            isConnected.withLock { $0 = true }
            return nil
        } _: { port in
            let (paths, path) = AsyncStream<String>.makeStream()
            async let got = {
                for await path in paths {
                    return try await Self.send("CONNECT a.example:\(port) HTTP/1.1\r\n\r\nx", to: path)
                }
                return []
            }()
            try await Self.withGuard(port: port) { socket, _ in
                path.yield(socket)
                let isOpen = try await eventually { isConnected.withLock { $0 } }
                #expect(isOpen)
            }
            let received = try await got
            #expect(received == Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
        }
    }

    /// A tool that sends no request doesn't occupy the guard.
    @Test func aSilentToolIsDisconnected() async throws {
        try await Self.withGuard(port: 1) {
            $0.headTimeout = .milliseconds(50)
        } _: { path, _ in
            let got = try await Self.send("GET http://a.exam", to: path)
            #expect(got.isEmpty)
        }
    }

    /// Tools that go on connecting while their attempt ends, by its result or by a cancellation. Whatever was accepted is closed.
    @Test(arguments: [false, true]) func attemptThatEndsWhileToolsConnectEndsNothingElse(isCancelled: Bool) async throws
    {
        let folder = try TemporaryFolder()
        let isOver = Atomic(false)
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { @Sendable in
                    while !isOver.load(ordering: .relaxed) {
                        _ = try? await Self.send("GET http://a.example/", to: folder.path("guard.sock"), closes: true)
                    }
                }
            }
            for _ in 0..<60 {
                let attempt = Task {
                    let guardian = EgressGuard(rules: EgressRules()) { _ in }
                    try await guardian.serve(in: folder.path, name: "guard.sock") {
                        _ = try? await Self.send("x", to: folder.path("guard.sock"), closes: true)
                        if isCancelled { try await Task.sleep(for: .seconds(3600)) }
                    }
                }
                if isCancelled {
                    _ = try? await Self.send("x", to: folder.path("guard.sock"), closes: true)
                    attempt.cancel()
                }
                _ = await attempt.result
            }
            isOver.store(true, ordering: .relaxed)
        }
    }
}
