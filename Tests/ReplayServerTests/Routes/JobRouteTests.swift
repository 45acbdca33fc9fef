import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import ReplayServer

/// `/api/jobs`, as documented in docs/json.md.
struct JobRouteTests {
    private func json(_ answer: HTTPAnswer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }

    @Test func serverRunsQueuedJobs() async throws {
        let elsewhere = try TemporaryFolder()
        let path = try elsewhere.write(GeneratedArchive().bytes(), to: "a.wacz")
        try await withServer { server in
            let empty = try await server.ask("GET", "/api/jobs")
            #expect(try json(empty)["jobs"] as? [String] == [])
            _ = try ArchiveStore(at: server.store.layout.root).importLink(to: path)
            let isDone = try await eventually { try server.store.resolver.archive(matching: "a").sha256 != nil }
            #expect(isDone)
            #expect(try server.store.resolver.archive(matching: "a").sha256 == (try await sha256ByOpenSSL(path)))
            // Another task of the server queues the indexing, before or after the hashing is queued.
            let areBothListed = try await eventually {
                let jobs = try server.store.jobs.all(in: nil, limit: 10)
                return jobs.contains { $0.kind == .hash && $0.state == .done } && jobs.contains { $0.kind == .text }
            }
            #expect(areBothListed)
            let id = try #require(try server.store.jobs.all(in: nil, limit: 10).first { $0.kind == .hash }?.id)
            let list = try #require(try json(try await server.ask("GET", "/api/jobs"))["jobs"] as? [[String: Any]])
            let job = try json(try await server.ask("GET", "/api/jobs/\(id)"))
            #expect(
                Set(job.keys) == [
                    "id", "kind", "subject", "archive", "state", "done", "total", "attempt", "repeatable", "createdAt",
                    "startedAt", "updatedAt", "finishedAt",
                ])
            #expect(job["kind"] as? String == "hash")
            #expect(job["state"] as? String == "done")
            #expect(job["subject"] as? String == "a.wacz")
            #expect(job["archive"] as? String == "a")
            #expect(Set(list.compactMap { $0["kind"] as? String }).isSuperset(of: ["hash", "text"]))
            #expect(list.contains { $0["id"] as? Int == job["id"] as? Int })
        }
    }

    @Test func jobsAreListedByState() async throws {
        try await withServer { server in
            let failed = try server.store.jobs.addImport(
                ImportOrder(path: "/a"), subject: "a", total: 1, owner: "one")
            try server.store.jobs.end(failed, owner: "one", .failed(reason: "no", code: "failed"))
            let done = try server.store.jobs.addImport(
                ImportOrder(path: "/b"), subject: "b", total: 1, owner: "one")
            try server.store.jobs.end(done, owner: "one", .done(nil, bytes: 1))
            for (query, expected) in [
                ("", [failed, done]), ("?state=failed", [failed]), ("?state=failed,done", [failed, done]),
                ("?state=paused", []),
            ] {
                let jobs = try json(try await server.ask("GET", "/api/jobs\(query)"))["jobs"] as? [[String: Any]]
                #expect(
                    jobs?.compactMap { $0["id"] as? Int64 ?? ($0["id"] as? Int).map(Int64.init) } == expected,
                    "\(query)")
            }
            for wrong in ["", "gone", "failed,"] {
                let answer = try await server.ask("GET", "/api/jobs?state=\(wrong)")
                #expect(answer.status == 400)
                #expect(try answer.errorCode() == "bad-parameter")
            }
        }
    }

    /// A server runs waiting jobs, and those that run in no process, so these are paused.
    @Test func manyJobsAreCountedAndChanged() async throws {
        try await withServer(
            prepare: { store, _ in
                for name in ["a", "b", "c"] {
                    _ = try store.jobs.addImport(ImportOrder(path: "/\(name)"), subject: name, total: 1, owner: "one")
                }
                #expect(try store.jobs.changeAll(.pause) == 3)
                let failed = try store.jobs.addImport(ImportOrder(path: "/d"), subject: "d", total: 1, owner: "one")
                try store.jobs.end(failed, owner: "one", .failed(reason: "no", code: "failed"))
            }
        ) { server in
            let jobs = server.store.jobs
            let kinds = try #require(
                try json(try await server.ask("GET", "/api/jobs/summary"))["kinds"] as? [[String: Any]])
            #expect(kinds.count == 1)
            #expect(kinds[0]["kind"] as? String == "import")
            #expect((kinds[0]["paused"] as? Int, kinds[0]["failed"] as? Int) == (3, 1))
            #expect(
                Set(kinds[0].keys) == [
                    "kind", "waiting", "running", "paused", "failed", "done", "bytesDone", "bytesTotal",
                ])
            #expect(try await server.ask("POST", "/api/jobs/all/pause").status == 403)
            for (path, changed) in [
                ("cancel?kind=verify", 0), ("pause", 0), ("resume?kind=hash", 0), ("cancel?kind=import", 3),
            ] {
                let answer = try await server.ask("POST", "/api/jobs/all/\(path)", server.authority)
                #expect(answer.status == 200)
                #expect(try json(answer)["changed"] as? Int == changed, "\(path)")
            }
            #expect(try jobs.job(id: 1)?.state == .cancelled)
            let wrong = [("POST", "/all/pause?kind=x"), ("DELETE", ""), ("DELETE", "?state=running")]
            for (method, path) in wrong {
                let answer = try await server.ask(method, "/api/jobs\(path)", server.authority)
                #expect(answer.status == 400, "\(path)")
                #expect(try answer.errorCode() == "bad-parameter")
            }
            #expect(try await server.ask("DELETE", "/api/jobs?state=failed").status == 403)
            let dismissed = try await server.ask("DELETE", "/api/jobs?state=failed", server.authority)
            #expect(try json(dismissed)["dismissed"] as? Int == 1)
            #expect(try jobs.job(id: 4) == nil)
        }
    }

    /// While the file is unavailable the job doesn't run, so its state is the requested one.
    @Test func jobIsPausedResumedCancelledAndRetried() async throws {
        let elsewhere = try TemporaryFolder()
        let path = try elsewhere.write(GeneratedArchive().bytes(), to: "a.wacz")
        let prepare = { (store: ArchiveStore) in
            _ = try store.importLink(to: path)
            try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        }
        try await withServer(prepare: { store, _ in try prepare(store) }) { server in
            let isExplained = try await eventually {
                try server.store.jobs.job(id: 1)?.reason == "its file is unavailable"
            }
            #expect(isExplained)
            #expect(try await server.ask("DELETE", "/api/jobs/1", server.authority).status == 409)
            for (name, state) in [
                ("pause", "paused"), ("resume", "waiting"), ("cancel", "cancelled"), ("retry", "waiting"),
            ] {
                let changed = try await server.ask("POST", "/api/jobs/1/\(name)", server.authority)
                #expect(changed.status == 200)
                #expect(try json(changed)["state"] as? String == state)
                let again = try await server.ask("POST", "/api/jobs/1/\(name)", server.authority)
                #expect(again.status == 409)
                #expect((try json(again)["error"] as? [String: Any])?["code"] as? String == "not-possible")
            }
            try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
            let isDone = try await eventually { try server.store.jobs.job(id: 1)?.state == .done }
            #expect(isDone)
            #expect(try server.store.resolver.archive(matching: "a").sha256 == (try await sha256ByOpenSSL(path)))
        }
    }

    @Test func stopRequeuesJobs() async throws {
        let elsewhere = try TemporaryFolder()
        // More than can be hashed before the stop.
        let prepare = { (store: ArchiveStore) in
            for number in 1...8 {
                let path = elsewhere.path("\(number).wacz")
                try GeneratedArchive(seed: UInt64(number)).write(withHole: 3 << 30, to: path)
                _ = try store.importLink(to: path)
            }
        }
        var stopped: ArchiveStore?
        try await withServer(prepare: { store, _ in try prepare(store) }) { server in
            stopped = server.store
            let isRunning = try await eventually {
                try server.store.jobs.all(in: nil, limit: 99).contains { $0.state == .running && $0.kind == .hash }
            }
            #expect(isRunning)
        }
        let jobs = try #require(stopped).jobs.all(in: nil, limit: 99).filter { $0.kind == .hash }
        #expect(jobs.count == 8)
        #expect(jobs.allSatisfy { $0.state == .waiting || $0.state == .done })
        #expect(jobs.contains { $0.state == .waiting })
    }

    @Test func uploadIsRecordedAsJob() async throws {
        try await withServer { server in
            let file = try contents(of: Checkout.fixture("sample.wacz"))
            let fields = server.authority + [("Content-Type", "application/wacz")]
            #expect(
                try await server.ask("POST", "/api/archives?name=My%20Crawl.wacz", fields, body: file).status == 201)
            #expect(try await server.ask("POST", "/api/archives?name=bad.wacz", fields, body: [1, 2]).status == 422)
            let jobs = try server.store.jobs.all(in: nil, limit: 9).filter { $0.kind == .import }
            #expect(jobs.map(\.state) == [.failed, .done])
            #expect(jobs.map(\.subject) == ["bad.wacz", "My Crawl.wacz"])
            #expect(jobs[1].archiveID?.text == "my-crawl")
            #expect(jobs[0].errorCode == "archive-refused")
            let retry = try await server.ask("POST", "/api/jobs/\(jobs[0].id)/retry", server.authority)
            #expect(retry.status == 409)
            let failed = "/api/jobs/\(jobs[0].id)"
            #expect(try await server.ask("DELETE", failed).status == 403)
            #expect(try await server.ask("DELETE", failed, server.authority).status == 204)
            #expect(try await server.ask("DELETE", failed, server.authority).status == 404)
            let left = try server.store.jobs.all(in: nil, limit: 9).filter { $0.kind == .import }
            #expect(left.map(\.state) == [.done])
        }
    }

    @Test func interruptedUploadIsCancelled() async throws {
        try await withServer { server in
            let (port, host) = (server.port, server.host)
            let fields = server.authority + [("Content-Type", "application/wacz"), ("Content-Length", "100000")]
            let store = server.store
            try await onThread {
                let connection = try HTTPConnection(port: port)
                try connection.send(request("POST", "/api/archives?name=cut.wacz", host: host, fields))
                try connection.send(patternBytes(5000))
                // A request is refused if its client disconnects before its user is determined.
                try waitUntil { try store.jobs.job(id: 1) != nil }
                connection.abort()
            }
            let isOver = try await eventually { try store.jobs.job(id: 1)?.state.isOver == true }
            #expect(isOver)
            #expect(try store.jobs.job(id: 1)?.state != .done)
        }
    }

    @Test func unknownJobIsNotFound() async throws {
        try await withServer { server in
            for id in ["7", "x", "-1", "1.5", "99999999999999999999"] {
                let shown = try await server.ask("GET", "/api/jobs/\(id)")
                #expect(shown.status == 404)
                let answer = try await server.ask("POST", "/api/jobs/\(id)/pause", server.authority)
                #expect(answer.status == 404)
                #expect((try json(answer)["error"] as? [String: Any])?["code"] as? String == "not-found")
            }
        }
    }

    @Test func changesRequireToken() async throws {
        try await withServer { server in
            for change in JobChange.allCases {
                let path = "/api/jobs/1/\(change.rawValue)"
                let bare = try await server.ask("POST", path)
                #expect(bare.status == 403)
                let withoutToken = try await server.ask("POST", path, [("Origin", server.origin)])
                #expect(withoutToken.status == 403)
            }
        }
    }
}
