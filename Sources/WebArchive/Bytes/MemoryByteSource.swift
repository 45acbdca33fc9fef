/// A byte source in memory.
public struct MemoryByteSource: ByteSource {
    /// The name shown in error messages.
    public let name: String
    private let bytes: [UInt8]

    /// The number of bytes in the source.
    public var size: UInt64 { UInt64(bytes.count) }

    /// Creates a source from `bytes`.
    public init(_ bytes: [UInt8], name: String) {
        self.bytes = bytes
        self.name = name
    }

    /// Copies bytes at `offset` into `buffer`. Never throws.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        guard offset < size, !buffer.isEmpty else { return 0 }
        let start = Int(offset)
        let count = min(buffer.count, bytes.count - start)
        buffer.copyBytes(from: bytes[start..<start + count])
        return count
    }
}
