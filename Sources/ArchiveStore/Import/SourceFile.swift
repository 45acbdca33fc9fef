import Foundation

/// A file to import, opened once. A move deletes it only if its path still leads to the file that was read.
struct SourceFile {
    let path: String
    let file: Descriptor
    /// The resolved path, and the size and modification time when it was opened.
    let reference: FileReference
    private let identity: (device: dev_t, inode: ino_t)

    /// Opens the file at `path`.
    ///
    /// - Parameter isMoved: Whether it will be deleted after the import.
    /// - Throws: `StoreError` for anything but a file. If it's moved, also for a symbolic link, and for a file in the store
    ///   that the capture server didn't make.
    init(_ path: String, isMoved: Bool, in layout: StoreLayout) throws {
        if isMoved, let named = Folder.status(of: path, followsLink: false), named.st_mode & S_IFMT == S_IFLNK {
            throw StoreError(
                .failed, "this is a symbolic link, which can't be moved into the library", place: path,
                hint: "use --move with the file that it points to, or import without --move")
        }
        try self.init(Descriptor.source(path))
        guard !isMoved || !layout.contains(reference.path) || layout.captureContains(reference.path) else {
            throw StoreError(.failed, "this file is already part of the store", place: path)
        }
    }

    /// Takes a file that is already open.
    ///
    /// - Throws: `StoreError` for anything but a file.
    init(_ file: Descriptor) throws {
        let status = try file.status()
        guard status.isFile else {
            throw StoreError(.failed, "this isn't a file", place: file.path)
        }
        (path, self.file, identity) = (file.path, file, (status.st_dev, status.st_ino))
        reference = FileReference(path: Folder.resolved(file.path), status)
    }

    /// Whether the file has the same size and modification time as when it was opened.
    func isUnchanged() throws -> Bool { reference.describes(try file.status()) }

    /// - Throws: `StoreError` `failed` if the file changed since it was opened.
    func checkUnchanged() throws {
        guard try isUnchanged() else { throw Self.changed(path) }
    }

    static func changed(_ path: String) -> StoreError {
        StoreError(
            .failed, "the file changed while it was read", place: path,
            hint: "wait until it is complete, then import it again")
    }

    /// Deletes the file, if its path still leads to it and it's unchanged.
    func delete(archive: ArchiveID) throws {
        guard let named = Folder.status(of: path, followsLink: false), reference.describes(named),
            (named.st_dev, named.st_ino) == identity
        else {
            throw StoreError(
                .failed, "imported as \"\(archive)\", but the original has changed since and was not deleted",
                place: path)
        }
        guard unlink(path) == 0 else {
            throw StoreError(
                .failed,
                "imported as \"\(archive)\", but the original couldn't be deleted (\(String(cString: strerror(errno))))",
                place: path, hint: "delete it yourself")
        }
        try? Folder.synchronize(parentOf: path)
    }
}
