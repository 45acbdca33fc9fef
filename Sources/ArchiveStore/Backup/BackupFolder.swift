import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder that holds a backup of a store; locked while the value lives.
///
///     backup.json      the manifest: what the backup is
///     files/           SHA256.wacz, immutable, put there by an atomic rename
///     incoming/        copies under way; swept by the next backup
struct BackupFolder {
    /// Its folders have the names that a store's have.
    let layout: StoreLayout
    private let lock: Descriptor
    private static let attemptsMax = 5

    var manifest: String { layout.root + "/backup.json" }

    /// Opens a folder to write a backup to, and makes it when it is not there.
    ///
    /// - Throws: `StoreError`: `failed` for a folder that cannot be one, `locked`, `unusable`.
    static func make(at path: String, apartFrom store: StoreLayout) throws -> BackupFolder {
        try check(resolved(path), isApartFrom: resolved(store.root))
        let layout = StoreLayout(root: resolved(path))
        guard !Folder.exists(layout.catalog) else {
            throw StoreError(
                .failed, "the folder is a store of its own, not one for backups", place: path,
                hint: "give a folder that is empty, or that has a backup of this store")
        }
        do {
            for folder in [layout.root, layout.files, layout.incoming] { try Folder.create(folder) }
        } catch {
            throw StoreError(.failed, "no backup can be kept there: \(error.what)", place: path)
        }
        return try open(at: path, apartFrom: store)
    }

    /// Opens a folder that has a backup.
    ///
    /// - Throws: `StoreError`: `notFound`, `failed`, `locked`.
    static func open(at path: String, apartFrom store: StoreLayout) throws -> BackupFolder {
        let root = resolved(path)
        try check(root, isApartFrom: resolved(store.root))
        let lock = try Descriptor(path: root, flags: O_RDONLY | O_DIRECTORY)
        var attempt = 1
        // A process that is being started has everybody's descriptors for an instant, and the lock with them.
        while lock.lock() == .heldByAnother {
            attempt += 1
            if attempt <= attemptsMax, usleep(20_000) == 0 { continue }
            throw StoreError(
                .locked, "another replayhost is at work in the backup folder", place: path, hint: "wait for its end")
        }
        return BackupFolder(layout: StoreLayout(root: root), lock: lock)
    }

    /// The manifest; `nil` when no backup was ever completed here.
    func formerManifest() throws -> BackupManifest? {
        do {
            return try BackupManifest.read(at: manifest)
        } catch let error as StoreError where error.code == .notFound {
            return nil
        } catch let error as StoreError where error.isDamagedDocument {
            throw StoreError(
                error.code, error.what, place: error.place,
                hint: "move it away and run this again: the files beside it are made use of")
        }
    }

    /// Whether a file lies there under its hash and has its size; its bytes are not looked at.
    func holds(_ sha256: String, size: UInt64) -> Bool {
        Self.size(of: layout.file(sha256)) == size
    }

    /// Deletes what killed backups left; those of living ones there are none, since the folder is locked.
    func sweep() throws {
        for name in try Folder.names(in: layout.incoming) where name.hasPrefix(StoreLayout.copyPrefix) {
            let path = "\(layout.incoming)/\(name)"
            _ = try IncomingFolder.deleteAbandoned(path, owner: path)
        }
    }

    /// Deletes the files that no manifest needs any more.
    func prune(keeping hashes: Set<String>) throws -> FileTally {
        var pruned = FileTally()
        for key in FileInventory.keys(of: try Folder.names(in: layout.files), ending: StoreLayout.fileSuffix)
        where !hashes.contains(key) {
            pruned.add(Self.size(of: layout.file(key)) ?? 0)
            try Folder.delete(layout.file(key))
        }
        if pruned.count > 0 { try Folder.synchronize(parentOf: layout.file("")) }
        return pruned
    }

    /// - Throws: `noSpace` when fewer bytes are free than the copies need.
    func checkSpace(for size: UInt64) throws {
        do {
            try layout.checkSpace(for: size, what: "what is to be copied")
        } catch let error as StoreError {
            throw inItsWords(error)
        }
    }

    /// An error of this folder, without the advice that is for stores.
    func inItsWords(_ error: StoreError) -> StoreError {
        guard error.place?.hasPrefix(layout.root) == true, error.hint?.contains("--store") == true else { return error }
        let hint =
            error.code == .noSpace
            ? "free some space there, or choose another folder; what was copied is made use of by the next run"
            : "check who owns it and whether it is read-only, or choose another folder"
        // It is not the store that cannot be used.
        let code = error.code == .unusable ? .failed : error.code
        return StoreError(code, error.what, place: error.place, hint: hint)
    }

    private static func check(_ folder: String, isApartFrom store: String) throws {
        let problem: String
        if folder == store {
            problem = "the backup folder is the store itself"
        } else if folder.hasPrefix(store + "/") {
            problem = "the backup folder is inside of the store \(store)"
        } else if store.hasPrefix(folder + "/") {
            problem = "the store \(store) is inside of the backup folder"
        } else {
            return
        }
        throw StoreError(.failed, problem, place: folder, hint: "choose a folder elsewhere, best on another disk")
    }

    /// An absolute path with links followed, also of what is not there yet.
    private static func resolved(_ path: String) -> String {
        var (existing, missing) = (path, "")
        while !Folder.exists(existing), let slash = existing.lastIndex(of: "/"), slash > existing.startIndex {
            missing = existing[slash...] + missing
            existing = String(existing[..<slash])
        }
        return Folder.resolved(existing) + missing
    }

    private static func size(of path: String) -> UInt64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return UInt64(clamping: status.st_size)
    }
}

/// A number of files and the bytes in them.
package struct FileTally: Sendable, Hashable, Encodable {
    package private(set) var count = 0
    package private(set) var bytes: UInt64 = 0

    /// Counts one more file.
    mutating func add(_ size: UInt64) {
        count += 1
        bytes = bytes.addingSaturated(size)
    }
}
