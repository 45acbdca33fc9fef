import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// States that a killed process can leave while handling index files.
struct IndexRepairTests {
    private func filled(
        _ layout: GeneratedArchive.Layout = .unsorted
    ) throws -> (test: TestStore, archive: Archive) {
        let test = try TestStore()
        let bytes = GeneratedArchive(pages: numberedPages(9), layout: layout).bytes()
        return (test, try test.store.importFile(at: try test.folder.write(bytes, to: "a.wacz")).archive)
    }

    private func expectNothingToDo(_ test: TestStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = try test.state()
        #expect(try test.store.repair() == RepairReport(), sourceLocation: sourceLocation)
        #expect(try test.state() == before, sourceLocation: sourceLocation)
    }

    /// An import moves the sidecar, the blocks, the `.idx`, the archive; killed before the last of these there is
    /// nothing.
    @Test(arguments: 1...3)
    func orphanedIndexFilesAreDeleted(steps: Int) async throws {
        let (test, archive) = try filled()
        try test.store.catalog.remove(key: archive.key)
        try FileManager.default.removeItem(atPath: test.layout.file(archive.key))
        if steps < 3 { try FileManager.default.removeItem(atPath: test.layout.derived(.idx, key: archive.key)) }
        if steps < 2 { try FileManager.default.removeItem(atPath: test.layout.derived(.blocks, key: archive.key)) }
        #expect(try test.store.repair().sweptSidecars == steps)
        #expect(try test.state().isEmpty)
        try expectNothingToDo(test)
    }

    @Test(arguments: [GeneratedArchive.Layout.unsorted, .zipNumDeflated, .missing, .plain])
    func adoptedArchiveKeepsOrGetsIndexFiles(layout: GeneratedArchive.Layout) async throws {
        let (test, archive) = try filled(layout)
        let files = try #require(archive.lookups).files
        let right = try files.map { try contents(of: test.layout.derived($0, key: archive.key)) }
        for isDamaged in [false, true] {
            if isDamaged {
                for file in files {
                    try Data().write(to: URL(fileURLWithPath: test.layout.derived(file, key: archive.key)))
                }
            }
            try test.store.catalog.remove(key: archive.key)
            #expect(try test.store.repair() == RepairReport(adopted: [archive.id]))
            #expect(try test.store.catalog.allArchives().map(\.withoutState) == [archive.withoutState])
            #expect(try files.map { try contents(of: test.layout.derived($0, key: archive.key)) } == right)
            try await test.expectWhole()
            try expectEveryCapture(of: archive, in: test.reopened(), count: 9)
            try expectNothingToDo(test)
        }
    }

    @Test func rebuiltCatalogUsesExistingIndexFiles() async throws {
        let (test, archive) = try filled()
        let copy = try TestStore()
        for name in names(in: test.layout.files) {
            try FileManager.default.copyItem(
                atPath: "\(test.layout.files)/\(name)", toPath: "\(copy.layout.files)/\(name)")
        }
        #expect(try copy.store.repair() == RepairReport(adopted: [archive.id]))
        #expect(try copy.store.catalog.allArchives().map(\.withoutState) == [archive.withoutState])
        try await copy.expectWhole()
    }

    @Test func indexFilesOfDeadProcessAreDeleted() async throws {
        let (test, _) = try filled()
        // With the copy that owns them, and without.
        for name in ["copy-0", "copy-0.cdx.gz", "copy-0.idx", "copy-0.run-12.tmp", "copy-1.idx", "copy-1.run-1.tmp"] {
            try test.folder.write("half", to: "store/incoming/\(name)")
        }
        #expect(try test.store.repair().sweptCopies == 6)
        try await test.expectWhole()
        try expectNothingToDo(test)
    }

    @Test func indexFilesOfLivingProcessAreKept() async throws {
        let (test, _) = try filled()
        let owner = try test.layout.makeLockedFile()
        for ending in ["cdx.gz", "idx", "run-1.tmp"] {
            try test.folder.write("half", to: "store/incoming/\((owner.path as NSString).lastPathComponent).\(ending)")
        }
        #expect(try test.store.repair() == RepairReport())
        #expect(names(in: test.layout.incoming).count == 4)
        withExtendedLifetime(owner) {}
    }

    @Test func unneededIndexFilesAreDeleted() async throws {
        let (test, archive) = try filled(.plain)
        for file in DerivedFile.zipNum {
            try Data("left".utf8).write(to: URL(fileURLWithPath: test.layout.derived(file, key: archive.key)))
        }
        #expect(try test.store.repair().sweptSidecars == 2)
        try await test.expectWhole()
        try expectNothingToDo(test)
    }

    // The steps of `remove`: move out of files/, forget the row, delete blocks, .idx and sidecar, delete the moved
    // file.
    @Test(arguments: 1...6)
    func interruptedRemovalIsCompleted(steps: Int) throws {
        let (test, archive) = try filled()
        let key = archive.key
        try FileManager.default.moveItem(atPath: test.layout.file(key), toPath: test.layout.removed(key))
        if steps > 1 { try test.store.catalog.remove(key: key) }
        let beside = [
            test.layout.derived(.blocks, key: key), test.layout.derived(.idx, key: key), test.layout.sidecar(key),
        ]
        for path in (beside + [test.layout.removed(key)]).prefix(max(0, steps - 2)) {
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(try test.store.repair().completedRemovals == (steps > 5 ? [] : [key]))
        #expect(try test.state().isEmpty)
        try expectNothingToDo(test)
    }

    @Test func restoredFileHasCorrectIndex() async throws {
        let (test, archive) = try filled()
        try FileManager.default.removeItem(atPath: test.layout.file(archive.key))
        #expect(try test.store.repair().problems.count == 1)
        let again = try test.store.importFile(at: test.folder.path("a.wacz"))
        #expect(!again.isDuplicate)
        #expect(again.archive.id == archive.id)
        try await test.expectWhole()
        try expectEveryCapture(of: again.archive, in: test.store, count: 9)
        try expectNothingToDo(test)
    }
}
