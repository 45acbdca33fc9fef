import Foundation
import GRDB

/// The jobs of one kind, counted. Its JSON is documented in `docs/json.md`.
package struct JobCounts: Sendable, Hashable, Codable, FetchableRecord {
    /// A `Job.Kind`, or one of a newer version.
    package let kind: String
    package let waiting: Int
    package let running: Int
    package let paused: Int
    /// Those that weren't dismissed.
    package let failed: Int
    /// Those that were completed since there was last no waiting, running or paused job of this kind.
    package let done: Int
    /// Progress of the done, waiting, running and paused jobs, in bytes.
    package let bytesDone: Int64
    /// Their size, as far as it's known.
    package let bytesTotal: Int64

    /// The number of jobs that aren't finished.
    package var active: Int { waiting + running + paused }
}

/// Counts and changes of many jobs, each in one statement.
extension Jobs {
    /// Counts the jobs of each kind that has jobs which aren't finished, or that failed.
    package func counts() throws -> [JobCounts] {
        try catalog.reading { try JobCounts.fetchAll($0, sql: Self.countsSQL) }
    }

    /// An index has everything that is counted, so no row is read.
    static let countsSQL: String = {
        func count(_ state: Job.State) -> String {
            "count(CASE WHEN state = '\(state)' THEN 1 END) AS \(state)"
        }
        func bytes(_ column: String) -> String {
            """
            jobBatch.bytes + coalesce(sum(
                CASE WHEN state != 'failed' THEN min(coalesce(\(column), 0), 1 << 50) END), 0)
            """
        }
        return """
            SELECT jobBatch.kind, \([Job.State.waiting, .running, .paused, .failed].map(count).joined(separator: ", ")),
                jobBatch.done, \(bytes("job.done")) AS bytesDone, \(bytes("job.total")) AS bytesTotal
            FROM jobBatch CROSS JOIN job ON job.kind = jobBatch.kind
            WHERE state IN ('waiting', 'running', 'paused', 'failed') GROUP BY jobBatch.kind ORDER BY jobBatch.kind
            """
    }()

    /// Pauses, resumes or cancels all jobs for which that is possible.
    ///
    /// - Parameter kind: The kind of the jobs; `nil` for all.
    /// - Returns: The number of jobs that were changed.
    package func changeAll(_ change: JobChange, kind: Job.Kind? = nil) throws -> Int {
        let states = change.possibleStates.map { "'\($0)'" }.joined(separator: ", ")
        let isRepeatable =
            "kind != 'import' OR CASE WHEN json_valid(options) THEN json_extract(options, '$.path') END IS NOT NULL"
        let sql = """
            UPDATE job SET state = :state, updatedAt = :now,
                reason = CASE WHEN kind = 'import' THEN :importReason ELSE :reason END,
                finishedAt = CASE WHEN :state = 'cancelled' THEN :now END,
                errorCode = CASE WHEN :state != 'waiting' THEN errorCode END,
                owner = CASE WHEN :state != 'waiting' THEN owner END
            WHERE state IN (\(states)) AND kind = coalesce(:kind, kind)
                AND (\(change == .cancel ? "TRUE" : isRepeatable))
            """
        return try catalog.writing { database in
            try database.execute(
                sql: sql,
                arguments: [
                    "state": change.state.rawValue, "now": Self.now(), "kind": kind?.rawValue,
                    "importReason": change.reason(for: .import), "reason": change.reason(for: .verify),
                ])
            let count = database.changesCount
            try Self.pruneJobs(database)
            return count
        }
    }

    /// Deletes all jobs in a state in which they are finished.
    ///
    /// - Parameter kind: The kind of the jobs; `nil` for all.
    /// - Returns: The number of jobs that were deleted.
    package func forgetAll(in state: Job.State, kind: Job.Kind? = nil) throws -> Int {
        guard state.isOver else {
            throw StoreError(
                .notPossible, "can't delete \(state.displayName) jobs", hint: "cancel them first")
        }
        return try catalog.writing { database in
            try database.execute(
                sql: "DELETE FROM job WHERE state = ? AND kind = coalesce(?, kind)",
                arguments: [state.rawValue, kind?.rawValue])
            return database.changesCount
        }
    }
}
