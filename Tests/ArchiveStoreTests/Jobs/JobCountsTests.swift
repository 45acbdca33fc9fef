import Foundation
import GRDB
import TestSupport
import Testing

@testable import ArchiveStore

/// Counts and changes of many jobs.
struct JobCountsTests {
    private func add(_ test: TestStore, _ kind: Job.Kind, _ state: Job.State, total: Int? = 10) throws -> Int64 {
        try test.store.catalog.writing { database in
            try database.execute(
                sql: """
                    INSERT INTO job (kind, subject, options, state, total, owner, createdAt, updatedAt)
                    VALUES (?, 'a.wacz', '{}', ?, ?, 'me', '2024-01-01T00:00:00.000000Z', '2024-01-01T00:00:00.000000Z')
                    """, arguments: [kind.rawValue, state.rawValue, total])
            return database.lastInsertedRowID
        }
    }

    private func counts(_ test: TestStore, _ kind: Job.Kind = .verify) throws -> [Int] {
        guard let found = try test.store.jobs.counts().first(where: { $0.kind == kind.rawValue }) else { return [] }
        return [found.waiting, found.running, found.paused, found.failed, found.done]
    }

    private func end(_ test: TestStore, _ id: Int64, _ end: JobEnd = .done(nil, bytes: nil)) throws {
        try test.store.jobs.end(id, owner: "me", end)
    }

    @Test func jobsAreCountedByKind() throws {
        let test = try TestStore()
        #expect(try test.store.jobs.counts().isEmpty)
        let running = try add(test, .verify, .running)
        _ = try add(test, .verify, .waiting)
        _ = try add(test, .verify, .paused)
        _ = try add(test, .text, .waiting, total: nil)
        #expect(try counts(test) == [1, 1, 1, 0, 0])
        #expect(try counts(test, .text) == [1, 0, 0, 0, 0])
        _ = try test.store.jobs.setProgress(of: running, owner: "me", done: 4)
        let verify = try #require(try test.store.jobs.counts().last)
        #expect((verify.bytesDone, verify.bytesTotal) == (4, 30))
        try end(test, running)
        let later = try #require(try test.store.jobs.counts().last)
        #expect((later.bytesDone, later.bytesTotal) == (10, 30))
        #expect(try counts(test) == [1, 0, 1, 0, 1])
    }

    /// Completed jobs count until all jobs of the kind are finished and another one is added.
    @Test func batchStartsWhenNoJobIsLeft() throws {
        let test = try TestStore()
        let first = try [add(test, .verify, .running), add(test, .verify, .running), add(test, .verify, .running)]
        try end(test, first[0])
        try end(test, first[1], .failed(reason: "no", code: "failed"))
        _ = try add(test, .text, .running)
        #expect(try counts(test) == [0, 1, 0, 1, 1])
        try end(test, first[2])
        #expect(try counts(test) == [0, 0, 0, 1, 2])
        let next = try add(test, .verify, .running)
        #expect(try counts(test) == [0, 1, 0, 1, 0])
        try end(test, next)
        _ = try test.store.catalog.writing {
            try $0.execute(sql: "UPDATE job SET options = '{\"key\":\"a\"}' WHERE id = ?", arguments: [first[1]])
        }
        _ = try test.store.jobs.change(first[1], .retry)
        #expect(try counts(test) == [1, 0, 0, 0, 0])
    }

    /// Only the last 1,000 completed jobs are kept.
    @Test func completedJobsCountAfterTheirRowsAreDeleted() throws {
        let test = try TestStore()
        let last = try add(test, .verify, .running)
        try test.store.catalog.writing { database in
            for _ in 0..<1_200 {
                try database.execute(
                    sql: """
                        INSERT INTO job (kind, subject, options, state, owner, createdAt, updatedAt)
                        VALUES ('verify', 'a', '{}', 'running', 'me', '2024-01-01T00:00:00Z', '2024-01-01T00:00:00Z')
                        """)
            }
            try database.execute(
                sql: "UPDATE job SET state = 'done', finishedAt = '2024-01-01T00:00:00.000000Z' WHERE id != ?",
                arguments: [last])
        }
        try end(test, try add(test, .text, .running))
        #expect(try test.store.jobs.all(in: [.done], limit: 9_999).count == Jobs.finishedMax)
        #expect(try counts(test) == [0, 1, 0, 0, 1_200])
    }

    @Test func allJobsOfAKindAreChanged() throws {
        let test = try TestStore()
        let running = try add(test, .verify, .running)
        _ = try add(test, .verify, .waiting)
        _ = try add(test, .text, .waiting)
        #expect(try test.store.jobs.changeAll(.pause, kind: .verify) == 2)
        #expect(try counts(test) == [0, 0, 2, 0, 0])
        #expect(try counts(test, .text) == [1, 0, 0, 0, 0])
        #expect(try test.store.jobs.setProgress(of: running, owner: "me", done: 1) == false, "its runner stops")
        #expect(try test.store.jobs.job(id: running)?.reason == "paused by user")
        #expect(try test.store.jobs.changeAll(.resume) == 2)
        #expect(try counts(test) == [2, 0, 0, 0, 0])
        #expect(try test.store.jobs.changeAll(.cancel) == 3)
        #expect(try test.store.jobs.all(in: [.cancelled], limit: 9).allSatisfy { $0.finishedAt != nil })
        #expect(try test.store.jobs.changeAll(.cancel) == 0)
    }

    /// As for a single job: an upload can be cancelled only.
    @Test func uploadsAreNotPaused() throws {
        let test = try TestStore()
        let upload = try test.store.jobs.addImport(ImportOrder(path: nil), subject: "a", total: 1, owner: "me")
        let file = try test.store.jobs.addImport(ImportOrder(path: "/a"), subject: "a", total: 1, owner: "me")
        #expect(try test.store.jobs.changeAll(.pause) == 1)
        #expect(try test.store.jobs.job(id: upload)?.state == .running)
        #expect(try test.store.jobs.job(id: file)?.state == .paused)
        #expect(try test.store.jobs.changeAll(.cancel, kind: .import) == 2)
        #expect(try test.store.jobs.job(id: upload)?.reason == "nothing was added")
    }

    @Test func finishedJobsAreDeletedByState() throws {
        let test = try TestStore()
        for kind in [Job.Kind.verify, .verify, .text] {
            try end(test, try add(test, kind, .running), .failed(reason: "no", code: "failed"))
        }
        try end(test, try add(test, .verify, .running))
        #expect(throws: StoreError.self) { try test.store.jobs.forgetAll(in: .running) }
        #expect(try test.store.jobs.forgetAll(in: .failed, kind: .verify) == 2)
        #expect(try test.store.jobs.forgetAll(in: .failed) == 1)
        #expect(try test.store.jobs.all(in: nil, limit: 9).map(\.state) == [.done])
    }
}
