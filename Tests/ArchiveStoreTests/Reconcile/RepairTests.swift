import Foundation
import GRDB
import TestSupport
import Testing

@testable import ArchiveStore

/// All states that a killed process can leave. `repair` completes or undoes them, and a second `repair` does nothing.
struct RepairTests {
    /// A store with one archive in it, and the paths of its parts.
    private func filled() throws -> (test: TestStore, archive: Archive, file: String, sidecar: String) {
        let test = try TestStore()
        let source = try test.folder.write(GeneratedArchive(title: "Kept title").bytes(), to: "My Crawl.wacz")
        let archive = try test.store.importFile(at: source, options: ImportOptions(title: "Given title")).archive
        return (test, archive, test.layout.file(archive.key), test.layout.sidecar(archive.key))
    }

    private func expectNothingToDo(_ test: TestStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = try test.state()
        let again = try test.store.repair()
        #expect(again == RepairReport(), sourceLocation: sourceLocation)
        #expect(try test.state() == before, sourceLocation: sourceLocation)
    }

    @Test func intactStoreIsNotChanged() throws {
        let (test, _, _, _) = try filled()
        try expectNothingToDo(test)
    }

    @Test func copyOfDeadProcessIsDeleted() async throws {
        let (test, _, _, _) = try filled()
        try test.folder.write("half", to: "store/incoming/copy-0")
        let report = try test.store.repair()
        #expect(report.sweptCopies == 1)
        try await test.expectWhole()
        try expectNothingToDo(test)
    }

    /// Killed between being made read-only and being moved into `files/`.
    @Test(.enabled(if: haveOrdinaryUser, "root may write what is read-only"))
    func readOnlyCopyOfDeadProcessIsDeleted() async throws {
        let (test, _, _, _) = try filled()
        let path = try test.folder.write("half", to: "store/incoming/copy-0")
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        #expect(try asOrdinaryUser(owning: test.folder) { try test.store.repair().sweptCopies } == 1)
        try await test.expectWhole()
    }

    @Test func copyOfLivingProcessIsKept() async throws {
        let (test, _, _, _) = try filled()
        let path = try test.folder.write("half", to: "store/incoming/copy-0")
        var holder: Descriptor? = try Descriptor(path: path, flags: O_RDONLY)
        #expect(holder?.lock() == .acquired)
        #expect(try test.store.repair() == RepairReport())
        #expect(names(in: test.layout.incoming) == ["copy-0"])
        holder = nil
        #expect(try test.store.repair().sweptCopies == 1)
        try await test.expectWhole()
        withExtendedLifetime(holder) {}
    }

    @Test func importInProgressIsKept() async throws {
        let (test, _, _, _) = try filled()
        let bytes = GeneratedArchive(seed: 9).bytes()
        let incoming = try test.store.beginImport(name: "b.wacz", source: "browser", expectedSize: nil)
        try bytes.withUnsafeBytes { try incoming.write($0) }
        #expect(try test.reopened().repair() == RepairReport())
        #expect(try test.store.finish(incoming).onlyArchive.id.text == "b")
        try await test.expectWhole()
    }

    @Test func sidecarWithoutFileIsDeleted() async throws {
        let (test, _, file, sidecar) = try filled()
        let archive = try #require(try test.store.catalog.allArchives().first)
        try test.store.catalog.remove(key: archive.key)
        try FileManager.default.removeItem(atPath: file)
        let report = try test.store.repair()
        #expect(report.sweptSidecars == 1)
        #expect(!FileManager.default.fileExists(atPath: sidecar))
        try await test.expectWhole()
        try expectNothingToDo(test)
    }

    @Test func temporarySidecarIsDeleted() async throws {
        let (test, _, _, sidecar) = try filled()
        try test.folder.write("{", to: "store/files/\((sidecar as NSString).lastPathComponent).new")
        let report = try test.store.repair()
        #expect(report.sweptSidecars == 1)
        try await test.expectWhole()
        try expectNothingToDo(test)
    }

    @Test func fileWithSidecarIsAdopted() async throws {
        let (test, archive, _, _) = try filled()
        try test.store.catalog.remove(key: archive.key)
        let report = try test.store.repair()
        #expect(report.adopted == [archive.id])
        #expect(try test.store.catalog.allArchives().map(\.withoutState) == [archive.withoutState])
        try await test.expectWhole()
        try expectNothingToDo(test)
    }

