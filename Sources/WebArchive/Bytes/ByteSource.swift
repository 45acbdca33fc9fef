/// A file, or a part of one, that is read by offset. Several threads may read from the same source.
public protocol ByteSource: Sendable {
    /// The name shown in error messages, for example `crawl.wacz/archive/data.warc.gz`.
    var name: String { get }
    /// The number of bytes in the source.
    var size: UInt64 { get }

    /// Reads bytes at `offset` into `buffer`.
    ///
    /// - Returns: The number of bytes read: as many as fit, fewer only at the end of the source, and 0 past it.
    /// - Throws: `io` if the operating system can't read; `truncated` if the source has shrunk since it was opened.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int
}

extension ByteSource {
    /// Reads exactly `count` bytes at `offset`.
    ///
    /// - Throws: `truncated`, before allocating memory, if there are fewer.
    public func read(at offset: UInt64, count: Int) throws(WebArchiveError) -> [UInt8] {
        let left = offset < size ? size - offset : 0
        guard count >= 0, UInt64(count) <= left else {
            throw WebArchiveError(
                code: .truncated, problem: "\(count) bytes are needed, but only \(left) are left", file: name,
                offset: offset)
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { buffer.deallocate() }
        let found = try read(at: offset, into: buffer)
        guard found == count else {
            throw WebArchiveError(
                code: .truncated, problem: "\(count) bytes are needed, but only \(found) could be read", file: name,
                offset: offset)
        }
        return [UInt8](buffer)
    }
}
