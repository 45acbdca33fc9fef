import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Files that are moved into the store.
extension ArchiveStore {
    /// Brings a file in and deletes the original, once the store has it for good.
    ///
    /// On one file system nothing is copied: the file gets its place in the store as a second name, and loses the first at the
    /// very end. Elsewhere it is copied. Stopped at any instant the file is in its old place, in the store, or in both.
    ///
    /// - Throws: As `importFile`; `failed` for a link, for a file that changes meanwhile, and when the original cannot be
    ///   deleted: then the archive is there as well.
    package func moveFile(
        at path: String, options: ImportOptions = ImportOptions(), progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportOutcome {
        let original = try MovedFile(path, storeRoot: Self.absolute(layout.root))
        try refusingDamage { _ = try WACZFile.open(path: path) }
        let total = UInt64(clamping: original.status.st_size)
        let incoming: IncomingArchive
        let size: UInt64
        let sha256: String
        if let linked = try IncomingArchive(layout: layout, linking: path, source: original.file) {
            incoming = linked
            (size, sha256) = try FileHash.of(original.file) { try progress(.copying(done: $0, total: total)) }
        } else {
            incoming = try IncomingArchive(
                layout: layout, originalName: path, source: Self.absolute(path), expectedSize: total)
            (size, sha256) = try incoming.copy(from: original.file) {
                try progress(.copying(done: $0, total: total))
            }
        }
        try original.checkUnchanged()
        let outcome = try commit(incoming, size: size, sha256: sha256, options: options, progress: progress)
        if outcome.isDuplicate { try checkOwnCopy(of: outcome.archive, before: path, progress) }
        try original.delete(archive: outcome.archive.id)
        return outcome
    }

    /// The original may be the only good copy: the store's own is read through before it goes.
    func checkOwnCopy(
        of archive: Archive, before path: String, _ progress: (ImportProgress) throws -> Void
    ) throws {
        let file = try archive.openFile(in: layout)
        let (_, found) = try FileHash.of(file) {
            try progress(.copying(done: $0, total: archive.size))
        }
        guard found == archive.sha256 else {
            throw StoreError(
                .failed,
                "the store has this file as \"\(archive.id)\", but its own copy is damaged; the original was kept",
                place: path, hint: "`replayhost remove \(archive.id)`, then import this one again")
        }
    }
}

/// A file that is to be deleted when the store has it.
struct MovedFile {
    let path: String
    let file: Descriptor
    let status: stat
    /// What the file was when it was opened.
    private let read: FileReference

    /// - Throws: `StoreError` for what is no file of its own, and for one of the store's.
    init(_ path: String, storeRoot: String) throws {
        var named = stat()
        if lstat(path, &named) == 0, named.st_mode & S_IFMT == S_IFLNK {
            throw StoreError(
                .failed, "this is a link, and --move takes files themselves", place: path,
                hint: "name the file that it leads to, or import without --move")
        }
        file = try ArchiveStore.openSource(path)
        status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw StoreError(.failed, "not a file", place: path) }
        guard !ArchiveStore.absolute(path).hasPrefix(storeRoot + "/") else {
            throw StoreError(.failed, "the file is one of the store's own", place: path)
        }
        self.path = path
        read = FileReference(path: path, status)
    }

    /// - Throws: `failed` when somebody wrote to the file since it was opened.
    func checkUnchanged() throws {
        guard read.describes(try file.status()) else {
            throw StoreError(
                .failed, "the file was changed while it was read", place: path,
                hint: "move it when nobody writes to it")
        }
    }

    /// Deletes the original, if it is still the file that was read.
    func delete(archive: ArchiveID) throws {
        var named = stat()
        guard lstat(path, &named) == 0, read.describes(named), named.st_ino == status.st_ino else {
            throw StoreError(
                .failed, "imported as \"\(archive)\", but the original is another file now and was kept", place: path)
        }
        guard unlink(path) == 0 else {
            throw StoreError(
                .failed,
                "imported as \"\(archive)\", but the original cannot be deleted (\(String(cString: strerror(errno))))",
                place: path, hint: "delete it yourself")
        }
        try? Folder.synchronize(parentOf: path)
    }
}
