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

    /// Otherwise each import into a large library would make the next command look at all archives.
    @Test func ownChangesLeaveFoldersReconciled() throws {
        let test = try TestStore()
        let archives = try (1...2).map { number in
            try test.store.importFile(at: test.file("\(number).wacz", seed: UInt64(number))).archive
        }
        try age(test)
        #expect(try test.store.repair() == RepairReport())
        // The sidecar of the first archive shows whether it was looked at.
        try edit(archives[0], in: test)
        let third = try test.store.importFile(at: test.file("3.wacz", seed: 3)).archive
        try test.store.edit(third.id, ArchiveMetadata(title: "Third"))
        _ = try test.store.collections.make(title: "Both", members: archives.map(\.id))
        try test.store.remove(third.id)
        #expect(try test.reopened().repair() == RepairReport())

        try age(test, seconds: 1800)
        let fourth = try test.store.importFile(at: test.file("4.wacz", seed: 4)).archive
        #expect(try test.reopened().repair().updated == [archives[0].id], "something else changed the folder before")
        #expect(try test.store.catalog.archive(id: fourth.id) != nil)
    }

    /// Also in a store that was made a moment ago.
    @Test func newStoreIsReconciled() throws {
        let test = try TestStore()
        #expect(try test.store.repair() == RepairReport())
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        try edit(archive, in: test)
        #expect(try test.reopened().repair() == RepairReport())
    }

    /// A change that fails can leave anything.
    @Test func failedChangesAreLookedAt() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        try age(test)
        #expect(try test.store.repair() == RepairReport())
        try edit(archive, in: test)
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try test.store.committing {
                try Data("{}".utf8).write(to: URL(fileURLWithPath: test.layout.files + "/left.json.new"))
                throw Failure()
            }
        }
        let report = try test.reopened().repair()
        #expect(report.updated == [archive.id])
        #expect(report.sweptSidecars == 1)
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
