import Foundation
import GRDB
import TestSupport
import Testing

@testable import ArchiveStore

/// Actions on jobs in each state (docs/json.md, "Job"), and jobs of dead processes.
struct JobStatesTests {
    /// The resulting states. Missing combinations aren't possible.
    private static let following: [JobChange: [Job.State: Job.State]] = [
        .pause: [.waiting: .paused, .running: .paused],
        .resume: [.paused: .waiting],
        .cancel: [.waiting: .cancelled, .running: .cancelled, .paused: .cancelled],
        .retry: [.failed: .waiting, .cancelled: .waiting],
    ]

    @Test(arguments: JobChange.allCases, Job.State.allCases)
    func onlyValidStateChangesArePossible(_ change: JobChange, in state: Job.State) throws {
        let test = try TestStore()
        _ = try test.makeLinkedArchive("a")
        let id = try test.job().id
        try test.set(id, to: state)
        let expected = Self.following[change]?[state]
        do {
            let changed = try test.store.jobs.change(id, change)
            #expect(changed.state == expected)
            #expect((changed.finishedAt != nil) == changed.state.isOver)
        } catch let error as StoreError {
            #expect(expected == nil)
            #expect(error.code == .notPossible)
            #expect(error.what.contains("job \(id): it is \(state == .waiting ? "queued" : state.rawValue)"))
        }
        #expect(try test.job().state == expected ?? state)
    }

    @Test func unknownJobIsNotFound() throws {
        let test = try TestStore()
        for change in JobChange.allCases {
            #expect(code { _ = try test.store.jobs.change(7, change) } == .notFound)
        }
    }

    @Test func onlyOneOwnerClaimsJob() throws {
        let test = try TestStore()
        _ = try test.makeLinkedArchive("a")
        let id = try test.job().id
        let claimed = try test.store.jobs.claim(id, owner: "one")
        #expect(claimed?.state == .running)
        #expect(claimed?.attempt == 1)
        #expect(claimed?.startedAt != nil)
        #expect(try test.reopened().jobs.claim(id, owner: "two") == nil)
        #expect(try test.store.jobs.setProgress(of: id, owner: "two", done: 5) == false)
        #expect(try test.store.jobs.setProgress(of: id, owner: "one", done: 5))
        #expect(try test.job().done == 5)
    }

    @Test(arguments: [JobChange.pause, .cancel])
    func ownerNoticesStoppedJob(_ change: JobChange) throws {
        let test = try TestStore()
        _ = try test.makeLinkedArchive("a")
        let id = try test.job().id
        _ = try test.store.jobs.claim(id, owner: "one")
        let changed = try test.reopened().jobs.change(id, change)
        #expect(changed.reason?.contains(change == .pause ? "paused" : "cancelled") == true)
        #expect(try test.store.jobs.setProgress(of: id, owner: "one", done: 5) == false)
        // A stopped job's failure isn't recorded, but its completion is.
        try test.store.jobs.end(id, owner: "one", .failed(reason: "x", code: "failed"))
        try test.store.jobs.end(id, owner: "one", .waiting(reason: "x"))
        #expect(try test.job() == changed)
        try test.store.jobs.end(id, owner: "one", .done(nil, bytes: nil))
        #expect(try test.job().state == .done)
    }

    @Test func onlyOwnerCanEndJob() throws {
        let test = try TestStore()
        _ = try test.makeLinkedArchive("a")
        let id = try test.job().id
        _ = try test.store.jobs.claim(id, owner: "one")
        try test.store.jobs.end(id, owner: "two", .done(nil, bytes: nil))
        #expect(try test.job().state == .running)
    }

    @Test func retryStartsOver() throws {
        let test = try TestStore()
        _ = try test.makeLinkedArchive("a")
        let id = try test.job().id
        _ = try test.store.jobs.claim(id, owner: "one")
        _ = try test.store.jobs.setProgress(of: id, owner: "one", done: 5)
        try test.store.jobs.end(id, owner: "one", .failed(reason: "the disk failed", code: "failed"))
        let failed = try test.job()
        #expect([failed.reason, failed.errorCode] == ["the disk failed", "failed"])
        let again = try test.store.jobs.change(id, .retry)
        #expect([again.reason, again.errorCode] == [nil, nil])
        #expect(again.done == 0)
        #expect(again.finishedAt == nil)
        #expect(try test.store.jobs.claim(id, owner: "two")?.attempt == 2)
    }

