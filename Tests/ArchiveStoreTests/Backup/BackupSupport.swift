import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// A store and a folder for its backup.
struct BackedUpStore: Sendable {
    let test: TestStore
    var folder: String { test.folder.path("backup") }
    var store: ArchiveStore { test.store }

    init() throws { test = try TestStore() }

    @discardableResult
    func add(
        _ name: String, seed: UInt64, payloadSize: Int = 0, layout: GeneratedArchive.Layout = .plain,
        options: ImportOptions = ImportOptions()
    ) throws -> Archive {
        let archive = GeneratedArchive(
            title: name, pages: numberedPages(3), payloadSize: payloadSize, seed: seed, layout: layout)
        let path = try test.folder.write(archive.bytes(), to: "sources/\(name).wacz")
        return try store.importFile(at: path, options: options).archive
    }

    @discardableResult
    func link(_ name: String, seed: UInt64) throws -> Archive {
        let archive = GeneratedArchive(title: name, pages: numberedPages(2), seed: seed)
        let path = try test.folder.write(archive.bytes(), to: "elsewhere/\(name).wacz")
        return try store.importLink(to: path).archive
    }

    /// A store with archives of all kinds.
    func fill() async throws {
        let plain = try add("Plain Crawl", seed: 1, options: ImportOptions(title: "Said so", tags: ["a", "b"]))
        try store.edit(plain.id, ArchiveMetadata(notes: "two\nlines"))
        var unsorted = try add("unsorted", seed: 2, layout: .unsorted)
        unsorted.port = 9123
        try store.committer.save(unsorted)
        try add("deflated", seed: 3, layout: .zipNumDeflated)
        _ = try store.importFile(at: Checkout.fixture("damaged/unsorted-index.wacz"))
        // Of two archives with the same file name, the first is found by it.
        try add("2/Plain Crawl", seed: 4)
        let hashed = try link("hashed", seed: 5)
        let hash = try await sha256ByOpenSSL(test.folder.path("elsewhere/hashed.wacz"))
        _ = try store.committer.finishHashing(key: hashed.key, sha256: hash)
        try link("provisional", seed: 6)
        let replaced = try add("old", seed: 7)
        try add("new", seed: 8, options: ImportOptions(replaces: replaced.id))
        var collection = try store.collections.make(
            title: "Some", members: [unsorted.id, hashed.id, plain.id],
            metadata: ArchiveMetadata(tags: ["t"], notes: "why"))
        collection.port = 9124
        try store.collections.save(collection)
    }

    /// The path of a file of the backup.
    func copy(_ archive: Archive) -> String { "\(folder)/files/\(archive.key).wacz" }

    /// The manifest, parsed independently of the code under test.
    func manifest() throws -> [String: Any] {
        let bytes = Data(try contents(of: folder + "/backup.json"))
        return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    }

    /// The ids of the archives in the manifest, in its order.
    func ids() throws -> [String] {
        let archives = try #require(try manifest()["archives"] as? [[String: Any]])
        return try archives.map { try #require(($0["sidecar"] as? [String: Any])?["id"] as? String) }
    }

    /// Checks that every file in the backup matches its hash.
    func expectSound(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for name in names(in: folder + "/files") {
            let hash = try await sha256ByOpenSSL("\(folder)/files/\(name)")
            #expect("\(hash).wacz" == name, sourceLocation: sourceLocation)
        }
        #expect(names(in: folder + "/incoming") == [], sourceLocation: sourceLocation)
    }

    /// Restores to a new store.
    func restored(_ name: String = "restored") throws -> (store: ArchiveStore, report: RestoreReport) {
        let report = try ArchiveStore.restore(from: folder, to: test.folder.path(name))
        return (try ArchiveStore(at: test.folder.path(name)), report)
    }
}

/// Everything in a store, for comparing two stores.
struct StoreFacts: Equatable {
    /// Without the states of their files, which are of these copies.
    var archives: [Archive]
    /// As JSON.
    var details: [String]
    var pages: [[ArchivePage]]
    var collections: [ArchiveCollection]
    /// The key of the archive that each file name finds.
    var names: [String: String?]
    /// Of `files/` and `collections/`, by name.
    var files: [String: Content]

    /// The bytes of a file. Described by their number only.
    struct Content: Equatable, CustomStringConvertible {
        let bytes: [UInt8]
        var description: String { "\(bytes.count) bytes" }
    }

    init(_ store: ArchiveStore) throws {
        let catalog = store.catalog
        let all = try catalog.allArchives()
        archives = all.map(\.withoutState)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        details = try all.map { String(decoding: try encoder.encode(store.details(of: $0)), as: UTF8.self) }
        pages = try all.map { try catalog.pages(key: $0.key, PageListRequest(limit: 1000)).pages }
        collections = try store.collections.all()
        names = try Dictionary(
            uniqueKeysWithValues: Set(all.map(\.originalName)).map {
                ($0, try catalog.archive(named: $0)?.key)
            })
        files = [:]
        for folder in [store.layout.files, store.layout.collections] {
            for name in TestSupport.names(in: folder) {
                files[name] = Content(bytes: try contents(of: "\(folder)/\(name)"))
            }
        }
    }
}

/// Inode and time of change of each file in a folder.
func stamps(in folder: String) throws -> [String] {
    try names(in: folder).map { name in
        let facts = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
        return "\(name) \(facts[.systemFileNumber] ?? "") \(facts[.modificationDate] ?? "")"
    }
}

/// Flips one bit in the middle of a file.
func damage(_ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    let place = try file.seekToEnd() / 2
    try file.seek(toOffset: place)
    let byte = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: place)
    try file.write(contentsOf: [byte ^ 1])
    try file.close()
}
