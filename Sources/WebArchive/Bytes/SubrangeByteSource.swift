/// A window of another source: reads outside of it find nothing, so a record can never run into its neighbour.
public struct SubrangeByteSource: ByteSource {
    /// The name to use in error texts.
    public let name: String
    /// Bytes in the window.
    public let size: UInt64
    /// Byte offset of the window in `base`.
    public let start: UInt64
    /// The source that the window looks into.
    public let base: any ByteSource

    /// Opens the window of `length` bytes at `offset` of `base`.
    ///
    /// - Throws: `truncated` when the window is not wholly inside of `base`.
    public init(_ base: any ByteSource, offset: UInt64, length: UInt64, name: String? = nil) throws(WebArchiveError) {
        let (end, overflow) = offset.addingReportingOverflow(length)
        guard !overflow, end <= base.size else {
            let left = offset < base.size ? base.size - offset : 0
            throw WebArchiveError(
                code: .truncated, problem: "\(length) bytes are needed, \(left) are left", file: name ?? base.name,
                offset: offset)
        }
        self.base = base
        self.start = offset
        self.size = length
        self.name = name ?? base.name
    }

    /// Reads inside of the window only.
    public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        guard offset < size else { return 0 }
        let count = Int(min(UInt64(buffer.count), size - offset))
        return try base.read(at: start + offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }
}
