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
        guard let place = try place(of: name), let file = try place.open() else { return nil }
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
        guard let place = try place(of: name) else { throw Self.refused(name, "its folder is missing") }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC
        let number = openat(place.folder.number, place.name, flags, 0o600)
        guard number >= 0 else { throw StoreError.system(errno, doing: "creating the file", path: name) }
        return Descriptor(owning: number, path: name)
    }

    /// Deletes what has this name, if there is anything. The name has one component.
    func remove(_ name: String) throws { try Self.delete("\(path)/\(name)") }

    /// Deletes what has this name unless it's a regular file without further hard links, which the next attempt can continue.
    func removeUnlessFile(_ name: String) throws {
        do {
            _ = try place(of: name)?.open()
        } catch let error as StoreError where error.code == .refused {
            try remove(name)
        }
    }

    /// Deletes a file or folder, even if a tool removed the permission to write into it, or if another task deletes it too. Doesn't
    /// delete the targets of links.
    static func delete(_ path: String) throws {
        for triesLeft in (0..<10).reversed() {
            do {
                return try FileManager.default.removeItem(atPath: path)
            } catch {
                guard Folder.hasName(path) else { return }
                if triesLeft == 0 { throw error }
            }
            if Folder.isFolderItself(path) { chmod(path, 0o700) }
            for name in FileManager.default.enumerator(atPath: path) ?? FileManager.DirectoryEnumerator() {
                let item = "\(path)/\(name)"
                if Folder.isFolderItself(item) { chmod(item, 0o700) }
            }
        }
    }

    /// Flushes a file and the folders that lead to it to disk. Does nothing if there is none.
    ///
    /// - Throws: `StoreError` `refused` if it isn't such a file.
    func flush(_ name: String) throws {
        guard let file = try place(of: name)?.open() else { return }
        try file.synchronize()
        let parts = name.split(separator: "/")
        for depth in parts.indices {
            try (place(of: parts[...depth].joined(separator: "/"))?.folder).map(Folder.synchronize)
        }
    }

    /// Moves a file to a path that tools can't reach. Does nothing if an interrupted hand-over has moved it.
    func take(_ name: String, to target: String) throws {
        if Folder.exists(target) { return }
        guard let place = try place(of: name), let file = try place.open() else {
            throw StoreError(.refused, "a file of the download is missing: \(name.prefix(200).debugDescription)")
        }
        guard renameat(place.folder.number, place.name, AT_FDCWD, target) == 0 else {
            throw StoreError.system(errno, doing: "taking the file", path: name)
        }
        // Something else may have got the name meanwhile.
        guard try file.isNamed(target) else {
            unlink(target)
            throw Self.refused(name, "it changed while it was moved")
        }
        // Else a power cut could bring its old name back, as a second hard link.
        try Folder.synchronize(parentOf: target)
        try Folder.synchronize(place.folder)
    }

    // Places ------------------------------------------------------------------------------------------------------

    private struct Place {
        let folder: Descriptor
        let name: String

        /// Opens the file; `nil` if there is none.
        func open() throws -> Descriptor? {
            // Nonblocking: opening a FIFO would wait for a writer.
            let number = openat(folder.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard number >= 0 || errno != ENOENT else { return nil }
            guard number >= 0 else { throw SessionFolder.refused(name, "it can't be opened") }
            let file = Descriptor(owning: number, path: name)
            guard try file.isFileWithOneName() else {
                throw SessionFolder.refused(name, "it isn't a regular file, or has hard links")
            }
            return file
        }
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
        var folder = try Descriptor(path: path, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        for part in parts.dropLast() {
            let number = openat(folder.number, String(part), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard number >= 0 || errno != ENOENT else { return nil }
            guard number >= 0 else { throw Self.refused(name, "its folder is a link") }
            folder = Descriptor(owning: number, path: name)
        }
        return Place(folder: folder, name: String(last))
    }

    private static let depthMax = 8

    private static func refused(_ name: String, _ reason: String) -> StoreError {
        StoreError(
            .refused, "refused a file of the download: \(reason): \(name.prefix(200).debugDescription)",
            hint: "a tool may have been taken over by the site")
    }
}
