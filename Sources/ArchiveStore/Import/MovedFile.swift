#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that is to be deleted when the store has it.
struct MovedFile {
    let path: String
    let file: Descriptor
    let status: stat
    /// What the file was when it was opened.
    private let read: FileReference

    /// - Throws: `StoreError` for what is no file of its own, and for one of the store's.
    init(_ path: String, in layout: StoreLayout) throws {
        var named = stat()
        if lstat(path, &named) == 0, named.st_mode & S_IFMT == S_IFLNK {
            throw StoreError(
                .failed, "this is a link, and --move takes files themselves", place: path,
                hint: "name the file that it leads to, or import without --move")
        }
        file = try Descriptor.source(path)
        status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw StoreError(.failed, "not a file", place: path) }
        guard !layout.holds(Folder.resolved(path)) else {
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
