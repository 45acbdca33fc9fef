import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import ReplayServer

/// Imports of files and folders of this computer, as documented in docs/json.md.
struct ImportRouteTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func post(_ server: LiveServer, _ body: String) async throws -> HTTPAnswer {
        let fields = server.authority + [("Content-Type", "application/json")]
        return try await server.ask("POST", "/api/imports", fields, body: Array(body.utf8))
    }

    private func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
    }

    @Test func filesAndFoldersAreQueued() async throws {
        let sample = GeneratedArchive(pages: [GeneratedArchive.Page(url: "http://example.org/", title: "Page")])
        let file = try folder.write(sample.bytes(), to: "one.wacz")
        try makeFolder("more/inner")
        _ = try folder.write(sample.bytes(), to: "more/inner/two.wacz")
        _ = try folder.write("text", to: "more/notes.txt")
        try await withServer { server in
            let answer = try await post(
                server, "{\"paths\":[\"\(file)\",\"\(folder.path("more"))\"],\"link\":true}")
            #expect(answer.status == 202)
            let jobs = try #require(try answer.object()["jobs"] as? [[String: Any]])
            #expect(jobs.map { $0["kind"] as? String } == ["import", "import"])
            #expect(jobs.map { ($0["subject"] as? String)?.hasSuffix(".wacz") } == [true, true])
            let areImported = try await eventually { try server.store.archives().count == 2 }
            #expect(areImported)
            #expect(try server.store.archives().allSatisfy { $0.archive.storage.linkedFile != nil })
        }
    }

    @Test(arguments: [
        ("{\"paths\":[]}", 400), ("{\"paths\":[\"relative.wacz\"]}", 400), ("{\"paths\":[\"/nowhere/a.wacz\"]}", 404),
        ("{\"paths\":[\"FOLDER\"]}", 404), ("{}", 400),
    ])
    func wrongPathsAreNamedAndQueueNothing(body: String, status: Int) async throws {
        try makeFolder("empty")
        let text = body.replacingOccurrences(of: "FOLDER", with: folder.path("empty"))
        try await withServer { server in
            let answer = try await post(server, text)
            #expect(answer.status == status)
            let jobs = try await server.ask("GET", "/api/jobs").object()["jobs"] as? [Any]
            #expect(jobs?.isEmpty == true)
        }
    }

    @Test func otherSitesCannotImport() async throws {
        try await withServer { server in
            let body = Array("{\"paths\":[\"/etc\"]}".utf8)
            let answer = try await server.ask(
                "POST", "/api/imports", [("Content-Type", "application/json")], body: body)
            #expect(answer.status == 403)
        }
    }
}
