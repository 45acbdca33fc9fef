import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Backups of linked files.
struct BackupLinkedFilesTests {
    private let included = BackupOptions(includesLinkedFiles: true)

    @Test func linkedFilesAreNotCopiedButCounted() throws {
        let made = try BackedUpStore()
        let archive = try made.link("far", seed: 1)
        let report = try made.store.backUp(to: made.folder)
        #expect((report.elsewhere.count, report.elsewhere.bytes) == (1, archive.size))
        #expect((report.archives, report.copied.count) == (1, 0))
        #expect(names(in: made.folder + "/files") == [])
        let before = try StoreFacts(made.store)
        let (there, restored) = try made.restored()
        #expect(restored.unavailable == [])
        #expect(try StoreFacts(there) == before)
    }

    @Test(arguments: [false, true])
    func linkedFilesAreCopiedOnceOnRequest(isHashed: Bool) async throws {
        let made = try BackedUpStore()
        let archive = try made.link("far", seed: 1)
        let hash = try await sha256ByOpenSSL(made.test.folder.path("elsewhere/far.wacz"))
        if isHashed { _ = try made.store.committer.finishHashing(key: archive.key, sha256: hash) }
        let first = try made.store.backUp(to: made.folder, options: included)
        #expect((first.copied.count, first.elsewhere.count) == (1, 0))
        #expect(names(in: made.folder + "/files") == ["\(hash).wacz"])
        let before = try stamps(in: made.folder + "/files")
        // Once copied, a file stays in the backup.
        for options in [included, BackupOptions(prunes: true)] {
            let again = try made.store.backUp(to: made.folder, options: options)
            #expect((again.copied.count, again.unchanged.count, again.elsewhere.count) == (0, 1, 0))
        }
        let after = try stamps(in: made.folder + "/files")
        #expect(after == before)
        try await made.expectSound()
    }

    @Test func unavailableFileIsReportedAndSkipped() throws {
        let made = try BackedUpStore()
        let away = try made.link("away", seed: 1)
        try made.link("here", seed: 2)
        try FileManager.default.removeItem(atPath: made.test.folder.path("elsewhere/away.wacz"))
        let report = try made.store.backUp(to: made.folder, options: included)
        #expect(report.problems.map(\.code) == [.unavailable])
        #expect((report.archives, report.copied.count, report.elsewhere.count) == (2, 1, 1))
        let (there, restored) = try made.restored()
        #expect(restored.unavailable == [away.id])
        #expect(restored.problems == [])
        let known = try #require(try there.catalog.archive(id: away.id))
        #expect(known.title == "away")
        #expect(known.captureCount == 2)
        #expect(known.availability(in: there.layout) == .unavailable)
    }

    @Test(arguments: [false, true])
    func missingLinkedFileIsRestoredFromCopy(isHashed: Bool) async throws {
        let made = try BackedUpStore()
        var archive = try made.link("far", seed: 1)
        let path = made.test.folder.path("elsewhere/far.wacz")
        let hash = try await sha256ByOpenSSL(path)
        if isHashed { archive = try made.store.committer.finishHashing(key: archive.key, sha256: hash) }
        try made.store.edit(archive.id, ArchiveMetadata(title: "Said", tags: ["t"], notes: "n"))
        _ = try made.store.collections.make(title: "g", members: [archive.id])
        _ = try made.store.backUp(to: made.folder, options: included)
        try FileManager.default.removeItem(atPath: path)
        let (there, report) = try made.restored()
        #expect(report.adopted == [archive.id])
        #expect((report.unavailable, report.restored.count) == ([], 1))
        let found = try #require(try there.catalog.archive(id: archive.id))
        #expect((found.key, found.sha256, found.storage, found.provisionalKey) == (hash, hash, .managed, nil))
        #expect((found.title, found.tags, found.notes) == ("Said", ["t"], "n"))
        #expect(found.importedAt == archive.importedAt)
        #expect(found.availability(in: there.layout) == .available)
        #expect(try there.collections.all().map(\.members) == [[archive.id]])
        let again = try ArchiveStore.restore(from: made.folder, to: there.layout.root)
        #expect((again.alreadyThere, again.restored.count, again.archives) == (1, 0, 1))
        #expect(try there.repair() == RepairReport())
    }

    /// The file at the path has changed, so it isn't used.
    @Test func changedLinkedFileIsRestoredFromCopy() async throws {
        let made = try BackedUpStore()
        let archive = try made.link("far", seed: 1)
        let hash = try await sha256ByOpenSSL(made.test.folder.path("elsewhere/far.wacz"))
        _ = try made.store.backUp(to: made.folder, options: included)
        try made.test.folder.write(
            GeneratedArchive(title: "longer than it was", seed: 2).bytes(), to: "elsewhere/far.wacz")
        let (there, report) = try made.restored()
        #expect(report.adopted == [archive.id])
        #expect(try there.catalog.allArchives().map(\.key) == [hash])
    }

    /// Two archives of the same file, one managed and one linked.
    @Test func identicalLinkedFilesStaySeparateArchives() async throws {
        let made = try BackedUpStore()
        let linked = try made.link("far", seed: 1)
        let path = made.test.folder.path("elsewhere/far.wacz")
        let own = try made.store.importFile(at: path).archive
        _ = try made.store.committer.finishHashing(key: linked.key, sha256: own.key)
        let first = try made.store.backUp(to: made.folder, options: included)
        #expect((first.archives, first.copied.count) == (2, 1))
        try FileManager.default.removeItem(atPath: path)
        let (there, report) = try made.restored()
        #expect(report.unavailable == [linked.id])
        #expect(report.adopted == [])
        #expect(try Set(there.catalog.allArchives().map(\.id)) == [linked.id, own.id])
        #expect(try there.repair() == RepairReport())
    }

    /// A linked file that was hashed after the backup is still the same archive.
    @Test func archiveHashedSinceBackupIsRecognized() async throws {
        let made = try BackedUpStore()
        let archive = try made.link("far", seed: 1)
        _ = try made.store.backUp(to: made.folder)
        let (there, _) = try made.restored()
        let hash = try await sha256ByOpenSSL(made.test.folder.path("elsewhere/far.wacz"))
        _ = try there.committer.finishHashing(key: archive.key, sha256: hash)
        let again = try ArchiveStore.restore(from: made.folder, to: there.layout.root)
        #expect((again.alreadyThere, again.archives, again.notes) == (1, 1, []))
        #expect(try there.catalog.allArchives().map(\.key) == [hash])
    }
}
