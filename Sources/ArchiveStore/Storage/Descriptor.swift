import WebArchive

#if canImport(Glibc)
package import Glibc
#else
package import Darwin
#endif

/// An open file descriptor, which is closed with its last reference. Errors name the path.
package final class Descriptor: Sendable {
    package let number: Int32
    package let path: String

    /// Opens a regular file, or a folder with `O_DIRECTORY`, by a name that replayhost made or found.
    ///
    /// Another program may have put something else there. Symbolic links to files aren't followed, and opening never waits,
    /// as it would for a FIFO.
    ///
    /// - Throws: `StoreError` `notAFile` for anything but a regular file; `notFound`, `unusable`, `failed`.
    package init(path: String, flags: Int32 = O_RDONLY, mode: mode_t = 0o600) throws(StoreError) {
        let isFolder = flags & O_DIRECTORY != 0
        number = open(path, flags | O_CLOEXEC | (isFolder ? 0 : O_NOFOLLOW | O_NONBLOCK), mode)
        self.path = path
        guard number >= 0 else {
            // A link; a socket, or a FIFO without a reader; a folder that is opened for writing.
            guard isFolder || ![ELOOP, ENXIO, EISDIR].contains(errno) else { throw .notAFile(path) }
            throw .system(errno, doing: "opening", path: path)
        }
        if isFolder { return }
        guard try status().isFile else { throw .notAFile(path) }
    }

    /// Opens what a person names: follows symbolic links, and opens devices too.
    package init(named path: String, flags: Int32, mode: mode_t = 0o600) throws(StoreError) {
        number = open(path, flags | O_CLOEXEC, mode)
        self.path = path
        guard number >= 0 else { throw .system(errno, doing: "opening", path: path) }
    }

    /// Opens a file to import.
    static func source(_ path: String) throws(StoreError) -> Descriptor {
        do {
            // Nonblocking: opening a FIFO would wait for a writer.
            return try Descriptor(named: path, flags: O_RDONLY | O_NONBLOCK)
        } catch let error where error.code == .unusable {
            throw StoreError(
                .failed, "you don't have permission to read this file", place: path, hint: "check who owns it")
        } catch let error where error.code == .notFound && path.unicodeScalars.contains("\u{FFFD}") {
            // U+FFFD replaces invalid UTF-8 in arguments, so this name can't be opened.
            throw StoreError(
                .failed, "this file's name isn't valid UTF-8", place: path, hint: "rename the file, then import it")
        }
    }

    /// Takes ownership of an open descriptor.
    package init(owning number: Int32, path: String) {
        self.number = number
        self.path = path
    }

    /// - Throws: `StoreError` if the number isn't an open descriptor.
    static func duplicate(_ number: Int32, path: String) throws(StoreError) -> Descriptor {
        Descriptor(owning: try copy(of: number, path: path), path: path)
    }

    /// Returns a copy of a descriptor, which other programs that are started don't get.
    private static func copy(of number: Int32, path: String) throws(StoreError) -> Int32 {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .system(errno, doing: "opening", path: path) }
        return copy
    }

    deinit {
        if number >= 0 { close(number) }
    }

    /// Returns the content of the file, with its own descriptor.
    ///
    /// - Parameter name: The name in errors; `nil` for the last component of the path.
    func bytes(named name: String? = nil) throws -> FileByteSource {
        let name = name ?? path.split(separator: "/").last.map(String.init) ?? path
        return try FileByteSource(ownedDescriptor: Self.copy(of: number, path: path), name: name)
    }

    package func status() throws(StoreError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else {
            throw .system(errno, doing: "reading the file's attributes", path: path)
        }
        return status
    }

    package func isRegularFile() throws(StoreError) -> Bool { try status().isFile }

    /// Whether this is a regular file without further hard links.
    package func isFileWithOneName() throws(StoreError) -> Bool {
        let status = try status()
        return status.isFile && status.st_nlink == 1
    }

    /// - Throws: `StoreError` `archiveDamaged` if the file has another size.
    func checkSize(_ expected: UInt64) throws(StoreError) {
        let size = try size()
        guard size == expected else {
            throw StoreError(.archiveDamaged, "the file has \(size) bytes instead of \(expected)", place: path)
        }
    }

    /// Returns a text that changes when the file does.
    package func state() throws(StoreError) -> String { try status().state }

    /// Returns the size of the file in bytes.
    package func size() throws(StoreError) -> UInt64 { UInt64(clamping: try status().st_size) }

    /// Writes bytes at the descriptor's position.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        var done = 0
        while done < bytes.count {
            let count = write(number, bytes.baseAddress?.advanced(by: done), bytes.count - done)
            if count >= 0 {
                done += count
            } else if errno != EINTR {
                throw .system(errno, doing: "writing", path: path)
            }
        }
    }

    /// Reads up to `buffer.count` bytes at `offset`, fewer only at the end of the file.
    package func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
        var done = 0
        while done < buffer.count {
            let target = buffer.baseAddress?.advanced(by: done)
            let count = pread(number, target, buffer.count - done, off_t(offset) + off_t(done))
            if count > 0 {
                done += count
            } else if count == 0 {
                break
            } else if errno != EINTR {
                throw .system(errno, doing: "reading", path: path)
            }
        }
        return done
    }

    /// Reads up to `count` bytes at `offset`, fewer only at the end of the file.
    package func bytes(at offset: UInt64, upTo count: Int) throws(StoreError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { buffer.deallocate() }
        return Array(buffer.prefix(try read(at: offset, into: buffer)))
    }

    /// Returns the content of a small regular file.
    ///
    /// - Throws: `StoreError` `documentDamaged` for a larger one; `notFound`, `notAFile`, `unusable`, `failed`.
    package static func contents(of path: String, bytesMax: Int) throws(StoreError) -> [UInt8] {
        let bytes = try Descriptor(path: path, flags: O_RDONLY).bytes(at: 0, upTo: bytesMax + 1)
        guard bytes.count <= bytesMax else {
            throw StoreError(.documentDamaged, "this file is larger than \(bytesMax) bytes", place: path)
        }
        return bytes
    }

    /// Drops the file from the page cache, so that the next read shows what is on the disk.
    func dropFromMemory() {
        #if os(Linux)
        _ = posix_fadvise(number, 0, 0, POSIX_FADV_DONTNEED)
        #else
        _ = fcntl(number, F_NOCACHE, 1)
        #endif
    }

    /// Flushes the file to disk.
    package func synchronize() throws(StoreError) {
        guard fsync(number) == 0 else { throw .system(errno, doing: "flushing to disk", path: path) }
    }

    /// The result of locking a file.
    package enum Lock: Sendable {
        case acquired
        case heldByAnother
        /// The file system doesn't support locks for this descriptor.
        case unsupported
    }

    /// Tries to acquire an exclusive advisory lock, without waiting. It lasts until the descriptor is closed.
    package func lock() -> Lock {
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return .heldByAnother
            default: return .unsupported
            }
        }
        return .acquired
    }
}
