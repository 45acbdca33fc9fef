import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import ReplayServer

/// Lists of archives in parts and their facets, as documented in docs/json.md.
struct LibraryRouteTests {
    private func withArchives(_ body: (LiveServer) async throws -> Void) async throws {
        try await withServer(
            prepare: { store, folder in
                for (number, name) in ["One", "two", "Three"].enumerated() {
                    let pages = (0...number).map {
                        GeneratedArchive.Page(url: "http://example.org/\($0)", title: "Page \($0)")
                    }
                    let archive = GeneratedArchive(pages: pages, seed: UInt64(number))
                    let added = try store.importFile(at: folder.write(archive.bytes(), to: "\(name).wacz")).archive
                    try store.edit(added.id, ArchiveMetadata(title: name, tags: ["t", "t\(number)"]))
                }
            }, body)
    }

    /// Checks the titles that a request lists, followed by their total number.
    private func expect(_ server: LiveServer, _ query: String, _ expected: [String]) async throws {
        let answer = try await server.ask("GET", "/api/archives?\(query)").object()
        let archives = try #require(answer["archives"] as? [[String: Any]])
        let found = archives.compactMap { $0["title"] as? String } + ["\(answer["total"] as? Int ?? -1)"]
        #expect(found == expected, "\(query)")
    }

    @Test func listWithoutParametersHasAllArchivesCompletely() async throws {
        try await withArchives { server in
            let answer = try await server.ask("GET", "/api/archives").object()
            #expect(answer["total"] == nil)
            let archives = try #require(answer["archives"] as? [[String: Any]])
            #expect(archives.count == 3)
            #expect(archives.allSatisfy { $0["notes"] != nil && $0["sites"] == nil })
        }
    }

    @Test func listIsFilteredSortedAndPaged() async throws {
        try await withArchives { server in
            try await expect(server, "sort=title", ["One", "Three", "two", "3"])
            try await expect(server, "sort=-title&limit=1&offset=1", ["Three", "3"])
            try await expect(server, "sort=pages", ["One", "two", "Three", "3"])
            try await expect(server, "q=WO", ["two", "1"])
            try await expect(server, "tag=t&tag=t2", ["Three", "1"])
            try await expect(server, "site=EXAMPLE.org&sort=title", ["One", "Three", "two", "3"])
            try await expect(server, "state=unavailable", ["0"])
            try await expect(server, "year=1990", ["0"])
            try await expect(server, "limit=1&offset=9", ["3"])
        }
    }

    @Test func itemHasWhatListsShow() async throws {
        try await withArchives { server in
            let answer = try await server.ask("GET", "/api/archives?q=two").object()
            let item = try #require((answer["archives"] as? [[String: Any]])?.first)
            let required: Set = [
                "id", "title", "tags", "size", "storage", "availability", "pageCount", "captureCount", "firstCapture",
                "lastCapture", "importedAt", "originalName", "findingCounts", "verification", "mainPage", "file",
                "replayCollection", "replayOrigin", "collections", "sites", "siteCount", "sha256",
            ]
            #expect(Set(item.keys).subtracting(["verificationSummary"]) == required)
            let whole = try await server.ask("GET", "/api/archives/two").object()
            for key in required.subtracting(["sites", "siteCount", "verification", "findingCounts", "mainPage"]) {
                #expect("\(item[key] ?? "")" == "\(whole[key] ?? "none")", "\(key)")
            }
        }
    }

    @Test func facetsAreCounted() async throws {
        try await withArchives { server in
            let facets = try await server.ask("GET", "/api/facets?tag=t1&q=two").object()
            #expect(facets["total"] as? Int == 1)
            #expect(facets["freeBytes"] as? Int != nil)
            let tags = try #require(facets["tags"] as? [[String: Any]])
            #expect(tags.map { "\($0["value"] ?? "") \($0["count"] ?? "")" } == ["t 1", "t1 1"])
            #expect((facets["sites"] as? [[String: Any]])?.first?["value"] as? String == "example.org")
            #expect((facets["library"] as? [String: Any])?["archives"] as? Int == 3)
            #expect(Set((facets["states"] as? [String: Any] ?? [:]).keys) == ["issues", "not-verified"])
        }
    }

    @Test(arguments: [
        "sort=name", "sort=", "limit=0", "limit=1001", "offset=-1", "year=20", "year=abcd", "state=lost",
        "q=" + String(repeating: "a", count: 16385),
    ])
    func badParameterIsNamed(_ query: String) async throws {
        try await withServer { server in
            let answer = try await server.ask("GET", "/api/archives?\(query)")
            #expect(answer.status == 400)
            #expect(try answer.errorCode() == "bad-parameter")
        }
    }
}
