/// The payload of an HTML document, with what is needed of its header to read it.
struct StoredDocument: Sendable {
    let contentType: String?
    /// The media type that the crawler found.
    let identifiedType: String?
    /// `nil` if one is unknown.
    let codings: [ContentCoding]?
    let isChunked: Bool
    /// The body of the HTTP message, as recorded.
    let payload: [UInt8]

    /// - Parameters:
    ///   - head: The head of the message; `nil` for a record without one.
    ///   - record: The record, which has the media type if there is no head.
    init(_ head: HTTPMessageHead?, of record: WARCRecord, payload: [UInt8]) {
        // What follows the media type and the character encoding isn't used.
        func start(_ type: String?) -> String? {
            type.map { String(decoding: $0.utf8.prefix(Self.typeBytesMax), as: UTF8.self) }
        }
        contentType = start(head == nil ? record.contentType : head?.fields["Content-Type"])
        identifiedType = start(record.identifiedType)
        codings = head.map { ContentCoding.applied(in: $0.fields) } ?? []
        isChunked = head?.isChunked ?? false
        self.payload = payload
    }

    /// About what it takes in memory. An array grows to twice what it holds.
    var size: Int {
        100 + (contentType?.utf8.count ?? 0) + (identifiedType?.utf8.count ?? 0) + payload.capacity
    }

    private static let typeBytesMax = 1 << 10
}

/// Reads the text of an archived document, with the codings of its record and its character encoding undone.
package struct DocumentText {
    /// The media types that are read as HTML.
    package static let htmlTypes: Set<String> = ["text/html", "application/xhtml+xml"]
    /// The maximum size of a decoded document in bytes. Compressed data can expand a thousandfold.
    package static let bytesMax: UInt64 = 256 << 20

    /// The language that the document declares.
    package private(set) var language: String?
    private let contentType: String?
    private let identifiedType: String?
    /// `nil` if one is unknown.
    private let codings: [ContentCoding]?
    private let name: String
    private let allowance: Allowance
    private let openBody: () throws(WebArchiveError) -> any ByteStream

    /// - Parameter type: The media type of the capture. A revisit has its own head, but the payload of another record.
    package init(_ content: RecordContent, contentType type: String?) {
        (contentType, codings) = (type, content.codings)
        identifiedType = content.record.identifiedType
        (name, allowance) = (content.record.reader.name, content.record.reader.allowance)
        openBody = { () throws(WebArchiveError) in try content.openBody() }
    }

    /// Creates a reader for a document in memory.
    init(_ document: StoredDocument, name: String, _ allowance: Allowance) {
        (contentType, codings, self.name, self.allowance) = (document.contentType, document.codings, name, allowance)
        identifiedType = document.identifiedType
        openBody = { () throws(WebArchiveError) in
            let stream = SourceStream(MemoryByteSource(document.payload, name: name))
            guard document.isChunked else { return stream }
            return ChunkedDecoder(BufferedInput(stream), bodyLength: UInt64(document.payload.count))
        }
    }

    /// Reads the document as HTML.
    ///
    /// - Parameters:
    ///   - sink: Receives lines in UTF-8; see `HTMLTextReader`.
    ///   - bytesMax: The maximum size of the decoded document.
    ///   - step: Called after each piece of the document with its bytes and the language that is known then.
    /// - Throws: What `sink` and `step` throw; `tooLarge` if the document exceeds `bytesMax`, `tooCostly` if it exceeds the
    ///   allowance of its record; the errors of reading and decoding.
    package mutating func readHTML(
        bytesMax: UInt64 = Self.bytesMax, sink: @escaping (HTMLTextReader.Part, [UInt8]) throws -> Void,
        step: (_ bytes: Int, _ language: String?) throws -> Void = { _, _ in }
    ) throws {
        var reader = HTMLTextReader(sink: sink)
        try forEachPiece(.init(ofType: contentType), bytesMax: bytesMax) { piece in
            try reader.read(piece)
            try step(piece.count, reader.language)
        }
        try reader.finish()
        language = reader.language
    }

    /// Reads the document as plain text. `sink` receives UTF-8, piece by piece.
    package func readPlainText(sink: ([UInt8]) throws -> Void) throws {
        try forEachPiece(.text, bytesMax: Self.bytesMax, sink)
    }

    /// Calls `body` with the bytes of the document, piece by piece.
    package func readBytes(
        bytesMax: UInt64 = Self.bytesMax, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard let codings else {
            throw WebArchiveError(code: .unsupported, problem: "its content coding is unknown", file: name)
        }
        let stream = ContentDecoder.decode(try openBody(), codings, allowance)
        var count: UInt64 = 0
        try stream.forEachChunk(chunkBytesMax: Self.pieceBytes) { chunk in
            count += UInt64(chunk.count)
            guard count <= bytesMax else {
                throw WebArchiveError(
                    code: .tooLarge, problem: "the document exceeds the limit of \(bytesMax) bytes", file: stream.name)
            }
            try allowance.charge(parsed: chunk.count, file: name)
            try body(chunk)
            return true
        }
    }

    /// Returns the document in UTF-8.
    ///
    /// - Parameter bytes: The document, decoded.
    package func utf8(_ bytes: [UInt8]) -> [UInt8] {
        var detector = makeDetector(.init(ofType: contentType))
        let converter = TextConverter(detector.read(bytes) ?? detector.finish())
        return converter.convert(Array(bytes.dropFirst(detector.markLength))) + converter.finish()
    }

    private func makeDetector(_ syntax: EncodingDetector.Syntax) -> EncodingDetector {
        EncodingDetector(contentType: contentType, identifiedType: identifiedType, syntax: syntax)
    }

    /// Calls `body` with the document in UTF-8, piece by piece.
    private func forEachPiece(
        _ syntax: EncodingDetector.Syntax, bytesMax: UInt64, _ body: ([UInt8]) throws -> Void
    ) throws {
        var detector = makeDetector(syntax)
        var converter: TextConverter?
        func begin(_ encoding: TextEncoding) throws {
            let made = TextConverter(encoding)
            converter = made
            try body(made.convert(Array(detector.start.dropFirst(detector.markLength))))
        }
        try readBytes(bytesMax: bytesMax) { chunk in
            if let converter { return try body(converter.convert(Array(chunk))) }
            if let encoding = detector.read(Array(chunk)) { try begin(encoding) }
        }
        if converter == nil { try begin(detector.finish()) }
        if let rest = converter?.finish(), !rest.isEmpty { try body(rest) }
    }

    private static let pieceBytes = 64 << 10
}
