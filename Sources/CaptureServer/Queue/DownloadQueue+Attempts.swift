package import CaptureAPI
package import CaptureWorker
package import Foundation
import GRDB

/// The steps of an attempt.
extension DownloadQueue {
    /// Starts a download that can be attempted now: the oldest of the user who waited longest without one running.
    ///
    /// - Parameter missing: What a download lacks to be attempted: a tool; `nil` for nothing.
    /// - Returns: The download, whose state is `started` now; `nil` if there is none.
    package func claim(
        now: Date = Date(), missing: @escaping @Sendable (DownloadRow) -> WaitReason?
    ) async throws -> DownloadRow? {
        try await database.write { database in
            let text = QueueTime.text(now)
            // A time that is too far away is of a clock that was wrong.
            let far = QueueTime.text(now.addingTimeInterval(TimeInterval(RetryAfter.secondsMax + 60)))
            try database.execute(
                sql: "DELETE FROM site_holds WHERE until <= ? OR until > ?", arguments: [text, far])
            let waiting = try DownloadRow.fetchAll(
                database,
                sql: """
                    WITH ready AS (
                        SELECT * FROM downloads
                        WHERE status = 'pending' AND (not_before IS NULL OR not_before <= :now OR not_before > :far)
                            AND host NOT IN (SELECT host FROM site_holds)
                    ), waits AS (
                        SELECT username, min(created_at) AS since FROM ready GROUP BY username
                    ), running AS (
                        SELECT DISTINCT username FROM downloads WHERE status = 'downloading'
                    )
                    SELECT ready.* FROM ready JOIN waits USING (username) JOIN users USING (username)
                    ORDER BY username IN (SELECT username FROM running),
                        min(:now, max(since, ifnull(last_ran_at, ''))), id
                    """, arguments: ["now": text, "far": far])
            for row in waiting {
                if let reason = missing(row) {
                    guard row.waitingFor != reason.rawValue else { continue }
                    try Self.update(
                        database, row.downloadID, set: "waiting_for = :reason", ["reason": reason.rawValue], now: now)
                    continue
                }
                try Self.start(row, at: now, database)
                return try Self.row(database, "download_id = ?", [row.downloadID])
            }
            return nil
        }
    }

    private static func start(_ row: DownloadRow, at now: Date, _ database: Database) throws {
        if row.waitingFor == WaitReason.limit.rawValue {
            // It counts from now on.
            try database.execute(
                sql: """
                    INSERT INTO additions (key_id, added_at) SELECT key_id, ? FROM downloads WHERE download_id = ?
                    """, arguments: [QueueTime.text(now), row.downloadID])
        }
        try update(
            database, row.downloadID,
            set: """
                state = 'started', stage = NULL, waiting_for = NULL, not_before = NULL, attempt = attempt + 1,
                started_at = ifnull(started_at, :now), error_code = NULL, error_message = NULL,
                log_id = ifnull(log_id, :log), progress = NULL, bytes_done = NULL, bytes_total = NULL
                """,
            ["log": UUID().uuidString.lowercased()], now: now)
        try database.execute(
            sql: """
                INSERT INTO attempts (download_id, number, started_at)
                SELECT download_id, attempt, :now FROM downloads WHERE download_id = :id
                ON CONFLICT DO UPDATE SET started_at = :now, ended_at = NULL, error_code = NULL, error_message = NULL
                """, arguments: ["id": row.downloadID, "now": QueueTime.text(now)])
    }

    /// The genre as it's reported. One that clients were told never becomes unknown again.
    static let genre = "CASE WHEN ifnull(:genre, 'unknown') = 'unknown' THEN genre ELSE :genre END"
    /// Why the genre isn't known; NULL if it is.
    static let genreProblem = "CASE WHEN \(genre) = 'unknown' THEN :problem END"

