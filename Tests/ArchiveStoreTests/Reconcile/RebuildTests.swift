import Foundation
import GRDB
import TestSupport
import Testing

@testable import ArchiveStore

/// Rebuilding the catalog from `files/` and `collections/`. Tests that overwrite single pages of the catalog
/// are in Tests/FaultTests.
struct RebuildTests {
    /// Archives of every kind, with all metadata.
    private func filled() async throws -> TestStore {
        let test = try TestStore()
        let store = test.store
        for (number, layout) in GeneratedArchive.Layout.allCases.enumerated() {
            _ = try store.importFile(at: try test.file("\(layout).wacz", seed: UInt64(number), layout: layout))
        }
        // Two archives with the same file name: the first is found by it.
        _ = try store.importFile(at: try test.file("1/same.wacz", seed: 101))
        _ = try store.importFile(at: try test.file("2/same.wacz", seed: 102))
        let away = try test.file("away.wacz", seed: 103)
        _ = try store.importLink(to: away)
        let hashed = try test.file("hashed.wacz", seed: 104, layout: .unsorted)
        let archive = try store.importLink(to: hashed).archive
        _ = try store.committer.finishHashing(key: archive.key, sha256: try await sha256ByOpenSSL(hashed))
        var edited = try #require(try store.catalog.allArchives().first { $0.id.text == "plain" })
        edited = try store.edit(edited.id, ArchiveMetadata(title: "Ü \"mine\"", tags: ["b", "a"], notes: "Two\nlines"))
        edited.port = 8101
        try store.committer.save(edited)
        _ = try store.importFile(at: Checkout.fixture("damaged/unsorted-index.wacz"))
        let collection = try store.collections.make(
            title: "Some", members: try ["plain", "away", "same"].map { try #require(ArchiveID($0)) },
            metadata: ArchiveMetadata(tags: ["g"], notes: "of a collection"))
        #expect(collection.id.text == "some")
        return test
    }

    @Test(arguments: ["sound", "missing", "damaged"])
    func rebuiltCatalogEqualsOriginal(catalog: String) async throws {
        let test = try await filled()
        let before = try test.everything()
        let same = try test.store.catalog.archive(named: "same.wacz")
        if catalog != "sound" {
            for name in names(in: test.layout.root) where name.hasPrefix("catalog.sqlite") {
                try FileManager.default.removeItem(atPath: test.folder.path("store/\(name)"))
            }
        }
        if catalog == "damaged" { try test.folder.write("no database", to: "store/catalog.sqlite") }
        let (store, report) = try ArchiveStore.rebuild(at: test.layout.root)
        #expect(report.repair.problems.isEmpty)
        #expect(report.archives == 14)
        #expect(report.collections == 1)
        #expect(report.isOldCatalogDamaged == (catalog == "damaged"))
        let rebuilt = TestStore(folder: test.folder, store: store)
        #expect(try rebuilt.everything() == before)
        #expect(try store.catalog.archive(named: "same.wacz")?.withoutState == same?.withoutState)
        #expect(try store.catalog.integrityCheck() == ["ok"])
        try await rebuilt.expectWhole()
        #expect(try store.repair() == RepairReport())
    }

    @Test func openStoresKeepWorking() async throws {
        let test = try await filled()
        let before = try test.everything()
        _ = try ArchiveStore.rebuild(at: test.layout.root)
        #expect(try test.everything() == before)
        #expect(code { _ = try test.store.importFile(at: try test.file("after.wacz", seed: 200)) } == nil)
    }

    /// A catalog that can't be read isn't damaged.
    @Test func catalogOfNewerVersionIsNotChanged() throws {
        let test = try TestStore()
        _ = try test.store.importFile(at: try test.file("a.wacz"))
        try test.store.catalog.writing {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 of the future')")
        }
        let before = names(in: test.layout.root).sorted()
        #expect(code { _ = try ArchiveStore.rebuild(at: test.layout.root) } == .unusable)
        #expect(!FileManager.default.fileExists(atPath: test.layout.catalog + ".damaged"))
        #expect(names(in: test.layout.root).sorted() == before)
    }

    @Test func damagedCatalogIsNotReplacedWhileServerRuns() throws {
        let test = try TestStore()
        _ = try test.store.importFile(at: try test.file("a.wacz"))
        for name in names(in: test.layout.root) where name.hasPrefix("catalog.sqlite") {
            try FileManager.default.removeItem(atPath: test.folder.path("store/\(name)"))
        }
        try test.folder.write("no database", to: "store/catalog.sqlite")
        let server = try ServerFile(layout: test.layout)
        try server.write(ServerDescription(address: "http://localhost:1", port: 1, pid: 1, token: "t"))
        #expect(code { _ = try ArchiveStore.rebuild(at: test.layout.root) } == .locked)
        server.remove()
    }
}

extension TestStore {
    init(folder: TemporaryFolder, store: ArchiveStore) {
        self.folder = folder
        self.store = store
    }
}
