package import ArchiveStore
import GRDB

/// The queue of a store, read beside the running server.
package struct QueueReader: Sendable {
    private let database: DatabaseQueue

    /// - Returns: `nil` if there is no queue yet.
    package init?(layout: StoreLayout) throws {
        guard Folder.isFile(layout.captureDatabase) else { return nil }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(30)
        database = try DatabaseQueue(path: layout.captureDatabase, configuration: configuration)
    }

    /// Returns the number of downloads that match a query, and those of its page, newest first.
    package func downloads(_ query: HistoryQuery) throws -> (total: Int, rows: [DownloadRow]) {
        try database.read { try query.run($0) }
    }

    /// Returns at most two downloads whose ID begins with a text.
    package func downloads(withPrefix prefix: String) throws -> [DownloadRow] {
        let isID = !prefix.isEmpty && prefix.unicodeScalars.allSatisfy { $0 == "-" || $0.properties.isASCIIHexDigit }
        guard isID else { return [] }
        return try database.read { database in
            try DownloadRow.fetchAll(
                database, sql: "SELECT * FROM downloads WHERE download_id LIKE ? LIMIT 2",
                arguments: [prefix.lowercased() + "%"])
        }
    }

    /// Runs SQLite's integrity check. Returns its lines; `["ok"]` if the queue is intact.
    package func integrityCheck() throws -> [String] {
        try database.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
    }
}