    /// Records what a worker reports.
    package func advance(_ id: String, _ message: WorkerMessage) async throws {
        _ = try await database.write { database in
            try Self.update(
                database, id,
                set: """
                    state = 'downloading', stage = ifnull(:stage, stage), title = ifnull(:title, title),
                    genre = \(Self.genre), progress = ifnull(:progress, progress),
                    bytes_done = ifnull(:done, bytes_done), bytes_total = ifnull(:total, bytes_total)
                    """,
                if: "state IN ('started', 'downloading')",
                [
                    "stage": message.stage?.rawValue, "title": message.title, "genre": message.genre?.rawValue,
                    "progress": message.progress?.percent,
                    "done": message.progress.map { Int64(clamping: $0.bytes) },
                    "total": message.progress?.total.map { Int64(clamping: $0) },
                ])
        }
    }

    /// Records that what a worker made is being stored. From now on, the download can't be cancelled.
    ///
    /// - Returns: Whether the download wasn't cancelled before.
    package func beginStoring(_ id: String) async throws -> Bool {
        try await database.write { database in
            try Self.update(
                database, id, set: "state = 'downloading', stage = 'storing', progress = NULL",
                if: "state IN ('started', 'downloading')")
        }
    }

    /// Records the archive of a download.
    package func setArchive(_ id: String, archive: String, sha256: String, _ files: SavedFiles) async throws {
        _ = try await database.write { database in
            try Self.update(
                database, id,
                set: """
                    archive_id = :archive, archive_sha256 = :sha256, title = :title, genre = \(Self.genre),
                    folder = :folder, media_type = :type, file_size = :size,
                    genre_detection_error = \(Self.genreProblem),
                    incomplete = :incomplete, replay_check = :check, stage = 'storing'
                    """,
                [
                    "archive": archive, "sha256": sha256, "title": files.title, "genre": files.genre.rawValue,
                    "folder": files.isOrdinaryFile == true ? "files" : nil,
                    "type": files.mediaType, "size": files.fileSize.map { Int64(clamping: $0) },
                    "problem": files.genreDetectionError, "incomplete": files.incomplete, "check": files.replayCheck,
                ])
        }
    }

    /// Records what was seen when the archive of a download was replayed.
    func setReplayCheck(_ id: String, _ sentence: String?) async throws {
        _ = try await database.write { database in
            try Self.update(database, id, set: "replay_check = :sentence", ["sentence": sentence])
        }
    }

    /// Reserves a name for the file in the folder of its user and genre: the wanted one, or one with a number.
    ///
    /// - Parameter used: The names in that folder, in lower case.
    package func reserveName(_ id: String, _ wanted: String, except used: Set<String>) async throws -> String {
        try await database.write { database in
            guard let row = try Self.row(database, "download_id = ?", [id]) else {
                throw DatabaseError(message: "the download is gone")
            }
            let reserved = try String.fetchSet(
                database,
                sql: """
                    SELECT lower(file_name) FROM downloads
                    WHERE username = ? AND ifnull(folder, genre) = ? AND file_name IS NOT NULL AND download_id <> ?
                        AND state <> 'preview_ready'
                    """, arguments: [row.username, row.folder ?? row.genre, id])
            func isFree(_ name: String) -> Bool {
                !reserved.contains(name.lowercased()) && !used.contains(name.lowercased())
            }
            if let name = row.fileName, isFree(name) { return name }
            let name = Self.names(like: wanted).first(where: isFree) ?? wanted
            try Self.update(database, id, set: "file_name = :name", ["name": name])
            return name
        }
    }

    /// Returns a name, and then the same with numbers.
    private static func names(like wanted: String) -> some Sequence<String> {
        let name = wanted as NSString
        let ending = name.pathExtension.isEmpty ? "" : "." + name.pathExtension
        return (1...10_000).lazy.map { $0 == 1 ? wanted : "\(name.deletingPathExtension)-\($0)\(ending)" }
    }