    @Test func fileWithoutSidecarIsAdoptedUnderItsHash() async throws {
        let (test, archive, _, sidecar) = try filled()
        try test.store.catalog.remove(key: archive.key)
        try FileManager.default.removeItem(atPath: sidecar)
        #expect(try test.store.repair().adopted.count == 1)
        let found = try #require(try test.store.catalog.allArchives().first)
        #expect(found.key == archive.key)
        #expect(found.id.text == "\(archive.key.prefix(12))")
        #expect(found.title == "Kept title")
        try await test.expectWhole()
        try expectNothingToDo(test)
    }

    @Test func adoptedFileGetsAnotherIDIfItsIDIsInUse() async throws {
        let (test, archive, _, _) = try filled()
        try test.store.catalog.remove(key: archive.key)
        let other = try test.folder.write(GeneratedArchive(seed: 2).bytes(), to: "2/My Crawl.wacz")
        #expect(try test.store.importFile(at: other).archive.id == archive.id)
        #expect(try test.store.repair().adopted.map(\.text) == ["my-crawl-2"])
        #expect(try Sidecar.read(at: test.layout.sidecar(archive.key)).id == "my-crawl-2")
        try await test.expectWhole()
        try expectNothingToDo(test)
    }

    @Test func lostCatalogIsRebuilt() async throws {
        let (test, archive, _, _) = try filled()
        let second = try test.store.importFile(at: Checkout.fixture("sample.wacz")).archive
        let details = try test.store.details(of: second)
        let copy = try TestStore()
        for name in names(in: test.layout.files) {
            try FileManager.default.copyItem(
                atPath: "\(test.layout.files)/\(name)", toPath: "\(copy.layout.files)/\(name)")
        }
        #expect(Set(try copy.store.repair().adopted) == [archive.id, second.id])
        #expect(
            Set(try copy.store.catalog.allArchives().map(\.withoutState)) == [
                archive.withoutState, second.withoutState,
            ])
        #expect(try copy.store.details(of: second) == details)
        let (pages, others) = (
            try test.store.catalog.pages(key: second.key, PageListRequest(limit: 100)),
            try copy.store.catalog.pages(key: second.key, PageListRequest(limit: 100))
        )
        #expect(pages.pages == others.pages)
        try await copy.expectWhole()
    }

    // The steps of `remove`: move out of files/, forget the row, delete the sidecar, delete the moved file.
    @Test(arguments: 1...4)
    func interruptedRemovalIsCompleted(steps: Int) async throws {
        let (test, archive, file, sidecar) = try filled()
        try FileManager.default.moveItem(atPath: file, toPath: test.layout.removed(archive.key))
        if steps > 1 { try test.store.catalog.remove(key: archive.key) }
        if steps > 2 { try FileManager.default.removeItem(atPath: sidecar) }
        if steps > 3 { try FileManager.default.removeItem(atPath: test.layout.removed(archive.key)) }
        let report = try test.store.repair()
        #expect(report.completedRemovals == (steps > 3 ? [] : [archive.key]))
        #expect(try test.state().isEmpty)
        try await test.expectWhole()
        try expectNothingToDo(test)
    }

    /// A server stops while it reads a large archive; the next one adopts the archive.
    @Test(arguments: [GeneratedArchive.Layout.plain, .unsorted])
    func repairCanBeCancelled(layout: GeneratedArchive.Layout) async throws {
        let test = try TestStore()
        let bytes = GeneratedArchive(pages: numberedPages(50), layout: layout).bytes()
        let path = try test.folder.write(bytes, to: "a.wacz")
        let key = try await sha256ByOpenSSL(path)
        try FileManager.default.moveItem(atPath: path, toPath: test.layout.file(key))
        for calls in 1... {
            var left = calls
            let stopped = code {
                try test.store.repair {
                    left -= 1
                    if left == 0 { throw StoreError(.interrupted, "stopped") }
                }
            }
            guard stopped != nil else {
                #expect(calls > 1, "it was stopped at each place where it asks, and came to its end at last")
                break
            }
            #expect(stopped == .interrupted)
            #expect(try test.store.catalog.allArchives().isEmpty)
        }
        #expect(try test.store.catalog.allArchives().map(\.key) == [key])
        try await test.expectWhole()
    }

    @Test func archiveReimportedAfterInterruptedRemovalKeepsSidecar() async throws {
        let (test, archive, file, _) = try filled()
        try FileManager.default.moveItem(atPath: file, toPath: test.layout.removed(archive.key))
        try test.store.catalog.remove(key: archive.key)
        let source = try test.folder.write(GeneratedArchive(title: "Kept title").bytes(), to: "Again.wacz")
        let again = try test.store.importFile(at: source).archive
        #expect(again.key == archive.key)
        try test.store.repair()
        #expect(try test.store.catalog.allArchives() == [again])
        #expect(try Sidecar.read(at: test.layout.sidecar(archive.key)).entry.originalName == "Again.wacz")
        try await test.expectWhole()
        try expectNothingToDo(test)
    }

    @Test func lostFileIsReportedAndReimportedUnderItsID() async throws {
        let (test, archive, file, _) = try filled()
        try FileManager.default.removeItem(atPath: file)
        for _ in 0..<2 {
            let report = try test.store.repair()
            #expect(report.problems.count == 1)
            #expect(report.problems.first?.contains("my-crawl") == true)
            #expect(!report.changedAnything)
        }
        let source = try test.folder.write(GeneratedArchive(title: "Kept title").bytes(), to: "Other Name.wacz")
        let again = try test.store.importFile(at: source)
        #expect(!again.isDuplicate)
        #expect(again.archive.id == archive.id)
        try await test.expectWhole()
        try expectNothingToDo(test)
    }

    @Test func invalidFileIsReportedAndKept() throws {
        let (test, archive, _, _) = try filled()
        try test.folder.write("no zip", to: "store/files/\(String(repeating: "0", count: 64)).wacz")
        for _ in 0..<2 {
            let report = try test.store.repair()
            #expect(report.problems.count == 1)
            #expect(!report.changedAnything)
        }
        #expect(try test.store.catalog.allArchives() == [archive])
    }

    @Test(arguments: ["{", "", "[]"])
    func unreadableSidecarOfUnknownArchiveIsMovedAside(text: String) throws {
        let (test, archive, _, sidecar) = try filled()
        try test.store.catalog.remove(key: archive.key)
        try Data(text.utf8).write(to: URL(fileURLWithPath: sidecar))
        let report = try test.store.repair()
        #expect(report.problems.count == 1)
        #expect(report.adopted.count == 1)
        #expect(try contents(of: sidecar + ".damaged") == Array(text.utf8))
        #expect(try test.store.catalog.allArchives().map(\.sha256) == [archive.sha256])
        try expectNothingToDo(test)
    }

    @Test func unreadableSidecarOfLinkedArchiveIsMovedAside() throws {
        let test = try TestStore()
        let linked = try test.makeLinkedArchive("a").archive
        let archive = try test.store.committer.finishHashing(key: linked.key, sha256: String(repeating: "5", count: 64))
        let sidecar = test.layout.sidecar(archive.key)
        try test.store.catalog.remove(key: archive.key)
        try Data("{".utf8).write(to: URL(fileURLWithPath: sidecar))
        let report = try test.store.repair()
        #expect(report.problems.count == 1 && report.adopted.isEmpty)
        #expect(try contents(of: sidecar + ".damaged") == Array("{".utf8))
        #expect(try test.store.repair() == RepairReport())
    }

    @Test(arguments: ["{", "", "[]", nil])
    func lostOrUnreadableSidecarIsRewritten(text: String?) async throws {
        let (test, archive, _, sidecar) = try filled()
        let before = try contents(of: sidecar)
        if let text {
            try Data(text.utf8).write(to: URL(fileURLWithPath: sidecar))
        } else {
            try FileManager.default.removeItem(atPath: sidecar)
        }
        #expect(try test.store.repair().restoredSidecars == [archive.id])
        #expect(try contents(of: sidecar) == before)
        #expect(try test.store.catalog.allArchives() == [archive])
        try await test.expectWhole()
        try expectNothingToDo(test)
    }

    @Test func concurrentRepairsAgree() async throws {
        let (test, archive, _, _) = try filled()
        try test.store.catalog.remove(key: archive.key)
        let root = test.layout.root
        let adopted = try await withThrowingTaskGroup(of: Int.self) { tasks in
            for _ in 0..<4 {
                tasks.addTask { try await onThread { try ArchiveStore(at: root).repair().adopted.count } }
            }
            return try await tasks.reduce(0, +)
        }
        #expect(adopted == 1)
        #expect(try test.store.catalog.allArchives().map(\.withoutState) == [archive.withoutState])
    }
}
