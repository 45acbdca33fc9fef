import Foundation
import GRDB
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Catalogs of earlier versions, made by the statements that these versions made them with.
struct CatalogMigrationsTests {
    /// The first step, as it was released.
    private static let first = """
        CREATE TABLE archive (
            key TEXT PRIMARY KEY NOT NULL, id TEXT NOT NULL UNIQUE, sha256 TEXT UNIQUE, storage TEXT NOT NULL,
            title TEXT NOT NULL, size INTEGER NOT NULL, originalName TEXT NOT NULL, source TEXT NOT NULL,
            importedAt TEXT NOT NULL, createdAt TEXT, description TEXT, software TEXT, waczVersion TEXT,
            mainPageURL TEXT, mainPageTimestamp TEXT, pageCount INTEGER NOT NULL, captureCount INTEGER NOT NULL,
            firstCapture TEXT, lastCapture TEXT, notices INTEGER NOT NULL, warnings INTEGER NOT NULL,
            errors INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX archiveByOriginalName ON archive (originalName);
        CREATE TABLE finding (
            archiveKey TEXT NOT NULL REFERENCES archive (key) ON DELETE CASCADE, position INTEGER NOT NULL,
            severity TEXT NOT NULL, code TEXT NOT NULL, what TEXT NOT NULL, location TEXT NOT NULL,
            consequence TEXT NOT NULL, PRIMARY KEY (archiveKey, position)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE page (
            archiveKey TEXT NOT NULL REFERENCES archive (key) ON DELETE CASCADE, position INTEGER NOT NULL,
            list TEXT NOT NULL, url TEXT NOT NULL, timestamp TEXT, title TEXT, PRIMARY KEY (archiveKey, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX pageByURL ON page (archiveKey, url);
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('1 archives, findings, pages');
        """

    @Test func aStoreOfTheFirstVersionGoesOn() async throws {
        let (test, folder) = (try TestStore(), try TemporaryFolder())
        let bytes = GeneratedArchive(pages: numberedPages(5), layout: .unsorted).bytes()
        let archive = try test.store.importFile(at: try test.folder.write(bytes, to: "a.wacz")).archive
        // What the first version would have left: the file, its sidecar, and a catalog of that schema.
        try folder.write(try contents(of: test.layout.file(archive.key)), to: "store/files/\(archive.key).wacz")
        try folder.write(
            """
            {"format": 1, "id": "old-id", "importedAt": "2025-01-02T03:04:05Z", "originalName": "a.wacz", "source": "x",
             "title": "Old title"}
            """, to: "store/files/\(archive.key).json")
        let old = try DatabaseQueue(path: folder.path("store/catalog.sqlite"))
        try await old.write { database in
            try database.execute(sql: Self.first)
            try database.execute(
                sql: """
                    INSERT INTO archive VALUES (?, 'old-id', ?, 'managed', 'Old title', ?, 'a.wacz', 'x',
                        '2025-01-02T03:04:05Z', NULL, NULL, NULL, NULL, NULL, NULL, 5, 5, NULL, NULL, 0, 1, 0)
                    """, arguments: [archive.key, archive.key, archive.size])
            try database.execute(
                sql: "INSERT INTO finding VALUES (?, 0, 'warning', 'c', 'w', 'l', 'q')", arguments: [archive.key])
            try database.execute(
                sql: "INSERT INTO page VALUES (?, 0, 'pages', 'http://example.org/0', NULL, 'P')",
                arguments: [archive.key])
        }
        try old.close()

        let store = try ArchiveStore(at: folder.path("store"))
        let found = try store.resolver.archive(matching: "old-id")
        #expect(found.lookups == nil, "what was not found out is not trusted")
        #expect(found.title == "Old title")
        #expect(found.captureCount == 5)
        #expect(try store.details(of: found).findings.map(\.code) == ["c"])
        #expect(try store.catalog.pages(key: found.key, limit: 10).pages.map(\.title) == ["P"])
        #expect(try store.openArchives.lookups(found).trustsOrder == false)
        try expectEveryCapture(of: found, in: store, count: 5)
        #expect(try store.repair() == RepairReport())
        #expect(try store.prepareLookups().prepared == [found.id])
        let prepared = try store.resolver.archive(matching: "old-id")
        #expect(prepared.lookups?.way == .sortedCopy)
        #expect(prepared.title == "Old title")
        #expect(try store.openArchives.lookups(prepared).trustsOrder)
        try expectEveryCapture(of: prepared, in: store, count: 5)
        #expect(try store.catalog.integrityCheck() == ["ok"])
        #expect(RFC3339.text(of: prepared.importedAt) == "2025-01-02T03:04:05Z")
        let indexes = try await store.catalog.database.read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'page'")
        }
        #expect(!indexes.contains("pageByURL"))
        // The catalog as it was before lies beside it, readable by anybody.
        let copy = try DatabaseQueue(path: folder.path("store/catalog.sqlite.schema-1"))
        let title = try await copy.read { try String.fetchOne($0, sql: "SELECT title FROM archive") }
        #expect(title == "Old title")
    }
}