    package func complete(_ id: String, keepsFile: Bool, now: Date = Date()) async throws {
        try await database.write { database in
            try Self.update(
                database, id,
                set: """
                    state = 'completed', stage = NULL, completed_at = :now, waiting_for = NULL, not_before = NULL,
                    progress = NULL, file_name = CASE WHEN :keeps THEN file_name END
                    """,
                if: "state IN ('started', 'downloading')", ["keeps": keepsFile], now: now)
            try Self.endAttempt(database, id, nil, now)
        }
    }

    /// What follows a failure.
    package enum Consequence: Sendable, Hashable {
        /// Another attempt.
        case again
        case ended(DownloadState)
    }

    /// Whether no other attempt follows that of a row, if it fails for a reason that can pass.
    package func isLast(_ row: DownloadRow) -> Bool { row.attempt > rules.retryDelays.count }

    /// Records a failure. Decides whether another attempt follows, and when.
    package func fail(_ id: String, _ failure: ToolFailure, now: Date = Date()) async throws -> Consequence {
        try await database.write { [rules] database in
            guard let row = try Self.row(database, "download_id = ?", [id]) else { return .ended(.failed) }
            try Self.endAttempt(database, id, failure, now)
            // A person may have cancelled it meanwhile.
            guard row.downloadState.status == .downloading else { return .ended(row.downloadState) }
            if failure.code == .quality, row.downloadOptions.limitsQuality, !row.qualityFallback {
                try Self.requeue(database, id, nil, "quality_fallback = 1, attempt = attempt - 1", failure, nil, now)
                return .again
            }
            let resources: [ToolFailure.Code: WaitReason] = [.toolMissing: .tool, .diskFull: .disk, .storage: .retry]
            if let reason = resources[failure.code] {
                let later = now.addingTimeInterval(TimeInterval(QueueRules.resourceSeconds))
                try Self.requeue(database, id, reason, "attempt = attempt - 1", failure, later, now)
                return .again
            }
            guard failure.code.isTransient, row.attempt <= rules.retryDelays.count else {
                let state: DownloadState = failure.code == .aborted ? .abortedBySystem : .failed
                try Self.end(database, id, state, failure, now)
                return .ended(state)
            }
            var delay = TimeInterval(rules.retryDelays[max(0, row.attempt - 1)].components.seconds)
            let isLimited = failure.code == .rateLimited
            if isLimited, let seconds = failure.retryAfterSeconds ?? (delay > 0 ? QueueRules.siteHoldSeconds : nil) {
                delay = max(delay, TimeInterval(seconds))
                try Self.hold(row.host, until: QueueTime.text(now.addingTimeInterval(TimeInterval(seconds))), database)
            }
            try Self.requeue(
                database, id, isLimited ? .site : .retry, nil, failure, now.addingTimeInterval(delay), now)
            return .again
        }
    }

