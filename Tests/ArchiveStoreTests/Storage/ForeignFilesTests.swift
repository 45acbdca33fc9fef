import Foundation
import GRDB
import TestSupport
import Testing

@testable import ArchiveStore

/// What another program can put in the place of a file.
enum ForeignFile: CaseIterable, Sendable {
    /// A symbolic link to a file with the right content.
    case link
    /// A symbolic link to a device without an end.
    case device
    /// Opening it waits for a writer.
    case fifo
    case folder

    static let notFolders: [ForeignFile] = [.link, .device, .fifo]

    /// Replaces the file at `path`.
    func replace(_ path: String) throws {
        switch self {
        case .link:
            if Folder.exists(path) { try FileManager.default.moveItem(atPath: path, toPath: path + ".target") }
            #expect(symlink(path + ".target", path) == 0)
        case .device:
            unlink(path)
            #expect(symlink("/dev/zero", path) == 0)
        case .fifo:
            unlink(path)
            #expect(mkfifo(path, 0o600) == 0)
        case .folder:
            unlink(path)
            #expect(mkdir(path, 0o700) == 0)
        }
    }
}

/// Files of stores and backups that another program has replaced: they are neither followed nor waited for.
struct ForeignFilesTests {
    @Test(arguments: ForeignFile.allCases)
    func restoreCopiesOnlyRegularFiles(_ kind: ForeignFile) throws {
        let made = try BackedUpStore()
        let (bad, good) = (try made.add("one", seed: 1), try made.add("two", seed: 2))
        _ = try made.store.backUp(to: made.folder)
        try kind.replace(made.copy(bad))
        let (there, report) = try made.restored()
        #expect(report.problems.map(\.code) == [.archiveDamaged])
        #expect(report.problems.first?.what.hasSuffix("this isn't a regular file") == true)
        #expect(report.leftOut == [bad.id])
        #expect(try there.archives().map(\.archive.id) == [good.id])
        #expect(names(in: there.layout.incoming) == [])
    }

