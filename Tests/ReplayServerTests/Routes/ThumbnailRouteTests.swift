import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import ReplayServer

/// `/api/archives/ID/thumbnail`, as documented in docs/json.md.
struct ThumbnailRouteTests {
    private static func write(_ body: [UInt8], to folder: TemporaryFolder, as name: String) throws -> String {
        let page = "http://a.example/"
        let picture = RecordedArchive.Record("urn:thumbnail:\(page)").with {
            ($0.type, $0.head, $0.body, $0.key) = ("resource", "", body, $0.url)
            ($0.fields, $0.index) = (["Content-Type: text/html"], "\"mime\":\"text/html\"")
        }
        var archive = RecordedArchive([RecordedArchive.Record(page, "<p>text"), picture])
        archive.pages = ["{\"url\":\"\(page)\",\"ts\":\"2024-01-02T03:04:05Z\"}"]
        return try folder.write(archive.bytes(), to: name)
    }

    @Test func pictureIsSentSafely() async throws {
        let png = Array(try contents(of: Checkout.fixture("site/media/anemone.png")))
        try await withServer(
            prepare: { store, folder in
                _ = try store.importFile(at: Self.write(png, to: folder, as: "a.wacz"))
                _ = try store.importFile(at: Self.write(Array("<svg/>".utf8), to: folder, as: "b.wacz"))
            }
        ) { server in
            let answer = try await server.ask("GET", "/api/archives/a/thumbnail")
            #expect(answer.status == 200)
            #expect(Array(answer.body) == png)
            #expect(answer["Content-Type"] == "image/png")
            #expect(answer["X-Content-Type-Options"] == "nosniff")
            #expect(answer["Cross-Origin-Resource-Policy"] == "same-origin")
            let policy = try #require(answer["Content-Security-Policy"])
            #expect(policy.hasPrefix("sandbox; default-src 'none';"))
            #expect(answer["Cache-Control"] == "no-cache")
            let tag = try #require(answer["ETag"])
            #expect(try server.store.archive(named: "a").map { "\"\($0.key)\"" } == tag)
            let again = try await server.ask("GET", "/api/archives/a/thumbnail", [("If-None-Match", tag)])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
            let catalog = server.store.catalog
            let isKnown = try await eventually {
                try catalog.allArchives().allSatisfy { try !catalog.lacksContents(key: $0.key) }
            }
            #expect(isKnown)
            let list = try await server.ask("GET", "/api/archives?q=a.wacz").object()["archives"] as? [[String: Any]]
            #expect(list?.first?["thumbnail"] as? String == "/api/archives/a/thumbnail")
            for (name, path) in [("a", "/api/archives/a/thumbnail"), ("b", nil)] {
                let archive = try await server.ask("GET", "/api/archives/\(name)").object()
                #expect(archive["thumbnail"] as? String == path)
            }
            for name in ["b", "none"] {
                let missing = try await server.ask("GET", "/api/archives/\(name)/thumbnail")
                #expect(missing.status == 404)
                #expect(try missing.errorCode() == (name == "b" ? "no-thumbnail" : "not-found"))
            }
        }
    }

    /// Pages of other sites and archived pages can't load it.
    @Test func otherSitesCannotLoadIt() async throws {
        try await withServer { server in
            let answer = try await server.ask(
                "GET", "/api/archives/a/thumbnail", [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "image")])
            #expect(answer.status == 403)
        }
    }
}
