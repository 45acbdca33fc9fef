import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

struct ArchiveStoreTests {
    private func request(_ name: String) throws -> OpenArchives.Request {
        try #require(OpenArchives.Request(path: name, query: nil))
    }

    @Test func openFilesStayReadableAfterRemoval() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: Checkout.fixture("sample.wacz")).archive
        let open = try #require(try test.store.openArchives.file(for: try request("sample")))
        try test.store.remove(archive.id)
        #expect(try test.state().isEmpty)
        #expect(try test.store.openArchives.file(for: try request("sample")) == nil)
        #expect(test.store.openArchives.recentFile(for: try request("sample")) == nil)
        var bytes = [UInt8](repeating: 0, count: Int(open.size))
        let count = try bytes.withUnsafeMutableBytes { try open.file.read(at: 0, into: $0) }
        #expect(count == bytes.count)
        #expect(isSame(bytes, try contents(of: Checkout.fixture("sample.wacz"))))
        // Removing an archive twice does nothing.
        try test.store.remove(archive.id)
        #expect(try test.store.importFile(at: Checkout.fixture("sample.wacz")).archive.id == archive.id)
    }

    @Test func archiveRemovedByAnotherProcessIsNotFound() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: Checkout.fixture("second.wacz")).archive
        #expect(try test.store.openArchives.file(for: try request("second")) != nil)
        try test.reopened().remove(archive.id)
        #expect(try test.store.openArchives.file(for: try request("second")) == nil)
    }

    @Test func archiveReimportedUnderAnotherIDIsServed() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: Checkout.fixture("second.wacz")).archive
        #expect(try test.store.openArchives.file(for: try request("second.wacz"))?.archive.id.text == "second")
        let other = try test.reopened()
        try other.remove(archive.id)
        _ = try other.importFile(
            at: try test.folder.write(GeneratedArchive().bytes(), to: "second.wacz"))
        _ = try other.importFile(at: Checkout.fixture("second.wacz"))
        #expect(try test.store.catalog.archive(key: archive.key)?.id.text == "second-2")
        let open = try #require(try test.store.openArchives.file(for: try request("second-2")))
        #expect(open.archive.id.text == "second-2")
        #expect(try test.store.openArchives.file(for: try request("second"))?.archive.key != archive.key)
    }

    @Test func findsArchiveByIDOrUniquePrefix() throws {
        let test = try TestStore()
        for (number, name) in ["crawl", "crawl-two", "other", "o_x"].enumerated() {
            let source = try test.folder.write(
                GeneratedArchive(seed: UInt64(number)).bytes(), to: "\(number)/\(name).wacz")
            _ = try test.store.importFile(at: source)
        }
        let find = { (text: String) in try test.store.resolver.archive(matching: text).id.text }
        #expect(try find("crawl") == "crawl")
        #expect(try find("crawl-") == "crawl-two")
        #expect(try find("ot") == "other")
        #expect(code { _ = try find("cr") } == .ambiguous)
        #expect(code { _ = try find("o") } == .ambiguous)
        for text in ["", "x", "crawl-two-", "CRAWL", "%", "_", "cr%", "c_awl"] {
            #expect(code { _ = try find(text) } == .notFound, Comment(rawValue: text))
        }
        let error = #expect(throws: StoreError.self) { _ = try find("cr") }
        #expect(error?.what.contains("crawl, crawl-two") == true)
    }

    @Test func capturesOfURLAreInChronologicalOrder() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: Checkout.fixture("sample.wacz")).archive
        let url = try #require(archive.mainPageURL)
        let captures = try test.store.captures(of: archive, url: url, limit: 10)
        #expect(captures.count == 2, "Fixtures/README.md: two captures of the main page")
        #expect(captures.map(\.timestamp) == captures.map(\.timestamp).sorted())
        #expect(try test.store.captures(of: archive, url: url, limit: 1).count == 1)
        #expect(try test.store.captures(of: archive, url: url + "x", limit: 10).isEmpty)
    }

    @Test(.enabled(if: haveOrdinaryUser, "root may write everywhere"))
    func readOnlyFolderIsUnusable() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
        try asOrdinaryUser(owning: folder) {
            #expect(code { _ = try ArchiveStore(at: folder.path("store")) } == .unusable)
        }
        #expect(names(in: folder.path).isEmpty)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    }

    /// Also for root: /proc isn't writable.
    @Test(arguments: ["/proc/replayhost-store", "/dev/null/store"])
    func impossiblePathIsUnusable(path: String) {
        let error = #expect(throws: StoreError.self) { _ = try ArchiveStore(at: path) }
        #expect(error?.code == .unusable)
        #expect(error?.place == path)
        #expect(error?.hint != nil)
    }

    @Test func fileInsteadOfFolderIsUnusable() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("a file", to: "store")
        #expect(code { _ = try ArchiveStore(at: path) } == .unusable)
    }

    @Test func damagedCatalogSuggestsRebuild() throws {
        let folder = try TemporaryFolder()
        try folder.write(String(repeating: "no database ", count: 1000), to: "store/catalog.sqlite")
        let error = #expect(throws: StoreError.self) { _ = try ArchiveStore(at: folder.path("store")) }
        #expect(error?.code == .catalogDamaged)
        #expect(error?.hint?.contains("doctor --rebuild") == true)
        #expect(error?.place == folder.path("store/catalog.sqlite"))
    }

    @Test func storeIsAccessibleToOwnerOnly() throws {
        let test = try TestStore()
        for folder in [test.layout.root, test.layout.files, test.layout.incoming] {
            let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
    }

    @Test func readableStoreIsMadePrivate() throws {
        let test = try TestStore()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: test.layout.root)
        _ = try test.reopened()
        let mode = try FileManager.default.attributesOfItem(atPath: test.layout.root)[.posixPermissions] as? Int
        #expect(mode == 0o700)
    }
}
