/// The header of one WARC record, and the way to its block.
///
/// Source: WARC 1.1 §4 and §5. Found in the wild: versions from 0.17 on, lines that end in LF only, folded lines, and
/// `WARC-Target-URI` in angle brackets, as the grammar of WARC 1.0 had it.
public struct WARCRecord: Sendable {
    /// The version in the first line, without `WARC/`: `1.1`.
    public let version: String
    /// The named fields.
    public let headers: HeaderFields
    /// Bytes of the block, as `Content-Length` says.
    public let contentLength: UInt64
    /// Byte offset of the record from the start of the WARC file.
    public let offset: UInt64
    /// Whether the record is a gzip member.
    public let isCompressed: Bool
    /// The WARC file, for error texts.
    public let file: String

    /// Bytes of the header, inflated, up to the first byte of the block.
    let headerLength: UInt64
    let reader: WARCReader
    /// Bytes that the record may occupy in the WARC file; `nil` up to the file's end.
    let window: UInt64?

    /// `response`, `revisit`, `resource`, …, in lower case; empty when the record does not say.
    public var type: String { (headers["WARC-Type"] ?? "").lowercased() }
    /// What was asked for, as recorded, without angle brackets.
    public var targetURI: String? { uri("WARC-Target-URI") }
    /// When, as recorded: RFC 3339.
    public var date: String? { headers["WARC-Date"] }
    /// When.
    public var timestamp: CaptureTimestamp? { date.flatMap { CaptureTimestamp(rfc3339: $0) } }
    /// Media type of the block: `application/http;msgtype=response`.
    public var contentType: String? { headers["Content-Type"] }
    /// Digest of the payload, as recorded.
    public var payloadDigest: String? { headers["WARC-Payload-Digest"] }
    /// Digest of the block, as recorded.
    public var blockDigest: String? { headers["WARC-Block-Digest"] }
    /// For a revisit: the URI of the record that holds the payload.
    public var refersToTargetURI: String? { uri("WARC-Refers-To-Target-URI") }
    /// For a revisit: the date of the record that holds the payload.
    public var refersToDate: String? { headers["WARC-Refers-To-Date"] }
    /// For a revisit: which kind, as a URI.
    public var profile: String? { uri("WARC-Profile") }
    /// Whether the record points at an earlier payload.
    public var isRevisit: Bool { type == "revisit" }
    /// Whether the block holds an HTTP message.
    public var holdsHTTP: Bool {
        let type = (contentType ?? "").lowercased()
        return type.hasPrefix("application/http") || type.isEmpty && targetURI?.hasPrefix("http") == true
    }

    private func uri(_ name: String) -> String? {
        guard let value = headers[name] else { return nil }
        return value.hasPrefix("<") && value.hasSuffix(">") ? String(value.dropFirst().dropLast()) : value
    }

    /// Opens the block, to be read once. May be called again, for a new reader from the start.
    ///
    /// - Throws: `truncated`, `badGzip` or `io` when the record cannot be read up to its block.
    public func openBlock() throws(WebArchiveError) -> WARCBlockReader {
        let input = try reader.open(at: offset, length: window).content
        let skipped = try input.skip(headerLength)
        guard skipped == headerLength else {
            throw WebArchiveError(
                code: .truncated, problem: "the header has \(headerLength) bytes, \(skipped) are left", file: file,
                offset: offset)
        }
        return WARCBlockReader(input, length: contentLength, file: file, recordOffset: offset)
    }

    /// Opens the block behind its first `count` bytes. An uncompressed record is entered there, nothing before is read.
    ///
    /// - Throws: As `openBlock()` does; `truncated` when the block is shorter.
    func openBlock(from count: UInt64) throws(WebArchiveError) -> any ByteStream {
        guard let source = isCompressed ? nil : reader.storedSource else {
            let block = try openBlock()
            try block.skip(count)
            return block
        }
        let start = offset + headerLength
        let there = min(contentLength, source.size - min(start, source.size))
        guard count <= there else {
            throw WebArchiveError(
                code: .truncated, problem: "byte \(count) is wanted of a block of which \(there) bytes are there",
                file: file, offset: offset)
        }
        let window = try SubrangeByteSource(source, offset: start + count, length: there - count)
        return WARCBlockReader(
            BufferedInput(SourceStream(window)), length: contentLength - count, file: file, recordOffset: offset)
    }

    /// Opens the HTTP message in the block.
    ///
    /// - Throws: `badRecord` when the block holds none; what `openBlock()` throws.
    public func openHTTPMessage() throws(WebArchiveError) -> HTTPMessageReader {
        try HTTPMessageReader(openBlock(), limits: reader.limits)
    }

    /// Calls `body` with the block's bytes, piece by piece, until it returns `false`.
    ///
    /// - Parameter body: Gets a piece; returns whether to go on.
    /// - Parameter chunkBytesMax: Bytes of a piece, at most; a piece is valid only during the call.
    /// - Throws: What `body` throws, and `truncated` or `badGzip` when the record is damaged.
    public func forEachChunk(
        chunkBytesMax: Int = 64 << 10, _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try openBlock().forEachChunk(chunkBytesMax: chunkBytesMax, body)
    }
}

/// A record's block, to be read once: exactly `length` bytes or an error.
public final class WARCBlockReader: ByteStream {
    /// The WARC file, for error texts.
    public let name: String
    /// Bytes of the block.
    public let length: UInt64
    private let input: BufferedInput
    private let recordOffset: UInt64
    private var remaining: UInt64
    private var endIsChecked = false

    init(_ input: BufferedInput, length: UInt64, file: String, recordOffset: UInt64) {
        self.input = input
        self.length = length
        self.recordOffset = recordOffset
        name = file
        remaining = length
    }

    /// Reads the next bytes; 0 only at the end of the block, once the gzip checksum was found right.
    ///
    /// - Throws: `truncated` when the record ends before its block does, `badGzip` when it is damaged.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        guard remaining > 0 else {
            try checkEnd()
            return 0
        }
        let count = try input.read(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: remaining))))
        guard count > 0 || buffer.isEmpty else {
            throw WebArchiveError(
                code: .truncated, problem: "WARC record needs \(length) bytes, \(length - remaining) are there",
                file: name, offset: recordOffset)
        }
        remaining -= UInt64(count)
        return count
    }

    /// Passes over the next `count` bytes.
    ///
    /// - Throws: `truncated` when there are fewer.
    func skip(_ count: UInt64) throws(WebArchiveError) {
        guard count <= remaining, try input.skip(count) == count else {
            throw WebArchiveError(
                code: .truncated, problem: "byte \(count) is wanted of a block of \(length) bytes", file: name,
                offset: recordOffset)
        }
        remaining -= count
    }

    /// Reads the few bytes behind the block, so that zlib sees the end of the member and compares the checksum.
    private func checkEnd() throws(WebArchiveError) {
        guard !endIsChecked else { return }
        endIsChecked = true
        do throws(WebArchiveError) {
            _ = try input.skip(64)
        } catch let error where error.code == .truncated {
            // The block is whole. Some indexes give a length that stops short of the member's trailer.
        }
    }
}
