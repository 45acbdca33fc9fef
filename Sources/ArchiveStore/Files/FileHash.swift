import Crypto
import WebArchive

/// The SHA-256 of a file that is only read.
struct FileHash {
    let file: Descriptor

    /// - Parameter progress: Called with the bytes read so far; throws to stop.
    /// - Returns: The size and the hash of what was read, up to the end of the file.
    func run(progress: (UInt64) throws -> Void) throws -> (size: UInt64, sha256: String) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var hash = SHA256()
        var done: UInt64 = 0
        while true {
            let count = try file.read(at: done, into: buffer)
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            done += UInt64(count)
            try progress(done)
            if count < buffer.count { return (done, hash.finalize().hexadecimal) }
        }
    }
}
