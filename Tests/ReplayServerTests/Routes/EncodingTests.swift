import Foundation
import TestSupport
import Testing

@testable import ReplayServer

/// The `Content-Encoding` of captures. RFC 9110 §8.4, §12.5.3.
struct EncodingTests {
    typealias Record = RecordedArchive.Record

    /// A browser shows an error instead of such a body.
    @Test(arguments: ["gzip", "x-gzip", "deflate", "br", "zstd", "gzip, br", "gzip, gzip"], [2, 40, 10_000])
    func encodingThatTheBodyDoesNotHaveIsNotSent(_ encoding: String, _ length: Int) async throws {
        let text = String(repeating: "ok", count: length / 2)
        let record = Record("http://a.example/", text).with { $0.head += "\r\nContent-Encoding: \(encoding)" }
        try await withCaptures([record]) { server in
            for (modifier, accept) in [("ir_", "gzip, deflate, br, zstd"), ("id_", "gzip, br"), ("ir_", "identity")] {
                let answer = try await server.ask(
                    "GET", "/c/crawl/20240102030405\(modifier)/http://a.example/", [("Accept-Encoding", accept)])
                #expect(answer.status == 200)
                #expect(answer["content-encoding"] == nil)
                #expect(answer.text == text)
            }
        }
    }

    @Test func encodingFollowsAcceptEncoding() async throws {
        let encoded = Record("http://a.example/").with {
            $0.head += "\r\nContent-Encoding: br"
            $0.body = Array(
                Data(
                    base64Encoded:
                        "oQACQGRxwJuGruy6hNi9WElVhpZkZmwN4jKXt0HO8PRU2BtswIFDFsj+QnaDTiucOTxO1KaQEe77NMYG")
                    ?? Data())
        }
        try await withCaptures([encoded]) { server in
            func ask(_ accept: String?) async throws -> HTTPAnswer {
                try await server.ask(
                    "GET", "/c/crawl/2024ir_/http://a.example/", accept.map { [("Accept-Encoding", $0)] } ?? [])
            }
            let passed = try await ask("gzip, br")
            #expect(passed["content-encoding"] == "br")
            #expect(passed.body == encoded.body)
            #expect(passed["vary"]?.contains("Accept-Encoding") == true)
            let decoded = try await ask("gzip")
            #expect(decoded["content-encoding"] == nil)
            #if WITH_BROTLI
            #expect(decoded.text == "The quick brown fox jumps over the lazy dog. The quick brown fox.")
            #expect(decoded["etag"] != passed["etag"])
            #else
            #expect(decoded.text.contains("the body is encoded as br, and this build has no decoder for it"))
            #endif
            #expect(try await ask(nil).text == decoded.text)
        }
    }

    /// Browsers don't know the type without the semicolon, and with `nosniff` don't show the page.
    @Test(arguments: [
        ("text/html charset=utf-8", "text/html; charset=utf-8"),
        ("text/html; charset=utf-8", "text/html; charset=utf-8"),
        ("text/html  a=b c", "text/html; a=b c"), ("text/html ", "text/html"), ("text/html ;a=b", "text/html ;a=b"),
    ])
    func typeHasItsSemicolon(_ archived: String, _ sent: String) async throws {
        let record = Record("http://a.example/", "x").with { $0.head = "HTTP/1.1 200 OK\r\nContent-Type: \(archived)" }
        try await withCaptures([record]) { server in
            let answer = try await server.ask("GET", "/c/crawl/20240102030405ir_/http://a.example/")
            #expect(answer["content-type"] == sent)
        }
    }

    /// The engine names the encoding that a crawler found, if nothing else does. `www/replay/sw.js`
    @Test func engineGetsTheTypeThatTheCrawlerFound() async throws {
        let type = "text/html; charset=Shift_JIS"
        let record = Record("http://a.example/", "x").with { $0.fields = ["WARC-Identified-Payload-Type: \(type)"] }
        let copied = Record("http://b.example/", "x").with { $0.head += "\r\nX-Archive-Identified-Type: text/plain" }
        try await withCaptures([record, copied]) { server in
            let answer = try await server.ask("GET", "/c/crawl/20240102030405ir_/http://a.example/")
            #expect(answer["x-archive-identified-type"] == type)
            #expect(answer["content-type"] == "text/html")
            let other = try await server.ask("GET", "/c/crawl/20240102030405ir_/http://b.example/")
            #expect(other["x-archive-identified-type"] == nil)
        }
    }
}
