/// The header of a WARC record, and access to its block.
///
/// Source: WARC 1.1 §4 and §5. Also accepts versions from 0.17, lines that end in LF only, folded lines, and
/// `WARC-Target-URI` in angle brackets, as in the grammar of WARC 1.0.
public struct WARCRecord: Sendable {
    /// The WARC version, for example `1.1`.
    public let version: String
    /// Whether the version line isn't in upper case, which WARC 1.1 §4 requires.
    let hasOddVersionLine: Bool
    /// The header fields.
    public let headers: HeaderFields
    /// The size of the block in bytes, from `Content-Length`.
    public let contentLength: UInt64
    /// The byte offset of the record in the WARC file.
    public let offset: UInt64
    /// Whether the record is a gzip member.
    public let isCompressed: Bool
    /// The name of the WARC file shown in error messages.
    public let file: String

    /// The decompressed size of the header, up to the first byte of the block.
    let headerLength: UInt64
    let reader: WARCReader
    /// The maximum number of bytes of the record in the WARC file; if `nil`, up to the end of the file.
    let window: UInt64?

    /// Charged with all that is decompressed of the record, and to reach it.
    public var allowance: Allowance { reader.allowance }

    /// The record type in lower case, for example `response` or `revisit`; empty if it's missing.
    public var type: String { (headers["WARC-Type"] ?? "").lowercased() }
    /// The captured URL as recorded, without angle brackets.
    public var targetURI: String? { uri("WARC-Target-URI") }
    /// The time of the capture as recorded, in RFC 3339.
    public var date: String? { headers["WARC-Date"] }
    /// The time of the capture.
    public var timestamp: CaptureTimestamp? { date.flatMap { CaptureTimestamp(rfc3339: $0) } }
    /// The media type of the block, for example `application/http;msgtype=response`.
    public var contentType: String? { headers["Content-Type"] }
    /// The media type of the payload that the crawler found, with its parameters. WARC 1.1 §5.15.
    package var identifiedType: String? { headers["WARC-Identified-Payload-Type"] }
    /// The digest of the payload, as recorded.
    public var payloadDigest: String? { headers["WARC-Payload-Digest"] }
    /// The digest of the block, as recorded.
    public var blockDigest: String? { headers["WARC-Block-Digest"] }
    /// The URI of the record with the payload of a revisit; `nil` if it's longer than those that can be looked up.
    public var refersToTargetURI: String? {
        uri("WARC-Refers-To-Target-URI").flatMap { $0.utf8.count <= reader.limits.urlBytesMax ? $0 : nil }
    }
    /// The date of the record with the payload of a revisit.
    public var refersToDate: String? { headers["WARC-Refers-To-Date"] }
    /// The time in `refersToDate`; `nil` if it can't be read.
    package var refersToTime: CaptureTimestamp? { refersToDate.flatMap { CaptureTimestamp(rfc3339: $0) } }
    /// The ID of the record with the payload of a revisit, without angle brackets.
    package var refersTo: String? { uri("WARC-Refers-To") }
    /// The file that has the record with the payload of a revisit, as Browsertrix writes it: a URL or a name.
    package var refersToContainer: String? { uri("WARC-Refers-To-Container") }
    /// The profile URI of a revisit.
    public var profile: String? { uri("WARC-Profile") }
    /// Whether the record refers to the payload of an earlier one.
    public var isRevisit: Bool { type == "revisit" }
    /// Whether the type is one of captures: `response`, `resource` or `revisit`.
    var isCapture: Bool { Self.isCapture(type: type) }
    /// The number of the segment, if the record is stored in several. WARC 1.1 §5.19.
    var segmentNumber: UInt64? { headers["WARC-Segment-Number"].flatMap { UInt64($0) } }
    /// The length of the whole block, in the last segment. WARC 1.1 §5.21.
    var segmentTotalLength: UInt64? { headers["WARC-Segment-Total-Length"].flatMap { UInt64($0) } }
    /// Whether the block goes on in `continuation` records. WARC 1.1 §7.
    package var isFirstSegment: Bool {
        segmentNumber == 1 && type != "continuation" && segmentTotalLength.map { $0 != contentLength } ?? true
    }
    /// Whether the block is an HTTP message.
    public var holdsHTTP: Bool {
        let type = (contentType ?? "").lowercased()
        return type.hasPrefix("application/http") || type.isEmpty && targetURI?.hasPrefix("http") == true
    }

    /// Returns whether bytes begin like the version line of a record. Some programs write it in lower case.
    static func starts(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count >= 5 && bytes.lazy.map { $0.asciiLowercased }.starts(with: "warc/".utf8)
    }

