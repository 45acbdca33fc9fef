import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Repairs of a store in which nothing has changed since the last one.
struct ReconciledFoldersTests {
    /// Sets the times of the store's folders, as if they hadn't changed for a while.
    private func age(_ test: TestStore, seconds: Double = 3600) throws {
        for folder in [test.layout.files, test.layout.collections] {
            let date = Date(timeIntervalSinceNow: -seconds)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder)
        }
    }

    /// Changes a title in a sidecar without creating a file, so that the folder stays as it is.
    private func edit(_ archive: Archive, in test: TestStore) throws {
        let path = test.layout.sidecar(archive.key)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.write(contentsOf: Data(text.replacingOccurrences(of: TestStore.title, with: "Different").utf8))
        try file.close()
    }

    @Test func archivesInUnchangedFoldersAreNotLookedAt() throws {
        let test = try TestStore()
        let archives = try (1...3).map { number in
            try test.store.importFile(at: test.file("\(number).wacz", seed: UInt64(number))).archive
        }
        try age(test)
        #expect(try test.store.repair() == RepairReport())
        try edit(archives[0], in: test)
        let later = try test.reopened()
        #expect(try later.repair() == RepairReport(), "the sidecars aren't read")
        #expect(try later.repair(readsAll: true).updated == [archives[0].id])
        #expect(try later.repair() == RepairReport())
        try edit(archives[0], in: test)
        try age(test, seconds: 1800)
        try edit(archives[1], in: test)
        #expect(try later.repair().updated == [archives[1].id], "the folder has changed")
        #expect(try later.repair() == RepairReport())
    }

    /// A second change can give a folder the same time as the first.
    @Test func recentChangesAreLookedAtAgain() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        try age(test, seconds: 0)
        #expect(try test.store.repair() == RepairReport())
        try edit(archive, in: test)
        #expect(try test.store.repair().updated == [archive.id])
    }

    @Test func archivesThatTheCatalogLostAreFoundInUnchangedFolders() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        try age(test)
        #expect(try test.store.repair() == RepairReport())
        try test.store.catalog.remove(key: archive.key)
        #expect(try test.store.repair().adopted == [archive.id])
    }

    @Test func problemsAreReportedByEachRepair() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        try FileManager.default.removeItem(atPath: test.layout.file(archive.key))
        try age(test)
        for _ in 1...2 { #expect(try test.store.repair().problems.count == 1) }
    }

    @Test func returnedFilesAreReadInUnchangedFolders() throws {
        let test = try TestStore()
        let (path, archive) = try test.makeLinkedArchive("a")
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: test.layout.catalog + suffix)
        }
        let rebuilt = try ArchiveStore.rebuild(at: test.layout.root).store
        try age(test)
        #expect(try rebuilt.repair() == RepairReport())
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        #expect(try rebuilt.repair().examined == [archive.id])
    }
}
