import CaptureAPI
package import Foundation
import GRDB

/// What changed, and what is removed.
extension DownloadQueue {
    /// A change of one download.
    enum Change: Sendable {
        case download(DownloadRow)
        case removal(id: String, revision: Int64)

        var revision: Int64 {
            switch self {
            case .download(let row): row.revision
            case .removal(_, let revision): revision
            }
        }
    }

    /// How many changes are read at once.
    static let changesMax = 200

    /// The next revision, as SQL.
    static let nextRevision = """
        (SELECT 1 + max(ifnull((SELECT max(revision) FROM downloads), 0), ifnull((SELECT max(revision) FROM removals), 0)))
        """

    /// Returns the revision of the last change.
    ///
    /// - Parameter user: Whose downloads count; `nil` for all.
    static func revision(_ database: Database, of user: Username? = nil) throws -> Int64 {
        let tables = ["downloads", "removals"].map {
            "SELECT max(revision) AS revision FROM \($0) WHERE ifnull(:user, username) = username"
        }
        let sql = "SELECT ifnull(max(revision), 0) FROM (\(tables.joined(separator: " UNION ALL ")))"
        return try Int64.fetchOne(database, sql: sql, arguments: ["user": user?.text]) ?? 0
    }

    /// Returns changes in their order, and up to which revision there are no others.
    ///
    /// - Parameters:
    ///   - revision: Only later ones.
    ///   - user: Whose downloads; `nil` for those of all.
    func changes(
        after revision: Int64, of user: Username?, limit: Int = DownloadQueue.changesMax
    ) async throws -> (changes: [Change], revision: Int64) {
        try await database.read { database in
            let condition = """
                revision > :after AND ifnull(:user, username) = username ORDER BY revision LIMIT :limit
                """
            let arguments: StatementArguments = ["after": revision, "user": user?.text, "limit": limit]
            let rows = try DownloadRow.fetchAll(
                database, sql: "SELECT * FROM downloads WHERE \(condition)", arguments: arguments)
            let removals = try Row.fetchAll(
                database, sql: "SELECT download_id, revision FROM removals WHERE \(condition)", arguments: arguments)
            let found = [rows.map { Change.download($0) }, removals.map { Change.removal(id: $0[0], revision: $0[1]) }]
            // Of a list that was cut, later ones aren't known yet.
            let end =
                try found.filter { $0.count == limit }.compactMap(\.last?.revision).min() ?? Self.revision(database)
            let changes = found.joined().filter { $0.revision <= end }.sorted { $0.revision < $1.revision }
            return (changes, end)
        }
    }

    /// Returns the downloads that run.
    ///
    /// - Parameter user: Whose downloads; `nil` for those of all.
    func running(of user: Username?) async throws -> [DownloadRow] {
        try await database.read { database in
            try DownloadRow.fetchAll(
                database,
                sql: "SELECT * FROM downloads WHERE status = 'downloading' AND ifnull(?, username) = username",
                arguments: [user?.text])
        }
    }

    /// For how many days removals are known.
    private static let removalDays = 30

    /// Deletes a row, unless the download is running.
    ///
    /// - Returns: The deleted row; `nil` if there is none or it's running.
    package func delete(_ id: String) async throws -> DownloadRow? { try await delete([id]).first }

    /// Deletes rows, except of downloads that run.
    ///
    /// - Returns: The deleted rows.
    package func delete(_ ids: [String], now: Date = Date()) async throws -> [DownloadRow] {
        try await database.write { database in
            let oldest = QueueTime.text(now.addingTimeInterval(-Double(Self.removalDays) * 86_400))
            try database.execute(
                sql: "DELETE FROM removals WHERE removed_at < ? AND revision < (SELECT max(revision) FROM removals)",
                arguments: [oldest])
            return try ids.compactMap { id in
                let condition = "download_id = ? AND state NOT IN ('started', 'downloading')"
                guard let row = try Self.row(database, condition, [id]) else { return nil }
                try database.execute(sql: "DELETE FROM downloads WHERE download_id = ?", arguments: [id])
                return row
            }
        }
    }
}
