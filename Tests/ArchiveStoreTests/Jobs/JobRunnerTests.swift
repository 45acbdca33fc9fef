import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// Jobs that are run: hashing of linked files.
struct JobRunnerTests {
    @Test func hashesLinkedFile() async throws {
        let test = try TestStore()
        let (path, archive) = try test.makeLinkedArchive("a", payload: 3 << 20)
        #expect(archive.sha256 == nil)
        let seen = Mutex<[UInt64]>([])
        let job = try #require(
            try JobRunner(test.store).runNext(progress: { _, done in seen.withLock { $0.append(done) } }))
        let hash = try await sha256ByOpenSSL(path)
        #expect(try test.store.resolver.archive(matching: "a").sha256 == hash)
        #expect(job.state == .done)
        #expect([job.done, job.total] == [archive.size, archive.size])
        #expect(job.attempt == 1)
        #expect(job.archiveID == archive.id)
        #expect(job.finishedAt != nil)
        let reports = seen.withLock { $0 }
        #expect(reports == reports.sorted())
        #expect(reports.count >= 4)
        #expect(try JobRunner(test.store).runNext() == nil)
        #expect(names(in: test.layout.incoming) == [], "the runner is gone, and its file with it")
    }

    /// Calls `body` once, when more than half a mebibyte has been read.
    private func run(
        _ runner: JobRunner, onceInside body: () throws -> Void
    ) throws -> (job: Job?, begins: [UInt64]) {
        var calls = 0
        var failure: (any Error)?
        var begins: [UInt64] = []
        // Saves progress with every call, instead of a few times a second.
        let job = try JobRate.$interval.withValue(.zero) {
            try runner.runNext {
                calls += 1
                // The first call is before the job, the second before the first chunk.
                if calls == 3 {
                    do { try body() } catch { failure = error }
                }
                return nil
            } progress: { _, done in
                begins.append(done)
            }
        }
        if let failure { throw failure }
        return (job, begins)
    }

    @Test func pausedHashingResumesWhereItStopped() async throws {
        let test = try TestStore()
        let (path, _) = try test.makeLinkedArchive("a", payload: 4 << 20)
        let runner = JobRunner(test.store)
        let other = try test.reopened()
        let id = try test.job().id
        let (paused, _) = try run(runner) { _ = try other.jobs.change(id, .pause) }
        #expect(paused?.state == .paused)
        #expect(try test.store.resolver.archive(matching: "a").sha256 == nil)
        #expect(try runner.runNext() == nil, "a paused job is not run")
        _ = try other.jobs.change(id, .resume)
        let (done, begins) = try run(runner) {}
        #expect(done?.state == .done)
        #expect(done?.attempt == 2)
        #expect(try #require(begins.min()) >= 1 << 20, "what was read is not read again")
        #expect(try test.store.resolver.archive(matching: "a").sha256 == (try await sha256ByOpenSSL(path)))
    }

    @Test func cancelledJobIsNotFinished() throws {
        let test = try TestStore()
        _ = try test.makeLinkedArchive("a", payload: 4 << 20)
        let other = try test.reopened()
        let id = try test.job().id
        let (job, _) = try run(JobRunner(test.store)) { _ = try other.jobs.change(id, .cancel) }
        #expect(job?.state == .cancelled)
        #expect(try test.store.resolver.archive(matching: "a").sha256 == nil)
        #expect(try test.runAll().isEmpty)
        _ = try other.jobs.change(id, .retry)
        #expect(try test.runAll().map(\.state) == [.done])
    }

    @Test func stoppedProcessRequeuesJob() async throws {
        let test = try TestStore()
        let (path, _) = try test.makeLinkedArchive("a", payload: 3 << 20)
        var calls = 0
        let job = try JobRunner(test.store).runNext(stop: {
            calls += 1
            return calls > 3 ? "the server stopped" : nil
        })
        #expect(job?.state == .waiting)
        #expect(job?.reason == "the server stopped")
        #expect(try JobRunner(test.store).runNext(stop: { "the server stopped" }) == nil, "no job is started then")
        #expect(try test.runAll().map(\.state) == [.done])
        #expect(try test.store.resolver.archive(matching: "a").sha256 == (try await sha256ByOpenSSL(path)))
    }

    @Test func unavailableFileIsHashedWhenItReturns() async throws {
        let test = try TestStore()
        let (path, _) = try test.makeLinkedArchive("a")
        let (_, other) = try test.makeLinkedArchive("b", seed: 2)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        let runner = JobRunner(test.store)
        #expect(try test.runAll(runner).map(\.archiveID) == [other.id], "others do not wait for it")
        let job = try test.jobs()[0]
        #expect(job.state == .waiting)
        #expect(job.reason == "its file is unavailable")
        #expect(job.attempt == 0)
        // A folder at the path isn't the file.
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(try test.runAll(runner).isEmpty)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        #expect(try test.runAll(runner).map(\.state) == [.done])
        #expect(try test.jobs()[0].attempt == 1)
        #expect(try test.jobs()[0].reason == nil)
        #expect(try test.store.resolver.archive(matching: "a").sha256 == (try await sha256ByOpenSSL(path)))
    }

    @Test func jobWaitsIfDriveDisappearsWhileReading() async throws {
        let test = try TestStore()
        let (path, _) = try test.makeLinkedArchive("a", payload: 3 << 20)
        let runner = JobRunner(test.store)
        // The open file is read to its end. Only then is it noticed that it is gone.
        let (job, _) = try run(runner) { try FileManager.default.moveItem(atPath: path, toPath: path + ".away") }
        #expect(job?.state == .waiting)
        #expect(job?.reason == "its file is unavailable")
        #expect(job?.attempt == 0)
        #expect(try test.store.resolver.archive(matching: "a").sha256 == nil)
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        #expect(try test.runAll(runner).map(\.state) == [.done])
        #expect(try test.store.resolver.archive(matching: "a").sha256 == (try await sha256ByOpenSSL(path)))
    }

    @Test func changedFileFailsJob() throws {
        let test = try TestStore()
        let (path, _) = try test.makeLinkedArchive("a", payload: 3 << 20)
        let (job, _) = try run(JobRunner(test.store)) {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try file.seekToEnd()
            try file.write(contentsOf: Data([0]))
        }
        #expect(job?.state == .failed)
        #expect(job?.errorCode == "archive-changed")
        #expect(job?.reason?.contains("has changed since you added it") == true)
        #expect(job?.reason?.contains(test.folder.path) == false, "no folders are named")
        #expect(try test.store.resolver.archive(matching: "a").sha256 == nil)
    }

    @Test func fileUpdatedMeanwhileIsHashedAgain() async throws {
        let test = try TestStore()
        let (path, _) = try test.makeLinkedArchive("a", payload: 3 << 20)
        let other = try test.reopened()
        let runner = JobRunner(test.store)
        let (job, _) = try run(runner) {
            try Data(GeneratedArchive(seed: 9).bytes()).write(to: URL(fileURLWithPath: path))
            _ = try other.importLink(to: path)
        }
        #expect(job?.state == .waiting)
        #expect(try test.runAll(runner).map(\.state) == [.done])
        #expect(try test.store.resolver.archive(matching: "a").sha256 == (try await sha256ByOpenSSL(path)))
        #expect(try test.jobs().allSatisfy { $0.state == .done })
    }

    @Test func removedArchiveIsNotHashed() throws {
        let test = try TestStore()
        let (_, archive) = try test.makeLinkedArchive("a")
        try test.store.remove(archive.id)
        let job = try #require(try test.runAll().first)
        #expect(job.state == .cancelled)
        #expect(job.reason?.contains("the archive was removed") == true)
    }

    @Test func jobsOfDeadProcessAreRepeated() async throws {
        let test = try TestStore()
        let (path, _) = try test.makeLinkedArchive("a")
        _ = try test.store.jobs.claim(try test.job().id, owner: deadOwner())
        let job = try #require(try test.runAll().first)
        #expect(job.state == .done)
        #expect(job.attempt == 2)
        #expect(try test.store.resolver.archive(matching: "a").sha256 == (try await sha256ByOpenSSL(path)))
    }

    @Test func runnersNeverRunJobTwice() async throws {
        let test = try TestStore()
        for number in 1...30 { _ = try test.makeLinkedArchive("\(number)", seed: UInt64(number)) }
        let runners = [JobRunner(test.store), JobRunner(try test.reopened()), JobRunner(try test.reopened())]
        let ran = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for runner in runners {
                group.addTask {
                    try await onThread {
                        var ids: [Int64] = []
                        while let job = try runner.runNext() { ids.append(job.id) }
                        return ids
                    }
                }
            }
            return try await group.reduce(into: [Int64]()) { $0 += $1 }
        }
        let jobs = try test.jobs()
        #expect(ran.sorted() == jobs.map(\.id))
        #expect(jobs.allSatisfy { $0.state == .done && $0.attempt == 1 })
        #expect(try test.store.catalog.allArchives().allSatisfy { $0.sha256 != nil })
    }

    /// A catalog that refuses to be written.
    @Test func jobIsRepeatedAfterCatalogError() throws {
        let test = try TestStore()
        _ = try test.makeLinkedArchive("a")
        let runner = JobRunner(test.store)
        try test.store.catalog.writing {
            try $0.execute(
                sql: """
                    CREATE TRIGGER refusing BEFORE UPDATE ON job WHEN NEW.state = 'done' BEGIN
                        SELECT RAISE(ABORT, 'refused');
                    END
                    """)
        }
        #expect(throws: StoreError.self) { try runner.runNext() }
        #expect(try test.job().state == .running)
        try test.store.catalog.writing { try $0.execute(sql: "DROP TRIGGER refusing") }
        #expect(try test.runAll(runner).map(\.state) == [.done])
    }
}
