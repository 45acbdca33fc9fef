import ArchiveStore
import CaptureWorker
import Foundation

/// Access to a session folder, whose content isn't trusted.
///
/// A tool or a worker that was taken over can leave links, devices and huge files in it. Files are opened component by component,
/// without following links, and only if they are regular files without further hard links.
struct SessionFolder: Sendable {
    private let path: String

    init(_ path: String) { self.path = path }

    /// Returns the content of a file; `nil` if there is none.
    ///
    /// - Throws: `StoreError` `refused` if it's not such a file, or too large.
    func read(_ name: String, bytesMax: Int) throws -> [UInt8]? {
        guard let file = try file(name) else { return nil }
        let size = try file.size()
        guard size <= UInt64(bytesMax) else { throw Self.refused(name, "it has \(size) bytes") }
        return try file.bytes(at: 0, upTo: Int(size))
    }

    /// Writes a new file, in the place of anything with that name.
    func write(_ name: String, _ bytes: [UInt8]) throws {
        let file = try create(name)
        try bytes.withUnsafeBytes { try file.append($0) }
    }

    /// Creates an empty file to append to, in the place of anything with that name.
    func create(_ name: String) throws -> Descriptor {
        try remove(name)
        guard let place = try place(of: name) else { throw Self.refused(name, "it's missing") }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC
        let number = openat(place.folder.number, place.name, flags, 0o600)
        guard number >= 0 else { throw StoreError.system(errno, doing: "creating the file", path: name) }
        return Descriptor(owning: number, path: name)
    }

    /// Deletes what has this name, if there is anything.
    func remove(_ name: String) throws {
        guard let place = try place(of: name) else { return }
        try FolderRemoval.delete(FolderRemoval.Name(place.name.utf8CString), in: place.folder.number, path)
    }

    /// Prepares the folder for an attempt: deletes all but the log of earlier ones and the folders whose content it continues, and
    /// gives these usable modes.
    func prepare() throws {
        try clear { name, folder in
            if name == FolderRemoval.Name(SessionFile.log.utf8CString) { return try isUsableLog() }
            guard SessionFile.continued.contains(where: { name == FolderRemoval.Name($0.utf8CString) }) else {
                return false
            }
            return try FolderRemoval.open(name, in: folder.number, path) != nil
        }
    }

    /// Deletes all but the log.
    func deleteContent() throws { try clear { name, _ in name == FolderRemoval.Name(SessionFile.log.utf8CString) } }

    /// Deletes the folder.
    func delete() throws { try FolderRemoval.delete(path) }

    private func clear(except isKept: (FolderRemoval.Name, Descriptor) throws -> Bool) throws {
        guard let folder = try FolderRemoval.open(FolderRemoval.Name(path.utf8CString), in: AT_FDCWD, path) else {
            return
        }
        try FolderRemoval.forEachName(in: folder) { name in
            if try !isKept(name, folder) { try FolderRemoval.delete(name, in: folder.number, path) }
        }
    }

    /// Returns how many bytes its content takes on disk; `nil` if folders are deeper in each other than tools make them.
    func allocatedBytes() throws -> UInt64? {
        guard let folder = try FolderRemoval.open(FolderRemoval.Name(path.utf8CString), in: AT_FDCWD, path) else {
            return 0
        }
        return try allocatedBytes(in: folder, depth: 1)
    }

    private func allocatedBytes(in folder: Descriptor, depth: Int) throws -> UInt64? {
        var sum: UInt64? = 0
        try FolderRemoval.forEachName(in: folder) { name in
            sum = sum.map { $0 + Folder.allocatedBytes(name, in: folder.number) }
            guard let inner = try FolderRemoval.open(name, in: folder.number, path) else { return }
            let bytes = depth < Self.foldersMax ? try allocatedBytes(in: inner, depth: depth + 1) : nil
            sum = sum.flatMap { sum in bytes.map { sum + $0 } }
        }
        return sum
    }

    /// Of a browser's profile, the deepest has 8.
    private static let foldersMax = 20

    private func isUsableLog() throws -> Bool {
        do {
            // A worker has no rights but those of the mode, even if the server is root's.
            return try file(SessionFile.log).map { fchmod($0.number, 0o600) == 0 } ?? false
        } catch let error as StoreError where error.code == .refused {
            return false
        }
    }

