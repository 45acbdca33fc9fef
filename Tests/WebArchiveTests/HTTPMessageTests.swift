import Testing

@testable import WebArchive

private func input(_ text: String) -> BufferedInput {
    BufferedInput(SourceStream(MemoryByteSource(Array(text.utf8), name: "x")))
}

private func head(_ text: String) throws(WebArchiveError) -> HTTPMessageHead {
    try HTTPMessageHead.read(from: input(text), limits: .standard)
}

struct HTTPMessageHeadTests {
    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n\r\n", HTTPMessageHead.StartLine.response(status: 200, reason: "OK")),
        ("HTTP/1.1 200\r\n\r\n", .response(status: 200, reason: "")),
        ("HTTP/1.1 200 \r\n\r\n", .response(status: 200, reason: "")),
        ("HTTP/2 204\r\n\r\n", .response(status: 204, reason: "")),
        ("HTTP/1.0 404 Not Found\n\n", .response(status: 404, reason: "Not Found")),
        ("GET /a b HTTP/1.1\r\n\r\n", .request(method: "GET", target: "/a b")),
        // As found in published archives.
        ("http/1.0 200 ok\r\n\r\n", .response(status: 200, reason: "ok")),
        ("HTTP/1.1 0 No Content\r\n\r\n", .response(status: 0, reason: "No Content")),
        ("HTTP 200 Document follows\n\n", .response(status: 200, reason: "Document follows")),
        ("ICY 200 OK\r\n\r\n", .response(status: 200, reason: "OK")),
        ("HTTP/1.1\t200  \tOK\r\n\r\n", .response(status: 200, reason: "OK")),
        ("GET\t/a HTTP/1.1\r\n\r\n", .request(method: "GET", target: "/a")),
        ("<html>\r\n\r\n", .response(status: 0, reason: "")),
    ])
    func readsStartLine(_ text: String, _ expected: HTTPMessageHead.StartLine) throws {
        #expect(try head(text).startLine == expected)
    }

    @Test(arguments: [
        "", "hello", "HTTP/1.1 abc", "HTTP/1.1", "HTTP 2x0 OK", "ICY", "no HTTP", "GET / ICY",
        "HTTP/1.1 99999 x\r\n\r\n",
    ])
    func otherStartLinesAreRefused(_ text: String) {
        #expect(code { _ = try head(text) } == .badRecord)
    }

    /// RFC 1945 §4.1: a simple response, of HTTP/0.9, is only the body.
    @Test func messageWithoutHeadIsADocument() throws {
        let input = input("<title>Old</title>")
        let head = try HTTPMessageHead.read(from: input, limits: .standard)
        #expect(head.status == nil)
        #expect(head.mime == "text/html")
        #expect(head.length == 0)
        #expect(try input.peek(3) == Array("<ti".utf8))
    }

    @Test(arguments: ["HTTP/1.1 0 No Content", "HTTP/1.1 099 Low"]) func statusThatWasNotSentIsUnknown(
        _ line: String
    ) throws {
        #expect(try head("\(line)\r\n\r\n").status == nil)
    }

    @Test func readsFieldsInOrderWithCaseAndFolds() throws {
        let text = "HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nset-cookie:b\r\nX:  one\r\n  two\r\nbroken\r\nY:\r\n\r\nbody"
        let head = try head(text)
        #expect(head.fields.all("SET-COOKIE") == ["a", "b"])
        #expect(head.fields["x"] == "one two")
        #expect(head.fields["y"] == "")
        #expect(head.fields.fields.map(\.name) == ["Set-Cookie", "set-cookie", "X", "Y"])
        #expect(head.length == text.utf8.count - 4)
    }

    @Test(
        arguments: [
            ("text/html; charset=utf-8", "text/html"), ("Text/HTML", "text/html"),
            ("text/html charset=utf-8", "text/html"), (" text/html\t; a", "text/html"), (" ; x", nil), ("", nil),
        ] as [(String, String?)])
    func mimeOmitsParameters(_ value: String, _ expected: String?) throws {
        #expect(try head("HTTP/1.1 200 OK\r\nContent-Type: \(value)\r\n\r\n").mime == expected)
    }
}

struct ChunkedDecoderTests {
    @Test(arguments: [
        // RFC 9112 §7.1, also with an extension, a trailer, upper-case digits and bare line feeds.
        ("4\r\nWiki\r\n5\r\npedia\r\n0\r\n\r\n", "Wikipedia"), ("4;x=y\r\nWiki\r\n0\r\nT: v\r\n\r\n", "Wiki"),
        ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"), ("4\nWiki\n0\n\n", "Wiki"), ("0\r\n\r\n", ""),
        // Already decoded, although the head declares chunks.
        ("<html>", "<html>"), ("", ""), ("face the facts", "face the facts"), ("ffff\r\nshort", "ffff\r\nshort"),
    ])
    func decodesBody(_ body: String, _ expected: String) throws {
        let decoder = ChunkedDecoder(input(body), bodyLength: UInt64(body.utf8.count))
        #expect(String(decoding: try decoder.readAll(limit: 100), as: UTF8.self) == expected)
        #expect(!decoder.isCutShort)
    }

    @Test(arguments: [("4\r\nWiki\r\n5\r\npe", "Wikipe"), ("4\r\nWiki", "Wiki"), ("4\r\nWiki\r\nzz", "Wiki")])
    func truncatedBodyReturnsItsBytes(_ body: String, _ expected: String) throws {
        let decoder = ChunkedDecoder(input(body), bodyLength: UInt64(body.utf8.count))
        #expect(String(decoding: try decoder.readAll(limit: 100), as: UTF8.self) == expected)
        #expect(decoder.isCutShort)
    }

    @Test func overflowingSizeIsNotAChunk() throws {
        let body = "ffffffffffffffffff\r\nx"
        let decoder = ChunkedDecoder(input(body), bodyLength: UInt64(body.utf8.count))
        #expect(try decoder.readAll(limit: 100).count == body.utf8.count)
    }
}
