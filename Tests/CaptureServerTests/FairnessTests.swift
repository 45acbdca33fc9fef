import ArchiveStore
import CaptureAPI
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CaptureServer
@testable import CaptureWorker

/// What a user or a client can take of the queue, so that there is something left for others.
struct FairnessTests {
    private let test: TestQueue

    init() throws { test = try TestQueue() }

    private var queue: DownloadQueue { test.queue }

    @Test func additionsCountWhateverBecomesOfThem() async throws {
        var added = 0
        while added < 1000 {
            let request = try test.request("https://example.org/\(added)")
            guard case .added(let row, _) = try await queue.accept(request, key: nil, now: test.now) else { break }
            added += 1
            _ = try await queue.cancel(row.downloadID)
            _ = try await queue.delete(row.downloadID)
        }
        #expect(added == 100)
    }

    /// Those of a list that are too many start in the next hours, for a day.
    @Test func listsBeyondTheLimitWait() async throws {
        let test = try TestQueue(downloadsPerHour: 4)
        var waits: [Int] = []
        while waits.count < 1000 {
            let request = try test.request("https://example.org/\(waits.count)")
            guard
                case .added(let row, _) = try await test.queue.accept(
                    request, key: nil, keepsForLater: true, now: test.now)
            else { break }
            let start = row.notBefore.flatMap(QueueTime.date) ?? test.now
            waits.append(Int(start.timeIntervalSince(test.now).rounded()))
        }
        #expect(waits == (0...24).flatMap { [Int](repeating: $0 * 3600, count: 4) })
        var started = 0
        while started < 1000, try await test.claim(after: 3601) != nil { started += 1 }
        #expect(started == 8)
        // They count from then on.
        let another = try test.request("https://example.org/another")
        let answer = try await test.queue.accept(another, key: nil, now: test.now.addingTimeInterval(3601))
        #expect(answer == .tooMany(retryAfterSeconds: 3600))
    }

    @Test func retriesCountLikeDownloads() async throws {
        let id = try await test.add("https://example.org/film")
        var retries = 0
        while retries < 1000 {
            _ = try await queue.cancel(id)
            guard try await queue.retry(id, options: nil, now: test.now) == .queued else { break }
            retries += 1
        }
        #expect(retries == 99)
        #expect(try await queue.retry(id, options: nil, now: test.now) == .tooMany(retryAfterSeconds: 3600))
        #expect(try await test.row(id).state == "cancelled")
        // It counts for the client that asks for it.
        #expect(try await queue.retry(id, options: nil, client: "another", now: test.now) == .queued)
    }

    @Test func idempotencyKeysCountAndEnd() async throws {
        let request = try test.request("https://example.org/" + String(repeating: "long", count: 400))
        var keys = 0
        while keys < 1000, case .added = try await queue.accept(request, key: "0", now: test.now) { keys += 1 }
        #expect(keys == 1)
        while keys < 1000, case .known = try await queue.accept(request, key: "\(keys)", now: test.now) { keys += 1 }
        #expect(keys == 100)
        // A known key adds nothing, and so does the same request without a key.
        for key in ["5", nil] {
            guard case .known = try await queue.accept(request, key: key, now: test.now) else {
                Issue.record("a known request was refused")
                return
            }
        }
        func kept() async throws -> [Int] {
            try await queue.database.read { try Int.fetchAll($0, sql: "SELECT length(request) FROM idempotency_keys") }
        }
        // The SHA-256 of each, in hexadecimal.
        #expect(try await kept() == [Int](repeating: 64, count: 100))
        let later = test.now.addingTimeInterval(31 * 86_400)
        _ = try await queue.accept(try test.request("https://example.org/"), key: nil, now: later)
        #expect(try await kept() == [])
    }

    /// As a queue of the version before has them.
    @Test func olderKeysGoOnWorking() async throws {
        let folder = try TemporaryFolder()
        let layout = StoreLayout(root: folder.path("store"))
        try Folder.create(layout.capture)
        let request = try test.request("https://example.org/film")
        let text = DownloadQueue.fingerprint(request.url.text, request.username.text, request.options)
        try await {
            let old = try DatabaseQueue(path: layout.captureDatabase)
            try CaptureMigrations.migrator.migrate(old, upTo: "3 keys")
            let columns = "key_id, idempotency_key, download_id, request"
            let sql = "INSERT INTO idempotency_keys (\(columns)) VALUES ('', 'k', 'gone', ?)"
            try await old.write { try $0.execute(sql: sql, arguments: [text]) }
            try old.close()
        }()
        let queue = DownloadQueue(database: try CaptureDatabase(layout: layout), rules: QueueRules())
        #expect(try await queue.accept(request, key: "k") == .removed)
        #expect(try await queue.accept(try test.request("https://example.org/other"), key: "k") == .conflict)
    }

    /// One who adds a hundred URLs doesn't keep another one waiting for all of them.
    @Test func usersTakeTurns() async throws {
        func add(_ user: String, after seconds: Double) async throws {
            let count = try await queue.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM downloads") }
            let request = try test.request("https://example.org/\(count ?? 0)", user: user)
            _ = try await queue.accept(request, key: nil, now: test.now.addingTimeInterval(seconds))
        }
        func next(after seconds: Double) async throws -> String? {
            guard let row = try await test.claim(after: seconds) else { return nil }
            let end = test.now.addingTimeInterval(seconds + 1)
            switch seconds.truncatingRemainder(dividingBy: 3) {
            case 0: _ = try await queue.fail(row.downloadID, ToolFailure(.notFound, "no"), now: end)
            case 1: _ = try await queue.cancel(row.downloadID, now: end)
            default: try await queue.complete(row.downloadID, keepsFile: false, now: end)
            }
            // What ended may be removed.
            _ = try await queue.delete(row.downloadID)
            return row.username
        }
        for _ in 0..<5 { try await add("ana", after: 0) }
        for seconds in 1...2 { try await add("ben", after: Double(seconds)) }
        try await add("eve", after: 3)
        var order: [String] = []
        for time in 0..<8 { order.append(try await next(after: 10 + Double(2 * time)) ?? "nobody") }
        #expect(order == ["ana", "ben", "eve", "ana", "ben", "ana", "ana", "ana"])
    }

    @Test func userWithoutARunningDownloadGoesFirst() async throws {
        for number in 0..<3 { try await test.add("https://example.org/\(number)") }
        #expect(try await test.claim(after: 1)?.username == "john")
        let late = try test.request("https://example.org/late", user: "ana")
        _ = try await queue.accept(late, key: nil, now: test.now.addingTimeInterval(2))
        #expect(try await test.claim(after: 3)?.username == "ana")
        #expect(try await test.claim(after: 3)?.username == "john")
    }
}
