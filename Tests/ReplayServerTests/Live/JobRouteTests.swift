import ArchiveStore
import Foundation
import TestSupport
import Testing

@testable import ReplayServer

/// `/api/jobs`, as docs/json.md says it.
struct JobRouteTests {
    private func json(_ answer: HTTPAnswer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }

    /// A server that finds a file to hash, too large to be hashed at once.
    private func withLargeJob(_ body: (LiveServer, _ path: String) async throws -> Void) async throws {
        let elsewhere = try TemporaryFolder()
        let path = elsewhere.path("large.wacz")
        try GeneratedArchive().write(withHole: 2 << 30, to: path)
        try await withServer(prepare: { store, _ in _ = try store.importReference(to: path) }) { server in
            try await body(server, path)
        }
    }

    @Test func theServerRunsWhatWaits() async throws {
        let elsewhere = try TemporaryFolder()
        let path = try elsewhere.write(GeneratedArchive().bytes(), to: "a.wacz")
        try await withServer { server in
            let empty = try await server.ask("GET", "/api/jobs")
            #expect(try json(empty)["jobs"] as? [String] == [])
            _ = try ArchiveStore(at: server.store.layout.root).importReference(to: path)
            let isDone = try await eventually { try server.store.archive(matching: "a").sha256 != nil }
            #expect(isDone)
            #expect(try server.store.archive(matching: "a").sha256 == (try await sha256ByOpenSSL(path)))
            let isWritten = try await eventually { try server.store.catalog.job(id: 1)?.state == .done }
            #expect(isWritten)
            let list = try #require(try json(try await server.ask("GET", "/api/jobs"))["jobs"] as? [[String: Any]])
            #expect(list.count == 1)
            let job = try json(try await server.ask("GET", "/api/jobs/1"))
            #expect(
                Set(job.keys) == [
                    "id", "kind", "subject", "archive", "state", "done", "total", "attempt", "createdAt", "startedAt",
                    "updatedAt", "finishedAt",
                ])
            #expect(job["kind"] as? String == "hash")
            #expect(job["state"] as? String == "done")
            #expect(job["subject"] as? String == "a.wacz")
            #expect(job["archive"] as? String == "a")
            #expect(list[0]["id"] as? Int == job["id"] as? Int)
        }
    }

    @Test func aRunningJobIsPausedResumedCancelledAndTriedAgain() async throws {
        try await withLargeJob { server, path in
            let change = { (name: String) in
                try await server.ask("POST", "/api/jobs/1/\(name)", server.authority)
            }
            let isRunning = try await eventually { try server.store.catalog.job(id: 1)?.done ?? 0 > 0 }
            #expect(isRunning)
            let paused = try await change("pause")
            #expect(paused.status == 200)
            #expect(try json(paused)["state"] as? String == "paused")
            #expect(try json(paused)["reason"] as? String == "paused on request")
            let again = try await change("pause")
            #expect(again.status == 409)
            #expect((try json(again)["error"] as? [String: Any])?["code"] as? String == "not-possible")
            let before = try #require(try server.store.catalog.job(id: 1)?.done)
            #expect(try json(try await change("resume"))["state"] as? String == "waiting")
            let goesOn = try await eventually {
                let job = try server.store.catalog.job(id: 1)
                return job?.state == .running && job?.attempt == 2
            }
            #expect(goesOn)
            #expect(try #require(try server.store.catalog.job(id: 1)?.done) >= before, "nothing is read twice")
            #expect(try json(try await change("cancel"))["state"] as? String == "cancelled")
            #expect(try await change("resume").status == 409)
            #expect(try json(try await change("retry"))["state"] as? String == "waiting")
            let isDone = try await eventually(within: .seconds(60)) {
                try server.store.catalog.job(id: 1)?.state == .done
            }
            #expect(isDone)
            #expect(try server.store.archive(matching: "large").sha256 == (try await sha256ByOpenSSL(path)))
        }
    }

    @Test func aStopLeavesTheJobWaiting() async throws {
        try await withLargeJob { server, _ in
            let isRunning = try await eventually { try server.store.catalog.job(id: 1)?.state == .running }
            #expect(isRunning)
            let store = server.store
            await server.stop()
            let hasStopped = try await eventually { try store.catalog.job(id: 1)?.state == .waiting }
            #expect(hasStopped)
            #expect(try store.catalog.job(id: 1)?.reason == "the server stopped")
            #expect(try store.archive(matching: "large").sha256 == nil)
        }
    }

    @Test func anUploadIsAJob() async throws {
        try await withServer { server in
            let file = try contents(of: Checkout.fixture("sample.wacz"))
            let fields = server.authority + [("Content-Type", "application/wacz")]
            #expect(
                try await server.ask("POST", "/api/archives?name=My%20Crawl.wacz", fields, body: file).status == 201)
            #expect(try await server.ask("POST", "/api/archives?name=bad.wacz", fields, body: [1, 2]).status == 422)
            let jobs = try server.store.catalog.jobs(includingOver: true, limit: 9)
            #expect(jobs.map(\.state) == [.failed, .done])
            #expect(jobs.map(\.subject) == ["bad.wacz", "My Crawl.wacz"])
            #expect(jobs[1].archiveID?.text == "my-crawl")
            #expect(jobs[0].errorCode == "archive-refused")
            let retry = try await server.ask("POST", "/api/jobs/\(jobs[0].id)/retry", server.authority)
            #expect(retry.status == 409)
        }
    }

    @Test func anUploadThatIsCutIsOver() async throws {
        try await withServer { server in
            let (port, host) = (server.port, server.host)
            let fields = server.authority + [("Content-Type", "application/wacz"), ("Content-Length", "100000")]
            try await onThread {
                let connection = try HTTPConnection(port: port)
                try connection.send(request("POST", "/api/archives?name=cut.wacz", host: host, fields))
                try connection.send(patternBytes(5000))
                connection.abort()
            }
            let store = server.store
            let isOver = try await eventually { try store.catalog.job(id: 1)?.state.isOver == true }
            #expect(isOver)
            #expect(try store.catalog.job(id: 1)?.state != .done)
        }
    }

    @Test(arguments: ["7", "x", "-1", "1.5", "99999999999999999999"])
    func whatIsNoJobIsNotFound(id: String) async throws {
        try await withServer { server in
            #expect(try await server.ask("GET", "/api/jobs/\(id)").status == 404)
            let answer = try await server.ask("POST", "/api/jobs/\(id)/pause", server.authority)
            #expect(answer.status == 404)
            #expect((try json(answer)["error"] as? [String: Any])?["code"] as? String == "not-found")
        }
    }

    @Test(arguments: JobChange.allCases)
    func changesNeedTheToken(_ change: JobChange) async throws {
        try await withServer { server in
            let path = "/api/jobs/1/\(change.rawValue)"
            let bare = try await server.ask("POST", path)
            #expect(bare.status == 403)
            let withoutToken = try await server.ask("POST", path, [("Origin", server.origin)])
            #expect(withoutToken.status == 403)
        }
    }
}
