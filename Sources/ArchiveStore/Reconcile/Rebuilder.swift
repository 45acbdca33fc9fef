import GRDB

/// What `rebuild` did.
package struct RebuildReport: Sendable, Hashable {
    /// In the catalog now.
    package var archives = 0
    package var collections = 0
    /// Whether the old catalog could not be read, and lies beside the new one as `catalog.sqlite.damaged`.
    package var isOldOneDamaged = false
    package var repair = RepairReport()
}

/// Makes the catalog anew from `files/` and `collections/`: ids, titles, tags, notes, references, collections and ports are as they were.
///
/// A catalog that can be read gets the new content in one transaction, so that other processes go on with it. A damaged one
/// is put aside. Jobs are kept where they can be read. Stopped at any instant the old catalog is there, or the new one, or none,
/// which the next start makes anew.
struct Rebuilder {
    let layout: StoreLayout

    /// - Throws: `StoreError`: `locked` when a server is using a catalog that has to be put aside.
    func run() throws -> (store: ArchiveStore, report: RebuildReport) {
        try layout.makeFolders()
        return try layout.withCommitLock {
            try layout.withStagingFile { owner in try rebuild(in: owner.path + ".sqlite") }
        }
    }

    private func rebuild(in path: String) throws -> (store: ArchiveStore, report: RebuildReport) {
        var report = RebuildReport()
        let fresh = ArchiveStore(layout: layout, catalog: try Catalog(path: path))
        var reconciler = Reconciler(store: fresh)
        report.repair = try reconciler.run()
        report.archives = try fresh.catalog.allArchives().count
        report.collections = try fresh.collections.all().count
        try fresh.catalog.closeForCopying()
        let store: ArchiveStore
        if let old = try soundCatalog() {
            try old.takeContent(of: path)
            for file in Self.databaseFiles(path) { try Folder.delete(file) }
            store = ArchiveStore(layout: layout, catalog: old)
        } else {
            report.isOldOneDamaged = Folder.exists(layout.catalog)
            try putInPlace(path)
            store = ArchiveStore(layout: layout, catalog: try Catalog(path: layout.catalog))
        }
        for archive in try store.catalog.allArchives() { try store.jobs.queueHashing(of: archive) }
        return (store, report)
    }

    /// The catalog, if it is one and SQLite finds nothing wrong with it.
    ///
    /// - Throws: What keeps it from being opened though it isn't damaged: a newer version's catalog stays as it is.
    private func soundCatalog() throws -> Catalog? {
        guard Folder.exists(layout.catalog) else { return nil }
        do {
            let catalog = try Catalog(path: layout.catalog)
            return try catalog.integrityCheck() == ["ok"] ? catalog : nil
        } catch let error as StoreError where [.catalogDamaged, .failed].contains(error.code) {
            return nil
        }
    }

    private func putInPlace(_ path: String) throws {
        if let server = ServerFile.running(layout: layout) {
            throw StoreError(
                .locked, "the server at \(server.address) is using the damaged catalog", place: layout.root,
                hint: "stop it first (process \(server.pid))")
        }
        if Folder.exists(layout.catalog) { try Folder.move(layout.catalog, to: layout.catalog + ".damaged") }
        // A log that is left would be applied to the new catalog.
        for file in Self.databaseFiles(layout.catalog).dropFirst() { try Folder.delete(file) }
        try Folder.move(path, to: layout.catalog)
        for file in Self.databaseFiles(path) { try Folder.delete(file) }
    }

    private static func databaseFiles(_ path: String) -> [String] {
        [path, path + "-wal", path + "-shm", path + "-journal"]
    }
}

extension Catalog {
    /// Everything into the one file, flushed.
    func closeForCopying() throws {
        try database.writeWithoutTransaction { database in
            _ = try Row.fetchAll(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try database.close()
    }

    /// Takes archives and collections from another catalog, in the place of its own, at once.
    ///
    /// What was read of a file that is away now is kept.
    func takeContent(of path: String) throws {
        try database.writeWithoutTransaction { database in
            try database.execute(sql: "ATTACH DATABASE ? AS fresh", arguments: [path])
            defer { try? database.execute(sql: "DETACH DATABASE fresh") }
            try database.inTransaction(.immediate) {
                try database.execute(sql: Self.takingContent)
                return .commit
            }
        }
    }

    private static let takingContent = """
        CREATE TEMP TABLE kept AS
            SELECT fresh.archive.key FROM fresh.archive JOIN main.archive ON main.archive.key = fresh.archive.key
            WHERE NOT fresh.archive.isExamined AND main.archive.isExamined;
        UPDATE fresh.archive SET isExamined = 1 WHERE key IN (SELECT key FROM kept);
        INSERT INTO fresh.page SELECT * FROM main.page WHERE archiveKey IN (SELECT key FROM kept);
        INSERT INTO fresh.finding SELECT * FROM main.finding WHERE archiveKey IN (SELECT key FROM kept);
        DROP TABLE kept;
        DELETE FROM main.archive;
        DELETE FROM main.archiveCollection;
        INSERT INTO main.archive SELECT * FROM fresh.archive;
        INSERT INTO main.finding SELECT * FROM fresh.finding;
        INSERT INTO main.page SELECT * FROM fresh.page;
        INSERT INTO main.archiveCollection SELECT * FROM fresh.archiveCollection;
        INSERT INTO main.collectionMember SELECT * FROM fresh.collectionMember;
        """
}
