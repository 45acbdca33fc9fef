import Foundation

/// Operations on folders and paths. Changes are flushed to disk.
package enum Folder {
    /// Creates a folder and its missing parents, accessible to this user only.
    package static func create(_ path: String) throws(StoreError) {
        if isFolder(path) { return }
        let parent = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        if !parent.isEmpty { try create(parent) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw .system(errno, doing: "creating the folder", path: path)
        }
        // Otherwise, a power cut takes the folder away, with all that was flushed in it.
        try synchronize(parentOf: path)
    }

    /// Returns what the file system knows of a file or a folder; `nil` if there is none or it can't be read, with
    /// the reason in `errno`.
    ///
    /// - Parameter followsLink: Whether to describe the target of a symbolic link.
    static func status(of path: String, followsLink: Bool = true) -> stat? {
        var status = stat()
        return (followsLink ? stat(path, &status) : lstat(path, &status)) == 0 ? status : nil
    }

    /// Makes a file or a folder accessible to its owner only, if the file system supports modes.
    ///
    /// - Returns: Whether others had access until now.
    @discardableResult
    package static func makePrivate(_ path: String) -> Bool {
        guard let status = status(of: path), status.st_uid == geteuid(), status.st_mode & 0o077 != 0 else {
            return false
        }
        _ = chmod(path, status.st_mode & 0o7700)
        return true
    }

    /// Allows the owner of a folder everything, but not of what a link leads to.
    ///
    /// - Parameters:
    ///   - name: A name as the file system has it, with a NUL at its end.
    ///   - folder: The open folder that it is in.
    /// - Returns: Whether it's a folder.
    package static func allowAll(_ name: [CChar], in folder: Int32) -> Bool {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return false
        }
        if status.st_mode & 0o700 != 0o700 { _ = fchmodat(folder, name, 0o700, AT_SYMLINK_NOFOLLOW) }
        return true
    }

    /// Returns how many bytes a name takes on disk: a file, or a folder without its content. 0 if there is nothing.
    ///
    /// - Parameters:
    ///   - name: A name as the file system has it, with a NUL at its end.
    ///   - folder: The open folder that it is in.
    package static func allocatedBytes(_ name: [CChar], in folder: Int32) -> UInt64 {
        var status = stat()
        // A block has 512 bytes, whatever the file system. stat(3type)
        return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? UInt64(clamping: status.st_blocks) * 512 : 0
    }

    static func owner(of path: String) -> uid_t? { status(of: path)?.st_uid }

    /// Whether something exists at the path itself, such as a link that leads nowhere.
    package static func hasName(_ path: String) -> Bool { status(of: path, followsLink: false) != nil }

    package static func isFolder(_ path: String) -> Bool {
        status(of: path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    /// Whether the path is a regular file, or a symbolic link to one.
    package static func isFile(_ path: String) -> Bool { status(of: path)?.isFile == true }

    /// Returns the size of a regular file in bytes; `nil` for anything else, a symbolic link too.
    package static func fileSize(_ path: String) -> UInt64? {
        guard let status = status(of: path, followsLink: false), status.isFile else { return nil }
        return UInt64(clamping: status.st_size)
    }

    /// Whether two names are of the same file.
    package static func isSameFile(_ one: String, _ other: String) -> Bool {
        guard let first = status(of: one, followsLink: false), let second = status(of: other, followsLink: false)
        else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Returns an absolute path with symbolic links resolved; `path` itself if it doesn't exist.
    package static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    package static func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    /// Whether there is no file, or an empty one.
    package static func isEmptyFile(_ path: String) -> Bool { status(of: path).map { $0.st_size == 0 } ?? true }

    /// Returns the names in a folder, sorted, without `.` and `..`.
    package static func names(in path: String) throws(StoreError) -> [String] {
        guard let stream = opendir(path) else { throw .system(errno, doing: "listing the folder", path: path) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Moves a file atomically within one file system, and flushes both folders to disk.
    package static func move(_ source: String, to target: String) throws(StoreError) {
        guard rename(source, target) == 0 else { throw .system(errno, doing: "moving into place", path: target) }
        try synchronize(parentOf: target)
        try synchronize(parentOf: source)
    }

    /// Deletes a file, if it exists.
    package static func delete(_ path: String) throws(StoreError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .system(errno, doing: "deleting", path: path) }
    }

    /// Flushes a path's folder to disk, if the file system supports that.
    package static func synchronize(parentOf path: String) throws(StoreError) {
        let slash = path.lastIndex(of: "/")
        let parent = slash == path.startIndex ? "/" : slash.map { String(path[..<$0]) } ?? "."
        try synchronize(Descriptor(path: parent, flags: O_RDONLY | O_DIRECTORY))
    }

    /// Flushes the names in a folder to disk, if the file system supports that.
    package static func synchronize(_ folder: Descriptor) throws(StoreError) {
        guard fsync(folder.number) != 0 else { return }
        // SMB and some FUSE file systems don't support fsync for folders.
        guard ![EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP, EBADF].contains(errno) else { return }
        throw .system(errno, doing: "flushing to disk", path: folder.path)
    }

    /// Returns the number of bytes that this user can still write on the file system of `path`.
    package static func freeBytes(at path: String) throws(StoreError) -> UInt64 {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw .system(errno, doing: "reading the free space", path: path) }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : bytes
    }
}
