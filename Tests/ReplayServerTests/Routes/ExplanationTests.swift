import ArchiveStore
import Foundation
import TestSupport
import Testing

/// `/api/archives/ID/explain` and `/api/collections/ID/explain`. The reasons have tests of their own.
struct ExplanationTests {
    typealias Record = RecordedArchive.Record

    private static let page = "http://a.example/page"

    /// Runs a server with an archive without the page, one with it, and one with it whose file is gone.
    private func withArchives(_ body: (LiveServer) async throws -> Void) async throws {
        try await withServer { server in
            for (name, url) in [("one", "http://a.example/"), ("two", Self.page), ("gone", Self.page)] {
                let record = Record(url, name)
                let path = try server.folder.write(RecordedArchive([record]).bytes(), to: "\(name).wacz")
                _ = try name == "gone" ? server.store.importLink(to: path) : server.store.importFile(at: path)
            }
            try FileManager.default.removeItem(atPath: server.folder.path("gone.wacz"))
            try await body(server)
        }
    }

    private func codes(_ answer: [String: Any]) -> [String] {
        ((answer["reasons"] as? [[String: Any]]) ?? []).compactMap { $0["code"] as? String }
    }

    @Test func archivesAndCollectionsExplain() async throws {
        try await withArchives { server in
            let one = try await server.ask("GET", "/api/archives/one/explain?url=\(Self.page)&ts=2024").object()
            #expect(one["code"] as? String == "other-archive")
            #expect(one["archive"] as? String == "one")
            #expect(one["timestamp"] as? String == "20241231235959", "an incomplete time means its end")
            #expect((one["offers"] as? [[String: Any]])?.map { $0["archive"] as? String } == ["two"])
            let two = try await server.ask("GET", "/api/archives/two/explain?url=\(Self.page)&ts=").object()
            #expect(codes(two) == ["captured"])
            #expect(two["timestamp"] == nil)

            let body = #"{"title":"Both","members":["one","gone"]}"#
            #expect(try await server.ask("POST", "/api/collections", json: body).status == 201)
            let both = try await server.ask("GET", "/api/collections/both/explain?url=\(Self.page)").object()
            #expect(both["collection"] as? String == "both")
            #expect(codes(both) == ["other-archive", "unavailable"])
            #expect(try await server.ask("GET", "/api/collections/both/explain").errorCode() == "bad-parameter")
        }
    }

    @Test func unavailableArchiveIsAnAnswer() async throws {
        try await withArchives { server in
            let gone = try await server.ask("GET", "/api/archives/gone/explain?url=\(Self.page)")
            #expect(gone.status == 200)
            #expect(codes(try gone.object()) == ["other-archive", "unavailable"])
            #expect(try await server.ask("GET", "/api/archives/none/explain?url=\(Self.page)").status == 404)
            let long = "http://a.example/" + String(repeating: "a", count: 20_000)
            #expect(try await server.ask("GET", "/api/archives/one/explain?url=\(long)").status == 414)
        }
    }

    /// The OpenAPI description and docs/json.md list the same codes in the same order.
    @Test func codesAreDocumented() throws {
        let codes = Explanation.Code.allCases.map(\.rawValue)
        let description = try #require(
            try JSONSerialization.jsonObject(with: Data(contents(of: Checkout.path("www/openapi.json"))))
                as? [String: Any])
        let schemas = (description["components"] as? [String: Any])?["schemas"] as? [String: Any]
        let properties = (schemas?["Explanation"] as? [String: Any])?["properties"] as? [String: Any]
        #expect((properties?["code"] as? [String: Any])?["enum"] as? [String] == codes)
        let text = String(decoding: try contents(of: Checkout.path("docs/json.md")), as: UTF8.self)
        let section = try #require(text.components(separatedBy: "## Explanation").last)
        let table = try #require(section.components(separatedBy: "| code | evidence").last)
            .components(separatedBy: "\n\n")[0]
        let listed = table.matches(of: /(?m)^\| `([a-z-]+)` \|/).map { String($0.1) }
        #expect(listed == codes)
    }
}