    /// Leaves a site alone until a time. Its queued downloads wait.
    private static func hold(_ host: String, until: String, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO site_holds (host, until) VALUES (:host, :until)
                ON CONFLICT DO UPDATE SET until = max(until, excluded.until)
                """, arguments: ["host": host, "until": until])
        let waiting = "SELECT download_id FROM downloads WHERE status = 'pending' AND host = ?"
        for id in try String.fetchAll(database, sql: waiting, arguments: [host]) {
            try update(
                database, id, set: "waiting_for = 'site', not_before = max(ifnull(not_before, ''), :until)",
                ["until": until])
        }
    }

    private static func requeue(
        _ database: Database, _ id: String, _ reason: WaitReason?, _ columns: String?, _ failure: ToolFailure?,
        _ notBefore: Date?, _ now: Date
    ) throws {
        try update(
            database, id,
            set: """
                state = 'queued', stage = NULL, progress = NULL, waiting_for = :reason, not_before = :later,
                error_code = :code, error_message = :message \(columns.map { ", \($0)" } ?? "")
                """,
            if: "state IN ('started', 'downloading')",
            [
                "reason": reason?.rawValue, "later": notBefore.map { QueueTime.text($0) },
                "code": failure?.code.rawValue, "message": failure?.message,
            ], now: now)
    }

    static func end(
        _ database: Database, _ id: String, _ state: DownloadState, _ failure: ToolFailure?, _ now: Date
    ) throws {
        try update(
            database, id,
            set: """
                state = :state, stage = NULL, progress = NULL, waiting_for = NULL, not_before = NULL,
                completed_at = :now, error_code = :code, error_message = :message
                """,
            ["state": state.rawValue, "code": failure?.code.rawValue, "message": failure?.message], now: now)
    }

    static func endAttempt(_ database: Database, _ id: String, _ failure: ToolFailure?, _ now: Date) throws {
        try database.execute(
            sql: """
                UPDATE attempts SET ended_at = :now, error_code = :code, error_message = :message
                WHERE download_id = :id AND ended_at IS NULL
                """,
            arguments: [
                "id": id, "now": QueueTime.text(now), "code": failure?.code.rawValue, "message": failure?.message,
            ])
    }

    /// Puts a download whose attempt was interrupted back into the queue. The attempt doesn't count.
    package func interrupt(_ id: String) async throws {
        try await database.write { database in
            try Self.requeue(database, id, nil, "attempt = max(0, attempt - 1)", nil, nil, Date())
        }
    }

    /// Puts downloads back into the queue that are said to run but don't: those of a server that died, and those whose end
    /// couldn't be recorded.
    ///
    /// - Parameter running: The IDs of those that run.
    package func requeueInterrupted(except running: Set<String> = []) async throws {
        let sql = "SELECT download_id FROM downloads WHERE status = 'downloading'"
        let lost = try await database.read { Set(try String.fetchAll($0, sql: sql)).subtracting(running) }
        if lost.isEmpty { return }
        try await database.write { database in
            for id in lost {
                try Self.requeue(database, id, nil, "attempt = max(0, attempt - 1)", nil, nil, Date())
            }
        }
    }

    /// Ends a download as cancelled by a person.
    ///
    /// - Returns: The row before; `nil` if it had ended already, or is being stored.
    package func cancel(_ id: String, now: Date = Date()) async throws -> DownloadRow? {
        try await database.write { database in
            let condition = """
                download_id = ? AND state IN ('queued', 'started', 'downloading') AND archive_id IS NULL
                AND stage IS NOT 'storing'
                """
            guard let row = try Self.row(database, condition, [id]) else { return nil }
            try Self.end(database, id, .cancelled, nil, now)
            try Self.endAttempt(database, id, nil, now)
            return row
        }
    }

    /// What became of a request to start a download again.
    package enum Retrial: Sendable, Hashable {
        case queued
        /// It didn't fail, or doesn't exist.
        case notPossible
        /// Too many additions in an hour.
        case tooMany(retryAfterSeconds: Int)
    }

    /// Starts a download again that failed or was cancelled. That is an addition like a new download.
    ///
    /// - Parameters:
    ///   - options: Other options; `nil` for the same.
    ///   - client: Whose hourly limit it counts for.
    package func retry(
        _ id: String, options: DownloadOptions?, client: String = "", now: Date = Date()
    ) async throws -> Retrial {
        try await database.write { [rules] database in
            guard let row = try Self.row(database, "download_id = ? AND status = 'failed'", [id]) else {
                return .notPossible
            }
            if let seconds = try Additions.add(by: client, max: rules.downloadsPerHour, at: now, database) {
                return .tooMany(retryAfterSeconds: seconds)
            }
            let options = options ?? row.downloadOptions
            let hold = "FROM site_holds WHERE host = downloads.host AND until > :now"
            try Self.update(
                database, id,
                set: """
                    state = 'queued', attempt = 0, stage = NULL, waiting_for = (SELECT 'site' \(hold)),
                    not_before = (SELECT until \(hold)), error_code = NULL, error_message = NULL, completed_at = NULL,
                    incomplete = NULL, replay_check = NULL, started_at = NULL, quality_fallback = 0, options = :options, request = :request
                    """,
                [
                    "options": options.json, "request": Self.fingerprint(row.url, row.username, options),
                ], now: now)
            return .queued
        }
    }
}
