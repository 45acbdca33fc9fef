#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The hashing of one linked file, that can be stopped and gone on with as long as the value is kept.
struct HashingWork: Sendable {
    /// What is hashed: another file at the same path, or another archive under the same id, is begun anew.
    let key: String
    let file: FileReference
    private var hash = FileHash()

    init(key: String, file: FileReference) {
        self.key = key
        self.file = file
    }

    /// Bytes hashed.
    var done: UInt64 { hash.done }

    /// In hex, of what was read so far.
    var sha256: String { hash.sha256 }

    /// Reads on to the end of the file. A file larger than memory would drive everything else out of it: what was read is let go.
    ///
    /// - Parameter step: Called between stretches with the bytes done; throws to stop.
    mutating func run(_ file: Descriptor, step: (UInt64) throws -> Void) throws {
        #if os(Linux)
        var kept = done
        posix_fadvise(file.number, off_t(kept), 0, POSIX_FADV_SEQUENTIAL)
        try hash.run(file) { done in
            posix_fadvise(file.number, off_t(kept), off_t(done - kept), POSIX_FADV_DONTNEED)
            kept = done
            try step(done)
        }
        #else
        try hash.run(file, step: step)
        #endif
    }
}
