import TestSupport
import Testing

@testable import ArchiveStore

/// Which captures a browser may reuse for a day without asking the server.
struct CaptureCachingTests {
    private typealias Record = RecordedArchive.Record

    private static func record(
        _ path: String, _ type: String?, status: String = "200 OK", timestamp: String = "20240102030405"
    ) -> Record {
        Record("http://a.example/\(path)", path, timestamp: timestamp).with {
            $0.head = "HTTP/1.1 \(status)" + (type.map { "\r\nContent-Type: \($0)" } ?? "")
        }
    }

    @Test func onlyPageFilesAreReused() async throws {
        let records = [
            Self.record("script.js", "text/javascript"), Self.record("page", "Text/HTML; charset=utf-8"),
            Self.record("xhtml", "application/xhtml+xml"), Self.record("unknown", nil),
            Self.record("gone", "image/png", status: "404 Not Found"),
            Self.record("moved", "image/png", status: "302 Found\r\nLocation: /script.js"),
        ]
        try await withCrawl(records) { server in
            let collection = try #require(try server.store.archive(named: "crawl")).replayCollection
            func answer(
                _ path: String, _ fields: [(String, String)] = [], _ method: String = "GET", by name: String? = nil,
                _ modifier: String = "ir_"
            ) async throws -> HTTPAnswer {
                let target = "/c/\(name ?? collection)/20240102030405\(modifier)/http://a.example/\(path)"
                return try await server.ask(method, target, host: server.host(of: "crawl"), fields)
            }
            let whole = try await answer("script.js")
            let tag = try #require(whole["etag"])
            for cached in [
                whole, try await answer("script.js", [], "HEAD"),
                try await answer("script.js", [("Range", "bytes=0-1")]),
                try await answer("script.js", [("If-None-Match", tag)]),
            ] {
                #expect(cached["cache-control"] == "private, max-age=86400", "\(cached.status)")
                // RFC 9111 §4.1: a request with other values isn't answered from the cache.
                #expect(cached["vary"] == "Accept-Encoding, Sec-Fetch-Site, Sec-Fetch-Mode, Service-Worker")
            }
            for other in [
                try await answer("script.js", [("Range", "bytes=99-")]),
                try await answer("script.js", by: collection, "id_"),
                try await answer("page"), try await answer("xhtml"), try await answer("unknown"),
                try await answer("gone"), try await answer("moved"),
                // Without a version, and with that of another file
                try await answer("script.js", by: "crawl"), try await answer("script.js", by: "crawl-0123456789ab"),
            ] {
                #expect(other["cache-control"] == "no-cache", "\(other.status) \(other.text)")
            }
            #expect(try await answer("none")["cache-control"] == "no-store")
            #expect(try await answer("script.js", [], "POST")["cache-control"]?.contains("max-age") == false)
        }
    }

    /// The payload can be imported later, in another archive.
    @Test func captureUsedInsteadOfRevisitIsRevalidated() async throws {
        let revisit = Self.record("script.js", "text/javascript", timestamp: "20240601000000").with {
            $0.type = "revisit"
            $0.body = []
            $0.fields = [
                "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
                "WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
                "WARC-Refers-To-Target-URI: http://b.example/", "WARC-Refers-To-Date: 2020-01-01T00:00:00Z",
            ]
            $0.index = "\"mime\":\"warc/revisit\",\"digest\":\"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\""
        }
        let earlier = Self.record("script.js", "text/javascript").with {
            $0.index += ",\"digest\":\"sha1:KS2J7T2KOPFEMXDBFEIOYH33C6KYZQ5C\""
        }
        try await withCrawl([earlier, revisit]) { server in
            let collection = try #require(try server.store.archive(named: "crawl")).replayCollection
            let target = "/c/\(collection)/20240601ir_/http://a.example/script.js"
            let answer = try await server.ask("GET", target, host: server.host(of: "crawl"))
            #expect(answer.text == "script.js")
            #expect(answer["memento-datetime"] == "Tue, 02 Jan 2024 03:04:05 GMT")
            #expect(answer["cache-control"] == "no-cache")
        }
    }

    @Test func capturesOfCollectionsAreRevalidated() async throws {
        try await withCrawl([Self.record("script.js", "text/javascript")]) { server in
            let archive = try #require(try server.store.archive(named: "crawl"))
            let made = try server.store.collections.make(title: "Both", members: [archive.id])
            let collection = try server.store.collections.details(of: made).replayCollection
            let target = "/c/\(collection)/2024ir_/http://a.example/script.js"
            let answer = try await server.ask("GET", target, host: server.host(of: made.id.text))
            #expect(answer.text == "script.js")
            #expect(answer["cache-control"] == "no-cache")
        }
    }

    @Test func otherReplayCollectionsAreNotFound() async throws {
        try await withCrawl([Self.record("script.js", "text/javascript")]) { server in
            let collection = try #require(try server.store.archive(named: "crawl")).replayCollection
            for name in ["crawl-", "crawl-0123456789a", "crawl-0123456789AB", "crawl-0123456789xy", "crawler"] {
                let path = "/c/\(name)/2024ir_/http://a.example/script.js"
                #expect(try await server.ask("GET", path, host: server.host(of: "crawl")).status == 404)
            }
            // Only the archive's own origin accepts the version.
            #expect(try await server.ask("GET", "/c/\(collection)/2024ir_/http://a.example/script.js").status == 404)
        }
    }

    private func withCrawl(_ records: [Record], _ body: (LiveServer) async throws -> Void) async throws {
        try await withServer(
            prepare: { store, folder in
                _ = try store.importFile(at: try folder.write(RecordedArchive(records).bytes(), to: "crawl.wacz"))
            }, body)
    }
}
