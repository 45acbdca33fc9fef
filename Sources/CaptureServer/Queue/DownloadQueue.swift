package import CaptureAPI
import CaptureWorker
package import Foundation
import GRDB

/// The queue of downloads, and the only code that changes their states.
///
///     queued -> started -> downloading -> completed | failed | cancelled | aborted_by_system
///       ^-- after a failure that another attempt can mend, with `not_before`
///     a preview: downloading -> preview_ready -> completed
///
/// Each change is one transaction.
package struct DownloadQueue: Sendable {
    let database: CaptureDatabase
    private let currentRules: @Sendable () -> QueueRules
    var rules: QueueRules { currentRules() }

    /// - Parameter rules: Asked each time, since they can change.
    package init(database: CaptureDatabase, rules: @autoclosure @escaping @Sendable () -> QueueRules = QueueRules()) {
        (self.database, currentRules) = (database, rules)
    }

    /// What became of a request.
    package enum Acceptance: Sendable, Hashable {
        /// - Parameter isNewUser: Whether it's the first download of its user.
        case added(DownloadRow, isNewUser: Bool)
        /// The same request is in the queue, or came under the same key.
        case known(DownloadRow)
        /// The key was used for another request.
        case conflict
        /// The key was used for this request, and its download was removed since.
        case removed
        /// Too many requests in an hour.
        case tooMany(retryAfterSeconds: Int)
    }

    /// Adds a download, unless it's known.
    ///
    /// - Parameters:
    ///   - key: `Idempotency-Key`; `nil` without one.
    ///   - client: Whose hourly limit it counts for, and whose `key` it is (`Caller.limitID`); empty for programs on this
    ///     computer.
    ///   - keepsForLater: Whether a download beyond the hourly limit is added too, and waits. At most those of a day are.
    package func accept(
        _ request: DownloadRequest, key: String?, client: String = "", keepsForLater: Bool = false, now: Date = Date()
    ) async throws -> Acceptance {
        let id = UUID().uuidString.lowercased()
        return try await database.write { [rules] database in
            let fingerprint = Self.fingerprint(request.url.text, request.username.text, request.options)
            try IdempotencyKeys.forgetOld(at: now, database)
            if let key, let answer = try IdempotencyKeys.answer(to: key, of: client, fingerprint, database) {
                return answer
            }
            let same = "request = ? AND status IN ('pending', 'downloading') ORDER BY id LIMIT 1"
            let known = try Self.row(database, same, [fingerprint])
            if let known, key == nil { return .known(known) }
            let max = rules.downloadsPerHour
            var start: Date?
            if let seconds = try Additions.add(by: client, max: max, at: now, database) {
                start = keepsForLater ? try Additions.nextStart(by: client, max: max, at: now, database) : nil
                guard start != nil else { return .tooMany(retryAfterSeconds: seconds) }
            }
            if let key {
                try IdempotencyKeys.keep(key, of: client, fingerprint, known?.downloadID ?? id, at: now, database)
            }
            if let known { return .known(known) }
            let isNewUser = try Self.insert(
                request, id: id, client: client, fingerprint, now: QueueTime.text(now), database)
            if let start {
                try Self.update(
                    database, id, set: "waiting_for = 'limit', not_before = max(ifnull(not_before, ''), :start)",
                    ["start": QueueTime.text(start)], now: now)
            }
            guard let row = try Self.row(database, "download_id = ?", [id]) else {
                throw DatabaseError(message: "the new row is missing")
            }
            return .added(row, isNewUser: isNewUser)
        }
    }

    /// - Returns: Whether the user is new.
    @discardableResult
    static func addUser(_ user: Username, now: String, _ database: Database) throws -> Bool {
        try database.execute(
            sql: "INSERT INTO users (username, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
            arguments: [user.text, now])
        return database.changesCount > 0
    }

    /// - Returns: Whether the user is new.
    private static func insert(
        _ request: DownloadRequest, id: String, client: String, _ fingerprint: String, now: String,
        _ database: Database
    ) throws -> Bool {
        let isNewUser = try addUser(request.username, now: now, database)
        try database.execute(
            sql: """
                INSERT INTO downloads (
                    download_id, url, host, username, client_id, key_id, request, genre, service, options, state,
                    waiting_for, not_before, created_at, updated_at, revision, session_id)
                VALUES (:id, :url, :host, :user, :client, :key, :request, :genre, :service, :options, 'queued',
                    (SELECT 'site' FROM site_holds WHERE host = :host AND until > :now),
                    (SELECT until FROM site_holds WHERE host = :host AND until > :now), :now, :now,
                    \(Self.nextRevision), :id)
                """,
            arguments: [
                "id": id, "url": request.url.text, "host": request.url.host, "user": request.username.text,
                "client": request.clientID, "key": client, "request": fingerprint,
                "genre": Genre(of: request.url).rawValue, "service": Service.name(of: request.url),
                "options": request.options.json, "now": now,
            ])
        return isNewUser
    }

    /// What makes two requests the same: URL, user and options.
    static func fingerprint(_ url: String, _ username: String, _ options: DownloadOptions) -> String {
        DownloadOptions.json(of: [url, username, options.json])
    }

    static func row(_ database: Database, _ condition: String, _ arguments: StatementArguments) throws -> DownloadRow? {
        try DownloadRow.fetchOne(database, sql: "SELECT * FROM downloads WHERE \(condition)", arguments: arguments)
    }

    /// Returns when the URL of a download was last saved for its user by another one; `nil` if it wasn't.
    package func lastSaved(_ row: DownloadRow) async throws -> String? {
        try await database.read {
            try String.fetchOne(
                $0,
                sql: """
                    SELECT max(completed_at) FROM downloads
                    WHERE url = ? AND username = ? AND status = 'completed' AND download_id <> ?
                    """, arguments: [row.url, row.username, row.downloadID])
        }
    }

    package func row(_ id: String) async throws -> DownloadRow? {
        try await database.read { try Self.row($0, "download_id = ?", [id]) }
    }

    /// Sets columns of a row if a condition holds. Raises the revision.
    ///
    /// - Returns: Whether it held.
    @discardableResult
    static func update(
        _ database: Database, _ id: String, set columns: String, if condition: String = "1",
        _ arguments: [String: (any DatabaseValueConvertible)?] = [:], now: Date = Date()
    ) throws -> Bool {
        var all = arguments
        all["id"] = id
        all["now"] = QueueTime.text(now)
        try database.execute(
            sql: """
                UPDATE downloads SET \(columns), updated_at = :now, revision = \(Self.nextRevision)
                WHERE download_id = :id AND (\(condition))
                """, arguments: StatementArguments(all))
        return database.changesCount > 0
    }
}

/// The limits and delays of the queue.
package struct QueueRules: Sendable {
    /// How many downloads a client can add in an hour.
    package var downloadsPerHour = 100
    /// The time before each further attempt after a failure that another one can mend.
    package var retryDelays: [Duration] = [.seconds(30), .seconds(120), .seconds(300)]

    package init() {}

    /// How long a site is left alone that limits the rate without saying how long.
    static let siteHoldSeconds = 60
    /// How long a download waits that needs a missing tool or space, before it's looked at again.
    static let resourceSeconds = 15
}
