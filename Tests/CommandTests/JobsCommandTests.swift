import ArchiveStore
import Foundation
import TestSupport
import Testing

/// `replayhost jobs`, and jobs that continue after their process ends.
struct JobsCommandTests {
    /// Creates a store with a linked file and the job that hashes it.
    private func withLinkedFile() async throws -> (store: CommandStore, path: String) {
        let store = try CommandStore()
        let path = store.folder.path("a.wacz")
        try store.write(GeneratedArchive(), to: "a.wacz")
        let imported = try await store.run("import", "--link", "a.wacz")
        try #require(imported.code == 0, "\(imported.errors)")
        return (store, path)
    }

    private func hashJob(_ store: CommandStore) throws -> Job {
        let jobs = try ArchiveStore(at: store.store).jobs.all(in: nil, limit: 99)
        return try #require(jobs.first { $0.kind == .hash })
    }

    @Test func waitingJobsAreListedAndRun() async throws {
        let (store, path) = try await withLinkedFile()
        let list = try await store.run("jobs")
        #expect(list.outputLines.count == 2)
        #expect(list.outputLines[0].hasPrefix("ID  KIND  STATE    DONE"))
        #expect(list.outputLines[1].contains("hash  waiting  0% of "))
        #expect(list.errors.contains("1 job is waiting for the server. To run it now, use `replayhost jobs run`."))
        let ran = try await store.run("jobs", "run")
        #expect(ran.code == 0)
        #expect(
            ran.outputLines == (["hash", "text", "verify"].enumerated().map { "job \($0 + 2) (\($1) a.wacz): done" }))
        let hash = try #require(try objects(try await store.run("list", "--json").outputLines).first?["sha256"])
        #expect(hash as? String == (try await sha256ByOpenSSL(path)))
        #expect(try await store.run("jobs").output.isEmpty)
        #expect(try await store.run("jobs").errors.contains("No active jobs.\n"))
        let all = try await store.run("jobs", "--all", "--json")
        let jobs = try objects(all.outputLines)
        #expect(jobs.map { $0["kind"] as? String } == ["verify", "text", "hash", "import"])
        #expect(jobs.allSatisfy { $0["state"] as? String == "done" })
        let documented = try documentedKeys()
        for job in jobs { #expect(Set(job.keys).isSubset(of: documented)) }
        let nothing = try await store.run("jobs", "run")
        #expect(nothing.code == 0)
        #expect(nothing.errors.contains("No jobs are waiting."))
        #expect(names(in: store.folder.path("store/incoming")).isEmpty)
    }

    @Test func failuresAreListedUntilTheyAreDismissed() async throws {
        let store = try CommandStore()
        try store.folder.write("no WACZ", to: "a.wacz")
        #expect(try await store.run("import", "a.wacz").code == 4)
        let active = try await store.run("jobs")
        #expect(active.errors.contains("No active jobs. 1 failed; see them with `replayhost jobs --failed`.\n"))
        let failed = try objects(try await store.run("jobs", "--failed", "--json").outputLines)
        #expect(failed.map { $0["state"] as? String } == ["failed"])
        #expect(try await store.run("jobs", "--failed", "--all").code == 2)
        #expect(try await store.run("jobs", "dismiss", "1").code == 0)
        let none = try await store.run("jobs", "--failed")
        #expect(none.output.isEmpty && none.errors.contains("No failed jobs.\n"))
    }

    @Test func manyJobsAreOneLine() async throws {
        let store = try CommandStore()
        for name in ["a", "b", "c"] {
            try store.write(GeneratedArchive(seed: UInt64(name.utf8.first ?? 0)), to: "\(name).wacz")
            #expect(try await store.run("import", "--link", "\(name).wacz").code == 0)
        }
        let list = try await store.run("jobs")
        #expect(list.outputLines == ["Hashing: 0 of 3 done, 3 queued"])
        #expect(list.errors.contains("3 jobs are waiting for the server."))
        #expect(try await store.run("jobs", "--json").outputLines.count == 3)
        let paused = try await store.run("jobs", "pause", "--all", "--kind", "hash")
        #expect(paused.outputLines == ["3 jobs paused"])
        #expect(try await store.run("jobs").outputLines == ["Hashing: 0 of 3 done, 3 paused"])
        #expect(try await store.run("jobs", "resume", "--all", "--kind", "verify").outputLines == ["0 jobs resumed"])
        #expect(try await store.run("jobs", "resume", "--all", "--json").outputLines == ["{\"changed\":3}"])
        #expect(try await store.run("jobs", "cancel", "--all").outputLines == ["3 jobs cancelled"])
        #expect(try await store.run("jobs").output.isEmpty)
    }

