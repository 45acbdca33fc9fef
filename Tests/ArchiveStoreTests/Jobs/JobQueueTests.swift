import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Queues of thousands of jobs. SQLite counts what its statements read.
struct JobQueueTests {
    private static let count = 3000

    /// A store with the rows of many archives, without their files.
    private func makeStore() throws -> TestStore {
        let test = try TestStore()
        _ = try test.store.importFile(at: test.file("a.wacz"))
        try test.store.catalog.writing { database in
            let columns = try database.columns(in: "archive").map(\.name)
            let values = columns.map { column in
                switch column {
                case "key", "sha256": "printf('%064x', number)"
                case "id": "'a' || number"
                default: column
                }
            }
            try database.execute(
                sql: """
                    WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT ?)
                    INSERT INTO archive (\(columns.joined(separator: ", ")))
                    SELECT \(values.joined(separator: ", ")) FROM numbers JOIN archive
                    """, arguments: [Self.count - 1])
        }
        try test.store.catalog.noteMainPages()
        return test
    }

    @Test func eachArchiveGetsOneJobOfEachKind() throws {
        let test = try makeStore()
        for _ in 1...2 {
            try test.store.jobs.queueTexts()
            try test.store.jobs.queueVerifications()
            try test.store.jobs.queueVerifications(olderThan: .distantFuture)
        }
        let counts = try test.store.jobs.counts()
        #expect(counts.map(\.kind) == ["text", "verify"])
        #expect(counts.map(\.waiting) == [Self.count, Self.count])
        let size = try #require(try test.store.catalog.allArchives().first?.size)
        #expect(counts.map(\.bytesTotal) == [0, Int64(size) * Int64(Self.count)])
    }

    /// An archive's jobs are found by the archive, and the next job by its turn: their number doesn't matter.
    @Test func queueIsNotReadJobByJob() throws {
        let test = try makeStore()
        let (jobs, catalog) = (test.store.jobs, test.store.catalog)
        var statements: [String] = []
        try catalog.writing { database in
            // Statements of triggers are comments.
            database.trace { if !"\($0)".hasPrefix("--") { statements.append("\($0)") } }
        }
        try jobs.queueTexts()
        try jobs.queueVerifications()
        try catalog.writing { $0.trace() }
        #expect(statements.count < 40, "\(statements.count) statements for \(Self.count) archives")
        let all = Set(Job.Kind.allCases)
        for statement in [
            Jobs.waitingSQL, statements.first { $0.hasPrefix("INSERT INTO job") && $0.contains("'verify'") } ?? "",
        ] {
            let plan = try catalog.reading { database in
                try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(statement)", arguments: arguments(of: statement))
                    .map { $0["detail"] as String }
            }
            #expect(!plan.isEmpty)
            #expect(!plan.contains { $0.hasPrefix("SCAN job") || $0.hasPrefix("SCAN active") }, "\(plan)")
        }
        let first = try jobs.waiting(all, limit: 3)
        #expect(first.map(\.kind) == ["text", "text", "text"])
        #expect(try jobs.waiting([.verify], limit: 1).map(\.id) == [first[0].id + Int64(Self.count)])
        #expect(try jobs.waiting([.hash, .import], limit: 1).isEmpty)
    }

    private func arguments(of statement: String) -> StatementArguments {
        statement.contains(":turn")
            ? ["turn": 0, "kind": "text", "after": 0, "limit": 9] : ["kind": "verify", "now": ""]
    }

    @Test func countsReadNoRows() throws {
        let test = try makeStore()
        try test.store.jobs.queueVerifications()
        let plan = try test.store.catalog.reading { database in
            try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(Jobs.countsSQL)").map { $0["detail"] as String }
        }
        #expect(plan.filter { $0.contains(" job ") }.allSatisfy { $0.contains("USING COVERING INDEX") }, "\(plan)")
        #expect(!plan.contains { $0.contains("TEMP B-TREE") })
        #expect(try test.store.jobs.counts().map(\.waiting) == [Self.count])
    }

    /// The jobs of files that are unavailable don't stand before the others.
    @Test func unavailableFilesAreAskedForLast() throws {
        let test = try TestStore()
        let away = try test.makeLinkedArchive("a", seed: 1)
        _ = try test.makeLinkedArchive("b", seed: 2)
        try FileManager.default.removeItem(atPath: away.path)
        let runner = JobRunner(try test.reopened(), kinds: [.hash])
        #expect(try runner.runNext()?.subject == "b.wacz")
        let third = try test.makeLinkedArchive("c", seed: 3)
        #expect(try test.store.jobs.waiting([.hash], limit: 9).map(\.turn) == [0, 1])
        #expect(try runner.runNext()?.archiveID == third.archive.id)
        #expect(try runner.runNext() == nil)
        #expect(try test.store.jobs.all(in: [.waiting], limit: 9).map(\.reason) == [JobRunner.fileUnavailable])
    }

