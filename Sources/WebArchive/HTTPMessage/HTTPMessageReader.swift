/// An archived HTTP message: its head, and its body to be read once, without the chunks it was sent in.
///
/// Content encodings (gzip, br, zstd) stay as they are; the head still says which.
public final class HTTPMessageReader: ByteStream {
    /// The name to use in error texts.
    public var name: String { body.name }
    /// The head, as it was received.
    public let head: HTTPMessageHead
    /// Bytes of the body as it lies in the record, chunks included.
    public let storedBodyLength: UInt64
    private let body: any ByteStream

    init(_ block: WARCBlockReader, limits: Limits) throws(WebArchiveError) {
        let input = BufferedInput(block)
        head = try HTTPMessageHead.read(from: input, limits: limits)
        storedBodyLength = block.length - min(block.length, UInt64(head.length))
        body = head.isChunked ? ChunkedDecoder(input, bodyLength: storedBodyLength) : RestOfInput(input)
    }

    /// Whether the body is chunked and stopped before its last chunk; known once it was read to the end.
    public var isCutShort: Bool { (body as? ChunkedDecoder)?.isCutShort ?? false }

    /// Reads the next bytes of the body; 0 only at its end.
    ///
    /// - Throws: `truncated` or `badGzip` when the record is damaged.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        try body.read(into: buffer)
    }
}

/// What is left of a buffered input, as a stream.
private final class RestOfInput: ByteStream {
    var name: String { input.name }
    private let input: BufferedInput

    init(_ input: BufferedInput) {
        self.input = input
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        try input.read(into: buffer)
    }
}
