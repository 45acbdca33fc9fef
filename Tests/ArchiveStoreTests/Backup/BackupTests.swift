import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Writing backups.
struct BackupTests {
    private struct Stop: Error {}

    @Test func manifestListsAllArchivesAndCollections() async throws {
        let made = try BackedUpStore()
        try await made.fill()
        let report = try made.store.backUp(to: made.folder)
        #expect(report.problems == [])
        #expect((report.archives, report.collections) == (8, 1))
        #expect((report.copied.count, report.elsewhere.count) == (6, 2))
        let manifest = try made.manifest()
        #expect(manifest["format"] as? Int == 2)
        let expected = try made.store.catalog.allArchives().reversed().map(\.id.text)
        let ids = try made.ids()
        #expect(ids == expected)
        // docs/backup.md: the sidecars are inline as they are in the store.
        for entry in try #require(manifest["archives"] as? [[String: Any]]) {
            let key = try #require(entry["key"] as? String)
            let sidecar = try JSONSerialization.jsonObject(
                with: Data(try contents(of: made.test.layout.sidecar(key))))
            #expect(entry["sidecar"] as? NSDictionary == sidecar as? NSDictionary)
        }
        // Only the archives: indexes can be rebuilt.
        #expect(names(in: made.folder) == ["backup.json", "files", "incoming"])
        #expect(names(in: made.folder + "/files").count == 6)
        try await made.expectSound()
    }

    @Test func secondBackupCopiesNothing() async throws {
        let made = try BackedUpStore()
        try await made.fill()
        _ = try made.store.backUp(to: made.folder)
        let before = try stamps(in: made.folder + "/files")
        let again = try made.store.backUp(to: made.folder)
        #expect((again.copied.count, again.unchanged.count) == (0, 6))
        let after = try stamps(in: made.folder + "/files")
        #expect(after == before)
        try made.add("one more", seed: 90)
        let third = try made.store.backUp(to: made.folder)
        #expect((third.copied.count, third.unchanged.count, third.archives) == (1, 6, 9))
        #expect(try stamps(in: made.folder + "/files").filter { !before.contains($0) }.count == 1)
        #expect(try made.ids().last == "one-more")
        try await made.expectSound()
    }

    @Test func damagedFileInStoreIsSkipped() async throws {
        let made = try BackedUpStore()
        let (bad, good) = (try made.add("bad", seed: 1), try made.add("good", seed: 2))
        _ = try made.store.collections.make(title: "both", members: [bad.id, good.id])
        try damage(made.test.layout.file(bad.key))
        let report = try made.store.backUp(to: made.folder)
        #expect(report.problems.map(\.code) == [.archiveDamaged])
        #expect(report.problems.first?.place == made.test.layout.file(bad.key))
        #expect(report.leftOut == [bad.id])
        #expect(try made.ids() == ["good"])
        #expect(names(in: made.folder + "/files") == ["\(good.key).wacz"])
        let collections = try #require(try made.manifest()["collections"] as? [[String: Any]])
        #expect(collections.first?["members"] as? [String] == ["good"])
        try await made.expectSound()
    }

    @Test func intactCopyOfDamagedFileIsKept() async throws {
        let made = try BackedUpStore()
        let archive = try made.add("bad", seed: 1)
        _ = try made.store.backUp(to: made.folder)
        let before = try stamps(in: made.folder + "/files")
        try damage(made.test.layout.file(archive.key))
        let report = try made.store.backUp(to: made.folder, options: BackupOptions(verifies: true, prunes: true))
        #expect(report.problems == [])
        #expect(report.verified.count == 1)
        let after = try stamps(in: made.folder + "/files")
        #expect(after == before)
        #expect(try made.ids() == ["bad"])
        try await made.expectSound()
    }

    @Test func lostFileStaysInBackup() async throws {
        let made = try BackedUpStore()
        let (lost, never) = (try made.add("lost", seed: 1), try made.add("never", seed: 2))
        try FileManager.default.removeItem(atPath: made.test.layout.file(never.key))
        let first = try made.store.backUp(to: made.folder)
        #expect(first.problems.map(\.code) == [.archiveDamaged])
        #expect(first.leftOut == [never.id])
        try FileManager.default.removeItem(atPath: made.test.layout.file(lost.key))
        let second = try made.store.backUp(to: made.folder)
        #expect(second.leftOut == [never.id])
        #expect(try made.ids() == ["lost"])
        try await made.expectSound()
    }

    @Test func verifyReplacesCorruptCopy() async throws {
        let made = try BackedUpStore()
        let (bad, good) = (try made.add("bad", seed: 1), try made.add("good", seed: 2))
        _ = try made.store.backUp(to: made.folder)
        try damage(made.copy(bad))
        let unseen = try made.store.backUp(to: made.folder)
        #expect((unseen.copied.count, unseen.unchanged.count) == (0, 2), "name and size are right")
        let report = try made.store.backUp(to: made.folder, options: BackupOptions(verifies: true))
        #expect((report.verified.count, report.verified.bytes) == (1, good.size))
        #expect((report.copied.count, report.copied.bytes) == (1, bad.size))
        #expect(report.notes.count == 1)
        #expect(report.notes.first?.contains("\"bad\"") == true)
        #expect(report.problems == [])
        try await made.expectSound()
    }

    @Test func copyOfWrongSizeIsReplacedWithoutVerify() async throws {
        let made = try BackedUpStore()
        let archive = try made.add("short", seed: 1)
        _ = try made.store.backUp(to: made.folder)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: made.copy(archive))
        #expect(truncate(made.copy(archive), 100) == 0)
        #expect(try made.store.backUp(to: made.folder).copied.count == 1)
        try await made.expectSound()
    }

    @Test func keepsBothWhenFileAndCopyAreDamaged() async throws {
        let made = try BackedUpStore()
        let (bad, gone) = (try made.add("bad", seed: 1), try made.add("gone", seed: 2))
        _ = try made.store.backUp(to: made.folder)
        for path in [made.copy(bad), made.test.layout.file(bad.key)] { try damage(path) }
        try made.store.remove(gone.id)
        let report = try made.store.backUp(to: made.folder, options: BackupOptions(verifies: true, prunes: true))
        #expect(report.problems.map(\.code) == [.archiveDamaged, .archiveDamaged])
        #expect(Set(report.problems.map(\.place)) == [made.test.layout.file(bad.key), made.copy(bad)])
        #expect(report.pruned.count == 0)
        #expect(names(in: made.folder + "/files").count == 2)
        #expect(try made.ids() == [])
    }

    @Test(arguments: [false, true])
    func archiveRemovedDuringBackupIsSkipped(isReplaced: Bool) async throws {
        let made = try BackedUpStore()
        let (gone, kept) = (try made.add("gone", seed: 1), try made.add("kept", seed: 2))
        _ = try made.store.collections.make(title: "both", members: [gone.id, kept.id])
        var isFirst = true
        let report = try made.store.backUp(to: made.folder) { _ in
            guard isFirst else { return }
            isFirst = false
            // `gone` is already open and is copied completely; `kept` isn't open yet.
            if isReplaced {
                try made.add("other", seed: 3, options: ImportOptions(replaces: kept.id))
            } else {
                try made.store.remove(kept.id)
            }
        }
        #expect(report.problems == [])
        #expect(report.leftOut == [kept.id])
        #expect(report.notes.count == 1)
        #expect(report.notes.first?.contains("\"kept\" was removed or replaced") == true)
        #expect(try made.ids() == ["gone"])
        let collections = try #require(try made.manifest()["collections"] as? [[String: Any]])
        #expect(collections.first?["members"] as? [String] == ["gone"])
        try await made.expectSound()
    }

    @Test func pruneDeletesUnneededFiles() async throws {
        let made = try BackedUpStore()
        let (gone, kept) = (try made.add("gone", seed: 1), try made.add("kept", seed: 2))
        _ = try made.store.backUp(to: made.folder)
        try made.test.folder.write("not ours", to: "backup/files/readme.txt")
        try made.store.remove(gone.id)
        #expect(try made.store.backUp(to: made.folder).pruned.count == 0)
        #expect(names(in: made.folder + "/files").count == 3)
        let report = try made.store.backUp(to: made.folder, options: BackupOptions(prunes: true))
        #expect((report.pruned.count, report.pruned.bytes) == (1, gone.size))
        #expect(Set(names(in: made.folder + "/files")) == ["\(kept.key).wacz", "readme.txt"])
    }

    @Test func interruptedBackupKeepsPreviousOneAndReusesCopies() async throws {
        let made = try BackedUpStore()
        try made.add("first", seed: 1)
        _ = try made.store.backUp(to: made.folder)
        let before = try contents(of: made.folder + "/backup.json")
        let (second, third) = (try made.add("second", seed: 2), try made.add("third", seed: 3))
        #expect(throws: Stop.self) {
            try made.store.backUp(to: made.folder) { progress in
                if case .copying(let done, _) = progress, done > second.size { throw Stop() }
            }
        }
        #expect(try contents(of: made.folder + "/backup.json") == before)
        #expect(FileManager.default.fileExists(atPath: made.copy(second)))
        #expect(!FileManager.default.fileExists(atPath: made.copy(third)))
        try await made.expectSound()
        let report = try made.store.backUp(to: made.folder)
        #expect((report.copied.count, report.unchanged.count) == (1, 2))
        try await made.expectSound()
    }

    @Test func leftoversOfKilledBackupAreDeleted() async throws {
        let made = try BackedUpStore()
        try made.add("a", seed: 1)
        try made.test.folder.write("half", to: "backup/incoming/copy-0")
        try made.test.folder.write("{", to: "backup/backup.json.new")
        _ = try made.store.backUp(to: made.folder)
        #expect(names(in: made.folder) == ["backup.json", "files", "incoming"])
        try await made.expectSound()
    }

    @Test(arguments: [
        ("{\"format\":3,\"archives\":\"other\"}", StoreError.Code.unusable), ("{", .documentDamaged),
        ("[]", .documentDamaged), ("", .documentDamaged),
    ])
    func foreignManifestIsNotChanged(text: String, code expected: StoreError.Code) throws {
        let made = try BackedUpStore()
        try made.add("a", seed: 1)
        try made.test.folder.write(text, to: "backup/backup.json")
        #expect(code { _ = try made.store.backUp(to: made.folder, options: BackupOptions(prunes: true)) } == expected)
        #expect(try contents(of: made.folder + "/backup.json") == Array(text.utf8))
        #expect(names(in: made.folder + "/files") == [])
        #expect(code { _ = try made.restored() } == expected)
        #expect(!FileManager.default.fileExists(atPath: made.test.folder.path("restored")))
    }

    @Test func backupOfAnotherStoreIsNotReplaced() throws {
        let (made, other, empty) = (try BackedUpStore(), try BackedUpStore(), try TestStore())
        try made.add("a", seed: 1)
        try other.add("b", seed: 2)
        _ = try made.store.backUp(to: made.folder)
        let before = try contents(of: made.folder + "/backup.json")
        let options = BackupOptions(prunes: true)
        #expect(code { _ = try other.store.backUp(to: made.folder, options: options) } == .failed)
        #expect(code { _ = try empty.store.backUp(to: made.folder, options: options) } == .failed)
        #expect(try contents(of: made.folder + "/backup.json") == before)
        #expect(names(in: made.folder + "/files").count == 1)
    }

    @Test(arguments: ["store", "store/files/x", "store/x/y", ".", "link", "link/x", "other", "store/../store/x"])
    func unsuitableFolderIsRefused(name: String) throws {
        let made = try BackedUpStore()
        try made.add("a", seed: 1)
        try FileManager.default.createSymbolicLink(
            atPath: made.test.folder.path("link"), withDestinationPath: made.test.folder.path("store"))
        _ = try ArchiveStore(at: made.test.folder.path("other"))
        let before = try made.test.state()
        #expect(code { _ = try made.store.backUp(to: made.test.folder.path(name)) } == .failed)
        #expect(try made.test.state() == before)
        #expect(!FileManager.default.fileExists(atPath: made.test.folder.path("store/x")))
        #expect(!FileManager.default.fileExists(atPath: made.test.folder.path("files")))
    }

    @Test func folderIsLockedDuringBackup() throws {
        let made = try BackedUpStore()
        try made.add("a", seed: 1)
        var codes: [StoreError.Code?] = []
        _ = try made.store.backUp(to: made.folder) { _ in
            codes.append(code { _ = try made.test.reopened().backUp(to: made.folder) })
        }
        #expect(!codes.isEmpty)
        #expect(codes.allSatisfy { $0 == .locked })
        _ = try made.store.backUp(to: made.folder)
    }

    /// The sidecar is authoritative. The catalog is used if it is lost.
    @Test func damagedSidecarIsReplacedFromCatalog() throws {
        let made = try BackedUpStore()
        let archive = try made.add("a", seed: 1)
        try made.store.edit(archive.id, ArchiveMetadata(notes: "kept"))
        try Data("{".utf8).write(to: URL(fileURLWithPath: made.test.layout.sidecar(archive.key)))
        _ = try made.store.backUp(to: made.folder)
        let entry = try #require((try made.manifest()["archives"] as? [[String: Any]])?.first)
        #expect((entry["sidecar"] as? [String: Any])?["notes"] as? String == "kept")
    }
}
