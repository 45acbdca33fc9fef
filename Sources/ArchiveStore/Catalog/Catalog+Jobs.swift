import Foundation
import GRDB

/// Long work, written down before anybody is told that it will be done.
extension Catalog {
    /// The jobs that run, then all others, newest first.
    ///
    /// - Parameter states: Those in other states are left out; `nil` for jobs in any state.
    package func jobs(in states: [Job.State]?, limit: Int) throws -> [Job] {
        let condition = states.map { "WHERE state IN (\(databaseQuestionMarks(count: $0.count)))" } ?? ""
        let arguments = StatementArguments(states?.map(\.rawValue) ?? []) + [limit]
        return try jobs("\(condition) ORDER BY state = 'running' DESC, id DESC LIMIT ?", arguments)
    }

    package func job(id: Int64) throws -> Job? {
        try jobs("WHERE id = ?", [id]).first
    }

    /// Jobs that were changed after `revision`, in the order of their changes.
    package func jobs(changedAfter revision: Int, limit: Int) throws -> [Job] {
        try jobs("WHERE revision > ? ORDER BY revision LIMIT ?", [revision, limit])
    }

    /// Those that an owner runs.
    func jobs(runBy owner: String) throws -> [Job] {
        try jobs("WHERE state = 'running' AND owner = ?", [owner])
    }

    private func jobs(_ condition: String, _ arguments: StatementArguments) throws -> [Job] {
        try reading { try Job.fetchAll($0, condition, arguments) }
    }

    /// Sees to it that a job hashes a referenced file; none is added where one is under way or waits.
    func queueHashing(of archive: Archive) throws {
        guard archive.reference != nil, archive.sha256 == nil else { return }
        let now = RFC3339.preciseText(of: Date())
        try writing { database in
            let sql = """
                INSERT INTO job (kind, subject, archiveID, options, state, total, createdAt, updatedAt)
                SELECT 'hash', :subject, :id, '{}', 'waiting', :total, :now, :now
                WHERE NOT EXISTS (
                    SELECT 1 FROM job
                    WHERE kind = 'hash' AND archiveID = :id AND state IN ('waiting', 'running', 'paused'))
                """
            try database.execute(
                sql: sql,
                arguments: [
                    "subject": archive.originalName, "id": archive.id.text, "total": Int64(clamping: archive.size),
                    "now": now,
                ])
        }
    }

    /// Writes down an import that begins now.
    ///
    /// - Parameter total: Bytes of the file, where they are known.
    func addImport(_ order: ImportOrder, subject: String, total: UInt64?, owner: String) throws -> Int64 {
        let now = RFC3339.preciseText(of: Date())
        let options = try order.json()
        return try writing { database in
            let sql = """
                INSERT INTO job (kind, subject, options, state, total, attempt, owner, createdAt, startedAt, updatedAt)
                VALUES ('import', ?, ?, 'running', ?, 1, ?, ?, ?, ?)
                """
            try database.execute(
                sql: sql, arguments: [subject, options, total.map { Int64(clamping: $0) }, owner, now, now, now])
            return database.lastInsertedRowID
        }
    }

    /// What an import was asked for; `nil` when the job is none.
    func importOrder(jobID: Int64) throws -> ImportOrder? {
        try reading { database in
            let sql = "SELECT options FROM job WHERE id = ? AND kind = 'import'"
            return try String.fetchOne(database, sql: sql, arguments: [jobID])
        }.flatMap { ImportOrder(json: $0) }
    }

    /// A job that waits, and where the file lies that it is about, if it is one outside of the store.
    struct WaitingJob {
        let job: Job
        let referencePath: String?
    }

    /// The first of those that wait, oldest first, after the job `id`.
    func waitingJobs(after id: Int64, limit: Int) throws -> [WaitingJob] {
        try reading { database in
            let sql = """
                SELECT job.*, archive.referencePath FROM job LEFT JOIN archive ON archive.id = job.archiveID
                WHERE job.state = 'waiting' AND job.id > ? ORDER BY job.id LIMIT ?
                """
            return try JobRow.fetchAll(database, sql: sql, arguments: [id, limit]).compactMap { row in
                row.job.map { WaitingJob(job: $0, referencePath: row.referencePath) }
            }
        }
    }

    /// Who runs jobs, or died running them.
    func ownersOfRunningJobs() throws -> [String] {
        try reading { database in
            let sql = "SELECT DISTINCT owner FROM job WHERE state = 'running' AND owner IS NOT NULL"
            return try String.fetchAll(database, sql: sql)
        }
    }

}

extension Job {
    static func fetchAll(_ database: Database, _ condition: String, _ arguments: StatementArguments) throws -> [Job] {
        try JobRow.fetchAll(database, sql: "SELECT * FROM job \(condition)", arguments: arguments).compactMap(\.job)
    }
}
