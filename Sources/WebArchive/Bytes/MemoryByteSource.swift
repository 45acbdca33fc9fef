/// Bytes in memory.
public struct MemoryByteSource: ByteSource {
    /// The name to use in error texts.
    public let name: String
    private let bytes: [UInt8]

    /// Bytes in the source.
    public var size: UInt64 { UInt64(bytes.count) }

    /// Makes a source of `bytes`.
    public init(_ bytes: [UInt8], name: String) {
        self.bytes = bytes
        self.name = name
    }

    /// Copies bytes from `offset` on; never throws.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        guard offset < size, !buffer.isEmpty else { return 0 }
        let start = Int(offset)
        let count = min(buffer.count, bytes.count - start)
        buffer.copyBytes(from: bytes[start..<start + count])
        return count
    }
}
