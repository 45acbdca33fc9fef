/// Reads the text of an archived document, with the codings of its record and its character encoding undone.
package struct DocumentText {
    /// The media types that are read as HTML.
    package static let htmlTypes: Set<String> = ["text/html", "application/xhtml+xml"]
    /// The maximum size of a decoded document in bytes. Compressed data can expand a thousandfold.
    package static let bytesMax: UInt64 = 256 << 20

    /// The language that the document declares.
    package private(set) var language: String?
    private let contentType: String?
    private let fields: HeaderFields
    private let name: String
    private let openBody: () throws(WebArchiveError) -> any ByteStream

    package init(_ content: RecordContent) {
        (contentType, fields) = (content.contentType, content.head?.fields ?? HeaderFields([]))
        name = content.record.reader.name
        openBody = { () throws(WebArchiveError) in try content.openBody() }
    }

    /// Creates a reader for a document in memory.
    ///
    /// - Parameter payload: The body of its HTTP message, as recorded.
    init(_ head: HTTPMessageHead, payload: [UInt8], name: String) {
        (contentType, fields, self.name) = (head.fields["Content-Type"], head.fields, name)
        openBody = { () throws(WebArchiveError) in
            let stream = SourceStream(MemoryByteSource(payload, name: name))
            guard head.isChunked else { return stream }
            return ChunkedDecoder(BufferedInput(stream), bodyLength: UInt64(payload.count))
        }
    }

    /// Reads the document as HTML.
    ///
    /// - Parameter sink: Receives lines in UTF-8; see `HTMLTextReader`.
    /// - Throws: What `sink` throws; `tooLarge` if the document exceeds `bytesMax`; the errors of reading and decoding.
    package mutating func readHTML(sink: @escaping (HTMLTextReader.Part, [UInt8]) throws -> Void) throws {
        var reader = HTMLTextReader(sink: sink)
        try forEachPiece { try reader.read($0) }
        try reader.finish()
        language = reader.language
    }

    /// Reads the document as plain text. `sink` receives UTF-8, piece by piece.
    package func readPlainText(sink: ([UInt8]) throws -> Void) throws { try forEachPiece(sink) }

    /// Calls `body` with the bytes of the document, piece by piece.
    package func readBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let stream = try openDecodedBody()
        var total: UInt64 = 0
        try stream.forEachChunk(chunkBytesMax: Self.pieceBytes) { chunk in
            total += UInt64(chunk.count)
            guard total <= Self.bytesMax else {
                throw WebArchiveError(
                    code: .tooLarge, problem: "the document exceeds the limit of \(Self.bytesMax) bytes",
                    file: stream.name)
            }
            try body(chunk)
            return true
        }
    }

    /// Calls `body` with the document in UTF-8, piece by piece.
    private func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
        var start: [UInt8] = []
        var converter: TextConverter?
        func begin() throws {
            let made = TextConverter(TextEncoding(start: start, contentType: contentType))
            converter = made
            try body(made.convert(start))
        }
        try readBytes { chunk in
            if let converter { return try body(converter.convert(Array(chunk))) }
            start += chunk
            if start.count >= Self.startBytes { try begin() }
        }
        if converter == nil { try begin() }
        if let rest = converter?.finish(), !rest.isEmpty { try body(rest) }
    }

    /// Opens the body with its content codings undone.
    private func openDecodedBody() throws(WebArchiveError) -> any ByteStream {
        guard let codings = ContentCoding.applied(in: fields) else {
            throw WebArchiveError(code: .unsupported, problem: "its content coding is unknown", file: name)
        }
        return ContentDecoder.decode(try openBody(), codings)
    }

    private static let pieceBytes = 64 << 10
    /// The number of bytes from which the encoding is chosen.
    private static let startBytes = 32 << 10
}
