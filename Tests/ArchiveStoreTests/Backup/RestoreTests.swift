import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Restoring backups.
struct RestoreTests {
    private struct Stop: Error {}

    @Test func restoredStoreEqualsOriginal() async throws {
        let made = try BackedUpStore()
        try await made.fill()
        let before = try StoreFacts(made.store)
        _ = try made.store.backUp(to: made.folder)
        let (there, report) = try made.restored()
        #expect(report.problems == [])
        #expect((report.archives, report.collections, report.restored.count) == (8, 1, 6))
        #expect((report.leftOut, report.unavailable, report.adopted, report.notes) == ([], [], [], []))
        let after = try StoreFacts(there)
        #expect(after.archives == before.archives)
        #expect(after.details == before.details)
        #expect(after.collections == before.collections)
        #expect(after.files.keys.sorted() == before.files.keys.sorted())
        #expect(after == before)
        #expect(try there.repair() == RepairReport())
        #expect(names(in: there.layout.incoming) == [])
        #expect(!FileManager.default.fileExists(atPath: there.layout.serverFile))
    }

    @Test func backupOfVersion010IsRestored() async throws {
        let made = try BackedUpStore()
        try await made.fill()
        _ = try made.store.backUp(to: made.folder)
        let path = "\(made.folder)/backup.json"
        var manifest = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path))) as? [String: Any])
        // As version 0.1.0 wrote it.
        manifest["groups"] = manifest.removeValue(forKey: "collections")
        manifest["format"] = 1
        try JSONSerialization.data(withJSONObject: manifest).write(to: URL(filePath: path))
        let (there, report) = try made.restored()
        #expect((report.archives, report.collections) == (8, 1))
        #expect(try there.collections.all() == made.store.collections.all())
    }

    /// Data of its pages may still be in the browser, at the origin with this port.
    @Test func portOfARemovedArchiveStaysItsOwn() throws {
        let made = try BackedUpStore()
        let (kept, removed) = (try made.add("one", seed: 1), try made.add("two", seed: 2))
        try made.store.ports.assign(20_001, to: kept.id)
        try made.store.ports.assign(20_002, to: removed.id)
        try made.store.ports.assignToStock(20_003)
        try made.store.ports.reserveForLibrary(20_004)
        try made.store.ports.saveOpen([kept.id.text])
        try made.store.remove(removed.id)
        _ = try made.store.backUp(to: made.folder)
        let (there, _) = try made.restored()
        #expect(try PortLedger.read(there.layout).given == [20_001, 20_002, 20_003, 20_004])
        #expect(throws: StoreError.self) { try there.ports.reserveForLibrary(20_002) }
        #expect(throws: Never.self) { try there.ports.reserveForLibrary(20_004) }
        #expect(try there.ports.stockChoices().assigned == 20_003)
        #expect(try there.ports.lastOpen() == [])
        // A store that lost its list gets it back, and the next backup of a store without one keeps it.
        try Folder.delete(made.test.layout.ports)
        _ = try made.store.backUp(to: made.folder)
        let ports = try #require(try made.manifest()["ports"] as? [String: Any])
        #expect(ports["given"] as? [Int] == [20_001, 20_002, 20_003, 20_004])
        try Folder.delete(there.layout.ports)
        _ = try ArchiveStore.restore(from: made.folder, to: there.layout.root)
        #expect(try PortLedger.read(there.layout).given == [20_001, 20_002, 20_003, 20_004])
    }

    @Test func portsOfABackupAreOnlyThoseOfArchives() throws {
        let made = try BackedUpStore()
        try made.add("one", seed: 1)
        _ = try made.store.backUp(to: made.folder)
        var manifest = try made.manifest()
        manifest["ports"] = [
            "format": 1, "given": [-1, 0, 80, 16_383, 16_384, 32_767, 32_768, 70_000], "open": ["one"], "stock": 22,
            "library": [443, 20_000],
        ]
        try JSONSerialization.data(withJSONObject: manifest).write(to: URL(filePath: made.folder + "/backup.json"))
        let (there, _) = try made.restored()
        let ledger = try PortLedger.read(there.layout)
        #expect((ledger.given, ledger.open, ledger.stock) == ([16_384, 32_767], [], nil))
        #expect(ledger.library == [20_000])
    }

    @Test func damagedListOfPortsIsReported() throws {
        let made = try BackedUpStore()
        let archive = try made.add("one", seed: 1)
        try made.store.ports.assign(20_001, to: archive.id)
        _ = try made.store.backUp(to: made.folder)
        _ = try made.test.folder.write("{", to: "store/ports.json")
        let report = try made.store.backUp(to: made.folder)
        #expect(report.problems.map(\.place) == [made.test.layout.ports])
        let ports = try #require(try made.manifest()["ports"] as? [String: Any])
        #expect(ports["given"] as? [Int] == [20_001])
    }

    @Test func emptyStoreCanBeRestored() throws {
        let made = try BackedUpStore()
        let backup = try made.store.backUp(to: made.folder)
        #expect((backup.archives, backup.collections) == (0, 0))
        let (there, report) = try made.restored()
        #expect((report.archives, report.collections) == (0, 0))
        #expect(try there.catalog.allArchives() == [])
    }

    @Test func interruptedRestoreContinues() async throws {
        let made = try BackedUpStore()
        try await made.fill()
        _ = try made.store.backUp(to: made.folder)
        let before = try StoreFacts(made.store)
        // Interrupts it at each possible step in turn.
        var rounds = 0
        while rounds < 100 {
            rounds += 1
            var looks = 0
            do {
                _ = try ArchiveStore.restore(from: made.folder, to: made.test.folder.path("restored")) { _ in
                    looks += 1
                    if looks > rounds { throw Stop() }
                }
                break
            } catch is Stop {
                #expect(names(in: made.test.folder.path("restored/incoming")) == [])
            }
        }
        #expect((3..<100).contains(rounds))
        let there = try ArchiveStore(at: made.test.folder.path("restored"))
        let after = try StoreFacts(there)
        #expect(after == before)
    }

    @Test(arguments: ["flipped", "short", "missing"])
    func damagedFileInBackupIsSkippedAndRestoredLater(how: String) async throws {
        let made = try BackedUpStore()
        let (bad, good) = (try made.add("bad", seed: 1), try made.add("good", seed: 2))
        _ = try made.store.collections.make(title: "both", members: [bad.id, good.id])
        let before = try StoreFacts(made.store)
        _ = try made.store.backUp(to: made.folder)
        switch how {
        case "flipped": try damage(made.copy(bad))
        case "short":
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: made.copy(bad))
            #expect(truncate(made.copy(bad), 10) == 0)
        default: try FileManager.default.removeItem(atPath: made.copy(bad))
        }
        let (there, report) = try made.restored()
        #expect(report.problems.map(\.code) == [.archiveDamaged])
        #expect(report.problems.first?.place == made.copy(bad))
        #expect(report.leftOut == [bad.id])
        #expect((report.archives, report.restored.count) == (1, 1))
        #expect(try there.catalog.allArchives().map(\.id) == [good.id])
        #expect(try there.collections.all().map(\.members) == [[good.id]])
        #expect(names(in: there.layout.files) == ["\(good.key).json", "\(good.key).wacz"])
        #expect(names(in: there.layout.incoming) == [])
        // The next backup repairs the copy, and the next restore adds the archive.
        _ = try made.store.backUp(to: made.folder, options: BackupOptions(verifies: true))
        let again = try ArchiveStore.restore(from: made.folder, to: there.layout.root)
        #expect((again.problems, again.alreadyThere, again.restored.count) == ([], 1, 1))
        let after = try StoreFacts(there)
        #expect(after == before)
    }

    @Test func storeWithOtherArchivesIsRefused() throws {
        let made = try BackedUpStore()
        let archive = try made.add("a", seed: 1)
        _ = try made.store.backUp(to: made.folder)
        let (others, collections, sameID) = (try TestStore(), try TestStore(), try TestStore())
        let file = try others.folder.write(GeneratedArchive(seed: 2).bytes(), to: "b.wacz")
        _ = try others.store.importFile(at: file)
        _ = try collections.store.collections.make(title: "own", members: [])
        _ = try sameID.store.importFile(at: file, options: ImportOptions(id: archive.id))
        for test in [others, collections, sameID] {
            let before = try test.state()
            #expect(code { _ = try ArchiveStore.restore(from: made.folder, to: test.layout.root) } == .failed)
            #expect(try test.state() == before)
        }
    }

    @Test func newerMetadataIsKept() throws {
        let made = try BackedUpStore()
        let archive = try made.add("a", seed: 1)
        let collection = try made.store.collections.make(title: "g", members: [archive.id])
        _ = try made.store.backUp(to: made.folder)
        let (there, _) = try made.restored()
        try there.edit(archive.id, ArchiveMetadata(notes: "written since"))
        try there.collections.edit(collection.id, ArchiveMetadata(title: "another"))
        let report = try ArchiveStore.restore(from: made.folder, to: there.layout.root)
        #expect((report.alreadyThere, report.notes.count) == (1, 1))
        #expect(try there.catalog.allArchives().map(\.notes) == ["written since"])
        #expect(try there.collections.all().map(\.title) == ["another"])
    }

    @Test func lostFileIsRestored() throws {
        let made = try BackedUpStore()
        let archive = try made.add("a", seed: 1)
        try made.add("b", seed: 2)
        _ = try made.store.backUp(to: made.folder)
        try made.store.edit(archive.id, ArchiveMetadata(notes: "written since"))
        let before = try StoreFacts(made.store)
        try FileManager.default.removeItem(atPath: made.test.layout.file(archive.key))
        let report = try ArchiveStore.restore(from: made.folder, to: made.test.layout.root)
        #expect((report.restored.count, report.alreadyThere, report.problems) == (1, 1, []))
        let after = try StoreFacts(made.store)
        #expect(after == before)
    }

    @Test func restoreIsRefusedWhileServerRuns() throws {
        let made = try BackedUpStore()
        try made.add("a", seed: 1)
        _ = try made.store.backUp(to: made.folder)
        let there = try TestStore()
        let server = try ServerFile(layout: there.layout)
        #expect(code { _ = try ArchiveStore.restore(from: made.folder, to: there.layout.root) } == .locked)
        server.remove()
        withExtendedLifetime(server) {}
        // And the other way round.
        var during: [StoreError.Code?] = []
        _ = try ArchiveStore.restore(from: made.folder, to: made.test.folder.path("restored")) { _ in
            let layout = StoreLayout(root: made.test.folder.path("restored"))
            during.append(code { _ = try ServerFile(layout: layout) })
        }
        #expect(!during.isEmpty)
        #expect(during.allSatisfy { $0 == .locked })
    }

    @Test func folderWithoutBackupIsNotFound() throws {
        let made = try BackedUpStore()
        #expect(code { _ = try made.restored() } == .notFound)
        try made.test.folder.write("", to: "backup/files/x")
        #expect(code { _ = try made.restored() } == .notFound)
        #expect(!FileManager.default.fileExists(atPath: made.test.folder.path("restored")))
    }

    /// Manifests are untrusted: their names can't lead outside the two folders.
    @Test(arguments: [
        #"{"key":"../../escaped","sha256":"../../escaped","size":1,"sidecar":SIDECAR}"#,
        #"{"key":"KEY","sha256":"../x","size":1,"sidecar":SIDECAR}"#,
        #"{"key":"KEY","size":1,"sidecar":SIDECAR}"#,
        #"{"key":"KEY","sha256":"KEY","size":1,"sidecar":SIDECAR},{"key":"KEY","sha256":"KEY","size":1,"sidecar":SIDECAR}"#,
        #"{"key":"KEY","sha256":"KEY","size":-1,"sidecar":SIDECAR}"#,
        #"{"key":"KEY","sha256":"KEY","size":18446744073709551615,"sidecar":SIDECAR}"#,
        #"{"key":"KEY","sha256":"KEY","size":9223372036854775808,"sidecar":SIDECAR}"#,
        #"{"key":"KEY","sha256":"KEY","size":1,"sidecar":BAD}"#,
    ])
    func invalidManifestIsRefused(entry: String) throws {
        let made = try BackedUpStore()
        let sidecar = Self.sidecar(id: "a")
        let text = entry.replacing("SIDECAR", with: sidecar).replacing("BAD", with: Self.sidecar(id: "../x"))
            .replacing("KEY", with: String(repeating: "0", count: 64))
        try made.test.folder.write(
            #"{"format":2,"madeAt":"2026-01-01T00:00:00Z","collections":[],"archives":[\#(text)]}"#,
            to: "backup/backup.json"
        )
        #expect(code { _ = try made.restored() } == .documentDamaged)
        #expect(!FileManager.default.fileExists(atPath: made.test.folder.path("restored")))
    }

    private static func sidecar(id: String) -> String {
        let time = "2026-01-01T00:00:00Z"
        return #"{"format":2,"id":"\#(id)","title":"","originalName":"","source":"","importedAt":"\#(time)"}"#
    }

    /// Each size is valid, but their sum exceeds 64 bits.
    @Test func overflowingSizesAreRefused() throws {
        let made = try BackedUpStore()
        let entries = (0..<3).map { number in
            let key = String(repeating: "\(number)", count: 64)
            return
                #"{"key":"\#(key)","sha256":"\#(key)","size":9223372036854775807,"sidecar":\#(Self.sidecar(id: "a\(number)"))}"#
        }
        try made.test.folder.write(
            #"{"format":2,"madeAt":"2026-01-01T00:00:00Z","collections":[],"archives":[\#(entries.joined(separator: ","))]}"#,
            to: "backup/backup.json")
        #expect(code { _ = try made.restored() } == .noSpace)
    }
}