    @Test func allFailedJobsAreDismissed() async throws {
        let store = try CommandStore()
        try store.folder.write("no WACZ", to: "a.wacz")
        for _ in 0..<2 { #expect(try await store.run("import", "a.wacz").code == 4) }
        #expect(try await store.run("jobs", "dismiss", "--failed").outputLines == ["2 jobs dismissed"])
        #expect(try await store.run("jobs", "--failed").errors.contains("No failed jobs.\n"))
    }

    @Test(arguments: [
        ["pause"], ["dismiss"], ["retry"], ["pause", "1", "--all"], ["pause", "1", "--kind", "verify"],
        ["cancel", "--all", "--kind", "x"], ["dismiss", "1", "--failed"],
    ])
    func selectionMustBeClear(_ arguments: [String]) async throws {
        #expect(try await CommandStore().run(["jobs"] + arguments).code == 2)
    }

    /// The first column of the table "Job" in docs/json.md.
    private func documentedKeys() throws -> Set<String> {
        let text = String(decoding: try contents(of: Checkout.path("docs/json.md")), as: UTF8.self)
        let part = try #require(text.components(separatedBy: "## Job").last?.components(separatedBy: "\n## ").first)
        var keys: Set<String> = []
        for line in part.split(separator: "\n") where line.hasPrefix("| `") {
            let cell = line.split(separator: "|")[0]
            for match in cell.matches(of: /`([A-Za-z0-9]+)`/) { keys.insert(String(match.1)) }
        }
        return keys
    }

    @Test func jobsArePausedResumedCancelledAndRetried() async throws {
        let (store, _) = try await withLinkedFile()
        for (command, state) in [
            ("pause", "paused"), ("resume", "waiting"), ("cancel", "cancelled"), ("retry", "waiting"),
        ] {
            let result = try await store.run("jobs", command, "2")
            #expect(result.code == 0)
            #expect(result.output.hasPrefix("job 2 (hash a.wacz): \(state)"))
            #expect(result.errors.contains("1 job is waiting") == (state == "waiting"))
            let again = try await store.run("jobs", command, "2", "--json")
            #expect(again.code == 1)
            #expect(try errorCodes(again) == ["not-possible"])
        }
        let some = try await store.run("jobs", "pause", "2", "9")
        #expect(some.code == 3)
        #expect(some.output.contains("job 2 (hash a.wacz): paused"))
        #expect(some.errors.contains("error: there is no job 9"))
        #expect(some.errors.contains("hint: run `replayhost jobs --all` to see all jobs"))
        let left = try await store.run("jobs", "run")
        #expect(left.code == 0)
        #expect(left.outputLines == ["job 3 (text a.wacz): done", "job 4 (verify a.wacz): done"])
        #expect(left.errors.contains("not run: job 2 (hash a.wacz): paused"))
        #expect(try await store.run("jobs", "pause", "x").code == 2)
        #expect(try await store.run("jobs", "pause").code == 2)
    }

    @Test func failedJobIsReportedAndFailsTheRun() async throws {
        let (store, path) = try await withLinkedFile()
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
        let result = try await store.run("jobs", "run", "--json")
        #expect(result.code == 1)
        let job = try #require(try objects(result.outputLines).first)
        #expect(job["state"] as? String == "failed")
        #expect(job["errorCode"] as? String == "archive-changed")
        #expect(job["finishedAt"] != nil)
        let active = try await store.run("jobs")
        #expect(active.output.isEmpty)
        #expect(active.errors.contains("No active jobs. 3 failed; see them with `replayhost jobs --failed`."))
        #expect(try await store.run("jobs", "--all").output.contains("failed"))
        #expect(try await store.run("jobs", "dismiss", "2").output == "job 2: dismissed\n")
        #expect(
            try await store.run("jobs", "dismiss", "3", "4").outputLines == ["job 3: dismissed", "job 4: dismissed"])
        #expect(try await store.run("jobs").errors.contains("No active jobs.\n"))
        #expect(try await store.run("jobs", "dismiss", "2").code == 3)
    }

    @Test func fileOfAFailedJobIsNamedOnce() async throws {
        let store = try CommandStore()
        try store.folder.write(try contents(of: Checkout.fixture("damaged/truncated.wacz")), to: "truncated.wacz")
        #expect(try await store.run("import", "truncated.wacz").code == 4)
        let line = try #require(try await store.run("jobs", "--all").outputLines.last)
        #expect(line.ranges(of: "truncated.wacz").count == 1)
        #expect(line.contains("the file is incomplete: its ZIP directory is missing"))
        let retried = try await store.run("jobs", "retry", "1")
        #expect(retried.code == 0, "\(retried.errors)")
        let again = try #require(try await store.run("jobs", "run").outputLines.first)
        #expect(again.hasPrefix("job 1 (import truncated.wacz): failed (the file is incomplete"))
    }

    @Test func jobsOfUnavailableFilesStayWaiting() async throws {
        let (store, path) = try await withLinkedFile()
        try FileManager.default.removeItem(atPath: path)
        let result = try await store.run("jobs", "run")
        #expect(result.code == 0)
        #expect(result.errors.contains("not run: job 2 (hash a.wacz): waiting (its file is unavailable)"))
    }

    /// Creates a store with linked files that take long enough to hash to be observed.
    private func withLargeLinkedFiles() async throws -> CommandStore {
        let store = try CommandStore()
        for number in 1...5 {
            try GeneratedArchive(seed: UInt64(number)).write(
                withHole: 1 << 30, to: store.folder.path("large/\(number).wacz"))
        }
        let imported = try await store.run("import", "--link", "large")
        try #require(imported.code == 0, "\(imported.errors)")
        return store
    }