    @Test func jobOfDeadProcessIsRequeuedAndFailsAfterTwoCrashes() throws {
        let test = try TestStore()
        _ = try test.makeLinkedArchive("a")
        let id = try test.job().id
        for crash in 1...2 {
            _ = try test.store.jobs.claim(id, owner: deadOwner(), done: 9)
            #expect(try test.store.jobs.requeueOrphaned() == 1)
            let job = try test.job()
            #expect(job.state == (crash < 2 ? .waiting : .failed))
            #expect(job.reason?.hasPrefix("interrupted: replayhost was killed or crashed") == true)
            #expect(job.done == 0)
            #expect(job.attempt == crash)
        }
        #expect(try test.job().errorCode == "interrupted")
        #expect(try test.job().finishedAt != nil)
        #expect(try test.store.jobs.requeueOrphaned() == 0)
        // A retry is for one run.
        _ = try test.store.jobs.change(id, .retry)
        _ = try test.store.jobs.claim(id, owner: deadOwner())
        try test.store.jobs.requeueOrphaned()
        #expect(try test.job().state == .failed)
    }

    @Test func jobOfDeadProcessRunsAloneAfterAllOthers() throws {
        let test = try TestStore()
        for name in ["a", "b", "c"] { _ = try test.makeLinkedArchive(name) }
        let jobs = test.store.jobs
        let ids = try jobs.all(in: nil, limit: 9).map(\.id).sorted()
        _ = try jobs.claim(ids[0], owner: deadOwner())
        try jobs.requeueOrphaned()
        #expect(try jobs.waiting([.hash], limit: 9).map(\.id) == [ids[1], ids[2], ids[0]])
        #expect(try jobs.claim(ids[0], owner: "one") == nil, "others wait")
        _ = try jobs.claim(ids[1], owner: "one")
        _ = try jobs.claim(ids[2], owner: "two")
        #expect(try jobs.claim(ids[0], owner: "three") == nil, "others run")
        for (id, owner) in [(ids[1], "one"), (ids[2], "two")] {
            try jobs.end(id, owner: owner, .waiting(reason: JobRunner.fileUnavailable))
        }
        #expect(try jobs.claim(ids[0], owner: "three") != nil, "nothing else can run")
        #expect(try jobs.claim(ids[1], owner: "one") == nil, "it runs alone")
        try jobs.end(ids[0], owner: "three", .done(nil, bytes: nil))
        #expect(try jobs.claim(ids[1], owner: "one") != nil)
    }

    @Test func failedJobsStayUntilTheyAreDismissed() throws {
        let test = try TestStore()
        let archive = try test.makeLinkedArchive("a").archive
        let crashed = try test.job().id
        for _ in 1...2 {
            _ = try test.store.jobs.claim(crashed, owner: deadOwner())
            try test.store.jobs.requeueOrphaned()
        }
        let refused = try test.store.jobs.addImport(ImportOrder(path: "/a"), subject: "a", total: 1, owner: "one")
        try test.store.jobs.end(refused, owner: "one", .failed(reason: "not a WACZ", code: "archive-refused"))
        try test.store.catalog.writing { database in
            for _ in 0..<(Jobs.finishedMax + 5) {
                try database.execute(
                    sql: """
                        INSERT INTO job (kind, subject, options, state, createdAt, updatedAt, finishedAt)
                        VALUES ('verify', 'x', '{}', 'done', '2030', '2030', '2030')
                        """)
            }
        }
        try test.store.jobs.queueHashing(of: archive)
        let other = try #require(try test.store.jobs.all(in: [.waiting], limit: 1).first)
        _ = try test.store.jobs.claim(other.id, owner: "one")
        try test.store.jobs.end(other.id, owner: "one", .done(nil, bytes: nil))
        #expect(try test.store.jobs.job(id: other.id) == nil, "it's the oldest of too many")
        #expect(try test.store.jobs.all(in: [.failed], limit: 9).map(\.id) == [refused, crashed])
        try test.store.jobs.forget(refused)
        #expect(try test.store.jobs.all(in: [.failed], limit: 9).map(\.id) == [crashed])
    }

