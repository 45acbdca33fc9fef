import Foundation
import GRDB
import TestSupport
import Testing

@testable import ArchiveStore

/// The access modes of the store's files.
struct StoreModeTests {
    private static func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private static func set(_ mode: Int, _ path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test func filesAreAccessibleToOwnerOnly() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: try test.file("a.wacz")).archive
        try test.store.ports.assign(20_000, to: archive.id)
        let server = try ServerFile(layout: test.layout)
        try server.write(ServerDescription(address: "http://localhost:1", port: 1, pid: 1, token: "a"))
        let paths = try #require(FileManager.default.enumerator(atPath: test.layout.root)).compactMap { $0 as? String }
        #expect(paths.contains("catalog.sqlite") && paths.contains("catalog.sqlite-wal"))
        #expect(paths.contains("ports.json") && paths.contains("server.json"))
        for path in paths {
            let mode = try #require(try Self.mode("\(test.layout.root)/\(path)"))
            #expect(mode & 0o077 == 0, "\(path)")
        }
        #expect(try Self.mode(test.layout.catalog) == 0o600)
    }

    /// Version 0.1.0 created catalogs with the mode of the umask.
    @Test func readableCatalogIsMadePrivate() throws {
        let test = try TestStore()
        let files = ["", "-wal", "-shm"].map { test.layout.catalog + $0 }
        for file in files { try Self.set(0o644, file) }
        let reopened = try test.reopened()
        for file in files { #expect(try Self.mode(file) == 0o600) }
        #expect(try reopened.archives().isEmpty)
    }

    @Test func catalogCopyIsPrivate() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("copy.sqlite")
        CatalogFile.makePrivate(path)
        #expect(try Self.mode(path) == 0o600)
        let catalog = try Catalog(path: folder.path("catalog.sqlite"))
        try catalog.database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        #expect(try Self.mode(path) == 0o600)
    }

    @Test func folderWithOtherFilesKeepsMode() throws {
        let folder = try TemporaryFolder()
        let root = folder.path("documents")
        try folder.write("a thesis", to: "documents/thesis.txt")
        try Self.set(0o755, root)
        for _ in 0..<2 {
            let store = try ArchiveStore(at: root)
            #expect(try store.archives().isEmpty)
            #expect(try Self.mode(root) == 0o755)
        }
        let made = try FileManager.default.contentsOfDirectory(atPath: root).filter { $0 != "thesis.txt" }
        for name in made { #expect(try #require(try Self.mode("\(root)/\(name)")) & 0o077 == 0, "\(name)") }
    }

    @Test func emptyFolderIsMadePrivate() throws {
        let folder = try TemporaryFolder()
        let root = folder.path("store")
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        try Self.set(0o755, root)
        _ = try ArchiveStore(at: root)
        #expect(try Self.mode(root) == 0o700)
        #expect(try FileManager.default.contentsOfDirectory(atPath: root).allSatisfy { !$0.hasPrefix(".") })
    }
}