    /// Waits until a part of a file was hashed.
    private static func awaitProgress(_ store: CommandStore) throws {
        let jobs = try ArchiveStore(at: store.store).jobs
        try waitUntil {
            let left = try jobs.all(in: Job.State.allCases.filter { !$0.isOver }, limit: 99)
            try #require(!left.isEmpty, "all jobs ended before they could be observed")
            return left.contains { $0.kind == .hash && $0.state == .running && $0.done > 0 }
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func remainingJobsWaitAfterAnInterrupt(signal: Int32) async throws {
        let store = try await withLargeLinkedFiles()
        let result = try await store.start("jobs", "run") { program in
            try Self.awaitProgress(store)
            program.send(signal)
            return program.wait()
        }
        #expect(result.code == 130)
        #expect(!result.wasKilled)
        let left = try ArchiveStore(at: store.store).jobs.all(
            in: Job.State.allCases.filter { !$0.isOver }, limit: 99)
        #expect(!left.isEmpty)
        #expect(left.allSatisfy { $0.state == .waiting && [nil, "interrupted"].contains($0.reason) })
    }

    @Test(arguments: ["serve", "jobs"])
    func jobsOfAKilledProcessAreDoneByTheNext(program kind: String) async throws {
        let store = try await withLargeLinkedFiles()
        let killed = try await store.start(kind, kind == "jobs" ? "run" : "--port=0") { program in
            try Self.awaitProgress(store)
            program.send(SIGKILL)
            return program.wait()
        }
        #expect(killed.wasKilled)
        let jobs = try ArchiveStore(at: store.store).jobs
        let left = try jobs.all(in: Job.State.allCases.filter { !$0.isOver }, limit: 99)
        let job = try #require(
            left.first { $0.kind == .hash && $0.state == .running }, "a killed process can't change its job's state")
        // Hashing one file completely is enough.
        for other in left where other.id != job.id { _ = try jobs.change(other.id, .cancel) }
        let list = try objects(try await store.run("jobs", "--json").outputLines)
        #expect(list.map { $0["state"] as? String } == ["waiting"])
        #expect(
            list.first?["reason"] as? String
                == "interrupted: replayhost was killed or crashed; the job runs again, after all others")
        #expect(try await store.run("jobs", "run").code == 0)
        let done = try #require(try jobs.job(id: job.id))
        #expect(done.state == .done)
        #expect(done.attempt == 2)
        let id = try #require(done.archiveID)
        let hash = try #require(try ArchiveStore(at: store.store).archive(id: id)).sha256
        #expect(hash == (try await sha256ByOpenSSL(store.folder.path("large/\(job.subject)"))))
    }

    @Test func serverRunsWaitingJobs() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(), to: "a.wacz")
        try await store.start("serve", "--port", "0") { program in
            try #require(program.outputLine { $0.contains("http://localhost:") } != nil)
            let imported = try ProgramRun(
                Checkout.binary, ["import", "--link", "a.wacz"],
                environment: ["REPLAYHOST_STORE": store.store], folder: store.folder.path
            ).wait()
            #expect(imported.code == 0)
            #expect(!imported.errors.contains("jobs run"), "the server does it")
            let jobs = try ArchiveStore(at: store.store).jobs
            try program.waitUntil {
                try jobs.all(in: Job.State.allCases.filter { !$0.isOver }, limit: 9).isEmpty
            }
            program.send(SIGTERM)
            #expect(program.wait().code == 0)
        }
        #expect(try hashJob(store).state == .done)
        #expect(names(in: store.folder.path("store/incoming")).isEmpty)
    }

    @Test func killedImportIsRepeatedByTheNextRun() async throws {
        let store = try CommandStore()
        let path = store.folder.path("large.wacz")
        try GeneratedArchive().write(withHole: 512 << 20, to: path)
        let killed = try await store.start("import", "large.wacz", "--title", "Given") { program in
            let jobs = try ArchiveStore(at: store.store).jobs
            try program.waitUntil {
                try jobs.all(in: Job.State.allCases.filter { !$0.isOver }, limit: 9).contains { $0.done > 0 }
            }
            program.send(SIGKILL)
            return program.wait()
        }
        #expect(killed.wasKilled)
        let ran = try await store.run("jobs", "run")
        #expect(ran.code == 0)
        #expect(ran.output.contains("job 1 (import large.wacz): done"))
        // What it imported is indexed and verified by the same run.
        for kind in ["text", "verify"] { #expect(ran.output.contains("(\(kind) large.wacz): done"), "\(kind)") }
        let archives = try objects(try await store.run("list", "--json").outputLines)
        #expect(archives.map { $0["title"] as? String } == ["Given"])
        #expect(archives.first?["sha256"] as? String == (try await sha256ByOpenSSL(path)))
        #expect(names(in: store.folder.path("store/incoming")).isEmpty)
    }
}
