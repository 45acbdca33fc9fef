import Foundation
import GRDB

/// How a run of a job ended.
enum JobEnd: Sendable, Hashable {
    /// - Parameters:
    ///   - bytes: The size, if the job didn't know it.
    ///   - note: What the job had to leave out.
    case done(ArchiveID?, bytes: UInt64?, note: String? = nil)
    case failed(reason: String, code: String)
    case cancelled(reason: String)
    /// Queued again.
    case waiting(reason: String)
    /// Queued again without counting the attempt.
    case notStarted(reason: String)

    /// Returns the end for an error. Omits its place if that is an absolute path.
    init(_ error: any Error) {
        let known = error as? StoreError ?? (error as? CocoaError).map { .file($0, doing: "using the file") }
        guard let error = known else {
            self = .failed(reason: "\(error)", code: StoreError.Code.failed.rawValue)
            return
        }
        let place = error.place.flatMap { $0.hasPrefix("/") ? nil : $0 }
        let reason = StoreError(error.code, error.what, place: place, hint: error.hint).description
        self = .failed(reason: reason, code: error.code.rawValue)
    }
}

/// Changes of job states, by the owner and by people. Each is one statement that checks the current state, so that only
/// one of two processes succeeds.
extension Jobs {
    /// Claims a queued job; `nil` if another owner was faster, or if the job must wait.
    ///
    /// A job whose process died runs alone, after all others that can run: if it ends the process again, nothing else is
    /// interrupted, and it's clear which job was the cause.
    ///
    /// - Parameter done: The number of bytes that are already done.
    func claim(_ id: Int64, owner: String, done: UInt64 = 0) throws -> Job? {
        try catalog.writing { database in
            let sql = """
                UPDATE job SET state = 'running', owner = :owner, attempt = attempt + 1, reason = NULL, errorCode = NULL,
                    done = :done, startedAt = :now, updatedAt = :now
                WHERE id = :id AND state = 'waiting'
                    AND NOT EXISTS (
                        SELECT 1 FROM job AS other
                        WHERE other.state = 'running' AND (other.crashCount > 0 OR job.crashCount > 0))
                    AND (crashCount = 0 OR NOT EXISTS (
                        SELECT 1 FROM job AS other WHERE other.state = 'waiting' AND other.turn = 0))
                """
            try database.cachedStatement(sql: sql).execute(
                arguments: ["owner": owner, "done": Int64(clamping: done), "now": Self.now(), "id": id])
            guard database.changesCount == 1 else { return nil }
            return try Job.fetch(database, id)
        }
    }

    /// - Returns: `false` if the job was paused or cancelled.
    func setProgress(of id: Int64, owner: String, done: UInt64, total: UInt64? = nil) throws -> Bool {
        try catalog.writing { database in
            let sql = """
                UPDATE job SET done = ?, total = coalesce(?, total), updatedAt = ?
                WHERE id = ? AND state = 'running' AND owner = ?
                """
            try database.cachedStatement(sql: sql).execute(
                arguments: [Int64(clamping: done), total.map { Int64(clamping: $0) }, Self.now(), id, owner])
            return database.changesCount == 1
        }
    }

    /// Records how a run ended. A job that was paused or cancelled meanwhile stays so, unless it was completed.
    ///
    /// - Returns: The job; `nil` if people deleted it.
    @discardableResult
    func end(_ id: Int64, owner: String, _ end: JobEnd) throws -> Job? {
        try catalog.writing { database in
            let (change, arguments) = Self.change(of: end)
            let all: StatementArguments = ["id": id, "owner": owner, "now": Self.now()]
            let sql = "UPDATE job SET updatedAt = :now, \(change) AND id = :id AND owner = :owner"
            try database.cachedStatement(sql: sql).execute(arguments: all &+ arguments)
            try Self.pruneJobs(database)
            return try Job.fetch(database, id)
        }
    }

    /// Returns the assignments for an end, with the condition on the current state.
    private static func change(of end: JobEnd) -> (sql: String, arguments: StatementArguments) {
        switch end {
        case .done(let archive, let bytes, let note):
            (
                """
                state = 'done', reason = :note, errorCode = NULL, archiveID = coalesce(:archive, archiveID),
                total = coalesce(total, :bytes, done), done = coalesce(total, :bytes, done), finishedAt = :now
                WHERE state IN ('running', 'paused', 'cancelled')
                """, ["archive": archive?.text, "bytes": bytes.map { Int64(clamping: $0) }, "note": note]
            )
        case .failed(let reason, let code):
            (
                "state = 'failed', reason = :reason, errorCode = :code, finishedAt = :now WHERE state = 'running'",
                ["reason": reason, "code": code]
            )
        case .cancelled(let reason):
            ("state = 'cancelled', reason = :reason, finishedAt = :now WHERE state = 'running'", ["reason": reason])
        case .waiting(let reason):
            (
                "state = 'waiting', reason = :reason, owner = NULL, crashCount = 0 WHERE state = 'running'",
                ["reason": reason]
            )
        case .notStarted(let reason):
            (
                "state = 'waiting', reason = :reason, owner = NULL, attempt = attempt - 1 WHERE state = 'running'",
                ["reason": reason]
            )
        }
    }

