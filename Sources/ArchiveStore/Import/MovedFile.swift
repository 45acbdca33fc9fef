#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that is deleted after its import.
struct MovedFile {
    let path: String
    let file: Descriptor
    let status: stat
    /// The file's size and modification time when it was opened.
    private let reference: FileReference

    /// - Throws: `StoreError` for a symbolic link, for anything but a file, and for a file in the store, unless the capture
    ///   server made it.
    init(_ path: String, in layout: StoreLayout) throws {
        var named = stat()
        if lstat(path, &named) == 0, named.st_mode & S_IFMT == S_IFLNK {
            throw StoreError(
                .failed, "this is a symbolic link, which can't be moved into the library", place: path,
                hint: "use --move with the file that it points to, or import without --move")
        }
        file = try Descriptor.source(path)
        status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw StoreError(.failed, "this isn't a file", place: path) }
        let resolved = Folder.resolved(path)
        guard !layout.contains(resolved) || layout.captureContains(resolved) else {
            throw StoreError(.failed, "this file is already part of the store", place: path)
        }
        self.path = path
        reference = FileReference(path: path, status)
    }

    /// - Throws: `StoreError` `failed` if the file changed since it was opened.
    func checkUnchanged() throws {
        guard reference.describes(try file.status()) else {
            throw StoreError(
                .failed, "the file changed while it was read", place: path,
                hint: "wait until it is complete, then import it again")
        }
    }

    /// Deletes the original file, unless it changed.
    func delete(archive: ArchiveID) throws {
        var named = stat()
        guard lstat(path, &named) == 0, reference.describes(named), named.st_ino == status.st_ino else {
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