    /// Flushes a file and the folders that lead to it to disk. Does nothing if there is none.
    ///
    /// - Throws: `StoreError` `refused` if it isn't such a file.
    func flush(_ name: String) throws {
        guard let file = try file(name) else { return }
        try file.synchronize()
        let parts = name.split(separator: "/")
        for depth in parts.indices {
            try (place(of: parts[...depth].joined(separator: "/"))?.folder).map(Folder.synchronize)
        }
    }

    /// Moves a file to a path that tools can't reach. Does nothing if an interrupted hand-over has moved it.
    ///
    /// - Throws: `StoreError` `refused` if it isn't a regular file without further hard links.
    func take(_ name: String, to target: String) throws {
        if Folder.hasName(target) { return }
        let moved = target + ".moved"
        if !Folder.hasName(moved) {
            guard let place = try place(of: name) else { throw Self.refused(name, "it's missing") }
            guard renameat(place.folder.number, place.name, AT_FDCWD, moved) == 0 else {
                throw Self.error(name, doing: "taking the file")
            }
            // The source second: else a power cut could take both names away. And else one could bring the old name back.
            try Folder.synchronize(parentOf: moved)
            try Folder.synchronize(place.folder)
        }
        // Checked only here: until it was moved, something else could get its name.
        guard try Self.openedFile(moved, in: AT_FDCWD, name) != nil else {
            throw Self.refused(name, "it's missing")
        }
        try Folder.move(moved, to: target)
    }

    // Places ------------------------------------------------------------------------------------------------------

    private struct Place {
        let folder: Descriptor
        let name: String
    }

    /// Returns the folder of a name, and its last component; `nil` if a folder is missing.
    private func place(of name: String) throws -> Place? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = parts.allSatisfy {
            !["", ".", ".."].contains($0) && $0.utf8.count <= 255 && !$0.utf8.contains(0)
        }
        guard isPlain, parts.count <= Self.depthMax, let last = parts.last else {
            throw Self.refused(name, "its path leaves the session folder")
        }
        guard var folder = try Self.opened(path, in: AT_FDCWD, O_RDONLY | O_DIRECTORY, name) else { return nil }
        for part in parts.dropLast() {
            guard let inner = try Self.opened(String(part), in: folder.number, O_RDONLY | O_DIRECTORY, name) else {
                return nil
            }
            folder = inner
        }
        return Place(folder: folder, name: String(last))
    }

    private static let depthMax = 8

    /// Opens a file; `nil` if there is none.
    private func file(_ name: String) throws -> Descriptor? {
        guard let place = try place(of: name) else { return nil }
        return try Self.openedFile(place.name, in: place.folder.number, name)
    }

    /// - Parameter shown: The name in errors.
    private static func openedFile(_ name: String, in folder: Int32, _ shown: String) throws -> Descriptor? {
        // Nonblocking: opening a FIFO would wait for a writer.
        guard let file = try opened(name, in: folder, O_RDONLY | O_NONBLOCK, shown) else { return nil }
        guard try file.isFileWithOneName() else {
            throw refused(shown, "it isn't a regular file, or has hard links")
        }
        return file
    }

    private static func opened(
        _ name: String, in folder: Int32, _ flags: Int32, _ shown: String
    ) throws -> Descriptor? {
        let number = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC)
        if number >= 0 { return Descriptor(owning: number, path: shown) }
        if errno == ENOENT { return nil }
        throw error(shown, doing: "opening the file")
    }

    /// The error for `errno`: of what a tool can cause, or of the system.
    private static func error(_ name: String, doing action: String) -> StoreError {
        switch errno {
        case ENOENT: refused(name, "it's missing")
        case ELOOP, ENOTDIR: refused(name, "it's a link, or its folder is one")
        case EACCES, EPERM, ENXIO, ENODEV, EISDIR, EBUSY: refused(name, "it can't be used")
        default: .system(errno, doing: action, path: name)
        }
    }

    private static func refused(_ name: String, _ reason: String) -> StoreError {
        StoreError(
            .refused, "refused a file of the download: \(reason): \(name.prefix(200).debugDescription)",
            hint: "a tool may have been taken over by the site")
    }
}
