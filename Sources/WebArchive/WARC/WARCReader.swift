/// A WARC file: opens the record at an offset, or walks through all of them.
///
/// Source: WARC 1.1 §4 and Annex D (one gzip member for each record). Records may also be uncompressed.
public struct WARCReader: Sendable {
    private enum Storage: Sendable {
        case source(any ByteSource)
        case deflated(ZIPDirectory, ZIPEntry)
    }

    /// The WARC file, for error texts.
    public let name: String
    /// Bytes of the WARC file.
    public let size: UInt64
    let limits: Limits
    private let storage: Storage

    /// Reads the WARC file in `source`.
    public init(_ source: any ByteSource, limits: Limits = .standard) {
        name = source.name
        size = source.size
        storage = .source(source)
        self.limits = limits
    }

    /// Reads the WARC file in an entry of a ZIP; one that is deflated there is inflated up to each record.
    ///
    /// - Throws: `corruptZIP` when the entry's bytes are not where the directory says.
    public init(entry: ZIPEntry, of directory: ZIPDirectory) throws(WebArchiveError) {
        name = directory.path(of: entry)
        size = entry.uncompressedSize
        limits = directory.limits
        storage = entry.method == .stored ? .source(try directory.bytes(of: entry)) : .deflated(directory, entry)
    }

    /// Reads the header of the record at `offset`.
    ///
    /// - Parameter offset: In bytes from the start of the file.
    /// - Parameter length: Bytes that the record occupies in the file, as the index says; nothing behind is read.
    /// - Throws: `badIndex` when the range is not inside of the file, `badRecord` when no record is there, `truncated`
    ///   or `badGzip` when it is damaged; `tooLarge` when too much of a deflated file would have to be inflated.
    public func record(at offset: UInt64, length: UInt64? = nil) throws(WebArchiveError) -> WARCRecord {
        let (content, isCompressed) = try open(at: offset, length: length)
        return try record(from: content, at: offset, window: length, isCompressed: isCompressed)
    }

    /// Reads the head of a record as far as its body, in one go.
    ///
    /// - Throws: As `record(at:length:)` and `RecordContent.init` do; also `cancelled`.
    func content(
        at offset: UInt64, length: UInt64?, _ check: CancellationCheck
    ) throws(WebArchiveError) -> RecordContent {
        let (content, isCompressed) = try open(at: offset, length: length, check)
        let record = try record(from: content, at: offset, window: length, isCompressed: isCompressed)
        return try RecordContent(record) { () throws(WebArchiveError) in
            WARCBlockReader(content, length: record.contentLength, file: name, recordOffset: offset)
        }
    }

    /// A walk through all records from the first on.
    public func makeScanner() throws(WebArchiveError) -> WARCScanner {
        WARCScanner(self, try input(at: 0, length: size))
    }

    /// The file's bytes, unless the ZIP compresses them.
    var storedSource: (any ByteSource)? {
        guard case .source(let source) = storage else { return nil }
        return source
    }

    /// Opens a record's content, inflated when it is a gzip member.
    func open(
        at offset: UInt64, length: UInt64?, _ check: CancellationCheck? = nil
    ) throws(WebArchiveError) -> (content: BufferedInput, isCompressed: Bool) {
        let (stop, overflow) = offset.addingReportingOverflow(length ?? 1)
        guard !overflow, stop <= size, length != 0 else {
            let wanted = length.map { "\($0) bytes" } ?? "a record"
            throw WebArchiveError(
                code: .badIndex, problem: "\(wanted) at \(offset) cannot be in a WARC of \(size) bytes", file: name,
                offset: offset, hint: "the index of this archive is wrong")
        }
        guard storedSource != nil || offset <= limits.deflatedBytesBeforeRecordMax else {
            throw WebArchiveError(
                code: .tooLarge,
                problem: "the ZIP compresses this WARC file: \(offset) bytes come before the record, "
                    + "at most \(limits.deflatedBytesBeforeRecordMax) are inflated for one",
                file: name, offset: offset, hint: "pack the archive again, without compressing its WARC files")
        }
        let raw = try input(at: offset, length: length ?? size - offset, check)
        guard GzipMember.starts(try raw.peek(3)) else { return (raw, false) }
        return (BufferedInput(try GzipMember(raw)), true)
    }

    /// Parses the record header at the start of `input`.
    func record(
        from input: BufferedInput, at offset: UInt64, window: UInt64?, isCompressed: Bool
    ) throws(WebArchiveError) -> WARCRecord {
        let start = input.offset
        var blankLines = 0
        while blankLines < 16, try input.peek(1).first.map({ $0 == 0x0D || $0 == 0x0A }) == true {
            input.consume(1)
            blankLines += 1
        }
        let lines = try input.readHeadLines(limit: limits.warcHeaderBytesMax)
        let first = lines.first.map { HeaderFields.trimmed($0[...]) } ?? ""
        guard first.hasPrefix("WARC/"), first.utf8.count < 16 else {
            throw WebArchiveError(
                code: .badRecord, problem: "no WARC record here, but '\(first.prefix(40))'", file: name, offset: offset,
                hint: first.hasPrefix("filedesc:")
                    ? "ARC files cannot be read; convert them with `warcio recompress`" : nil)
        }
        let headers = HeaderFields(lines: Array(lines.dropFirst()))
        guard let length = headers["Content-Length"].flatMap({ UInt64($0) }) else {
            throw WebArchiveError(
                code: .badRecord, problem: "WARC record has no usable Content-Length", file: name, offset: offset)
        }
        return WARCRecord(
            version: String(first.dropFirst(5)), headers: headers, contentLength: length, offset: offset,
            isCompressed: isCompressed, file: name, headerLength: input.offset - start, reader: self, window: window)
    }

    /// The file's bytes from `offset` on, at most `length` of them; both were checked.
    private func input(
        at offset: UInt64, length: UInt64, _ check: CancellationCheck? = nil
    ) throws(WebArchiveError) -> BufferedInput {
        switch storage {
        case .source(let source):
            let window = try SubrangeByteSource(source, offset: offset, length: length)
            return BufferedInput(SourceStream(window), offset: offset)
        case .deflated(let directory, let entry):
            let whole = BufferedInput(try directory.stream(of: entry))
            _ = try whole.skip(offset, check)
            return BufferedInput(LimitedStream(whole, length: length), offset: offset)
        }
    }
}

/// At most `length` bytes of an input.
private final class LimitedStream: ByteStream {
    var name: String { input.name }
    private let input: BufferedInput
    private var remaining: UInt64

    init(_ input: BufferedInput, length: UInt64) {
        self.input = input
        remaining = length
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        guard remaining > 0 else { return 0 }
        let count = try input.read(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: remaining))))
        remaining -= UInt64(count)
        return count
    }
}
