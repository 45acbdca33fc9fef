import ArchiveStore
import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// Deletes what a tool left, whatever names, modes and depth its folders have. Never follows links.
///
/// A path has a maximum length, and names needn't be UTF-8. So folders are opened below each other, names stay bytes, and folders that are
/// deeper are first moved up.
enum FolderRemoval {
    /// A name as the file system has it, with a NUL at its end.
    typealias Name = [CChar]

    /// Deletes a file or a folder. Does nothing if there is none, also if another task deletes it meanwhile.
    static func delete(_ path: String) throws { try delete(Name(path.utf8CString), in: AT_FDCWD, path) }

    /// - Parameters:
    ///   - folder: An open folder.
    ///   - path: The path in errors.
    static func delete(_ name: Name, in folder: Int32, _ path: String) throws {
        if try removeFile(name, in: folder, path) { return }
        guard let root = try open(name, in: folder, path) else { return try removeFolder(name, in: folder, path) }
        try removeFolder(name, in: folder, path, root) { try flatten($0, in: root) }
    }

    /// Deletes a folder, after its folders were moved up into `root`.
    private static func flatten(_ name: Name, in root: Descriptor) throws {
        let path = root.path
        guard let folder = try open(name, in: root.number, path) else {
            return try removeFolder(name, in: root.number, path)
        }
        try removeFolder(name, in: root.number, path, folder) { inner in
            // Its own mode must allow to move it. rename(2), EACCES
            guard try open(inner, in: folder.number, path) != nil else {
                return try removeFolder(inner, in: folder.number, path)
            }
            let free = Name(UUID().uuidString.utf8CString)
            guard renameat(folder.number, inner, root.number, free) == 0 || errno == ENOENT else {
                throw StoreError.system(errno, doing: "deleting", path: path)
            }
        }
    }

    /// Opens a folder, and first gives it a mode that allows everything.
    ///
    /// - Returns: `nil` if there is none, or if it isn't a folder.
    static func open(_ name: Name, in folder: Int32, _ path: String) throws -> Descriptor? {
        guard Folder.allowAll(name, in: folder) else { return nil }
        let number = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if number >= 0 { return Descriptor(owning: number, path: path) }
        guard errno != ENOENT else { return nil }
        throw StoreError.system(errno, doing: "opening the folder", path: path)
    }

    /// Calls `body` for each name in a folder, except `.` and `..`. It may delete what has the name.
    static func forEachName(in folder: Descriptor, _ body: (Name) throws -> Void) throws {
        // The stream owns its descriptor.
        let number = openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0, let stream = fdopendir(number) else {
            throw StoreError.system(errno, doing: "listing the folder", path: folder.path)
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    Name(UnsafeBufferPointer(start: $0, count: strlen($0) + 1))
                }
            }
            if name == Name(".".utf8CString) || name == Name("..".utf8CString) { continue }
            try body(name)
        }
    }

    /// - Returns: Whether there is no such file now; `false` for a folder.
    private static func removeFile(_ name: Name, in folder: Int32, _ path: String) throws -> Bool {
        if unlinkat(folder, name, 0) == 0 || errno == ENOENT { return true }
        // A folder: EISDIR, in POSIX EPERM. unlink(2)
        if [EISDIR, EPERM].contains(errno) { return false }
        throw StoreError.system(errno, doing: "deleting", path: path)
    }

    /// Deletes a folder: its files, and then itself.
    ///
    /// - Parameters:
    ///   - opened: The folder itself; `nil` if it's empty.
    ///   - clear: Takes one of its folders away.
    private static func removeFolder(
        _ name: Name, in folder: Int32, _ path: String, _ opened: Descriptor? = nil,
        clear: (Name) throws -> Void = { _ in }
    ) throws {
        var triesLeft = 100
        while unlinkat(folder, name, AT_REMOVEDIR) != 0, errno != ENOENT {
            guard [ENOTEMPTY, EEXIST].contains(errno), triesLeft > 0, let opened else {
                throw StoreError.system(errno, doing: "deleting", path: path)
            }
            // A process that still runs may add files.
            triesLeft -= 1
            try forEachName(in: opened) { inner in
                if try removeFile(inner, in: opened.number, path) { return }
                try clear(inner)
                triesLeft = 100
            }
        }
    }
}
