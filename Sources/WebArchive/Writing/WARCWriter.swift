import Crypto

/// Writes a WARC file, record by record. WARC 1.1.
///
/// The same records give the same bytes.
public final class WARCWriter {
    /// A record to write.
    public struct Record: Sendable, Hashable {
        /// `WARC-Type`: `response`, `request`, `resource`, `metadata`, `warcinfo` and so on. §5.5
        public var type: String
        /// `WARC-Target-URI`; `nil` only for `warcinfo`. §5.11
        public var targetURI: String?
        /// `WARC-Date`. §5.4
        public var date: CaptureTimestamp
        /// The media type of the block: `application/http; msgtype=response`. §5.6
        public var contentType: String?
        /// `WARC-Record-ID`, a URI in angle brackets. If it's `nil`, the ID is made from the contents. §5.2
        public var id: String?
        /// Further fields, for example `WARC-IP-Address`.
        public var fields: [HeaderFields.Field] = []

        /// Creates a record.
        public init(type: String, targetURI: String?, date: CaptureTimestamp, contentType: String?) {
            (self.type, self.targetURI, self.date, self.contentType) = (type, targetURI, date, contentType)
        }
    }

    /// Where a record was written.
    public struct Place: Sendable, Hashable {
        /// The offset of the record in the file.
        public let offset: UInt64
        /// The number of bytes that it takes there.
        public let length: UInt64
        /// Its `WARC-Record-ID`.
        public let id: String
    }

    private let file: NewFile?
    private let output: FileOutput
    private let gzip: GzipWriter?

    /// Starts a WARC file at `path`, where no file must be. It appears there when it's complete.
    ///
    /// - Parameter compresses: Whether each record becomes a gzip member. Annex D.
    /// - Throws: `io`, `noSpace`.
    public init(path: String, compresses: Bool = true) throws(WebArchiveError) {
        let file = try NewFile(path: path)
        self.file = file
        output = file.output
        gzip = compresses ? try GzipWriter() : nil
    }

    init(_ output: FileOutput) throws(WebArchiveError) {
        file = nil
        self.output = output
        gzip = try GzipWriter()
    }

    /// Writes a record with the SHA-256 digests of its block and payload.
    ///
    /// - Parameters:
    ///   - block: The block, which is read twice.
    ///   - payloadStart: The number of bytes before the payload: the length of the HTTP head. `nil` if the record has no payload
    ///     digest, as for `warcinfo`.
    /// - Throws: The errors of reading the block; `io`, `noSpace`.
    @discardableResult
    public func write(
        _ record: Record, block: any ByteSource, payloadStart: UInt64? = 0
    ) throws(WebArchiveError) -> Place {
        let (header, id) = try Self.header(of: record, block, payloadStart: payloadStart)
        return try write(header, SourceStream(block), id: id)
    }

    /// Returns a WARC file with one uncompressed record, whose block isn't copied.
    ///
    /// - Parameter progress: Called regularly while the block is read for its digest.
    package static func file(
        of record: Record, block: any ByteSource, name: String, progress: () -> Void = {}
    ) throws(WebArchiveError) -> any ByteSource {
        let (header, _) = try header(of: record, block, payloadStart: 0, progress: progress)
        let end = MemoryByteSource(Array("\r\n\r\n".utf8), name: name)
        return JoinedByteSource([MemoryByteSource(header, name: name), block, end], name: name)
    }

    /// Returns the header of a record, up to and including the empty line, and the record's ID.
    private static func header(
        of record: Record, _ block: any ByteSource, payloadStart: UInt64?, progress: () -> Void = {}
    ) throws(WebArchiveError) -> (bytes: [UInt8], id: String) {
        let digest = try digest(of: block, from: 0, progress: progress)
        var fields = [("WARC-Type", record.type)]
        if let uri = record.targetURI { fields.append(("WARC-Target-URI", uri)) }
        fields.append(("WARC-Date", record.date.rfc3339))
        let id = record.id ?? id(fields.map(\.1) + [digest])
        fields.append(("WARC-Record-ID", id))
        fields += record.fields.map { ($0.name, $0.value) }
        fields.append(("WARC-Block-Digest", digest))
        if let payloadStart {
            let payload = payloadStart == 0 ? digest : try Self.digest(of: block, from: payloadStart)
            fields.append(("WARC-Payload-Digest", payload))
        }
        if let type = record.contentType { fields.append(("Content-Type", type)) }
        fields.append(("Content-Length", "\(block.size)"))
        return (header(fields), id)
    }

    /// Returns the header with these fields, up to and including the empty line.
    static func header(_ fields: [(name: String, value: String)]) -> [UInt8] {
        let lines = fields.map { "\($0.name): \(oneLine($0.value))\r\n" }.joined()
        return Array("WARC/1.1\r\n\(lines)\r\n".utf8)
    }

    /// Returns the header for the part of a record that is there. Its digests stay, and don't match: it isn't what was
    /// recorded.
    static func header(ofCut record: WARCRecord, length: UInt64) -> [UInt8] {
        let fields = record.headers.fields.map { ($0.name, $0.value) }
            .filter { !["content-length", "warc-truncated"].contains($0.0.lowercased()) }
        return header(fields + [("WARC-Truncated", "unspecified"), ("Content-Length", "\(length)")])
    }

    /// Writes a record whose header is already made.
    ///
    /// - Parameter header: The header, up to and including the empty line.
    @discardableResult
    func write(
        _ header: [UInt8], _ block: any ByteStream, id: String = ""
    ) throws(WebArchiveError) -> Place {
        let start = output.count
        try add(header)
        try block.forEachPiece { bytes throws(WebArchiveError) in try add(bytes) }
        try add(Array("\r\n\r\n".utf8))
        try gzip?.end { bytes throws(WebArchiveError) in try output.write(bytes) }
        return Place(offset: start, length: output.count - start, id: id)
    }

    /// Writes the file to the disk and gives it its name. Must be the last call.
    public func finish() throws(WebArchiveError) {
        try file?.commit()
    }

    private func add(_ bytes: [UInt8]) throws(WebArchiveError) {
        try bytes.withUnsafeBufferPointer { bytes throws(WebArchiveError) in try add(UnsafeRawBufferPointer(bytes)) }
    }

    private func add(_ bytes: UnsafeRawBufferPointer) throws(WebArchiveError) {
        guard let gzip else { return try output.write(bytes) }
        try gzip.add(bytes) { bytes throws(WebArchiveError) in try output.write(bytes) }
    }

    private static func digest(
        of block: any ByteSource, from start: UInt64, progress: () -> Void = {}
    ) throws(WebArchiveError) -> String {
        var hasher = DigestHasher(.sha256)
        try SourceStream(block, offset: start).forEachPiece {
            hasher.update($0)
            progress()
        }
        return "sha256:\(hasher.digest.hex)"
    }

    /// Returns an ID made from the contents: a UUID of version 8. RFC 9562 §5.8.
    static func id(_ contents: [String]) -> String {
        var bytes = Array(SHA256.hash(data: Array(contents.joined(separator: "\n").utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let parts = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { bytes[$0].hexadecimal }
        return "<urn:uuid:\(parts.joined(separator: "-"))>"
    }

    /// A line end in a value would begin another field.
    private static func oneLine(_ value: String) -> String {
        String(value.unicodeScalars.map { $0 == "\r" || $0 == "\n" ? " " : Character($0) })
    }
}
