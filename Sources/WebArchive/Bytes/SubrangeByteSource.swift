/// A range of another byte source. Reads never go beyond the range.
public struct SubrangeByteSource: ByteSource {
    /// The name shown in error messages.
    public let name: String
    /// The number of bytes in the range.
    public let size: UInt64
    /// The byte offset of the range in `base`.
    public let start: UInt64
    /// The underlying source.
    public let base: any ByteSource

    /// Creates a source for the `length` bytes at `offset` in `base`.
    ///
    /// - Throws: `truncated` if the range extends past the end of `base`.
    public init(_ base: any ByteSource, offset: UInt64, length: UInt64, name: String? = nil) throws(WebArchiveError) {
        let (end, overflow) = offset.addingReportingOverflow(length)
        guard !overflow, end <= base.size else {
            let left = offset < base.size ? base.size - offset : 0
            throw WebArchiveError(
                code: .truncated, problem: "\(length) bytes are needed, but only \(left) are left",
                file: name ?? base.name,
                offset: offset)
        }
        self.base = base
        self.start = offset
        self.size = length
        self.name = name ?? base.name
    }

    /// Reads bytes within the range.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        guard offset < size else { return 0 }
        let count = Int(min(UInt64(buffer.count), size - offset))
        return try base.read(at: start + offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }
}
