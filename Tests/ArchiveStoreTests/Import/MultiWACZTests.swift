import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Multi-WACZ files, as crawl services provide them, become collections.
struct MultiWACZTests {
    private struct Package {
        let test: TestStore
        let path: String
        let members: [String]
    }

    private func package(
        areDeflated: Bool = false, wrongHash: Bool = false, title: String? = "Both"
    ) async throws -> Package {
        let test = try TestStore()
        let members = [try test.file("one.wacz", seed: 1), try test.file("two.wacz", seed: 2, layout: .unsorted)]
        var parts: [(name: String, bytes: [UInt8], sha256: String?)] = []
        for member in members {
            let hash = try await sha256ByOpenSSL(member)
            let stated = wrongHash ? String(repeating: "0", count: 64) : hash
            parts.append(((member as NSString).lastPathComponent, try contents(of: member), stated))
        }
        let bytes = GeneratedArchive.packageOfPackages(title: title, parts, areDeflated: areDeflated)
        return Package(test: test, path: try test.folder.write(bytes, to: "crawl.wacz"), members: members)
    }

    private func outcome(_ result: ImportResult) throws -> MultiWACZOutcome {
        guard case .multiWACZ(let outcome) = result else { throw StoreError(.failed, "that was one archive") }
        return outcome
    }

    @Test(arguments: [false, true])
    func membersBecomeArchivesInCollection(areDeflated: Bool) async throws {
        let package = try await package(areDeflated: areDeflated)
        let store = package.test.store
        let outcome = try outcome(try store.importAny(at: package.path))
        #expect(outcome.collection.id.text == "crawl")
        #expect(outcome.collection.title == "Both")
        #expect(outcome.collection.originalName == "crawl.wacz")
        #expect(outcome.collection.members.map(\.text) == ["one", "two"])
        #expect(outcome.remarks.isEmpty)
        for (member, path) in zip(outcome.members, package.members) {
            let hash = try await sha256ByOpenSSL(path)
            #expect(member.archive.sha256 == hash)
        }
        // The multi-WACZ file itself isn't stored, only its members.
        #expect(names(in: package.test.layout.files).count { $0.hasSuffix(".wacz") } == 2)
        try await package.test.expectWhole()
        #expect(try store.repair() == RepairReport())

        let again = try self.outcome(try store.importAny(at: package.path))
        #expect(again.isDuplicate)
        #expect(again.collection == outcome.collection)
        #expect(try store.collections.all().count == 1)
    }

    @Test func compressedBombIsRefused() throws {
        let test = try TestStore()
        let zeros = [UInt8](repeating: 0, count: 5 << 20)
        let bytes = GeneratedArchive.packageOfPackages(title: nil, [("a.wacz", zeros, nil)], areDeflated: true)
        let path = try test.folder.write(bytes, to: "bomb.wacz")
        let error = #expect(throws: StoreError.self) { _ = try test.store.importAny(at: path) }
        #expect(error?.code == .refused)
        #expect(error?.what.contains("expand to 5.2 MB of WACZ files") == true)
        #expect(error?.hint == "extract the ZIP, then import the WACZ files in it")
    }

    @Test func titleIDAndTagsApplyToCollection() async throws {
        let package = try await package(title: nil)
        let options = ImportOptions(title: "Mine", id: ArchiveID("chosen"), tags: ["t"])
        let outcome = try outcome(try package.test.store.importAny(at: package.path, options: options))
        #expect(outcome.collection.id.text == "chosen")
        #expect(outcome.collection.title == "Mine")
        #expect(outcome.collection.tags == ["t"])
        #expect(outcome.members.map(\.archive.title) == [TestStore.title, TestStore.title])
    }

    @Test func movedFileIsDeletedAfterItsMembersAreImported() async throws {
        let package = try await package()
        _ = try package.test.store.importAny(at: package.path, mode: .move)
        #expect(!FileManager.default.fileExists(atPath: package.path))
        try await package.test.expectWhole()
    }

    @Test func multiWACZCannotBeLinked() async throws {
        let package = try await package()
        #expect(code { _ = try package.test.store.importAny(at: package.path, mode: .link) } == .refused)
        try await package.test.expectWhole()
    }

    @Test func memberWithWrongHashIsReported() async throws {
        let package = try await package(wrongHash: true)
        #expect(
            code { _ = try package.test.store.importAny(at: package.path, options: ImportOptions(isStrict: true)) }
                == .refused)
        #expect(try outcome(try package.test.store.importAny(at: package.path)).remarks.count == 2)
    }

    @Test func uploadedMultiWACZIsImported() async throws {
        let package = try await package()
        let store = package.test.store
        let incoming = try store.beginImport(name: "crawl.wacz", source: "browser", expectedSize: nil)
        try contents(of: package.path).withUnsafeBytes { try incoming.write($0) }
        #expect(try outcome(try store.finish(incoming)).members.count == 2)
    }

    @Test func listOfExternalFilesIsRefused() throws {
        let test = try TestStore()
        #expect(code { _ = try test.store.importAny(at: Checkout.fixture("damaged/multi-wacz.wacz")) } == .refused)
    }

    /// The next import of the file completes an interrupted one.
    @Test func interruptedImportKeepsCompleteArchives() async throws {
        struct Stop: Error {}
        let package = try await package()
        let store = package.test.store
        var isSecond = false
        let stopped = Result {
            try store.importAny(at: package.path) { progress in
                if case .copying(0, _) = progress, isSecond { throw Stop() }
                if case .checking = progress { isSecond = true }
            }
        }
        #expect(throws: Stop.self) { _ = try stopped.get() }
        #expect(try store.catalog.allArchives().map(\.id.text) == ["one"])
        #expect(try store.collections.all().isEmpty)
        try await package.test.expectWhole()
        #expect(try outcome(try store.importAny(at: package.path)).collection.members.map(\.text) == ["one", "two"])
    }
}
