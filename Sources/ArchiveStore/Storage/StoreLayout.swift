import Foundation

/// Where everything in a store lies. Every path that the store ever touches is made here.
///
///     catalog.sqlite   archives, pages, findings; can be rebuilt from files/
///     files/           SHA256.wacz, immutable; SHA256.json, its sidecar. Where lookups cannot search the package's own index:
///                      SHA256.cdx.gz and SHA256.idx, a sorted copy of it; SHA256.idx alone, a plain copy of an `.idx` that
///                      the package compresses. Both can be made anew from the package
///                      ref-UUID.json: the sidecar of a file that stays elsewhere, until its SHA-256 is known
///     collections/          ID.json: archives that are replayed as one
///     incoming/        imports and removals under way, and a file for each process that runs jobs; swept at the next start
///     reserve          space for the moment when the disk is full; can be deleted
///     ports.json       the ports on localhost that archives were ever replayed on
///     server.json      address and token of the running server
package struct StoreLayout: Sendable, Hashable {
    /// The store's folder, absolute.
    package let root: String

    package init(root: String) {
        self.root = root
    }

    package var catalog: String { root + "/catalog.sqlite" }
    package var files: String { root + "/files" }
    package var collections: String { root + "/collections" }
    package var incoming: String { root + "/incoming" }
    package var serverFile: String { root + "/server.json" }
    var ports: String { root + "/ports.json" }

    /// The archive's file. `key` is its SHA-256 in hex.
    package func file(_ key: String) -> String { "\(files)/\(key)\(Self.fileSuffix)" }

    /// What a person said about the archive and where it came from; everything that the file itself cannot tell.
    package func sidecar(_ key: String) -> String { "\(files)/\(key)\(Self.sidecarSuffix)" }

    /// What makes a collection.
    package func collection(_ id: ArchiveID) -> String { "\(collections)/\(id)\(Self.sidecarSuffix)" }

    /// A file that lookups search beside the archive's own.
    func index(_ file: IndexFile, key: String) -> String { "\(files)/\(key)\(file.suffix)" }

    /// A copy under way. `name` is random. Its index files have the same name with an ending, and so have the runs that their
    /// sorting makes.
    package func incomingCopy(_ name: String) -> String { "\(incoming)/\(Self.copyPrefix)\(name)" }

    /// A removal under way: the file, or the sidecar of a linked one, was moved here, so that it is gone at one instant.
    package func removed(_ key: String) -> String { "\(incoming)/\(Self.removedPrefix)\(key)" }

    /// What a process that runs jobs keeps locked. `owner` is random.
    func runnerFile(_ owner: String) -> String { "\(incoming)/\(Self.runnerPrefix)\(owner)" }

    /// Whether a path with links followed is one of the store's own.
    func holds(_ path: String) -> Bool { path.hasPrefix(Folder.resolved(root) + "/") }

    /// Whether the folder is there and holds anything that no store makes.
    func isAmongOtherThings() -> Bool {
        guard Folder.isFolder(root), let names = try? Folder.names(in: root) else { return false }
        return !names.allSatisfy { name in
            Self.names.contains(name) || name.hasPrefix("catalog.sqlite") || name.hasPrefix(Self.ownerTestPrefix)
        }
    }

    /// The store is its owner's alone: archives can hold what others must not read.
    func makeFolders() throws {
        let isShared = isAmongOtherThings()
        do {
            try Folder.create(root)
            try StoreOwner.check(root)
            for folder in [files, incoming] { try Folder.create(folder) }
            try makeCollectionsFolder()
        } catch {
            throw StoreError(
                .unusable, error.what, place: root, hint: error.hint ?? "choose another store with --store")
        }
        if !isShared { Folder.makePrivate(root) }
    }

    /// Version 0.1.0 kept collections in `groups/`. Where both folders are there, an earlier version has been used since.
    private func makeCollectionsFolder() throws(StoreError) {
        let former = root + "/groups"
        guard Folder.isFolder(former) else { return try Folder.create(collections) }
        if !Folder.exists(collections) {
            if rename(former, collections) == 0 { return try Folder.synchronize(parentOf: collections) }
            // The catalog can't be updated there either, and says so. Else another process has just done the same.
            if errno == EROFS { return }
        }
        try Folder.create(collections)
        for name in (try? Folder.names(in: former)) ?? [] where !Folder.exists("\(collections)/\(name)") {
            try Folder.move("\(former)/\(name)", to: "\(collections)/\(name)")
        }
        rmdir(former)
    }

    private static let names: Set<String> = [
        "files", "collections", "groups", "incoming", "reserve", "ports.json", "ports.json.new", "server.json",
    ]

    /// Whether `text` is a key: a SHA-256 in hex, or what stands for one until it is known.
    static func isKey(_ text: String) -> Bool {
        if text.hasPrefix(provisionalPrefix) {
            let identifier = text.dropFirst(provisionalPrefix.count)
            return UUID(uuidString: String(identifier)) != nil && identifier == identifier.lowercased()
        }
        return text.utf8.count == 64
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// A key for a linked file that is not hashed yet.
    static func provisionalKey() -> String { provisionalPrefix + UUID().uuidString.lowercased() }

    static let provisionalPrefix = "ref-"

    static let fileSuffix = ".wacz"
    static let sidecarSuffix = ".json"
    static let copyPrefix = "copy-"
    static let runnerPrefix = "runner-"
    static let removedPrefix = "removed-"
    static let ownerTestPrefix = ".owner-"
}
