import CaptureAPI
import CaptureWorker
import Crypto
import Foundation
import GRDB
import WebArchive

/// The keys of requests (`Idempotency-Key`), so that a request that is sent again adds nothing. Each belongs to a client.
enum IdempotencyKeys {
    /// How long a key is known. A phone that was offline sends its requests again within that time.
    static let days = 30

    /// Returns the answer to a key that was used before: the same download.
    static func answer(
        to key: String, of client: String, _ request: String, _ database: Database
    ) throws -> DownloadQueue.Acceptance? {
        let sql = "SELECT request, download_id FROM idempotency_keys WHERE key_id = ? AND idempotency_key = ?"
        guard let known = try Row.fetchOne(database, sql: sql, arguments: [client, key]) else { return nil }
        guard known["request"] == digest(request) else { return .conflict }
        let id: String = known["download_id"]
        return try DownloadQueue.row(database, "download_id = ?", [id]).map { .known($0) } ?? .removed
    }

    /// Records the download of a new key.
    static func keep(
        _ key: String, of client: String, _ request: String, _ id: String, at now: Date, _ database: Database
    ) throws {
        try database.execute(
            sql: """
                INSERT INTO idempotency_keys (key_id, idempotency_key, download_id, request, added_at)
                VALUES (?, ?, ?, ?, ?)
                """, arguments: [client, key, id, digest(request), QueueTime.text(now)])
    }

    /// Forgets old keys.
    static func forgetOld(at now: Date, _ database: Database) throws {
        let oldest = QueueTime.text(now.addingTimeInterval(-Double(days) * 86_400))
        try database.execute(sql: "DELETE FROM idempotency_keys WHERE added_at <= ?", arguments: [oldest])
    }

    /// A request can be 64 KiB long.
    static func digest(_ request: String) -> String { SHA256.hash(data: Data(request.utf8)).hexadecimal }
}

/// What clients added in the last hour: downloads, attempts that they asked for, and idempotency keys. What becomes of those
/// doesn't matter.
enum Additions {
    private static let window: TimeInterval = 3600

    /// Counts an addition, if the client hasn't made too many.
    ///
    /// - Returns: After how many seconds it can add more; `nil` if this one counts. Times in the future, of a clock that was
    ///   wrong, don't count.
    static func add(by client: String, max limit: Int, at now: Date, _ database: Database) throws -> Int? {
        let start = QueueTime.text(now.addingTimeInterval(-window))
        try database.execute(
            sql: "DELETE FROM additions WHERE added_at <= ? OR added_at > ?", arguments: [start, QueueTime.text(now)])
        let last = "SELECT added_at FROM additions WHERE key_id = ? ORDER BY added_at DESC LIMIT 1 OFFSET ?"
        if let first = try String.fetchOne(database, sql: last, arguments: [client, limit - 1]) {
            let wait = (QueueTime.date(first) ?? now).addingTimeInterval(window).timeIntervalSince(now)
            return min(Int(window), max(1, Int(wait.rounded(.up))))
        }
        try database.execute(
            sql: "INSERT INTO additions (key_id, added_at) VALUES (?, ?)", arguments: [client, QueueTime.text(now)])
        return nil
    }

    /// Returns when a download can start that is one too many now: an hour after the last `limit` additions, with those that wait.
    ///
    /// - Returns: `nil` if that is more than a day away.
    static func nextStart(by client: String, max limit: Int, at now: Date, _ database: Database) throws -> Date? {
        let first = try String.fetchOne(
            database,
            sql: """
                SELECT time FROM (
                    SELECT added_at AS time FROM additions WHERE key_id = :client
                    UNION ALL
                    SELECT not_before FROM downloads WHERE status = 'pending' AND waiting_for = 'limit' AND key_id = :client
                ) ORDER BY time DESC LIMIT 1 OFFSET :limit - 1
                """, arguments: ["client": client, "limit": limit])
        let start = (first.flatMap(QueueTime.date) ?? now).addingTimeInterval(window)
        return start.timeIntervalSince(now) <= Double(RetryAfter.secondsMax) ? start : nil
    }
}
