/// A file, or a part of one, read by offset. Readers on several threads may share it.
public protocol ByteSource: Sendable {
    /// The name to use in error texts, for example `crawl.wacz/archive/data.warc.gz`.
    var name: String { get }
    /// Bytes in the source.
    var size: UInt64 { get }

    /// Reads bytes from `offset` on into `buffer`.
    ///
    /// - Returns: The bytes read: as many as fit, fewer only at the end of the source, 0 past it.
    /// - Throws: `io` when the operating system fails to read; `truncated` when the source has lost bytes since it was opened.
    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int
}

extension ByteSource {
    /// Reads exactly `count` bytes from `offset` on.
    ///
    /// - Throws: `truncated` when fewer are there; nothing is allocated then.
    public func read(at offset: UInt64, count: Int) throws(WebArchiveError) -> [UInt8] {
        let left = offset < size ? size - offset : 0
        guard count >= 0, UInt64(count) <= left else {
            throw WebArchiveError(
                code: .truncated, problem: "\(count) bytes are needed, \(left) are left", file: name, offset: offset)
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { buffer.deallocate() }
        let found = try read(at: offset, into: buffer)
        guard found == count else {
            throw WebArchiveError(
                code: .truncated, problem: "\(count) bytes are needed, \(found) could be read", file: name,
                offset: offset)
        }
        return [UInt8](buffer)
    }
}
