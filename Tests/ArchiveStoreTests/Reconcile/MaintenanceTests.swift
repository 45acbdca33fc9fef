import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// The maintenance of a store in a long-running process.
struct HousekeepingTests {
    private let start = ContinuousClock.now

    @Test func repairsManualChangesAtMostEveryTenSeconds() throws {
        let test = try TestStore()
        let path = try test.folder.write(GeneratedArchive().bytes(), to: "a.wacz")
        let archive = try test.store.importFile(at: path).archive
        var housekeeping = Maintenance(test.store)
        #expect(try housekeeping.step(now: start) == RepairReport(), "what happened before is not known")
        #expect(try housekeeping.step(now: start + .seconds(60)) == nil, "nothing has changed")
        try FileManager.default.removeItem(atPath: test.layout.sidecar(archive.key))
        #expect(try housekeeping.step(now: start + .seconds(61))?.restoredSidecars == [archive.id])
        try FileManager.default.removeItem(atPath: test.layout.sidecar(archive.key))
        #expect(try housekeeping.step(now: start + .seconds(70)) == nil, "not more often than every ten seconds")
        #expect(try housekeeping.step(now: start + .seconds(72))?.restoredSidecars == [archive.id])
        #expect(try housekeeping.step(now: start + .seconds(83)) == RepairReport(), "its own change is looked at once")
        #expect(try housekeeping.step(now: start + .seconds(94)) == nil)
    }

    @Test func manuallyWrittenCollectionIsFound() throws {
        let test = try TestStore()
        let path = try test.folder.write(GeneratedArchive().bytes(), to: "a.wacz")
        let archive = try test.store.importFile(at: path).archive
        let collection = try test.store.collections.make(title: "Two", members: [archive.id])
        let document = try contents(of: test.layout.collection(collection.id))
        try test.store.collections.remove(collection.id)
        var housekeeping = Maintenance(test.store)
        _ = try housekeeping.step(now: start)
        try test.folder.write(document, to: "store/collections/\(collection.id).json")
        #expect(try housekeeping.step(now: start + .seconds(11))?.updated == [collection.id])
        #expect(try test.store.collections.collection(id: collection.id)?.title == "Two")
    }

    @Test func onlyOldUnlockedFilesAreAbandoned() throws {
        let test = try TestStore()
        let held = try Descriptor(path: test.folder.write("half", to: "store/incoming/copy-0"), flags: O_RDONLY)
        #expect(held.lock() == .acquired)
        #expect(try !IncomingFolder(layout: test.layout).hasAbandoned(olderThanSeconds: 0))
        try test.folder.write("half", to: "store/incoming/copy-0.idx")
        #expect(
            try !IncomingFolder(layout: test.layout).hasAbandoned(olderThanSeconds: 0),
            "it belongs to the one that is held")
        try test.folder.write("half", to: "store/incoming/copy-1")
        #expect(try !IncomingFolder(layout: test.layout).hasAbandoned(olderThanSeconds: 60))
        #expect(try IncomingFolder(layout: test.layout).hasAbandoned(olderThanSeconds: 0))
        try test.store.repair()
        #expect(try !IncomingFolder(layout: test.layout).hasAbandoned(olderThanSeconds: 0))
        try test.folder.write("half", to: "store/incoming/copy-2.idx")
        #expect(try IncomingFolder(layout: test.layout).hasAbandoned(olderThanSeconds: 0), "its owner is gone")
        try test.store.repair()
        try test.folder.write("", to: "store/incoming/runner-\(deadOwner())")
        #expect(try IncomingFolder(layout: test.layout).hasAbandoned(olderThanSeconds: 0))
        withExtendedLifetime(held) {}
    }

    @Test func unusedLinkedFilesAreClosed() throws {
        let test = try TestStore()
        let (path, archive) = try test.makeLinkedArchive("a")
        let request = try #require(OpenArchives.Request(path: archive.id.text, query: nil))
        weak let file = try test.store.openArchives.file(for: request)
        #expect(file != nil)
        let asked = ContinuousClock.now
        var housekeeping = Maintenance(test.store)
        _ = try housekeeping.step(now: asked + .seconds(1))
        #expect(file != nil, "it was just used")
        _ = try housekeeping.step(now: asked + .seconds(2))
        #expect(file == nil)
        #expect(FileManager.default.fileExists(atPath: path))
    }
}
