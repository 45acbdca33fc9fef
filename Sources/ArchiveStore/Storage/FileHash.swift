import Crypto
import WebArchive

/// The SHA-256 of a file that is only read; reading can be stopped, and gone on with as long as the value is kept.
struct FileHash: Sendable {
    private var hash = SHA256()
    /// Bytes hashed.
    private(set) var done: UInt64 = 0

    /// Reads on to the end of the file; one that grows meanwhile ends at the first stretch that is not full.
    ///
    /// - Parameter step: Called before each stretch, and at the end, with the bytes done; throws to stop.
    mutating func run(_ file: Descriptor, step: (UInt64) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.stretch, alignment: 4096)
        defer { buffer.deallocate() }
        var isAtEnd = false
        while !isAtEnd {
            try step(done)
            let count = try file.read(at: done, into: buffer)
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            done += UInt64(count)
            isAtEnd = count < buffer.count
        }
        try step(done)
    }

    /// In hex, of what was read so far.
    var sha256: String { hash.finalize().hexadecimal }

    /// Size and hash of a whole file.
    static func of(_ file: Descriptor, step: (UInt64) throws -> Void) throws -> (size: UInt64, sha256: String) {
        var hash = FileHash()
        try hash.run(file, step: step)
        return (hash.done, hash.sha256)
    }

    private static let stretch = 1 << 20
}