    @Test func restoreCopiesNoMoreThanTheManifestSays() throws {
        let made = try BackedUpStore()
        let archive = try made.add("one", seed: 1)
        _ = try made.store.backUp(to: made.folder)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: made.copy(archive))
        #expect(truncate(made.copy(archive), 1 << 40) == 0)
        let root = made.test.folder.path("restored")
        let report = try ArchiveStore.restore(from: made.folder, to: root) { progress in
            if case .copying(let done, _) = progress { #expect(done <= archive.size) }
        }
        #expect(report.problems.map(\.code) == [.archiveDamaged])
        #expect(
            report.problems.first?.what.hasSuffix("the file has \(1 << 40) bytes instead of \(archive.size)") == true)
    }

    @Test(arguments: ForeignFile.allCases)
    func manifestIsOnlyARegularFile(_ kind: ForeignFile) throws {
        let made = try BackedUpStore()
        try made.add("one", seed: 1)
        _ = try made.store.backUp(to: made.folder)
        try kind.replace(made.folder + "/backup.json")
        #expect(code { _ = try made.restored() } == .documentDamaged)
        #expect(code { _ = try made.store.backUp(to: made.folder) } == .documentDamaged)
    }

    private func storeWithQueue() throws -> BackedUpStore {
        let made = try BackedUpStore()
        try Folder.create(made.test.layout.capture)
        try DatabaseQueue(path: made.test.layout.captureDatabase).write {
            try $0.execute(sql: "CREATE TABLE downloads (url TEXT)")
        }
        return made
    }

    @Test(arguments: ForeignFile.notFolders)
    func queueOfABackupIsOnlyARegularFile(_ kind: ForeignFile) throws {
        let made = try storeWithQueue()
        _ = try made.store.backUp(to: made.folder)
        try kind.replace(made.folder + "/capture/capture.sqlite")
        let (there, report) = try made.restored()
        #expect(report.problems.map(\.place) == [made.folder + "/capture/capture.sqlite"])
        #expect(!Folder.hasName(there.layout.captureDatabase))
    }

    @Test(arguments: ForeignFile.notFolders)
    func queueOfAStoreIsOnlyARegularFile(_ kind: ForeignFile) throws {
        let made = try storeWithQueue()
        try kind.replace(made.test.layout.captureDatabase)
        let report = try made.store.backUp(to: made.folder)
        #expect(report.problems.map(\.place) == [made.test.layout.captureDatabase])
        #expect(!Folder.hasName(made.folder + "/capture/capture.sqlite"))
    }

    @Test(arguments: ForeignFile.allCases)
    func backupReplacesWhatIsNoRegularFile(_ kind: ForeignFile) async throws {
        let made = try BackedUpStore()
        let archive = try made.add("one", seed: 1)
        _ = try made.store.backUp(to: made.folder)
        try kind.replace(made.copy(archive))
        guard kind != .folder else {
            #expect(throws: StoreError.self) { try made.store.backUp(to: made.folder) }
            return
        }
        let report = try made.store.backUp(to: made.folder, options: BackupOptions(verifies: true, prunes: true))
        #expect((report.problems, report.copied.count) == ([], 1))
        #expect(Folder.fileSize(made.copy(archive)) == archive.size)
    }

    @Test(arguments: ForeignFile.allCases)
    func archiveOfTheStoreIsOnlyARegularFile(_ kind: ForeignFile) throws {
        let made = try BackedUpStore()
        let archive = try made.add("one", seed: 1)
        try kind.replace(made.test.layout.file(archive.key))
        let store = try made.test.reopened()
        #expect(try store.archives().map(\.availability) == [.missing])
        #expect(code { _ = try archive.openFile(in: store.layout) } == .notAFile)
        #expect(throws: (any Error).self) { try store.openArchives.lookups(archive, Allowances()) }
        let problem = "files/\(archive.key).wacz isn't a regular file; check who created it, then move it away"
        #expect(try store.repair(readsAll: true).problems == [problem])
        _ = try store.prepareLookups()
        #expect(try store.backUp(to: made.folder).leftOut == [archive.id])
        #expect(code { _ = try store.verifications.verify(archive, trust: nil) { _ in } } == .notAFile)
    }

    @Test func backupCopiesNoMoreThanTheCatalogSays() throws {
        let made = try BackedUpStore()
        let archive = try made.add("one", seed: 1)
        let path = made.test.layout.file(archive.key)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(truncate(path, 1 << 40) == 0)
        let report = try made.store.backUp(to: made.folder) { progress in
            if case .copying(let done, _) = progress { #expect(done <= archive.size) }
        }
        #expect((report.problems.map(\.code), report.leftOut) == ([.archiveDamaged], [archive.id]))
    }

    @Test(arguments: ForeignFile.allCases)
    func onlyRegularFilesAreAdopted(_ kind: ForeignFile) throws {
        let test = try TestStore()
        let path = test.layout.file(String(repeating: "a", count: 64))
        try kind.replace(path)
        let report = try test.store.repair(readsAll: true)
        #expect((report.adopted, report.problems.count) == ([], 1))
    }

    @Test(arguments: ForeignFile.notFolders)
    func sidecarsAndCollectionsAreWrittenAgain(_ kind: ForeignFile) throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        let collection = try test.store.collections.make(
            title: "Some", members: [archive.id], metadata: ArchiveMetadata(tags: [], notes: ""))
        let paths = [test.layout.sidecar(archive.key), test.layout.collection(collection.id)]
        for path in paths { try kind.replace(path) }
        let store = try test.reopened()
        #expect(try store.backUp(to: test.folder.path("backup")).problems == [])
        let report = try store.repair(readsAll: true)
        #expect(Set(report.restoredSidecars) == [archive.id, collection.id])
        for path in paths { #expect(Folder.fileSize(path) ?? 0 > 0) }
    }

    @Test(arguments: ForeignFile.notFolders)
    func unknownSidecarsAreMovedAside(_ kind: ForeignFile) throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        let sidecar = test.layout.sidecar(archive.key)
        try kind.replace(sidecar)
        let report = try ArchiveStore.rebuild(at: test.layout.root).report
        #expect(report.archives == 1)
        #expect(report.repair.problems.count == 1)
        #expect(Folder.hasName(sidecar + ".damaged"))
        #expect(Folder.fileSize(sidecar) ?? 0 > 0)
    }

    @Test(arguments: ForeignFile.allCases)
    func portsAreOnlyARegularFile(_ kind: ForeignFile) throws {
        let test = try TestStore()
        try test.store.ports.saveOpen([])
        try kind.replace(test.layout.ports)
        #expect(code { _ = try test.store.ports.lastOpen() } == .documentDamaged)
    }

    @Test(arguments: ForeignFile.notFolders)
    func documentIsNotWrittenThroughAForeignFile(_ kind: ForeignFile) throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        let target = test.folder.path("target")
        _ = try test.folder.write("untouched", to: "target")
        let path = test.layout.sidecar(archive.key) + ".new"
        if kind == .link { #expect(symlink(target, path) == 0) } else { try kind.replace(path) }
        #expect(code { try test.store.edit(archive.id, ArchiveMetadata(title: "New")) } == .notAFile)
        #expect(try contents(of: target) == Array("untouched".utf8))
    }

    @Test(arguments: ForeignFile.notFolders)
    func leftoversInStagingAreDeletedUnopened(_ kind: ForeignFile) throws {
        let test = try TestStore()
        let names = ["copy-\(UUID())", "runner-\(UUID())", "removed-\(String(repeating: "b", count: 64))"]
        for name in names { try kind.replace("\(test.layout.incoming)/\(name)") }
        try FileManager.default.createSymbolicLink(
            atPath: "\(test.layout.incoming)/copy-nowhere", withDestinationPath: "/nowhere/at/all")
        #expect(try test.store.repair().problems == [])
        #expect(TestSupport.names(in: test.layout.incoming).filter { !$0.hasSuffix(".target") } == [])
    }

    @Test(arguments: ForeignFile.notFolders, ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-journal"])
    func catalogIsOnlyARegularFile(_ kind: ForeignFile, _ name: String) throws {
        let test = try TestStore()
        _ = try test.store.importFile(at: test.file("a.wacz"))
        try test.store.catalog.closeForCopying()
        try kind.replace("\(test.layout.root)/\(name)")
        let error = #expect(throws: StoreError.self) { try test.reopened() }
        #expect(error?.code == .catalogDamaged)
        #expect(error?.place == "\(test.layout.root)/\(name)")
        // The way out that the message names.
        #expect(try ArchiveStore.rebuild(at: test.layout.root).report.archives == 1)
    }

    @Test(arguments: ForeignFile.notFolders, ["search.sqlite", "search.sqlite-journal"])
    func searchIndexIsMadeAgain(_ kind: ForeignFile, _ name: String) throws {
        let test = try TestStore()
        try test.add([.init("http://reef.example/", page("Reef", "coral"))], id: "reef")
        try kind.replace("\(test.layout.root)/\(name)")
        #expect(try test.reopened().searchIntegrityCheck() == ["ok"])
        #expect(Folder.fileSize(test.layout.search) ?? 0 > 0)
    }
}
