import Synchronization

/// The content of a WARC record: the head of its HTTP message, and access to the body.
///
/// What was read for the head is used again by the first call of `openBody(from:)`; each further call opens the record
/// again. The block of `resource`, `metadata` and
/// `conversion` records is the body, without an HTTP message. WARC 1.1 §6.
public struct RecordContent: Sendable {
    /// The record.
    public let record: WARCRecord
    /// The head of the HTTP message; `nil` if the record has none.
    public let head: HTTPMessageHead?
    /// The content codings of the body in the order in which they were applied: those that the head names, if the bytes
    /// agree. `nil` if the head names an unknown one.
    public let codings: [ContentCoding]?
    private let message: OpenMessage?

    /// Reads the head of the message in `record`.
    ///
    /// - Throws: `badRecord` if the block should be an HTTP message but isn't; the errors of `openBlock()`.
    public init(_ record: WARCRecord) throws(WebArchiveError) {
        try self.init(record) { () throws(WebArchiveError) in try record.openBlock() }
    }

    init(
        _ record: WARCRecord, block: () throws(WebArchiveError) -> WARCBlockReader
    ) throws(WebArchiveError) {
        self.record = record
        let isMessage = record.holdsHTTP && ["response", "revisit"].contains(record.type)
        guard isMessage, record.contentLength > 0 else {
            (head, codings, message) = (nil, [], nil)
            return
        }
        let reader = try HTTPMessageReader(block(), limits: record.reader.limits)
        head = reader.head
        do throws(WebArchiveError) {
            codings = try reader.confirmedCodings(record.reader.allowance)
        } catch {
            guard error.isDamage else { throw error }
            // Who reads the body learns of the damage.
            codings = ContentCoding.applied(in: reader.head.fields)
        }
        message = OpenMessage(reader)
    }

    /// The number of bytes of the body in the record, including chunk headers.
    public var storedBodyLength: UInt64 {
        record.contentLength - min(record.contentLength, UInt64(head?.length ?? 0))
    }

    /// The number of bytes of the body, with its content codings; `nil` if it's chunked and therefore unknown.
    public var bodyLength: UInt64? { head?.isChunked == true ? nil : storedBodyLength }

    /// Whether the server only said that nothing had changed: a revisit with the profile `server-not-modified` (WARC 1.1
    /// §6.7.3), or a captured response with the status 304.
    package var isNotModified: Bool {
        guard record.isRevisit else { return head?.status == 304 }
        return record.profile.map { $0.hasSuffix("/server-not-modified") } ?? (head?.status == 304)
    }

    /// Whether the record has a whole success itself, which a later 304 calls unchanged.
    package var isState: Bool { !record.isRevisit && hasSuccess }
    /// Whether its head is that of a whole success, or missing. A partial response whose range is the whole body is to be
    /// processed like a complete one (RFC 9110 §15.3.7.3), and a later 304 is about it, too (RFC 9111 §4.3.4).
    package var hasSuccess: Bool {
        guard !isNotModified, CDXJEntry.mayBeSuccess(head?.status) else { return false }
        guard head?.status == 206 else { return true }
        guard let contentRange, contentRange.isWhole else { return false }
        // The record may have been cut.
        return record.isRevisit || bodyLength == nil || bodyLength == contentRange.total
    }

    /// The `Content-Range` of a partial response; `nil` if it's missing or not valid.
    package var contentRange: ContentRange? { head?.fields["Content-Range"].flatMap { ContentRange($0) } }

    /// The media type with its parameters, as recorded.
    public var contentType: String? { head.map { $0.fields["Content-Type"] } ?? record.contentType }

    /// Opens a stream for the body, with chunks decoded and content codings unchanged.
    ///
    /// - Parameter offset: The number of bytes to skip. This is fast only in uncompressed records.
    /// - Throws: The errors of `WARCRecord.openBlock()`.
    public func openBody(from offset: UInt64 = 0) throws(WebArchiveError) -> any ByteStream {
        let isChunked = head?.isChunked == true
        // In an uncompressed record, the bytes before the offset needn't be read.
        let isReadFromStart = isChunked || record.isCompressed || offset == 0
        var message = isReadFromStart ? message?.take() : nil
        if isChunked, message == nil { message = try record.openHTTPMessage() }
        guard let message else { return try record.openBlock(from: UInt64(head?.length ?? 0) + offset) }
        try message.skip(offset)
        return message
    }

    /// Reads the record to its end, and returns whether it's complete and matches its digests.
    ///
    /// - Returns: `true` without reading for a record that is too large for that.
    /// - Throws: `io`, `cancelled`.
    package func isIntact() throws(WebArchiveError) -> Bool {
        guard record.contentLength <= Self.checkedBytesMax else { return true }
        let digests = RecordDigests()
        let end = record.window.map { record.offset.addingSaturated($0) } ?? record.reader.size
        let scanner = try record.reader.makeScanner(record.offset..<end, receiver: digests)
        do throws(WebArchiveError) {
            guard let item = try scanner.next(), item.record.offset == record.offset else { return false }
            try digests.end()
            return try digests.takeResults().mismatches.isEmpty && scanner.findings.isEmpty
        } catch {
            guard error.isDamage || error.code == .tooLarge else { throw error }
            return false
        }
    }

    private static let checkedBytesMax: UInt64 = 16 << 20
}

/// An HTTP message whose head was read, until its body is.
private final class OpenMessage: Sendable {
    private let reader: Mutex<HTTPMessageReader?>

    init(_ reader: sending HTTPMessageReader) {
        self.reader = Mutex(reader)
    }

    /// Returns the message the first time, then `nil`.
    func take() -> sending HTTPMessageReader? { reader.withLock { $0.take() } }
}

extension ByteStream {
    /// Skips `count` bytes.
    ///
    /// - Throws: `truncated` if there are fewer; the errors of reading.
    public func skip(_ count: UInt64) throws(WebArchiveError) {
        guard count > 0 else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var left = count
        while left > 0 {
            let done = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: left))))
            guard done > 0 else {
                throw WebArchiveError(
                    code: .truncated, problem: "byte \(count) was requested, but only \(count - left) bytes are left",
                    file: name)
            }
            left -= UInt64(done)
        }
    }
}