    /// The archive keeps what ended, not the job: jobs are dismissed, and finished ones make room for others.
    @Test(arguments: [Job.Kind.text, .verify], [Job.State.failed, .cancelled])
    func endedWorkIsNotQueuedAgain(_ kind: Job.Kind, _ end: Job.State) throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        func queued() throws -> Job? {
            try test.store.jobs.queueTexts()
            try test.store.jobs.queueVerifications()
            return try test.store.jobs.all(in: [.waiting], limit: 9).first { $0.kind == kind }
        }
        let job = try #require(try queued())
        if end == .cancelled {
            _ = try test.store.jobs.change(job.id, .cancel)
        } else {
            _ = try test.store.jobs.claim(job.id, owner: "one")
            try test.store.jobs.end(job.id, owner: "one", .failed(reason: "unreadable", code: "failed"))
        }
        #expect(try queued() == nil)
        try test.store.jobs.forget(job.id)
        #expect(try queued() == nil)
        #expect(try test.reopened().archive(id: archive.id) != nil)
        #expect(try queued() == nil)
        try test.store.remove(archive.id)
        _ = try test.store.importFile(at: test.file("a.wacz"))
        #expect(try queued() != nil, "the archive was added again")
    }

    @Test func retriedWorkIsNotEnded() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        try test.store.jobs.queueVerifications()
        let job = try #require(try test.store.jobs.all(in: [.waiting], limit: 1).first)
        _ = try test.store.jobs.change(job.id, .cancel)
        _ = try test.store.jobs.change(job.id, .retry)
        try test.runAll()
        #expect(try test.store.archive(id: archive.id)?.verified != nil)
        try test.store.jobs.queueVerifications(olderThan: .distantFuture)
        #expect(try test.store.jobs.all(in: [.waiting], limit: 1).first?.kind == .verify)
    }

    /// Hourly audits of two days, of which each archive is due once a day.
    @Test func auditsQueueWhatFailedOnlyOnce() throws {
        let test = try TestStore()
        for number in 1...3 {
            _ = try test.store.importFile(at: test.file("\(number).wacz", seed: UInt64(number)))
        }
        try test.store.jobs.queueVerifications()
        let jobs = try test.store.jobs.all(in: [.waiting], limit: 9)
        _ = try test.store.jobs.claim(jobs[0].id, owner: "one")
        try test.store.jobs.end(jobs[0].id, owner: "one", .failed(reason: "unreadable", code: "failed"))
        _ = try test.store.jobs.change(jobs[1].id, .cancel)
        try test.runAll()
        var queued: [Int: [String?]] = [:]
        for hour in 0..<48 {
            try test.store.jobs.queueVerifications(olderThan: Date(timeIntervalSinceNow: Double(hour - 24) * 3600))
            for job in try test.store.jobs.all(in: [.waiting], limit: 9) {
                queued[hour, default: []].append(job.archiveID?.text)
                try test.store.jobs.forget(test.store.jobs.change(job.id, .cancel).id)
                // As if it had been cancelled at that hour.
                try test.store.catalog.writing { database in
                    try database.execute(
                        sql:
                            "UPDATE endedWork SET endedAt = ? WHERE archiveKey IN (SELECT key FROM archive WHERE id = ?)",
                        arguments: [
                            RFC3339.preciseText(of: Date(timeIntervalSinceNow: Double(hour) * 3600 + 60)),
                            job.archiveID?.text,
                        ])
                }
            }
        }
        #expect(queued.keys.sorted() == [24], "not before they are due, and not every hour after that")
        #expect(queued[24]?.count == 2 && queued[24]?.contains(jobs[0].archiveID?.text) == false)
    }

    @Test func orderlyStopResetsCrashCount() throws {
        let test = try TestStore()
        _ = try test.makeLinkedArchive("a")
        let id = try test.job().id
        for _ in 0..<5 {
            _ = try test.store.jobs.claim(id, owner: deadOwner())
            try test.store.jobs.requeueOrphaned()
            _ = try test.store.jobs.claim(id, owner: "one")
            try test.store.jobs.end(id, owner: "one", .waiting(reason: "the server stopped"))
        }
        #expect(try test.job().state == .waiting)
    }

    @Test func jobOfLivingProcessIsNotRequeued() throws {
        let test = try TestStore()
        _ = try test.makeLinkedArchive("a")
        var owner: JobOwner? = try JobOwner(layout: test.layout)
        let name = try #require(owner?.name)
        #expect(names(in: test.layout.incoming) == ["runner-\(name)"])
        _ = try test.store.jobs.claim(try test.job().id, owner: name)
        #expect(try test.reopened().jobs.requeueOrphaned() == 0)
        #expect(try test.store.repair() == RepairReport())
        #expect(names(in: test.layout.incoming) == ["runner-\(name)"], "sweeping leaves it alone")
        owner = nil
        #expect(names(in: test.layout.incoming) == [])
        #expect(try test.reopened().jobs.requeueOrphaned() == 1)
        withExtendedLifetime(owner) {}
    }

    @Test func leftoversOfDeadProcessAreDeleted() throws {
        let test = try TestStore()
        try test.folder.write("", to: "store/incoming/runner-\(deadOwner())")
        try test.store.repair()
        #expect(names(in: test.layout.incoming) == [])
    }

    @Test func interruptedUploadFails() throws {
        let test = try TestStore()
        let jobs = test.store.jobs
        let id = try jobs.addImport(ImportOrder(path: nil), subject: "a.wacz", total: 5, owner: deadOwner())
        #expect(code { _ = try jobs.change(id, .pause) } == .notPossible)
        try test.store.jobs.requeueOrphaned()
        let job = try test.job()
        #expect(job.state == .failed)
        #expect(job.reason?.contains("add the file again") == true)
        #expect(code { _ = try jobs.change(id, .retry) } == .notPossible)
    }

    @Test func keepsLastThousandCompletedJobs() throws {
        let test = try TestStore()
        let jobs = test.store.jobs
        let kept = try jobs.addImport(ImportOrder(path: "/a"), subject: "waits", total: 1, owner: "one")
        try test.store.catalog.writing { database in
            for number in 1...1005 {
                try database.execute(
                    sql: """
                        INSERT INTO job (kind, subject, options, state, createdAt, updatedAt, finishedAt)
                        VALUES ('import', ?, '{}', 'done', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', ?)
                        """, arguments: ["\(number)", String(format: "2026-01-01T00:00:00.%06dZ", number)])
            }
        }
        let last = try jobs.addImport(ImportOrder(path: "/b"), subject: "last", total: 1, owner: "one")
        try jobs.end(last, owner: "one", .done(nil, bytes: nil))
        let all = try test.jobs()
        #expect(all.count == 1001)
        #expect(all.first?.id == kept)
        #expect(all[1].subject == "7", "the first six are forgotten: 1005 and the last one make six too many")
        #expect(all.last?.id == last)
    }

    @Test func changedJobsAreFoundByRevision() throws {
        let test = try TestStore()
        let jobs = test.store.jobs
        let one = try jobs.addImport(ImportOrder(path: "/a"), subject: "1", total: 1, owner: "one")
        let two = try jobs.addImport(ImportOrder(path: "/b"), subject: "2", total: 1, owner: "one")
        let before = try test.store.revision()
        #expect(try jobs.changed(after: before.jobs, limit: 9).isEmpty)
        _ = try jobs.setProgress(of: two, owner: "one", done: 1)
        try jobs.end(one, owner: "one", .cancelled(reason: "interrupted"))
        #expect(try jobs.changed(after: before.jobs, limit: 9).map(\.id) == [two, one])
        #expect(try jobs.changed(after: before.jobs, limit: 1).map(\.id) == [two])
        let after = try test.store.revision()
        #expect(after.jobs > before.jobs)
        #expect(after.archives == before.archives)
        #expect(try test.reopened().jobs.changed(after: after.jobs, limit: 9).isEmpty)
    }

    @Test func listShowsRunningJobsThenFailedThenNewest() throws {
        let test = try TestStore()
        for number in 1...4 { _ = try test.makeLinkedArchive("\(number)", seed: UInt64(number)) }
        let ids = try test.jobs().map(\.id)
        try test.set(ids[1], to: .running, owner: "one")
        try test.set(ids[3], to: .done)
        let jobs = test.store.jobs
        #expect(
            try jobs.all(in: nil, limit: 10).map(\.id) == [ids[1], ids[3], ids[2], ids[0]])
        #expect(try jobs.all(in: [.waiting, .running], limit: 10).map(\.id) == [ids[1], ids[2], ids[0]])
        #expect(try jobs.all(in: nil, limit: 2).map(\.id) == [ids[1], ids[3]])
        try test.set(ids[0], to: .failed)
        #expect(try jobs.all(in: nil, limit: 10).map(\.id) == [ids[1], ids[0], ids[3], ids[2]])
    }

    @Test func onlyFinishedJobsCanBeDeleted() throws {
        let test = try TestStore()
        for number in 1...3 { _ = try test.makeLinkedArchive("\(number)", seed: UInt64(number)) }
        let ids = try test.jobs().map(\.id)
        let jobs = test.store.jobs
        try test.set(ids[2], to: .failed)
        try jobs.forget(ids[2])
        #expect(try test.jobs().map(\.id) == [ids[0], ids[1]])
        for (id, code) in [(ids[0], StoreError.Code.notPossible), (ids[2], .notFound)] {
            #expect { try jobs.forget(id) } throws: { ($0 as? StoreError)?.code == code }
        }
        // The id isn't reused.
        _ = try test.makeLinkedArchive("4", seed: 4)
        #expect(try test.jobs().map(\.id) == [ids[0], ids[1], ids[2] + 1])
    }
}
