import Foundation
import GRDB
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Catalogs of earlier versions, created with the statements of those versions.
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

    @Test func storeOfFirstSchemaIsMigrated() async throws {
        let (test, folder) = (try TestStore(), try TemporaryFolder())
        let bytes = GeneratedArchive(pages: numberedPages(5), layout: .unsorted).bytes()
        let archive = try test.store.importFile(at: try test.folder.write(bytes, to: "a.wacz")).archive
        // A store of the first version: the file, its sidecar, and a catalog with that schema.
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
        #expect(try store.catalog.pages(key: found.key, PageListRequest(limit: 10)).pages.map(\.title) == ["P"])
        #expect(try store.openArchives.lookups(found, Allowances()).wacz.isKnownSorted == false)
        try expectEveryCapture(of: found, in: store, count: 5)
        #expect(try store.repair() == RepairReport())
        #expect(try store.prepareLookups().prepared == [found.id])
        let prepared = try store.resolver.archive(matching: "old-id")
        #expect(prepared.lookups?.strategy == .sortedCopy)
        #expect(prepared.title == "Old title")
        #expect(try store.openArchives.lookups(prepared, Allowances()).wacz.isKnownSorted)
        try expectEveryCapture(of: prepared, in: store, count: 5)
        #expect(try store.catalog.integrityCheck() == ["ok"])
        #expect(RFC3339.text(of: prepared.importedAt) == "2025-01-02T03:04:05Z")
        let indexes = try await store.catalog.database.read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'page'")
        }
        #expect(!indexes.contains("pageByURL"))
        // The previous catalog is kept next to it, with a readable mode.
        let copy = try DatabaseQueue(path: folder.path("store/catalog.sqlite.schema-1"))
        let title = try await copy.read { try String.fetchOne($0, sql: "SELECT title FROM archive") }
        #expect(title == "Old title")
    }

    /// Undoes step 6: names as version 0.1.0 had them.
    private static let formerNames = """
        ALTER TABLE archive RENAME COLUMN linkedPath TO referencePath;
        ALTER TABLE archive RENAME COLUMN linkedModifiedAt TO referenceModifiedAt;
        UPDATE archive SET storage = 'referenced' WHERE storage = 'linked';
        ALTER TABLE archiveCollection RENAME TO archiveGroup;
        ALTER TABLE collectionMember RENAME TO groupMember;
        ALTER TABLE groupMember RENAME COLUMN collectionID TO groupID;
        DROP INDEX collectionByMember;
        CREATE INDEX groupByMember ON groupMember (archiveID);
        ALTER TABLE job RENAME COLUMN crashCount TO deaths;
        UPDATE job SET options = '{"mode":"reference","path":"/x.wacz","strict":false,"tags":[]}', deaths = 1;
        INSERT INTO job (kind, subject, options, state, createdAt, updatedAt)
            SELECT kind, subject, 'not JSON', state, createdAt, updatedAt FROM job LIMIT 1;
        DROP TRIGGER archiveCollectionInsert;
        DROP TRIGGER archiveCollectionUpdate;
        DROP TRIGGER archiveCollectionDelete;
        CREATE TRIGGER archiveGroupInsert AFTER INSERT ON archiveGroup BEGIN SELECT 1; END;
        CREATE TRIGGER archiveGroupUpdate AFTER UPDATE ON archiveGroup BEGIN SELECT 1; END;
        CREATE TRIGGER archiveGroupDelete AFTER DELETE ON archiveGroup BEGIN SELECT 1; END;
        DELETE FROM grdb_migrations WHERE identifier LIKE '6 %';
        """

    @Test func storeWithGroupsAndReferencesIsMigrated() async throws {
        let made = try BackedUpStore()
        try await made.fill()
        let before = try StoreFacts(made.store)
        let layout = made.store.layout
        let folder = made.test.folder
        try FileManager.default.copyItem(atPath: layout.root, toPath: folder.path("old"))
        let old = StoreLayout(root: folder.path("old"))
        try FileManager.default.moveItem(atPath: old.collections, toPath: folder.path("old/groups"))
        let catalog = try DatabaseQueue(path: old.catalog)
        try await catalog.write { try $0.execute(sql: Self.formerNames) }
        try catalog.close()

        let store = try ArchiveStore(at: old.root)
        let after = try StoreFacts(store)
        #expect(after.archives == before.archives)
        #expect(after.details == before.details)
        #expect(after.collections == before.collections)
        #expect(before.archives.contains { $0.storage.isLinked } && !before.collections.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder.path("old/groups")))
        #expect(try store.repair() == RepairReport())
        let orders = try store.catalog.database.read { database in
            try Row.fetchAll(database, sql: "SELECT options, crashCount FROM job ORDER BY id")
        }
        #expect(
            orders.dropLast().allSatisfy { ImportOrder(json: $0["options"])?.mode == .link && $0["crashCount"] == 1 })
        #expect(orders.last?["options"] == "not JSON" && orders.count > 1)
        // Changes of collections count, as before.
        let revision = try store.revision().archives
        try store.collections.remove(try #require(try store.collections.all().first).id)
        #expect(try store.revision().archives > revision)
    }

    @Test func folderThatWasNoStoreKeepsItsGroups() throws {
        let folder = try TemporaryFolder()
        try folder.write("{}", to: "shared/groups/mine.json")
        for _ in 0..<2 {
            let store = try ArchiveStore(at: folder.path("shared"))
            #expect(names(in: folder.path("shared/groups")) == ["mine.json"])
            #expect(names(in: store.layout.collections) == [])
        }
    }

    @Test func collectionsOfOlderVersionAreKept() throws {
        let made = try BackedUpStore()
        let archive = try made.add("a", seed: 1)
        let collections = try ["kept", "late"].map { try made.store.collections.make(title: $0, members: [archive.id]) }
        let layout = made.store.layout
        let groups = layout.root + "/groups"
        try FileManager.default.createDirectory(atPath: groups, withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: layout.collection(collections[1].id), toPath: "\(groups)/late.json")
        try Data("another".utf8).write(to: URL(filePath: "\(groups)/kept.json"))
        let store = try ArchiveStore(at: layout.root)
        #expect(try store.repair() == RepairReport())
        #expect(Set(try store.collections.all().map(\.id)) == Set(collections.map(\.id)))
        #expect(names(in: groups) == ["kept.json"], "what can't be moved is not deleted")
    }
}
