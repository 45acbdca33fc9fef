import Foundation
import GRDB

/// How a run of a job ended.
enum JobEnd: Sendable, Hashable {
    /// - Parameter bytes: How much that was, where nobody knew before.
    case done(ArchiveID?, bytes: UInt64?)
    case failed(reason: String, code: String)
    case cancelled(reason: String)
    /// To be run again.
    case waiting(reason: String)
    /// Not run after all, through no fault of its own: that attempt does not count.
    case notBegun(reason: String)

    /// The end that an error means; its place is left out where it names folders.
    init(_ error: any Error) {
        guard let error = error as? StoreError else {
            self = .failed(reason: "\(error)", code: StoreError.Code.failed.rawValue)
            return
        }
        let place = error.place.flatMap { $0.hasPrefix("/") ? nil : ", \($0)" } ?? ""
        let hint = error.hint.map { "; \($0)" } ?? ""
        self = .failed(reason: error.what + place + hint, code: error.code.rawValue)
    }
}

/// The states of a job, and who may change them: whoever runs it, and anybody who pauses or cancels it meanwhile.
///
/// Each change is one statement that holds only for the state that it starts from, so that of two processes one does it.
extension Jobs {
    /// Takes a waiting job; `nil` when somebody else was quicker.
    ///
    /// - Parameter done: Bytes of it that were done before and need not be done again.
    func claim(_ id: Int64, owner: String, done: UInt64 = 0) throws -> Job? {
        try catalog.writing { database in
            let sql = """
                UPDATE job SET state = 'running', owner = :owner, attempt = attempt + 1, reason = NULL, errorCode = NULL,
                    done = :done, startedAt = :now, updatedAt = :now
                WHERE id = :id AND state = 'waiting'
                """
            try database.execute(
                sql: sql,
                arguments: ["owner": owner, "done": Int64(clamping: done), "now": Self.now(), "id": id])
            guard database.changesCount == 1 else { return nil }
            return try Job.fetchAll(database, "WHERE id = ?", [id]).first
        }
    }

    /// - Returns: `false` when the job is no longer the owner's to run: somebody paused or cancelled it.
    func setProgress(of id: Int64, owner: String, done: UInt64) throws -> Bool {
        try catalog.writing { database in
            let sql = "UPDATE job SET done = ?, updatedAt = ? WHERE id = ? AND state = 'running' AND owner = ?"
            try database.execute(sql: sql, arguments: [Int64(clamping: done), Self.now(), id, owner])
            return database.changesCount == 1
        }
    }

    /// Writes down how a run ended. Where somebody paused or cancelled it meanwhile that stays, unless it was done all the same.
    func end(_ id: Int64, owner: String, _ end: JobEnd) throws {
        try catalog.writing { database in
            let (change, arguments) = Self.change(of: end)
            let all: StatementArguments = ["id": id, "owner": owner, "now": Self.now()]
            try database.execute(
                sql: "UPDATE job SET updatedAt = :now, \(change) AND id = :id AND owner = :owner",
                arguments: all &+ arguments)
            try Self.pruneJobs(database)
        }
    }

    /// What is set, and the state that it holds for.
    private static func change(of end: JobEnd) -> (sql: String, arguments: StatementArguments) {
        switch end {
        case .done(let archive, let bytes):
            (
                """
                state = 'done', reason = NULL, errorCode = NULL, archiveID = coalesce(:archive, archiveID),
                total = coalesce(total, :bytes, done), done = coalesce(total, :bytes, done), finishedAt = :now
                WHERE state IN ('running', 'paused', 'cancelled')
                """, ["archive": archive?.text, "bytes": bytes.map { Int64(clamping: $0) }]
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
        case .notBegun(let reason):
            (
                "state = 'waiting', reason = :reason, owner = NULL, attempt = attempt - 1 WHERE state = 'running'",
                ["reason": reason]
            )
        }
    }

    /// Notes why a job still waits.
    func explainWaiting(of id: Int64, _ reason: String) throws {
        let sql = "UPDATE job SET reason = ?, updatedAt = ? WHERE id = ? AND state = 'waiting'"
        try catalog.writing { try $0.execute(sql: sql, arguments: [reason, Self.now(), id]) }
    }

    /// Does what a person asks for.
    ///
    /// - Returns: The job as it is then.
    /// - Throws: `StoreError`: `notFound`, `notPossible` in its state.
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
                    crashCount = CASE WHEN :state != 'waiting' THEN crashCount ELSE 0 END,
                    done = CASE WHEN :again THEN 0 ELSE done END
                WHERE id = :id
                """
            try database.execute(
                sql: sql,
                arguments: [
                    "state": change.state.rawValue, "reason": change.reason, "now": Self.now(), "id": id,
                    "again": change == .retry,
                ])
            try Self.pruneJobs(database)
            guard let changed = try Job.fetchAll(database, "WHERE id = ?", [id]).first else { throw Self.noJob(id) }
            return changed
        }
    }

    /// Forgets a job that is over.
    ///
    /// - Throws: `StoreError`: `notFound`, `notPossible` while it is not over.
    package func forget(_ id: Int64) throws {
        try catalog.writing { database in
            guard let job = try Job.fetchAll(database, "WHERE id = ?", [id]).first else { throw Self.noJob(id) }
            guard job.state.isOver else {
                throw StoreError(.notPossible, "job \(id) is \(job.state.rawValue)", hint: "cancel it first")
            }
            try database.execute(sql: "DELETE FROM job WHERE id = ?", arguments: [id])
        }
    }

    /// Takes the jobs of an owner who is no more: they wait again, or have failed when they cannot be begun again or it was the
    /// third crash in a row.
    ///
    /// - Returns: How many there were.
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
            return (.failed, "the process that ran it ended, and what was sent to it is gone; send or import it again")
        }
        guard number < crashesMax else {
            return (.failed, "the process that ran it ended, \(number) times in a row: it may be what ends it")
        }
        return (.waiting, "the process that ran it ended")
    }

    static func noJob(_ id: Int64) -> StoreError {
        StoreError(.notFound, "there is no job \(id)", hint: "run `replayhost jobs --all` for those there are")
    }

    /// Forgets those that were over first.
    private static func pruneJobs(_ database: Database) throws {
        let sql = """
            DELETE FROM job WHERE id IN (
                SELECT id FROM job WHERE finishedAt IS NOT NULL ORDER BY finishedAt DESC, id DESC LIMIT -1 OFFSET ?)
            """
        try database.execute(sql: sql, arguments: [finishedMax])
    }

    static func now() -> String { RFC3339.preciseText(of: Date()) }

    /// So many that are over are kept.
    static let finishedMax = 1000
    /// After so many crashes in a row a job is not begun again by itself.
    private static let crashesMax = 3
}