    @Test func listsHaveTheNewestJobsOfEachState() throws {
        let test = try makeStore()
        let jobs = test.store.jobs
        try jobs.queueTexts()
        try jobs.queueVerifications()
        let ids = try jobs.waiting([.text], limit: 3).map(\.id)
        _ = try jobs.claim(ids[0], owner: "one")
        _ = try jobs.claim(ids[1], owner: "one")
        try jobs.end(ids[1], owner: "one", .failed(reason: "unreadable", code: "failed"))
        _ = try jobs.change(ids[2], .pause)
        let newest = ids[0] + 2 * Int64(Self.count) - 1
        #expect(try jobs.all(in: nil, limit: 4).map(\.id) == [ids[0], ids[1], newest, newest - 1])
        #expect(try jobs.all(in: [.paused, .failed], limit: 9).map(\.id) == [ids[1], ids[2]])
        #expect(try jobs.all(in: [.waiting, .waiting], except: ["verify"], limit: 1).map(\.kind) == [.text])
        #expect(try jobs.all(in: [], limit: 9).isEmpty)
        #expect(try jobs.all(in: nil, except: Job.Kind.allCases.map(\.rawValue), limit: 9).isEmpty)
    }

    /// A finished job changes what is known of its archive. That isn't a reason to look at all others.
    @Test func onlyNewArchivesAreAReasonToQueue() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        try test.store.jobs.queueVerifications()
        let before = try test.store.jobs.queueState()
        try test.runAll()
        #expect(try test.store.archive(id: archive.id)?.verified != nil)
        #expect(try test.store.jobs.queueState() == before)
        _ = try test.store.importFile(at: test.file("b.wacz", seed: 2))
        let added = try test.store.jobs.queueState()
        #expect(added != before)
        try test.store.resetSearch(because: "a test")
        #expect(try test.store.jobs.queueState() != added)
        try test.store.jobs.queueTexts()
        let queued = try test.store.jobs.queueState()
        try test.runAll()
        #expect(try test.store.jobs.queueState() != queued, "then the search index is complete")
        try test.store.jobs.queueTexts()
        let complete = try test.store.jobs.queueState()
        try test.store.jobs.queueTexts()
        #expect(try test.store.jobs.queueState() == complete)
        #expect(try test.store.searcher.coverage().rebuildReason == nil)
    }

    /// Otherwise, a person who opens an archive would wait for thousands of others.
    @Test func archivesThatPeopleUseComeFirst() throws {
        let test = try TestStore()
        let ids = try (1...6).map { number in
            try test.store.importFile(at: test.file("\(number).wacz", seed: UInt64(number))).archive.id
        }
        let both = try test.store.collections.make(title: "both", members: [ids[3], ids[2]]).id
        let store = try test.reopened()
        try store.jobs.queueVerifications()
        let runner = JobRunner(store, kinds: [.verify])
        func next() throws -> ArchiveID? { try runner.runNext()?.archiveID }
        #expect(try next() == ids[0], "none was used")
        _ = try store.resolver.replayable(id: ids[5])
        _ = try store.resolver.replayable(id: ids[4])
        #expect(try next() == ids[4], "it was used last")
        _ = try store.searcher.search(SearchQuery("x collection:\(both)"), limit: 1)
        #expect(try [next(), next(), next()] == [ids[2], ids[3], ids[5]])
        #expect(try next() == ids[1])
        #expect(try next() == nil)
    }

    @Test func jobsTakeTurns() throws {
        let turns = JobTurns()
        let running = Mutex((now: 0, most: 0))
        let isOtherDone = Mutex(false)
        @Sendable func work() {
            turns.begin()
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            running.withLock { $0.now -= 1 }
            turns.end()
        }
        turns.begin()
        let other = try LowPriority.start {
            turns.begin()
            isOtherDone.withLock { $0 = true }
            turns.end()
        }
        while !isOtherDone.withLock({ $0 }) { turns.pass() }
        turns.end()
        try other.result()
        let threads = try (1...4).map { _ in try LowPriority.start { for _ in 1...1000 { work() } } }
        for thread in threads { try thread.result() }
        #expect(running.withLock { $0.most } == 1)
    }
}
