import Foundation
import GRDB

/// The modification times of `files/` and `collections/`, which change with each file that is added, replaced or deleted.
///
/// The catalog has those of the last repair that found nothing to do: as long as they are the same, and the catalog has the
/// same archives, none needs to be looked at.
struct ReconciledFolders {
    /// In nanoseconds since 1970, by the name of the folder; and `CatalogRevision.files`.
    private let values: [String: Int64]
    /// Whether a later change certainly gives a folder another time. Some file systems store times in units of two seconds.
    let areSettled: Bool

    /// Reads the times of the folders.
    init(_ layout: StoreLayout, _ catalog: Catalog) throws {
        var times: [String: Int64] = [:]
        for (name, path) in [("files", layout.files), ("collections", layout.collections)] {
            guard let status = Folder.status(of: path) else {
                throw StoreError(.unusable, "the folder can't be read (error \(errno))", place: path)
            }
            times[name] = status.modifiedAtNanoseconds
        }
        let now = time(nil)
        areSettled = times.values.allSatisfy { Int($0 / 1_000_000_000) < now - Self.settlingSeconds }
        times["archives"] = Int64(try catalog.revision().files)
        values = times
    }

    private struct Row: Decodable, FetchableRecord {
        let name: String
        let value: Int64
    }

    /// Whether the catalog has these values.
    func isKnown(to catalog: Catalog) throws -> Bool {
        let rows = try catalog.reading { try Row.fetchAll($0, sql: "SELECT name, value FROM reconciled") }
        return Dictionary(rows.map { ($0.name, $0.value) }) { $1 } == values
    }

    func save(in catalog: Catalog) throws {
        try catalog.writing { database in
            for (name, value) in values {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO reconciled VALUES (?, ?)", arguments: [name, value])
            }
        }
    }

    private static let settlingSeconds = 3
}

extension ArchiveStore {
    /// Runs `body`, which changes `files/` or `collections/`, with the commit lock; see `StoreLayout.withCommitLock`.
    ///
    /// If nothing had to be reconciled before, nothing has to be after: the next process doesn't look at all archives
    /// because of one that was imported.
    func committing<Value>(checkCancellation: () throws -> Void = {}, _ body: () throws -> Value) throws -> Value {
        try layout.withCommitLock(checkCancellation: checkCancellation) {
            let isReconciled = try ReconciledFolders(layout, catalog).isKnown(to: catalog)
            let value = try body()
            if isReconciled {
                // Without it, the next process looks at all archives.
                try? ReconciledFolders(layout, catalog).save(in: catalog)
            }
            return value
        }
    }
}
