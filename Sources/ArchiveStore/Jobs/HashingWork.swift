import Crypto
import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The hashing of one referenced file, that can be stopped and gone on with as long as the value is kept.
struct HashingWork: Sendable {
    /// What is hashed: another file at the same path, or another archive under the same id, is begun anew.
    let key: String
    let reference: FileReference
    private var hash = SHA256()
    /// Bytes hashed.
    private(set) var done: UInt64 = 0

    init(key: String, reference: FileReference) {
        self.key = key
        self.reference = reference
    }

    /// Reads on to the end of the file.
    ///
    /// - Parameter step: Called between stretches with the bytes done; throws to stop.
    mutating func run(_ file: Descriptor, step: (UInt64) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.stretch, alignment: 4096)
        defer { buffer.deallocate() }
        #if os(Linux)
        posix_fadvise(file.number, off_t(done), 0, POSIX_FADV_SEQUENTIAL)
        #endif
        while true {
            try step(done)
            let count = try file.read(at: done, into: buffer)
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            Self.forget(file, offset: done, length: count)
            done += UInt64(count)
            if count < buffer.count { return }
        }
    }

    /// In hex, of what was read so far.
    var sha256: String { hash.finalize().hexadecimal }

    /// A file larger than memory would otherwise drive everything else out of it.
    private static func forget(_ file: Descriptor, offset: UInt64, length: Int) {
        #if os(Linux)
        posix_fadvise(file.number, off_t(offset), off_t(length), POSIX_FADV_DONTNEED)
        #endif
    }

    private static let stretch = 1 << 20
}