    /// - Parameter type: In lower case.
    static func isCapture(type: String) -> Bool { ["response", "revisit", "resource"].contains(type) }

    private func uri(_ name: String) -> String? {
        guard let value = headers[name] else { return nil }
        return value.hasPrefix("<") && value.hasSuffix(">") ? String(value.dropFirst().dropLast()) : value
    }

    /// Opens a new reader at the start of the block.
    ///
    /// - Throws: `truncated`, `badGzip` or `io` if the record can't be read up to its block.
    public func openBlock() throws(WebArchiveError) -> WARCBlockReader {
        let input = try reader.open(at: offset, length: window).content
        let skipped = try input.skip(headerLength)
        guard skipped == headerLength else {
            throw WebArchiveError(
                code: .truncated,
                problem: "the record's header has \(headerLength) bytes, but only \(skipped) are left", file: file,
                offset: offset)
        }
        return WARCBlockReader(input, length: contentLength, file: file, recordOffset: offset)
    }

    /// Opens the block after its first `count` bytes. They're read only if the record is compressed.
    ///
    /// - Throws: The errors of `openBlock()`; `truncated` if the block is shorter.
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
                code: .truncated, problem: "byte \(count) was requested, but the block has only \(there) bytes",
                file: file, offset: offset)
        }
        let window = try SubrangeByteSource(source, offset: start + count, length: there - count)
        return WARCBlockReader(
            BufferedInput(SourceStream(window)), length: contentLength - count, file: file, recordOffset: offset)
    }

    /// Opens the HTTP message in the block.
    ///
    /// - Throws: `badRecord` if the block isn't an HTTP message; the errors of `openBlock()`.
    public func openHTTPMessage() throws(WebArchiveError) -> HTTPMessageReader {
        try HTTPMessageReader(openBlock(), limits: reader.limits)
    }

    /// Calls `body` with each chunk of the block until it returns `false`.
    ///
    /// - Parameter body: Receives a chunk; returns whether to continue.
    /// - Parameter chunkBytesMax: The maximum size of a chunk. A chunk is valid only during the call.
    /// - Throws: The errors of `body`; `truncated` or `badGzip` if the record is damaged.
    public func forEachChunk(
        chunkBytesMax: Int = 64 << 10, _ body: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try openBlock().forEachChunk(chunkBytesMax: chunkBytesMax, body)
    }
}

/// Reads a record's block once: either exactly `length` bytes, or an error.
public final class WARCBlockReader: ByteStream {
    /// The name of the WARC file shown in error messages.
    public let name: String
    /// The size of the block in bytes.
    public let length: UInt64
    private let input: BufferedInput
    private let recordOffset: UInt64
    private var remaining: UInt64
    private var endIsChecked: Bool

    /// - Parameter checksEnd: Whether the input ends after the block, so that what follows can be read to check it.
    init(_ input: BufferedInput, length: UInt64, file: String, recordOffset: UInt64, checksEnd: Bool = true) {
        self.input = input
        endIsChecked = !checksEnd
        self.length = length
        self.recordOffset = recordOffset
        name = file
        remaining = length
    }

    /// Reads the next bytes. Returns 0 only at the end of the block, after checking the gzip checksum.
    ///
    /// - Throws: `truncated` if the record ends before its block; `badGzip` if it's damaged.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        guard remaining > 0 else {
            try checkEnd()
            return 0
        }
        let count = try input.read(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: remaining))))
        guard count > 0 || buffer.isEmpty else {
            throw WebArchiveError(
                code: .truncated, problem: "the WARC record needs \(length) bytes, but has only \(length - remaining)",
                file: name, offset: recordOffset)
        }
        remaining -= UInt64(count)
        return count
    }

    /// Skips the next `count` bytes.
    ///
    /// - Throws: `truncated` if there are fewer.
    func skip(_ count: UInt64) throws(WebArchiveError) {
        guard count <= remaining, try input.skip(count) == count else {
            throw WebArchiveError(
                code: .truncated, problem: "byte \(count) was requested, but the block has only \(length) bytes",
                file: name,
                offset: recordOffset)
        }
        remaining -= count
    }

    /// Reads the few bytes after the block, so that zlib reaches the end of the member and checks its CRC.
    private func checkEnd() throws(WebArchiveError) {
        guard !endIsChecked else { return }
        endIsChecked = true
        do throws(WebArchiveError) {
            _ = try input.skip(64)
        } catch let error where error.code == .truncated {
            // The block is complete. Some indexes give a length without the member's trailer.
        }
    }
}
