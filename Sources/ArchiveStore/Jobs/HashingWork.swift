import Foundation

/// Hashes one linked file. Hashing can be stopped, and continued with the same value.
struct HashingWork: Sendable {
    /// The archive's key and the state of its file (`stat.state`). If either changes, hashing starts over.
    let key: String
    let state: String
    private var hash = FileHash()

    init(key: String, state: String) {
        (self.key, self.state) = (key, state)
    }

    /// The number of bytes hashed.
    var done: UInt64 { hash.done }

    /// The SHA-256 of what was read so far, in hex.
    var sha256: String { hash.sha256 }

    /// Reads to the end of the file. Drops what was read from the page cache, which a large file would fill.
    ///
    /// - Parameter step: Called after every chunk with the bytes done; throws to stop.
    mutating func run(_ file: Descriptor, step: (UInt64) throws -> Void) throws {
        #if os(Linux)
        var dropped = done
        posix_fadvise(file.number, off_t(dropped), 0, POSIX_FADV_SEQUENTIAL)
        try hash.run(file) { done in
            posix_fadvise(file.number, off_t(dropped), off_t(done - dropped), POSIX_FADV_DONTNEED)
            dropped = done
            try step(done)
        }
        #else
        try hash.run(file, step: step)
        #endif
    }
}
