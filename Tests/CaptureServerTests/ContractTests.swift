import ArchiveStore
import CaptureAPI
import Foundation
import Logging
import ReplayServer
import TestSupport
import Testing

@testable import CaptureServer
@testable import CaptureWorker

/// The answers, byte for byte but for IDs and times. A golden file each; Tests/CaptureTests reads them as strictly as clients do.
struct ContractTests {
    /// A server without tools, whose downloads wait.
    private struct Server {
        let folder: TemporaryFolder
        let service: CaptureService
        let port: Int

        func ask(
            _ method: String, _ path: String, _ fields: [(String, String)] = [], body: String = "", host: String? = nil
        ) async throws -> HTTPAnswer {
            let (port, host) = (port, host ?? "localhost:\(port)")
            return try await onThread {
                try HTTPConnection(port: port).ask(method, path, host: host, fields, body: Array(body.utf8))
            }
        }

        func post(_ body: String, _ path: String = "/download") async throws -> HTTPAnswer {
            try await ask("POST", path, [("Content-Type", "application/json")], body: body)
        }
    }

    /// - Parameter prepare: Fills the queue before the server looks at it.
    private func withServer(
        prepare: (DownloadQueue) async throws -> Void = { _ in }, _ body: (Server) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let store = try ArchiveStore(at: folder.path("store"))
        let port = try LoopbackPort.any()
        let number = port.number
        let tools = ["PATH": folder.path("none"), "REPLAYHOST_TOOLS": folder.path("tools")]
        let service = try CaptureService(
            store: store, downloads: folder.path("Downloads"), assets: Assets(folder: Checkout.path("www")),
            port: number,
            toolbox: Toolbox(environment: tools),
            settings: CaptureSettings(program: "/nonexistent", software: "test 1.0"),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await prepare(service.queue)
        try await service.start(on: port)
        do {
            try await body(Server(folder: folder, service: service, port: number))
        } catch {
            await service.stop()
            throw error
        }
        await service.stop()
    }

    /// Replaces what differs from run to run.
    private func normalized(_ answer: HTTPAnswer, _ server: Server) -> String {
        let kept = [
            "content-type", "x-total-count", "retry-after", "allow", "accept-ranges", "content-range",
            "content-disposition",
            "content-security-policy", "x-content-type-options", "cache-control",
        ]
        let fields = answer.fields.filter { kept.contains($0.name.lowercased()) }.map {
            "\($0.name.lowercased()): \($0.value)"
        }
        var text = "\(answer.status)\n\(fields.sorted().joined(separator: "\n"))\n\n\(answer.text)\n"
        let replacements = [
            (#"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"#, "UUID"),
            (#"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"#, "TIME"), (#""timestamp":\d{10}"#, #""timestamp":SECONDS"#),
            ("\(server.port)", "PORT"),
        ]
        for (form, replacement) in replacements {
            text = text.replacingOccurrences(of: form, with: replacement, options: .regularExpression)
        }
        return text
    }

    private func expect(_ answer: HTTPAnswer, _ name: String, _ server: Server) throws {
        let file = Checkout.path("Tests/CaptureServerTests/Golden/\(name).txt")
        var text = normalized(answer, server)
        // The runner may have looked at it since.
        if name == "retry" { text = text.replacing(#""waiting_for":"tool""#, with: #""waiting_for":null"#) }
        #expect(try Golden.difference(text, file: file) == nil)
    }

    private static let film = #"{"url":"https://www.tiktok.com/@user/video/123","username":"John","client_id":"A1"}"#

    @Test func answersToRequestsAreThose() async throws {
        try await withServer { server in
            try expect(try await server.post(Self.film), "download-v2", server)
            let older = #"{"url":"https://tiktok.com/@user/video/123","client_id":"A1","timestamp":1234567890}"#
            try expect(try await server.post(older), "download-older", server)
            let id = try #require(
                try await server.service.queue.accept(
                    DownloadRequest(json: Data(Self.film.utf8)), key: nil
                ).row?.downloadID)
            _ = try await eventuallyWaiting(id, server)
            try expect(try await server.ask("GET", "/status/\(id)"), "status-waiting", server)
            try expect(try await server.ask("GET", "/api/v1/history?limit=1&username=john"), "history", server)
            try expect(try await server.ask("GET", "/health"), "health", server)
            try expect(try await server.ask("GET", "/download/\(id)/log"), "log", server)
            try expect(try await server.post("", "/download/\(id)/cancel"), "cancel", server)
            try expect(try await server.post("", "/download/\(id)/cancel"), "cancel-ended", server)
            try expect(try await server.post(#"{"options":{"height":720}}"#, "/download/\(id)/retry"), "retry", server)
            try expect(try await server.post("", "/download/\(id)/retry"), "retry-queued", server)
            try expect(try await server.ask("DELETE", "/history/\(id)"), "delete", server)
        }
    }

    /// The runner marks it within its next look at the queue.
    private func eventuallyWaiting(_ id: String, _ server: Server) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            if try await server.service.queue.row(id)?.waitingFor == "tool" { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    @Test func completedDownloadsAndTheirFilesAreThose() async throws {
        try await withServer { queue in
            let added = try await queue.accept(DownloadRequest(json: Data(Self.film.utf8)), key: nil).row
            let id = try #require(added?.downloadID)
            _ = try await queue.claim { _ in nil }
            let files = SavedFiles(
                archive: "a.wacz", archiveSHA256: String(repeating: "0", count: 64), file: "out/media.mp4", fileSize: 4,
                mediaType: "video/mp4", fileName: "abc123_My_Vidéo.mp4", title: "My Vidéo", genre: .tiktok,
                genreDetectionError: nil)
            try await queue.setArchive(id, archive: "abc123-my-video", sha256: files.archiveSHA256, files)
            _ = try await queue.reserveName(id, files.fileName, except: [])
            try await queue.complete(id, keepsFile: true)
        } _: { server in
            let query = try HistoryQuery([:])
            let rows = try await server.service.queue.database.read { try query.run($0).rows }
            let id = try #require(rows.first?.downloadID)
            try expect(try await server.ask("GET", "/status/\(id)"), "status-completed", server)
            try expect(try await server.ask("GET", "/download/\(id)/file"), "file-missing", server)
            try expect(try await server.ask("GET", "/download/\(id)/archive"), "archive-missing", server)
            try server.folder.write("film", to: "Downloads/john/tiktok/abc123_My_Vidéo.mp4")
            try expect(try await server.ask("GET", "/download/\(id)/file"), "file", server)
            try expect(
                try await server.ask("GET", "/download/\(id)/file", [("Range", "bytes=-2")]), "file-range", server)
            try expect(try await server.ask("HEAD", "/download/\(id)/file"), "file-head", server)
            try expect(
                try await server.ask("GET", "/download/\(id)/file", [("Range", "bytes=4-")]), "file-no-range", server)
            // As long as a part of it can't be deleted, a person sees the row, and can repeat it.
            let path = server.folder.path("Downloads/john/tiktok/abc123_My_Vidéo.mp4")
            try FileManager.default.removeItem(atPath: path)
            try server.folder.write("x", to: "Downloads/john/tiktok/abc123_My_Vidéo.mp4/x")
            #expect(try await server.ask("DELETE", "/history/\(id)?file=true").status == 500)
            #expect(try await server.ask("GET", "/status/\(id)").status == 200)
            try FileManager.default.removeItem(atPath: path)
            #expect(try await server.ask("DELETE", "/history/\(id)?file=true").status == 200)
            #expect(try await server.ask("GET", "/status/\(id)").status == 404)
        }
    }

    @Test func errorsAreThose() async throws {
        try await withServer { server in
            try expect(try await server.post("{"), "error-no-json", server)
            try expect(
                try await server.post(#"{"url":"https://example.org/a","username":"a b"}"#), "error-username", server)
            try expect(try await server.post(#"{"url":"file:///etc/passwd","timestamp":1}"#), "error-older", server)
            try expect(try await server.ask("GET", "/status/x"), "error-404", server)
            try expect(try await server.ask("GET", "/history?limit=0"), "error-limit", server)
            try expect(try await server.ask("PUT", "/download"), "error-405", server)
            try expect(try await server.post("{" + String(repeating: " ", count: 65 << 10) + "}"), "error-413", server)
            try expect(
                try await server.ask("POST", "/download", [("Content-Type", "text/plain")], body: Self.film),
                "error-415", server)
            try expect(try await server.ask("GET", "/health", host: "evil.example"), "error-421", server)
            try expect(
                try await server.ask(
                    "POST", "/download", [("Content-Type", "application/json"), ("Origin", "https://evil.example")],
                    body: Self.film),
                "error-403", server)
            let key = [("Content-Type", "application/json"), ("Idempotency-Key", "k")]
            _ = try await server.ask("POST", "/download", key, body: Self.film)
            let other = #"{"url":"https://example.org/other"}"#
            try expect(try await server.ask("POST", "/download", key, body: other), "error-409", server)
            for number in 1..<100 { _ = try await server.post("{\"url\":\"https://example.org/\(number)\"}") }
            let more = try await server.post(#"{"url":"https://example.org/100"}"#)
            #expect((1...3600).contains(Int(more["Retry-After"] ?? "") ?? 0))
            #expect(more.status == 429)
        }
    }

    /// What another site in the same browser could send. None adds a download, and none is told anything.
    @Test func otherSitesGetNothing() async throws {
        try await withServer { server in
            let json = ("Content-Type", "application/json")
            let attacks: [[(String, String)]] = [
                [json, ("Origin", "https://evil.example")], [json, ("Origin", "null")],
                [json, ("Origin", "http://localhost:1")], [json, ("Origin", "http://x.localhost:\(server.port)")],
                [json, ("Sec-Fetch-Site", "cross-site")], [json, ("Sec-Fetch-Site", "same-site")],
                [("Content-Type", "text/plain")], [("Content-Type", "application/x-www-form-urlencoded")], [],
            ]
            for fields in attacks {
                let answer = try await server.ask("POST", "/download", fields, body: Self.film)
                #expect([403, 415].contains(answer.status), "\(fields)")
                #expect(answer["Access-Control-Allow-Origin"] == nil)
            }
            for host in [
                "evil.example:\(server.port)", "localhost", "127.0.0.1", "replayhost.localhost:\(server.port)",
            ] {
                #expect(try await server.ask("GET", "/history", host: host).status == 421, "\(host)")
            }
            #expect(try await server.ask("GET", "/history", [("Sec-Fetch-Site", "cross-site")]).status == 403)
            #expect(try await server.ask("GET", "/history").text == "[]")
        }
    }

    @Test func pageHasAStrictPolicyAndOneOrigin() async throws {
        try await withServer { server in
            let page = try await server.ask("GET", "/")
            #expect(page.status == 200)
            #expect(page["Content-Security-Policy"]?.contains("default-src 'none'") == true)
            #expect(page["Content-Security-Policy"]?.contains("frame-ancestors 'none'") == true)
            let redirect = try await server.ask("GET", "/", host: "127.0.0.1:\(server.port)")
            #expect(redirect.status == 307)
            #expect(redirect["Location"] == "http://localhost:\(server.port)/")
        }
    }
}

extension DownloadQueue.Acceptance {
    fileprivate var row: DownloadRow? {
        switch self {
        case .added(let row, _), .known(let row): row
        case .conflict, .removed, .tooMany: nil
        }
    }
}
