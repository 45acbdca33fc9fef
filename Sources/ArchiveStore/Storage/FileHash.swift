import Crypto
import WebArchive

/// Computes the SHA-256 of a file. Reading can be stopped, and continued with the same value.
package struct FileHash: Sendable {
    private var hash = SHA256()
    /// The number of bytes hashed.
    private(set) var done: UInt64 = 0

    /// Reads to the end of the file, or to an offset.
    ///
    /// - Parameter step: Called before each chunk and at the end with the bytes done; throws to stop.
    mutating func run(_ file: Descriptor, upTo end: UInt64 = .max, step: (UInt64) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 4096)
        defer { buffer.deallocate() }
        var isAtEnd = false
        while !isAtEnd {
            try step(done)
            let wanted = Int(min(UInt64(buffer.count), end - done))
            let count = try file.read(at: done, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            done += UInt64(count)
            isAtEnd = count < wanted || done == end
        }
        try step(done)
    }

    /// The SHA-256 of what was read so far, in hex.
    var sha256: String { hash.finalize().hexadecimal }

    /// Returns the size and the hash of a file.
    package static func of(_ file: Descriptor, step: (UInt64) throws -> Void) throws -> (size: UInt64, sha256: String) {
        var hash = FileHash()
        try hash.run(file, step: step)
        return (hash.done, hash.sha256)
    }

    private static let chunkSize = 1 << 20
}
