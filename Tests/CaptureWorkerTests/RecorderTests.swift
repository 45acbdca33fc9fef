import CaptureAPI
import Foundation
import Testing
import WebArchive

@testable import CaptureWorker

struct RecorderTests {
    private func add(_ text: String, to messages: inout BrowserMessages) throws -> [String] {
        var text = text
        return try text.withUTF8 { try messages.add(UnsafeRawBufferPointer($0)) }.map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test func messagesEndWithNUL() throws {
        var messages = BrowserMessages()
        #expect(try add("{\"id\":1}", to: &messages) == [])
        #expect(try add("\0", to: &messages) == ["{\"id\":1}"])
        #expect(try add("\0a\0\0b\0c", to: &messages) == ["a", "b"])
        #expect(try add("d\0", to: &messages) == ["cd"])
    }

    @Test func messagesHaveALimit() throws {
        var messages = BrowserMessages(bytesMax: 4)
        #expect(try add("1234\0123", to: &messages) == ["1234"])
        #expect(throws: BrowserEnd.self) { try add("45", to: &messages) }
        var other = BrowserMessages(bytesMax: 4)
        #expect(throws: BrowserEnd.self) { try add("12345\0", to: &other) }
    }

    @Test(arguments: ["", "[]", "7", "{", "{\"id\":\"x\"}", "{\"method\":1}", "\u{FFFD}", "{\"error\":{}}"])
    func messagesOfAnotherFormEndTheBrowser(text: String) {
        #expect(throws: BrowserEnd.self) { try BrowserEnvelope(message: Data(text.utf8)) }
    }

    @Test func answersAndEventsAreTold() throws {
        let answer = try BrowserEnvelope(message: Data(#"{"id":3,"result":{},"sessionId":"A"}"#.utf8))
        #expect((answer.id, answer.method, answer.sessionId) == (3, nil, "A"))
        let event = try BrowserEnvelope(message: Data(#"{"method":"Page.loadEventFired","params":{}}"#.utf8))
        #expect((event.id, event.method, event.sessionId) == (nil, "Page.loadEventFired", nil))
    }

    /// Expected: RFC 9112 §3, and RFC 9113 §8.3 for the pseudo-header fields.
    @Test func requestsAreWrittenAsHTTP11() {
        let old = RequestHead.bytes(
            method: "GET", url: "http://example.org/a?b=c",
            fields: ["Host": "example.org", "Proxy-Connection": "keep-alive", "Accept": "*/*"])
        #expect(
            String(decoding: old, as: UTF8.self)
                == "GET /a?b=c HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n")
        let new = RequestHead.bytes(
            method: "POST", url: "https://example.org",
            fields: [":authority": "example.org:444", ":method": "POST", ":path": "/", "x": "a\r\nInjected: b"])
        #expect(
            String(decoding: new, as: UTF8.self)
                == "POST / HTTP/1.1\r\nHost: example.org:444\r\nx: a  Injected: b\r\n\r\n")
    }

    private func paused(_ fields: String) throws -> Fetch.Paused {
        try JSONDecoder().decode(
            Fetch.Paused.self,
            from: Data(
                #"{"requestId":"1","resourceType":"Image","responseStatusCode":200,"responseStatusText":"","request":"#
                    .utf8)
                + Data(#"{"url":"https://a.example/","method":"GET","headers":{}},"responseHeaders":\#(fields)}"#.utf8))
    }

    @Test func headsAreKeptAsReceived() throws {
        let text = "HTTP/1.1 200 Fine\r\nB: 1\r\na: 2\r\nB: 3\r\n\r\n"
        let received = Network.RespondedExtra(
            requestId: "1", headers: ["B": "1\n3", "a": "2"], statusCode: 200, headersText: text)
        let head = ResponseHead(try paused("[]"), received)
        #expect(String(decoding: head.recordBytes(), as: UTF8.self) == text)
    }

    @Test func headsOfHTTP2GetTheFormOfHTTP11() throws {
        let received = Network.RespondedExtra(
            requestId: "1", headers: ["set-cookie": "a=1\nb=2", "content-type": "image/png"], statusCode: 200,
            headersText: nil)
        let head = ResponseHead(try paused("[]"), received)
        #expect(
            String(decoding: head.recordBytes(), as: UTF8.self)
                == "HTTP/1.1 200 \r\ncontent-type: image/png\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n\r\n")
        let exchange = RecordedExchange(
            url: "https://a.example/", method: "GET", resourceType: "image", time: try .now(), request: [],
            requestBody: [], head: head, certificate: .init(protocol: "TLS 1.3", issuer: "A"))
        #expect(exchange.protocols == ["h2", "tls/1.3"])
    }

    @Test func decodedBodiesHaveTheirOwnLength() throws {
        let head = try #require(
            ResponseHead(
                text:
                    "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
            ))
        #expect(
            String(decoding: head.recordBytes(decodedSize: 12), as: UTF8.self)
                == "HTTP/1.1 200 OK\r\nx-orig-content-encoding: br\r\nContent-Length: 12\r\n"
                + "x-orig-transfer-encoding: chunked\r\n\r\n")
        #expect(
            String(decoding: head.recordBytes(), as: UTF8.self).contains("Content-Encoding: br\r\nContent-Length: 5"))
    }

    /// The form of browsertrix-crawler.
    @Test func pageInfoHasTheMembersOfBrowsertrix() throws {
        var info = PageInfo(
            pageid: "1", url: "https://a.example/", ts: "2026-01-02T03:04:05.000Z",
            urls: [
                "https://a.example/": .init(status: 200, mime: "text/html", type: "document"),
                "https://b.example/": .init(error: "net::ERR_FAILED"),
            ])
        info.counts.jsErrors = 2
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(
            String(decoding: try encoder.encode(info), as: UTF8.self)
                == #"{"counts":{"jsErrors":2},"pageid":"1","ts":"2026-01-02T03:04:05.000Z","url":"https://a.example/","#
                + #""urls":{"https://a.example/":{"mime":"text/html","status":200,"type":"document"},"#
                + #""https://b.example/":{"error":"net::ERR_FAILED"}}}"#)
    }

    /// Source: the format of Netscape, as curl writes it.
    @Test func cookiesAreRead() {
        let text = """
            # Netscape HTTP Cookie File
            .a.example\tTRUE\t/\tTRUE\t2000000000\tname\tvalue=1
            #HttpOnly_b.example\tFALSE\t/x\tFALSE\t0\tother\t
            not a cookie
            c.example\tFALSE\t/\tFALSE\t0\ttoo few

            """
        #expect(
            CookieFile.cookies(in: text) == [
                .init(
                    name: "name", value: "value=1", domain: ".a.example", path: "/", secure: true, httpOnly: false,
                    expires: 2_000_000_000),
                .init(
                    name: "other", value: "", domain: "b.example", path: "/x", secure: false, httpOnly: true,
                    expires: nil),
            ])
    }

    @Test(arguments: [
        ("net::ERR_TOO_MANY_REDIRECTS", ToolFailure.Code.network), ("net::ERR_CERT_AUTHORITY_INVALID", .toolFailed),
        ("net::ERR_SSL_PROTOCOL_ERROR", .toolFailed), ("net::ERR_UNSAFE_PORT", .refused),
        ("net::ERR_CONNECTION_RESET", .network), ("anything", .network),
    ])
    func failuresHaveACode(error: String, code: ToolFailure.Code) {
        let failure = ToolFailure(navigationError: error)
        #expect(failure.code == code && !failure.message.isEmpty)
    }

    @Test func limitsMakeASentence() {
        let limits = RecordingLimits()
        #expect(limits.sentence(.time) == "The page isn\'t complete: it reached the limit of 90 seconds.")
        #expect(limits.sentence(.bytes) == "The page isn\'t complete: it reached the limit of 1000 MB.")
        #expect(limits.sentence(.exchanges) == "The page isn\'t complete: it reached the limit of 5000 requests.")
    }
}
