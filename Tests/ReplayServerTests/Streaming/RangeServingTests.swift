import Foundation
import TestSupport
import Testing

/// Ranges over real sockets: status, fields and bytes, compared to the file on disk.
struct RangeServingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let field: String
        /// `200`, `416`, or `206 first-last`, or `206 first-last,first-last…` for several.
        let expect: String

        init(_ field: String, _ expect: String) { (self.field, self.expect) = (field, expect) }

        var testDescription: String { field }
    }

    /// Of the file: more than two of the chunks that go by sendfile (4 MiB), and not a round number.
    static let size = 9_000_001

    // Positions follow from RFC 9110 §14.1.2 and the size; 64 KiB and 4 MiB are the limits of the sending methods.
    static let cases: [Case] = [
        Case("bytes=0-0", "206 0-0"), Case("bytes=0-99", "206 0-99"), Case("bytes=100-199", "206 100-199"),
        Case("bytes=9000000-", "206 9000000-9000000"), Case("bytes=8999991-", "206 8999991-9000000"),
        Case("bytes=-1", "206 9000000-9000000"), Case("bytes=-10", "206 8999991-9000000"),
        Case("bytes=-65557", "206 8934444-9000000"), Case("bytes=-9000001", "206 0-9000000"),
        Case("bytes=-9999999999", "206 0-9000000"), Case("bytes=0-", "206 0-9000000"),
        Case("bytes=0-99999999999999", "206 0-9000000"), Case("bytes=8999999-9000005", "206 8999999-9000000"),
        Case("bytes=0-65535", "206 0-65535"), Case("bytes=0-65536", "206 0-65536"),
        Case("bytes=1-65537", "206 1-65537"),
        Case("bytes=0-4194303", "206 0-4194303"), Case("bytes=0-4194304", "206 0-4194304"),
        Case("bytes=7-8388615", "206 7-8388615"), Case("bytes=4194303-4194305", "206 4194303-4194305"),
        Case("bytes=0-18446744073709551615", "206 0-9000000"), Case("bytes=0-99999999999999999999999", "206 0-9000000"),
        Case("bytes=-99999999999999999999999", "206 0-9000000"), Case("BYTES=5-6", "206 5-6"),
        Case("bytes=9000001-", "416"), Case("bytes=9000001-9000002", "416"), Case("bytes=-0", "416"),
        Case("bytes=99999999999999999999999-", "416"), Case("bytes=18446744073709551615-", "416"),
        Case("bytes=9000001-,-0", "416"),
        Case("bytes=5-4", "200"), Case("bytes=a-b", "200"), Case("bytes=-", "200"), Case("bytes=", "200"),
        Case("items=0-1", "200"), Case("bytes 0-1", "200"),
        Case("bytes=0-9,20-29", "206 0-9,20-29"), Case("bytes=-5,0-4", "206 8999996-9000000,0-4"),
        Case("bytes=0-9,9000001-", "206 0-9"),
        Case("bytes=0-70000,1-2,100000-4400000", "206 0-70000,1-2,100000-4400000"),
        Case("bytes=0-0,0-0,0-0", "206 0-0,0-0,0-0"),
        Case("bytes=" + (0..<65).map { "\($0)-\($0)" }.joined(separator: ","), "416"),
    ]

    @Test func rangesHaveCorrectStatusFieldsAndBytes() async throws {
        try await withServer { server in
            let path = try await server.place(patternBytes(Self.size), as: "large")
            let file = try contents(of: path)
            let (port, host) = (server.port, server.host)
            try await onThread {
                let kept = try HTTPConnection(port: port)
                for c in Self.cases {
                    let answer = try kept.ask("GET", "/archives/large.wacz", host: host, [("Range", c.field)])
                    try Self.check(answer, c, file: file)
                }
                // The same again, all sent before the first answer is read.
                let pipelined = try HTTPConnection(port: port)
                let small = Self.cases.filter { $0.expect != "200" && !$0.expect.hasSuffix("-9000000") }
                try pipelined.send(
                    small.flatMap { request("GET", "/archives/large.wacz", host: host, [("Range", $0.field)]) })
                for c in small { try Self.check(try pipelined.readAnswer(), c, file: file) }
            }
        }
    }

    private static func check(_ answer: HTTPAnswer, _ c: Case, file: [UInt8]) throws {
        let name = Comment(rawValue: c.field)
        let words = c.expect.split(separator: " ")
        #expect(answer.status == Int(words[0]), name)
        #expect(answer["accept-ranges"] == "bytes", name)
        #expect(answer["content-encoding"] == nil, name)
        #expect(answer["content-length"] == "\(answer.body.count)", name)
        switch words[0] {
        case "200":
            #expect(answer["content-type"] == "application/wacz", name)
            #expect(answer["content-range"] == nil, name)
            #expect(isSame(answer.body, file), name)
        case "416":
            #expect(answer["content-range"] == "bytes */\(file.count)", name)
            #expect(answer.body.isEmpty, name)
        default:
            let ranges = words[1].split(separator: ",").map { $0.split(separator: "-").compactMap { Int($0) } }
            if ranges.count == 1 {
                #expect(answer["content-type"] == "application/wacz", name)
                #expect(answer["content-range"] == "bytes \(words[1])/\(file.count)", name)
                #expect(isSame(answer.body, Array(file[ranges[0][0]...ranges[0][1]])), name)
            } else {
                #expect(answer["content-range"] == nil, "RFC 9110 §15.3.7.2")
                let type = try #require(answer["content-type"], name)
                let boundary = try #require(type.split(separator: "=").last.map(String.init))
                #expect(type == "multipart/byteranges; boundary=\(boundary)", name)
                #expect(isSame(answer.body, multipart(ranges, of: file, boundary: boundary)), name)
            }
        }
    }

    /// The body that RFC 9110 §14.6 and RFC 2046 §5.1.1 describe.
    private static func multipart(_ ranges: [[Int]], of file: [UInt8], boundary: String) -> [UInt8] {
        var body: [UInt8] = []
        for (number, range) in ranges.enumerated() {
            let head =
                (number == 0 ? "" : "\r\n") + "--\(boundary)\r\nContent-Type: application/wacz\r\n"
                + "Content-Range: bytes \(range[0])-\(range[1])/\(file.count)\r\n\r\n"
            body += Array(head.utf8) + file[range[0]...range[1]]
        }
        return body + Array("\r\n--\(boundary)--\r\n".utf8)
    }

    @Test func emptyFileHasNoRanges() async throws {
        try await withServer { server in
            try await server.place([], as: "empty")
            let (port, host) = (server.port, server.host)
            try await onThread {
                let connection = try HTTPConnection(port: port)
                let whole = try connection.ask("GET", "/archives/empty.wacz", host: host)
                #expect(whole.status == 200)
                #expect(whole["content-length"] == "0")
                let head = try connection.ask("HEAD", "/archives/empty.wacz", host: host)
                #expect(head.status == 200)
                #expect(head["content-length"] == "0")
                for field in ["bytes=0-", "bytes=0-0", "bytes=-1", "bytes=-0", "bytes=5-9", "bytes=0-0,-1"] {
                    let answer = try connection.ask("GET", "/archives/empty.wacz", host: host, [("Range", field)])
                    #expect(answer.status == 416, Comment(rawValue: field))
                    #expect(answer["content-range"] == "bytes */0", Comment(rawValue: field))
                    #expect(answer.body.isEmpty)
                }
                let ignored = try connection.ask("GET", "/archives/empty.wacz", host: host, [("Range", "bytes=x")])
                #expect(ignored.status == 200)
            }
        }
    }

    @Test func preconditionsPrecedeRanges() async throws {
        try await withServer { server in
            let path = try await server.place(patternBytes(1000), as: "small")
            let file = try contents(of: path)
            let tag = "\"" + (try await sha256ByOpenSSL(path)) + "\""
            let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
            let (port, host) = (server.port, server.host)
            let table: [([(String, String)], Int, Int)] = [
                ([("If-None-Match", tag)], 304, 0), ([("If-None-Match", "W/\(tag)")], 304, 0),
                ([("If-None-Match", "*")], 304, 0), ([("If-None-Match", "\"x\"")], 200, 1000),
                ([("If-Modified-Since", modified)], 304, 0),
                ([("If-Modified-Since", "Sun, 06 Nov 1994 08:49:36 GMT")], 200, 1000),
                ([("If-Match", "\"x\"")], 412, 0), ([("If-Match", tag)], 200, 1000),
                ([("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:36 GMT")], 412, 0),
                ([("If-Range", tag), ("Range", "bytes=-10")], 206, 10),
                ([("If-Range", "W/\(tag)"), ("Range", "bytes=-10")], 200, 1000),
                ([("If-Range", "\"x\""), ("Range", "bytes=-10")], 200, 1000),
                ([("If-Range", modified), ("Range", "bytes=-10")], 206, 10),
                ([("If-Range", "Sun, 06 Nov 1994 08:49:38 GMT"), ("Range", "bytes=-10")], 200, 1000),
                ([("If-Range", "\"x\""), ("Range", "bytes=2000-")], 200, 1000),
                ([("If-None-Match", tag), ("Range", "bytes=-10")], 304, 0),
                ([("If-None-Match", "\"x\""), ("If-None-Match", tag)], 304, 0),
                ([("Range", "bytes=0-1"), ("Range", "bytes=2-3")], 200, 1000),
            ]
            try await onThread {
                let connection = try HTTPConnection(port: port)
                for (fields, status, count) in table {
                    let name = Comment(rawValue: "\(fields)")
                    let answer = try connection.ask("GET", "/archives/small.wacz", host: host, fields)
                    #expect(answer.status == status, name)
                    #expect(answer.body == Array(file.suffix(count)), name)
                    #expect(answer["etag"] == tag, name)
                    #expect(answer["last-modified"] == modified, name)
                    #expect(answer["date"] != nil, name)
                    #expect(answer["cache-control"] == "no-cache", name)
                    // RFC 9110 §8.6: no length field in a 304 that is not the one of a 200; ours has none.
                    if status == 304 { #expect(answer["content-length"] == nil, name) }
                    #expect(answer["transfer-encoding"] == nil, name)
                }
            }
        }
    }

    /// RFC 9110 §9.3.2: the fields of a HEAD are those that the GET would have.
    @Test func headHasFieldsOfGetWithoutBody() async throws {
        try await withServer { server in
            try await server.place(patternBytes(50_000), as: "file")
            let (port, host) = (server.port, server.host)
            try await onThread {
                let connection = try HTTPConnection(port: port)
                for fields in [[], [("If-None-Match", "*")], [("If-Match", "\"x\"")]] {
                    let get = try connection.ask("GET", "/archives/file.wacz", host: host, fields)
                    let head = try connection.ask("HEAD", "/archives/file.wacz", host: host, fields)
                    #expect(head.status == get.status)
                    let (names, expected) = (head.fields.map { "\($0)" }, get.fields.map { "\($0)" })
                    #expect(names.filter { !$0.contains("date") } == expected.filter { !$0.contains("date") })
                }
                // RFC 9110 §14.2: Range is for GET.
                let head = try connection.ask("HEAD", "/archives/file.wacz", host: host, [("Range", "bytes=0-9")])
                #expect(head.status == 200)
                #expect(head["content-length"] == "50000")
                // There is no body: the next bytes are the next response.
                #expect(try connection.ask("GET", "/api/health", host: host).status == 200)
            }
        }
    }

    @Test func fileIsFoundByIDNameAndHash() async throws {
        try await withServer { server in
            let path = try await server.place(patternBytes(10), as: "one", originalName: "Früh Stück.wacz")
            let hash = try await sha256ByOpenSSL(path)
            let table = [
                ("/archives/one.wacz", 200), ("/archives/one", 200), ("/archives/Fr%C3%BCh%20St%C3%BCck.wacz", 200),
                ("/archives/one.wacz?sha256=\(hash)", 200), ("/archives/one.wacz?x=1&sha256=\(hash)", 200),
                ("/archives/one.wacz?sha256=\(hash.dropLast())0", hash.hasSuffix("0") ? 200 : 404),
                ("/archives/one.wacz?sha256=", 404), ("/archives/two.wacz", 404), ("/archives/", 404),
                ("/archives/../archives/one.wacz", 404), ("/archives/x/one.wacz", 404),
                ("/archives/..%2Fcatalog.sqlite", 404), ("/archives/%2e%2e/catalog.sqlite", 404),
                ("/archives/one.wacz%00", 404), ("/archives/%ff", 404), ("/archives/%", 404),
                ("/archives/ONE.wacz", 404), ("/archives/'%20OR%201=1--", 404),
            ]
            for (target, status) in table {
                let answer = try await server.ask("GET", target)
                #expect(answer.status == status, Comment(rawValue: target))
                if status == 404 { #expect(!answer.text.contains(server.folder.path)) }
            }
        }
    }
}
