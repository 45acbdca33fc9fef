import WebArchive

#if canImport(Glibc)
package import Glibc
#else
package import Darwin
#endif

/// An open file descriptor, closed when the last reference goes away. Every call names the path it failed on.
package final class Descriptor: Sendable {
    package let number: Int32
    package let path: String

    package init(path: String, flags: Int32, mode: mode_t = 0o600) throws(StoreError) {
        let number = open(path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { throw .system(errno, doing: "opening", path: path) }
        self.number = number
        self.path = path
    }

    /// Opens a file to be imported. One that this user may not read is no fault of the store.
    static func source(_ path: String) throws(StoreError) -> Descriptor {
        do {
            // Without waiting: opening a FIFO would hold us until somebody writes to it.
            return try Descriptor(path: path, flags: O_RDONLY | O_NONBLOCK)
        } catch let error where error.code == .unusable {
            throw StoreError(.failed, "this user may not read the file", place: path)
        } catch let error where error.code == .notFound && path.unicodeScalars.contains("\u{FFFD}") {
            // What stands for bytes that are no UTF-8; the file is there, under a name that a String cannot have.
            throw StoreError(
                .failed, "the file's name is not valid UTF-8", place: path, hint: "rename the file, then import it")
        }
    }

    /// Takes over a descriptor that somebody else opened.
    package init(owning number: Int32, path: String) {
        self.number = number
        self.path = path
    }

    /// - Throws: What the system says of a number that is no descriptor.
    static func duplicate(_ number: Int32, path: String) throws(StoreError) -> Descriptor {
        let copy = dup(number)
        guard copy >= 0 else { throw .system(errno, doing: "opening", path: path) }
        return Descriptor(owning: copy, path: path)
    }

    deinit {
        close(number)
    }

    /// What the file holds, to be read at any offset; keeps it open for itself.
    ///
    /// - Parameter name: For error texts; the last part of the path when `nil`.
    func bytes(named name: String? = nil) throws -> FileByteSource {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw StoreError.system(errno, doing: "opening", path: path) }
        let name = name ?? path.split(separator: "/").last.map(String.init) ?? path
        return try FileByteSource(ownedDescriptor: copy, name: name)
    }

    package func status() throws(StoreError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .system(errno, doing: "reading the size", path: path) }
        return status
    }

    /// Writes all of `bytes` at the descriptor's position.
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

    /// Lets the next reading come from the disk: what memory still has would hide what became of the file there.
    func dropFromMemory() {
        #if os(Linux)
        _ = posix_fadvise(number, 0, 0, POSIX_FADV_DONTNEED)
        #else
        _ = fcntl(number, F_NOCACHE, 1)
        #endif
    }

    /// Makes the bytes outlive a power cut.
    package func synchronize() throws(StoreError) {
        guard fsync(number) == 0 else { throw .system(errno, doing: "flushing to disk", path: path) }
    }

    /// What became of asking for a lock.
    package enum Lock: Sendable {
        case taken
        case heldByAnother
        /// The file system has no locks, or none for this descriptor.
        case unsupported
    }

    /// Asks for an exclusive advisory lock; never waits. It lasts until the descriptor is closed.
    package func lock() -> Lock {
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return .heldByAnother
            default: return .unsupported
            }
        }
        return .taken
    }
}
