import Crypto
import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Reads a file through and hashes it. Memory: one buffer of 1 MiB, whatever the size.
struct HashedReading {
    let file: Descriptor

    /// Bytes read between two looks at progress and cancellation.
    private static let bufferSize = 1 << 20

    /// - Parameter progress: Called with the bytes read so far; throws to stop.
    /// - Returns: The size and the SHA-256, in hex, of what the disk has.
    func run(progress: (UInt64) throws -> Void) throws -> (size: UInt64, sha256: String) {
        #if os(Linux)
        // What memory still has of the file would hide what became of it on the disk.
        _ = posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
        #else
        _ = fcntl(file.number, F_NOCACHE, 1)
        #endif
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 16)
        defer { buffer.deallocate() }
        var hash = SHA256()
        var offset: UInt64 = 0
        while true {
            try progress(offset)
            let count = try file.read(at: offset, into: buffer)
            if count == 0 { break }
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += UInt64(count)
        }
        return (offset, hash.finalize().hexadecimal)
    }
}
