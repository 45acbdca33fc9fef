/// What a record holds for a reader of the web: the head of its HTTP message and where the body lies.
///
/// A value: nothing stays open, each body is opened anew from the file. `resource`, `metadata` and `conversion` records have
/// no HTTP message; their block is the body. WARC 1.1 §6.
public struct RecordContent: Sendable {
    /// The record.
    public let record: WARCRecord
    /// The head of the HTTP message; `nil` when the record holds none.
    public let head: HTTPMessageHead?

    /// Reads the head of the message in `record`.
    ///
    /// - Throws: `badRecord` when the block should hold an HTTP message and holds none; what `openBlock()` throws.
    public init(_ record: WARCRecord) throws(WebArchiveError) {
        try self.init(record) { () throws(WebArchiveError) in try record.openBlock() }
    }

    init(
        _ record: WARCRecord, block: () throws(WebArchiveError) -> WARCBlockReader
    ) throws(WebArchiveError) {
        self.record = record
        let isMessage = record.holdsHTTP && ["response", "revisit"].contains(record.type)
        head =
            isMessage && record.contentLength > 0
            ? try HTTPMessageReader(block(), limits: record.reader.limits).head : nil
    }

    /// Bytes of the body as it lies in the record, chunks included.
    public var storedBodyLength: UInt64 {
        record.contentLength - min(record.contentLength, UInt64(head?.length ?? 0))
    }

    /// Bytes of the body as the server meant it, its content codings kept; `nil` when it is chunked, so that only reading tells.
    public var bodyLength: UInt64? { head?.isChunked == true ? nil : storedBodyLength }

    /// The media type with its parameters, as recorded.
    public var contentType: String? { head.map { $0.fields["Content-Type"] } ?? record.contentType }

    /// Opens the body, to be read once, without chunks and with its content codings kept.
    ///
    /// - Parameter offset: Bytes of the body to pass over; cheap only in an uncompressed record.
    /// - Throws: What `WARCRecord.openBlock()` throws.
    public func openBody(from offset: UInt64 = 0) throws(WebArchiveError) -> any ByteStream {
        guard head?.isChunked == true else {
            return try record.openBlock(from: UInt64(head?.length ?? 0) + offset)
        }
        let message = try record.openHTTPMessage()
        try message.skip(offset)
        return message
    }
}

extension ByteStream {
    /// Passes over `count` bytes.
    ///
    /// - Throws: `truncated` when there are fewer; what reading throws.
    public func skip(_ count: UInt64) throws(WebArchiveError) {
        guard count > 0 else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var left = count
        while left > 0 {
            let done = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: left))))
            guard done > 0 else {
                throw WebArchiveError(
                    code: .truncated, problem: "byte \(count) is wanted, \(count - left) bytes are there", file: name)
            }
            left -= UInt64(done)
        }
    }
}
