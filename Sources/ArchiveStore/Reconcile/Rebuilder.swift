import GRDB

/// The result of `rebuild`.
package struct RebuildReport: Sendable, Hashable {
    /// The number of archives in the new catalog.
    package var archives = 0
    package var collections = 0
    /// Whether the old catalog was damaged. It is kept as `catalog.sqlite.damaged`.
    package var isOldCatalogDamaged = false
    package var repair = RepairReport()
}

/// Rebuilds the catalog from `files/` and `collections/`, with ids, metadata, links, collections and ports.
///
/// An intact catalog gets the new content in one transaction, so that other processes can keep using it; its jobs are
/// kept. A damaged one is moved aside. If this is interrupted, there is the old catalog, the new one, or none, in which
/// case the next start rebuilds it.
struct Rebuilder {
    let layout: StoreLayout

    /// - Throws: `StoreError`: `locked` if a server is using a damaged catalog.
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
        if let old = try intactCatalog() {
            try old.replaceContent(withCatalogAt: path)
            for file in CatalogFile.files(of: path) { try Folder.delete(file) }
            store = ArchiveStore(layout: layout, catalog: old)
        } else {
            report.isOldCatalogDamaged = Folder.hasName(layout.catalog)
            try install(path)
            store = ArchiveStore(layout: layout, catalog: try Catalog(path: layout.catalog))
        }
        for archive in try store.catalog.allArchives() { try store.jobs.queueHashing(of: archive) }
        return (store, report)
    }

    /// Returns the catalog if it is intact.
    ///
    /// - Throws: `StoreError` for a catalog that can't be opened but isn't damaged, such as a newer version's.
    private func intactCatalog() throws -> Catalog? {
        guard Folder.hasName(layout.catalog) else { return nil }
        do {
            let catalog = try Catalog(path: layout.catalog)
            return try catalog.integrityCheck() == ["ok"] ? catalog : nil
        } catch let error as StoreError where [.catalogDamaged, .failed].contains(error.code) {
            return nil
        }
    }

    private func install(_ path: String) throws {
        if let server = ServerFile.running(layout: layout) {
            throw StoreError(
                .locked, "the server at \(server.address) is using the damaged catalog", place: layout.root,
                hint: "run `replayhost stop` first (process \(server.pid))")
        }
        if Folder.hasName(layout.catalog) { try Folder.move(layout.catalog, to: layout.catalog + ".damaged") }
        // A leftover log would be applied to the new catalog.
        for file in CatalogFile.files(of: layout.catalog).dropFirst() { try Folder.delete(file) }
        try Folder.move(path, to: layout.catalog)
        for file in CatalogFile.files(of: path) { try Folder.delete(file) }
    }
}

extension Catalog {
    /// Writes everything to the main file and closes the catalog.
    func closeForCopying() throws {
        try database.writeWithoutTransaction { database in
            _ = try Row.fetchAll(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try database.close()
    }

    /// Replaces archives and collections with those of another catalog, in one transaction.
    ///
    /// Keeps pages, findings and sites of files that are unavailable.
    func replaceContent(withCatalogAt path: String) throws {
        try database.writeWithoutTransaction { database in
            try database.execute(sql: "ATTACH DATABASE ? AS fresh", arguments: [path])
            defer { try? database.execute(sql: "DETACH DATABASE fresh") }
            try database.inTransaction(.immediate) {
                try database.execute(sql: Self.replacingContent)
                return .commit
            }
        }
    }

    private static let replacingContent = """
        CREATE TEMP TABLE kept AS
            SELECT fresh.archive.key FROM fresh.archive JOIN main.archive ON main.archive.key = fresh.archive.key
            WHERE NOT fresh.archive.isExamined AND main.archive.isExamined;
        UPDATE fresh.archive SET isExamined = 1 WHERE key IN (SELECT key FROM kept);
        INSERT INTO fresh.page SELECT * FROM main.page WHERE archiveKey IN (SELECT key FROM kept);
        INSERT INTO fresh.finding SELECT * FROM main.finding WHERE archiveKey IN (SELECT key FROM kept);
        UPDATE fresh.archive SET (siteCount, thumbnail, years) = (
            SELECT siteCount, thumbnail, years FROM main.archive AS old WHERE old.key = archive.key)
            WHERE key IN (SELECT key FROM kept);
        DELETE FROM fresh.archiveSite WHERE archiveKey IN (SELECT key FROM kept);
        INSERT INTO fresh.archiveSite SELECT * FROM main.archiveSite WHERE archiveKey IN (SELECT key FROM kept);
        DROP TABLE kept;
        DELETE FROM main.archive;
        DELETE FROM main.archiveCollection;
        INSERT INTO main.archive SELECT * FROM fresh.archive;
        INSERT INTO main.finding SELECT * FROM fresh.finding;
        INSERT INTO main.page SELECT * FROM fresh.page;
        INSERT INTO main.archiveSite SELECT * FROM fresh.archiveSite;
        INSERT INTO main.archiveCollection SELECT * FROM fresh.archiveCollection;
        INSERT INTO main.collectionMember SELECT * FROM fresh.collectionMember;
        """
}
