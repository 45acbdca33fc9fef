import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Moving files into the store. At any time the file is in its old folder or in the store.
struct MoveTests {
    @Test func originalIsDeletedAfterImport() async throws {
        let test = try TestStore()
        let path = try test.file("a.wacz")
        let bytes = try contents(of: path)
        let inode = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
        let archive = try test.store.moveFile(at: path).archive
        #expect(!FileManager.default.fileExists(atPath: path))
        let stored = test.layout.file(archive.key)
        #expect(isSame(try contents(of: stored), bytes))
        let own = try FileManager.default.attributesOfItem(atPath: stored)[.systemFileNumber] as? Int
        #expect(own == inode, "on one file system nothing is copied")
        try await test.expectWhole()
    }

    @Test(arguments: ["truncated", "nul-name"])
    func refusedFileIsNotDeleted(name: String) async throws {
        let test = try TestStore()
        let bytes = try contents(of: Checkout.fixture("damaged/\(name).wacz"))
        let path = try test.folder.write(bytes, to: "a.wacz")
        #expect(code { _ = try test.store.moveFile(at: path) } == .refused)
        #expect(try contents(of: path) == bytes)
        try await test.expectWhole()
    }

    @Test func fileWithSeveralNamesIsCopied() async throws {
        let test = try TestStore()
        let path = try test.file("a.wacz")
        try FileManager.default.linkItem(atPath: path, toPath: path + ".other")
        let archive = try test.store.moveFile(at: path).archive
        #expect(!FileManager.default.fileExists(atPath: path))
        // Writing to the other name doesn't change the store's file.
        let handle = try #require(FileHandle(forUpdatingAtPath: path + ".other"))
        try handle.write(contentsOf: Data("changed".utf8))
        try handle.close()
        let hash = try await sha256ByOpenSSL(test.layout.file(archive.key))
        #expect(hash == archive.key)
    }

    /// The original must stay intact if the import fails.
    @Test func failedMoveKeepsOriginalWritable() async throws {
        let test = try TestStore()
        let path = try test.file("a.wacz")
        let before = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        let key = try await sha256ByOpenSSL(path)
        // A folder is in the way of the file.
        try FileManager.default.createDirectory(atPath: test.layout.file(key) + "/x", withIntermediateDirectories: true)
        #expect(throws: StoreError.self) { try test.store.moveFile(at: path) }
        let after = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(before != nil && after == before)
    }

    @Test func symbolicLinkIsRefused() throws {
        let test = try TestStore()
        let path = try test.file("a.wacz")
        try FileManager.default.createSymbolicLink(atPath: path + ".link", withDestinationPath: path)
        #expect(code { _ = try test.store.moveFile(at: path + ".link") } == .failed)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func duplicateIsDeletedOnlyIfStoreCopyIsIntact() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: try test.file("a.wacz")).archive
        let again = try test.file("again.wacz")
        #expect(try test.store.moveFile(at: again).isDuplicate)
        #expect(!FileManager.default.fileExists(atPath: again))

        _ = try test.file("again.wacz")
        let stored = test.layout.file(archive.key)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: stored)
        let handle = try #require(FileHandle(forUpdatingAtPath: stored))
        try handle.seek(toOffset: archive.size / 2)
        try handle.write(contentsOf: Data("damage".utf8))
        try handle.close()
        #expect(code { _ = try test.store.moveFile(at: again) } == .failed)
        #expect(FileManager.default.fileExists(atPath: again), "it is the only good copy")
    }

    @Test func fileChangedMeanwhileIsKept() async throws {
        let test = try TestStore()
        let path = try test.file("a.wacz")
        let handle = try #require(FileHandle(forWritingAtPath: path))
        let result = Result {
            try test.store.moveFile(at: path) { progress in
                guard case .copying = progress else { return }
                try handle.seekToEnd()
                try handle.write(contentsOf: Data("more".utf8))
            }
        }
        #expect(code { _ = try result.get() } == .failed)
        #expect(FileManager.default.fileExists(atPath: path))
        try await test.expectWhole()
    }

    /// What is deleted is the file that was read, whatever its name is by then.
    @Test(arguments: ["a.wacz", "a.warc"])
    func fileThatTakesItsPlaceIsKept(name: String) async throws {
        let test = try TestStore()
        let path = test.folder.path(name)
        if name == "a.warc" {
            try makeWARC([("https://a.example/", "<title>A title</title>")], at: path)
        } else {
            _ = try test.file(name)
        }
        let result = Result {
            try test.store.moveFile(at: path) { progress in
                guard case .copying = progress else { return }
                try Data("another file".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            }
        }
        #expect(code { _ = try result.get() } == .failed)
        #expect(try contents(of: path) == Array("another file".utf8))
        try await test.expectWhole()
    }
}
