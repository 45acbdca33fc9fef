import Foundation
import WebArchive

/// The folder of a backup, locked as long as the value exists.
///
///     backup.json      the manifest: what the backup contains
///     files/           SHA256.wacz, immutable, moved here by an atomic rename
///     capture/         capture.sqlite, the queue of the capture server, if there is one
///     incoming/        copies in progress; leftovers are deleted by the next backup
struct BackupFolder {
    /// Paths in the folder: its subfolders are named like those of a store.
    let layout: StoreLayout
    private let lock: Descriptor
    private static let attemptsMax = 5

    var manifest: String { layout.root + "/backup.json" }

    /// Opens a folder to write a backup to, and creates it if necessary.
    ///
    /// - Throws: `StoreError`: `failed` for a folder that can't be used for backups, `locked`, `unusable`.
    static func make(at path: String, apartFrom store: StoreLayout) throws -> BackupFolder {
        try check(resolved(path), isApartFrom: resolved(store.root))
        let layout = StoreLayout(root: resolved(path))
        guard !Folder.exists(layout.catalog) else {
            throw StoreError(
                .failed, "this folder is a store, not a backup", place: path,
                hint: "choose an empty folder, or one with a backup of this store")
        }
        do {
            for folder in [layout.root, layout.files, layout.incoming] { try Folder.create(folder) }
        } catch {
            throw StoreError(.failed, "can't write a backup here: \(error.what)", place: path)
        }
        return try open(at: path, apartFrom: store)
    }

    /// Opens the folder of an existing backup.
    ///
    /// - Throws: `StoreError`: `notFound`, `failed`, `locked`.
    static func open(at path: String, apartFrom store: StoreLayout) throws -> BackupFolder {
        let root = resolved(path)
        try check(root, isApartFrom: resolved(store.root))
        let lock = try Descriptor(path: root, flags: O_RDONLY | O_DIRECTORY)
        var attempt = 1
        // A child process inherits all descriptors, and the lock with them, until its exec: try again.
        while lock.lock() == .heldByAnother {
            attempt += 1
            if attempt <= attemptsMax, usleep(20_000) == 0 { continue }
            throw StoreError(
                .locked, "another replayhost is using this backup folder", place: path,
                hint: "wait until it has finished, then try again")
        }
        return BackupFolder(layout: StoreLayout(root: root), lock: lock)
    }

    /// Returns the manifest; `nil` if no backup was ever completed here.
    func formerManifest() throws -> BackupManifest? {
        do {
            return try BackupManifest.read(at: manifest)
        } catch let error as StoreError where error.code == .notFound {
            return nil
        } catch let error as StoreError where error.isDamagedDocument {
            throw StoreError(
                error.code, error.what, place: error.place,
                hint: "move this file away and run the backup again; the copied files are reused")
        }
    }

    /// Whether the folder has a file of that hash and size. Doesn't read the file.
    func hasFile(_ sha256: String, size: UInt64) -> Bool {
        Folder.fileSize(layout.file(sha256)) == size
    }

    /// Deletes what killed backups left behind. The folder is locked, so no backup is running.
    func sweep() throws {
        for name in try Folder.names(in: layout.incoming) where name.hasPrefix(StoreLayout.copyPrefix) {
            let path = "\(layout.incoming)/\(name)"
            _ = try IncomingFolder.deleteAbandoned(path, owner: path)
        }
    }

    /// Deletes files that the manifest doesn't need.
    func prune(keeping hashes: Set<String>) throws -> FileTally {
        var pruned = FileTally()
        for key in FileInventory.keys(of: try Folder.names(in: layout.files), ending: StoreLayout.fileSuffix)
        where !hashes.contains(key) {
            pruned.add(Folder.fileSize(layout.file(key)) ?? 0)
            try Folder.delete(layout.file(key))
        }
        if pruned.count > 0 { try Folder.synchronize(parentOf: layout.file("")) }
        return pruned
    }

    /// - Throws: `noSpace` when fewer bytes are free than the copies need.
    func checkSpace(for size: UInt64) throws {
        do {
            try layout.checkSpace(for: size, what: "the backup")
        } catch let error as StoreError {
            throw withBackupHint(error)
        }
    }

    /// Returns an error about this folder with a hint that is about backups, not stores.
    func withBackupHint(_ error: StoreError) -> StoreError {
        guard error.place?.hasPrefix(layout.root) == true, error.hint?.contains("--store") == true else { return error }
        let hint =
            error.code == .noSpace
            ? "free some space there, or choose another folder; the next run reuses what was copied"
            : "check who owns it and whether it is read-only, or choose another folder"
        // `unusable` is about the store, which is fine.
        let code = error.code == .unusable ? .failed : error.code
        return StoreError(code, error.what, place: error.place, hint: hint)
    }

    private static func check(_ folder: String, isApartFrom store: String) throws {
        let problem: String
        if folder == store {
            problem = "the store can't be its own backup folder"
        } else if folder.hasPrefix(store + "/") {
            problem = "this backup folder is inside the store \(store)"
        } else if store.hasPrefix(folder + "/") {
            problem = "this backup folder contains the store \(store)"
        } else {
            return
        }
        throw StoreError(.failed, problem, place: folder, hint: "choose another folder, preferably on another disk")
    }

    /// Returns an absolute path with symbolic links resolved, also if it doesn't exist yet.
    private static func resolved(_ path: String) -> String {
        var (existing, missing) = (path, "")
        while !Folder.exists(existing), let slash = existing.lastIndex(of: "/"), slash > existing.startIndex {
            missing = existing[slash...] + missing
            existing = String(existing[..<slash])
        }
        return Folder.resolved(existing) + missing
    }
}

/// A number of files and their total size.
package struct FileTally: Sendable, Hashable, Encodable {
    package private(set) var count = 0
    package private(set) var bytes: UInt64 = 0

    /// Counts one more file.
    mutating func add(_ size: UInt64) {
        count += 1
        bytes = bytes.addingSaturated(size)
    }
}
