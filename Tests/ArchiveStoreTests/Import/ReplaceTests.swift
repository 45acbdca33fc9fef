import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Replacing an archive's file: id, metadata, port and collections stay; pages and hash are new.
struct ReplaceTests {
    private func filled() throws -> (test: TestStore, old: Archive, path: String) {
        let test = try TestStore()
        var old = try test.store.importFile(at: try test.file("crawl.wacz", layout: .unsorted)).archive
        old = try test.store.edit(old.id, ArchiveMetadata(title: "Mine", tags: ["a"], notes: "n"))
        _ = try test.store.collections.make(title: "Collection", members: [old.id])
        return (test, old, try test.file("again.wacz", seed: 2, pages: 5))
    }

    @Test(arguments: [ImportMode.copy, .move, .link])
    func metadataIsKept(mode: ImportMode) async throws {
        let (test, old, path) = try filled()
        let result = try test.store.importAny(at: path, mode: mode, options: ImportOptions(replaces: old.id))
        guard case .archive(let outcome) = result else { throw StoreError(.failed, "no archive") }
        #expect(outcome.kind == .replaced)
        let new = outcome.archive
        #expect(new.id == old.id)
        #expect((new.title, new.tags, new.notes) == ("Mine", ["a"], "n"))
        #expect(new.key != old.key)
        #expect(new.replayCollection != old.replayCollection)
        #expect(new.pageCount == 5)
        #expect(new.originalName == "again.wacz")
        #expect(try test.store.catalog.allArchives() == [new])
        #expect(try test.store.collections.collections(of: old.id).map(\.id.text) == ["collection"])
        try await test.expectWhole()
        #expect(try test.store.repair() == RepairReport())
    }

    @Test func existingArchiveCannotReplaceAnother() throws {
        let (test, old, path) = try filled()
        _ = try test.store.importFile(at: path)
        #expect(code { _ = try test.store.importFile(at: path, options: ImportOptions(replaces: old.id)) } == .taken)
        #expect(try test.store.catalog.allArchives().count == 2)
    }

    /// The same for one whose file is only linked, or was lost.
    @Test(arguments: [true, false])
    func archiveWithLostFileCannotReplaceAnother(isLinked: Bool) throws {
        let (test, old, path) = try filled()
        let known = try test.store.importAny(at: path, mode: isLinked ? .link : .copy).onlyOutcome.archive
        if isLinked {
            _ = try test.runAll()
        } else {
            try FileManager.default.removeItem(atPath: test.layout.file(known.key))
        }
        let before = try test.store.catalog.allArchives()
        #expect(code { _ = try test.store.importFile(at: path, options: ImportOptions(replaces: old.id)) } == .taken)
        #expect(try test.store.catalog.allArchives() == before)
        #expect(try test.store.collections.collections(of: old.id).map(\.id.text) == ["collection"])
    }

    @Test func requestedIDMustBeFree() throws {
        let (test, old, path) = try filled()
        #expect(code { _ = try test.store.importFile(at: path, options: ImportOptions(id: old.id)) } == .taken)
        let collection = try #require(ArchiveID("collection"))
        #expect(code { _ = try test.store.importFile(at: path, options: ImportOptions(id: collection)) } == .taken)
        let chosen = try #require(ArchiveID("chosen"))
        #expect(try test.store.importFile(at: path, options: ImportOptions(id: chosen)).archive.id == chosen)
    }

    /// Interrupted after the new file is in place: the next start completes it.
    @Test(arguments: [true, false])
    func interruptedReplacementIsCompleted(isRebuilt: Bool) async throws {
        let (test, old, path) = try filled()
        let kept = try ["wacz", "json", "cdx.gz", "idx"].map { ending in
            (ending, try contents(of: "\(test.layout.files)/\(old.key).\(ending)"))
        }
        let row = try #require(try test.store.catalog.archive(key: old.key))
        let new = try test.store.importFile(at: path, options: ImportOptions(replaces: old.id)).archive
        // As if the process had been killed before updating the catalog.
        try test.store.catalog.remove(key: new.key)
        for (ending, bytes) in kept { try test.folder.write(bytes, to: "store/files/\(old.key).\(ending)") }
        if !isRebuilt {
            try test.store.catalog.add(row, findings: []) { _ in }
            let report = try test.store.repair()
            #expect(report.problems.isEmpty)
        } else {
            let (_, report) = try ArchiveStore.rebuild(at: test.layout.root)
            #expect(report.repair.problems.isEmpty)
        }
        #expect(try test.store.catalog.allArchives().map(\.withoutState) == [new.withoutState])
        try await test.expectWhole()
        #expect(try test.store.repair() == RepairReport())
    }
}