    /// Records why a job is still queued.
    func setWaitingReason(of id: Int64, _ reason: String) throws {
        let sql = "UPDATE job SET reason = ?, updatedAt = ? WHERE id = ? AND state = 'waiting'"
        try catalog.writing { try $0.execute(sql: sql, arguments: [reason, Self.now(), id]) }
    }

    /// Pauses, resumes, cancels or retries a job.
    ///
    /// - Returns: The changed job.
    /// - Throws: `StoreError`: `notFound`, `notPossible` in the job's state.
    package func change(_ id: Int64, _ change: JobChange) throws -> Job {
        try catalog.writing { database in
            let row = try JobRow.fetchOne(database, sql: "SELECT * FROM job WHERE id = ?", arguments: [id])
            guard let row, let job = row.job else { throw Self.noJob(id) }
            try change.check(job, isRepeatable: row.isRepeatable)
            let sql = """
                UPDATE job SET state = :state, reason = :reason, updatedAt = :now,
                    finishedAt = CASE WHEN :state = 'cancelled' THEN :now END,
                    errorCode = CASE WHEN :state != 'waiting' THEN errorCode END,
                    owner = CASE WHEN :state != 'waiting' THEN owner END,
                    crashCount = CASE WHEN :again THEN min(crashCount, :crashes) ELSE crashCount END,
                    done = CASE WHEN :again THEN 0 ELSE done END
                WHERE id = :id
                """
            try database.execute(
                sql: sql,
                arguments: [
                    "state": change.state.rawValue, "reason": change.reason(for: job.kind), "now": Self.now(), "id": id,
                    "again": change == .retry, "crashes": Self.crashesMax - 1,
                ])
            try Self.pruneJobs(database)
            guard let changed = try Job.fetch(database, id) else { throw Self.noJob(id) }
            return changed
        }
    }

    /// Deletes a finished job.
    ///
    /// - Throws: `StoreError`: `notFound`, `notPossible` if the job isn't finished.
    package func forget(_ id: Int64) throws {
        try catalog.writing { database in
            guard let job = try Job.fetch(database, id) else { throw Self.noJob(id) }
            guard job.state.isOver else {
                throw StoreError(
                    .notPossible, "can't delete job \(id): it is \(job.state.displayName)", hint: "cancel it first")
            }
            try database.execute(sql: "DELETE FROM job WHERE id = ?", arguments: [id])
        }
    }

    /// Queues the jobs of a dead owner again. They fail if they can't be repeated, or after the second crash in a row.
    ///
    /// - Returns: The number of jobs.
    func requeue(ofDead owner: String) throws -> Int {
        try catalog.writing { database in
            let sql = "SELECT * FROM job WHERE state = 'running' AND owner = ?"
            let rows = try JobRow.fetchAll(database, sql: sql, arguments: [owner])
            for row in rows {
                let crashCount = row.crashCount + 1
                let (state, reason) = Self.afterCrash(number: crashCount, isRepeatable: row.isRepeatable)
                let isOver = state.isOver
                let sql = """
                    UPDATE job SET state = ?, reason = ?, errorCode = ?, crashCount = ?, done = 0, owner = NULL, updatedAt = ?,
                        finishedAt = ?
                    WHERE id = ?
                    """
                try database.execute(
                    sql: sql,
                    arguments: [
                        state.rawValue, reason, isOver ? StoreError.Code.interrupted.rawValue : nil, crashCount,
                        Self.now(),
                        isOver ? Self.now() : nil, row.id,
                    ])
            }
            return rows.count
        }
    }

    private static func afterCrash(number: Int, isRepeatable: Bool) -> (state: Job.State, reason: String) {
        guard isRepeatable else {
            return (.failed, "interrupted: replayhost was killed or crashed; add the file again")
        }
        guard number < crashesMax else {
            return (
                .failed,
                """
                interrupted: replayhost was killed or crashed again; this file may be the cause, so the job runs only if you \
                retry it
                """
            )
        }
        return (.waiting, "interrupted: replayhost was killed or crashed; the job runs again, after all others")
    }

    static func noJob(_ id: Int64) -> StoreError {
        StoreError(.notFound, "there is no job \(id)", hint: "run `replayhost jobs --all` to see all jobs")
    }

    /// Deletes the oldest jobs that were completed or cancelled. Those that failed stay until people dismiss them.
    static func pruneJobs(_ database: Database) throws {
        let sql = """
            DELETE FROM job WHERE id IN (
                SELECT id FROM job WHERE finishedAt IS NOT NULL AND state != 'failed'
                ORDER BY finishedAt DESC, id DESC LIMIT -1 OFFSET ?)
            """
        try database.cachedStatement(sql: sql).execute(arguments: [finishedMax])
    }

    static func now() -> String { RFC3339.preciseText(of: Date()) }

    /// The number of completed and cancelled jobs to keep.
    static let finishedMax = 1000
    /// The number of crashes in a row after which a job fails.
    private static let crashesMax = 2
}
