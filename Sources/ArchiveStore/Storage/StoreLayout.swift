import Foundation

/// The paths in a store.
///
///     catalog.sqlite   archives, pages, findings; can be rebuilt from files/ and collections/
///     search.sqlite    the text of pages; can be rebuilt from files/
///     files/           SHA256.wacz, immutable; SHA256.json, its sidecar. If its index can't be searched in place:
///                      SHA256.cdx.gz and SHA256.idx, a sorted copy; or SHA256.idx alone, a copy of a compressed `.idx`.
///                      SHA256.counts.json: what the index lists, counted. SHA256.verified.json: the last verification;
///                      SHA256.verifying.json: how far the current one is
///                      ref-UUID.json: the sidecar of a linked file until its SHA-256 is known
///     collections/     ID.json: archives that replay together
///     incoming/        imports and removals in progress, and a file for each process that runs jobs
///     reserve          disk space for removals when the disk is full; can be deleted
///     ports.json       all ports that archives were ever replayed on
///     watched.json     the files of the watched folder that were imported or refused
///     server.json      URL and token of the running server
///     capture/         the queue, sessions and logs of the capture server, another program
package struct StoreLayout: Sendable, Hashable {
    /// The store's folder, absolute.
    package let root: String

    package init(root: String) {
        self.root = root
    }

    package var catalog: String { root + "/catalog.sqlite" }
    /// The search index.
    package var search: String { root + "/search.sqlite" }
    package var files: String { root + "/files" }
    package var collections: String { root + "/collections" }
    package var incoming: String { root + "/incoming" }
    package var serverFile: String { root + "/server.json" }
    /// The folder of the capture server.
    package var capture: String { root + "/capture" }
    /// The queue of the capture server.
    package var captureDatabase: String { capture + "/capture.sqlite" }
    /// The description of the running capture server, in the form of `server.json`.
    package var captureServerFile: String { capture + "/capture.json" }
    var ports: String { root + "/ports.json" }
    var watched: String { root + "/watched.json" }

    /// The archive's file. `key` is its SHA-256 in hex.
    package func file(_ key: String) -> String { "\(files)/\(key)\(Self.fileSuffix)" }

    /// The archive's sidecar.
    package func sidecar(_ key: String) -> String { "\(files)/\(key)\(Self.sidecarSuffix)" }

    /// The document of a collection.
    package func collection(_ id: ArchiveID) -> String { "\(collections)/\(id)\(Self.sidecarSuffix)" }

    /// A file that was made from an archive.
    func derived(_ file: DerivedFile, key: String) -> String { "\(files)/\(key)\(file.suffix)" }

    /// A copy in progress. `name` is random. Its index files and sorted runs have the same name with a suffix.
    package func incomingCopy(_ name: String) -> String { "\(incoming)/\(Self.copyPrefix)\(name)" }

    /// A removal in progress: the file, or the sidecar of a linked one, is moved here first, which is atomic.
    package func removed(_ key: String) -> String { "\(incoming)/\(Self.removedPrefix)\(key)" }

    /// The file that a process that runs jobs keeps locked. `owner` is random.
    func runnerFile(_ owner: String) -> String { "\(incoming)/\(Self.runnerPrefix)\(owner)" }

    /// Whether a path, with symbolic links resolved, is in the store.
    func contains(_ path: String) -> Bool { path.hasPrefix(Folder.resolved(root) + "/") }

    /// Whether a path, with symbolic links resolved, is in the folder of the capture server.
    func captureContains(_ path: String) -> Bool { path.hasPrefix(Folder.resolved(capture) + "/") }

    /// Whether the folder contains anything that isn't part of a store.
    func containsOtherFiles() -> Bool {
        guard Folder.isFolder(root), let names = try? Folder.names(in: root) else { return false }
        return !names.allSatisfy { name in
            Self.names.contains(name) || name.hasPrefix("catalog.sqlite") || name.hasPrefix("search.sqlite")
                || name.hasPrefix(Self.ownerTestPrefix)
        }
    }

    /// Creates the store's folders, and makes the store accessible to its owner only, because archives can be
    /// confidential.
    func makeFolders() throws {
        let isShared = containsOtherFiles()
        do {
            try Folder.create(root)
            try StoreOwner.check(root)
            try makeCollectionsFolder()
            for folder in [files, incoming] { try Folder.create(folder) }
        } catch {
            throw StoreError(
                .unusable, error.what, place: root, hint: error.hint ?? "choose another store with --store")
        }
        if !isShared { Folder.makePrivate(root) }
    }

    /// Moves collections from `groups/`, their folder in version 0.1.0. Both exist if that version was used again
    /// since. Without `files/`, this isn't a store yet, and `groups/` is another program's folder.
    private func makeCollectionsFolder() throws(StoreError) {
        let former = root + "/groups"
        guard Folder.isFolder(former), Folder.isFolder(files) else { return try Folder.create(collections) }
        if !Folder.exists(collections) {
            if rename(former, collections) == 0 { return try Folder.synchronize(parentOf: collections) }
            // On a read-only file system, opening the catalog reports the error. Otherwise another process was faster.
            if errno == EROFS { return }
        }
        try Folder.create(collections)
        for name in (try? Folder.names(in: former)) ?? [] where !Folder.exists("\(collections)/\(name)") {
            let path = "\(former)/\(name)"
            guard (try? StoreDocument.read(CollectionDocument.self, at: path)) != nil else { continue }
            try Folder.move(path, to: "\(collections)/\(name)")
        }
        rmdir(former)
    }

    private static let names: Set<String> = [
        "files", "collections", "groups", "incoming", "capture", "reserve", "ports.json", "ports.json.new",
        "watched.json",
        "watched.json.new", "server.json",
    ]

    /// Whether `text` is a key: a SHA-256 in hex, or a provisional key.
    static func isKey(_ text: String) -> Bool {
        if text.hasPrefix(provisionalPrefix) {
            let identifier = text.dropFirst(provisionalPrefix.count)
            return UUID(uuidString: String(identifier)) != nil && identifier == identifier.lowercased()
        }
        return text.utf8.count == 64
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Returns a new key for a linked file that isn't hashed yet.
    static func provisionalKey() -> String { provisionalPrefix + UUID().uuidString.lowercased() }

    static let provisionalPrefix = "ref-"

    static let fileSuffix = ".wacz"
    static let sidecarSuffix = ".json"
    static let copyPrefix = "copy-"
    static let runnerPrefix = "runner-"
    static let removedPrefix = "removed-"
    static let ownerTestPrefix = ".owner-"
}
