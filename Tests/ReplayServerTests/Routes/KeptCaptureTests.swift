import TestSupport
import Testing

@testable import ArchiveStore

/// What the browser keeps without asking again: what pages load, if the URL names the version of the file.
struct KeptCaptureTests {
    private typealias Record = RecordedArchive.Record

    @Test func onlyPartsOfPagesAreKept() async throws {
        try await withCrawl { server, rule in
            let collection = try #require(try server.store.archive(named: "crawl")).replayCollection
            let kept = "private, max-age=86400, immutable"
            #expect(try await rule(collection, "script.js", nil) == kept)
            #expect(try await rule(collection, "script.js", "bytes=0-1") == kept)
            #expect(try await rule(collection, "script.js", "bytes=99-") == "no-cache")
            #expect(try await rule(collection, "page", nil) == "no-cache")
            #expect(try await rule(collection, "none", nil) == "no-store")
            // Without the version, and after the file was replaced
            for name in ["crawl", "crawl-0123456789ab"] {
                #expect(try await rule(name, "script.js", nil) == "no-cache")
            }
        }
    }

    @Test func otherNamesAreRefused() async throws {
        try await withCrawl { server, _ in
            let collection = try #require(try server.store.archive(named: "crawl")).replayCollection
            for name in ["crawl-", "crawl-0123456789a", "crawl-0123456789xy", "crawler"] {
                let path = "/c/\(name)/2024ir_/http://a.example/script.js"
                #expect(try await server.ask("GET", path, host: server.host(of: "crawl")).status == 404)
            }
            // Only the archive's own origin accepts the version.
            #expect(try await server.ask("GET", "/c/\(collection)/2024ir_/http://a.example/script.js").status == 404)
        }
    }

    /// Serves a page and a script. The second argument of `body` asks for a capture, by name in `/c/`, path and range, and
    /// returns `Cache-Control`.
    private func withCrawl(
        _ body: (LiveServer, (String, String, String?) async throws -> String?) async throws -> Void
    ) async throws {
        let script = Record("http://a.example/script.js", "script").with {
            $0.head = "HTTP/1.1 200 OK\r\nContent-Type: text/javascript"
        }
        let records = [Record("http://a.example/page", "page"), script]
        try await withServer(
            prepare: { store, folder in
                _ = try store.importFile(
                    at: try folder.write(RecordedArchive(records).bytes(), to: "crawl.wacz"))
            },
            { server in
                try await body(server) { name, path, range in
                    let target = "/c/\(name)/2024ir_/http://a.example/\(path)"
                    let fields = range.map { [("Range", $0)] } ?? []
                    return try await server.ask("GET", target, host: server.host(of: "crawl"), fields)["cache-control"]
                }
            })
    }
}
