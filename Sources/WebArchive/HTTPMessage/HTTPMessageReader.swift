/// Reads an archived HTTP message: its head, and once, its body with the transfer coding removed.
///
/// Content codings (gzip, br, zstd) aren't decoded.
public final class HTTPMessageReader: ByteStream {
    /// The name shown in error messages.
    public var name: String { body.name }
    /// The head, as received.
    public let head: HTTPMessageHead
    /// The number of bytes of the body in the record, including chunk headers.
    public let storedBodyLength: UInt64
    private var body: any ByteStream

    init(_ block: WARCBlockReader, limits: Limits) throws(WebArchiveError) {
        let input = BufferedInput(block)
        head = try HTTPMessageHead.read(from: input, limits: limits)
        storedBodyLength = block.length - min(block.length, UInt64(head.length))
        body = head.isChunked ? ChunkedDecoder(input, bodyLength: storedBodyLength) : RestOfInput(input)
    }

    /// Whether a chunked body ended before its last chunk. Valid after the body has been read to the end.
    public var isCutShort: Bool { (body as? ChunkedDecoder)?.isCutShort ?? false }

    /// Returns the content codings that the first bytes of the body confirm; see `ContentCoding.confirmed`.
    ///
    /// Call it before reading.
    ///
    /// - Returns: `nil` if the head names an unknown coding.
    /// - Throws: `truncated` or `badGzip` if the record is damaged.
    func confirmedCodings(_ allowance: Allowance) throws(WebArchiveError) -> [ContentCoding]? {
        guard let named = ContentCoding.applied(in: head.fields), !named.isEmpty else {
            return ContentCoding.applied(in: head.fields)
        }
        let input = BufferedInput(body)
        body = RestOfInput(input)
        return ContentCoding.confirmed(named, by: try input.peek(ContentCoding.startBytes), allowance)
    }

    /// Reads the next bytes of the body. Returns 0 only at the end.
    ///
    /// - Throws: `truncated` or `badGzip` if the record is damaged.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        try body.read(into: buffer)
    }
}
