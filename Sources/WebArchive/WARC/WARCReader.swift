/// A WARC file, read at an offset or from start to end.
///
/// Source: WARC 1.1 §4 and Annex D (one gzip member per record). Records may also be uncompressed.
public struct WARCReader: Sendable {
    private enum Storage: Sendable {
        case source(any ByteSource)
        case deflated(ZIPDirectory, ZIPEntry)
    }

    /// The name of the WARC file shown in error messages.
    public let name: String
    /// The size of the WARC file in bytes.
    public let size: UInt64
    let limits: Limits
    /// Charged with all that is decompressed.
    let allowance: Allowance
    private let storage: Storage

    /// Creates a reader for the WARC file in `source`.
    ///
    /// - Parameter allowance: Charged with all that is decompressed; by default, that of one step with this file.
    public init(_ source: any ByteSource, limits: Limits = .standard, allowance: Allowance? = nil) {
        name = source.name
        size = source.size
        storage = .source(source)
        self.limits = limits
        self.allowance = allowance ?? Allowance(archiveSize: source.size, limits: limits)
    }

    /// Creates a reader for a WARC file in a ZIP. If it's compressed there, each record is reached by decompressing.
    ///
    /// - Parameter allowance: Charged with all that is decompressed.
    /// - Throws: `corruptZIP` if the entry isn't where the directory points.
    public init(entry: ZIPEntry, of directory: ZIPDirectory, _ allowance: Allowance) throws(WebArchiveError) {
        name = directory.path(of: entry)
        size = entry.uncompressedSize
        limits = directory.limits
        self.allowance = allowance
        storage = entry.method == .stored ? .source(try directory.bytes(of: entry)) : .deflated(directory, entry)
    }

    /// Reads the header of the record at `offset`.
    ///
    /// - Parameter offset: The byte offset of the record in the file.
    /// - Parameter length: The number of bytes of the record in the file, as listed in the index. Nothing beyond is
    ///   read.
    /// - Throws: `badIndex` if the range isn't inside the file; `badRecord` if no record begins there; `truncated` or
    ///   `badGzip` if it's damaged; `tooLarge` if too much of a compressed file would have to be decompressed.
    public func record(at offset: UInt64, length: UInt64? = nil) throws(WebArchiveError) -> WARCRecord {
        let (content, isCompressed) = try open(at: offset, length: length)
        return try record(from: content, at: offset, window: length, isCompressed: isCompressed)
    }

    /// Reads a record up to its body in one pass.
    ///
    /// - Throws: The errors of `record(at:length:)` and `RecordContent.init`; `cancelled`.
    func content(
        at offset: UInt64, length: UInt64?, _ check: CancellationCheck
    ) throws(WebArchiveError) -> RecordContent {
        let (content, isCompressed) = try open(at: offset, length: length, check)
        let record = try record(from: content, at: offset, window: length, isCompressed: isCompressed)
        return try RecordContent(record) { () throws(WebArchiveError) in
            WARCBlockReader(content, length: record.contentLength, file: name, recordOffset: offset)
        }
    }

    /// Returns a scanner over all records.
    public func makeScanner() throws(WebArchiveError) -> WARCScanner { try makeScanner(0..<size) }

    /// Returns a scanner over the records in a range, which begins at a record.
    func makeScanner(
        _ range: Range<UInt64>, receiver: (any WARCBlockReceiver)? = nil
    ) throws(WebArchiveError) -> WARCScanner {
        let input = try input(at: range.lowerBound, length: range.upperBound - range.lowerBound)
        return WARCScanner(self, input, receiver: receiver)
    }

    /// The number of bytes that the file takes in the ZIP.
    var storedSize: UInt64 {
        switch storage {
        case .source: size
        case .deflated(_, let entry): entry.compressedSize
        }
    }

    /// The byte source of the file, unless it's compressed in the ZIP.
    var storedSource: (any ByteSource)? {
        guard case .source(let source) = storage else { return nil }
        return source
    }

    /// Opens the bytes of a record in the file.
    ///
    /// - Throws: See `record(at:length:)`.
    func storedBytes(
        at offset: UInt64, length: UInt64?, _ check: CancellationCheck
    ) throws(WebArchiveError) -> any ByteStream {
        let length = try allowed(at: offset, length: length)
        return RestOfInput(try input(at: offset, length: length, check), length: length)
    }

    /// Opens a record, decompressed if it's a gzip member.
    func open(
        at offset: UInt64, length: UInt64?, _ check: CancellationCheck? = nil
    ) throws(WebArchiveError) -> (content: BufferedInput, isCompressed: Bool) {
        try allowance.charge(Self.openedBytes, file: name)
        let raw = try input(at: offset, length: allowed(at: offset, length: length), check)
        guard GzipMember.starts(try raw.peek(3)) else { return (raw, false) }
        return (BufferedInput(try GzipMember(raw, allowance)), true)
    }

    /// What opening a record counts as, in decompressed bytes.
    private static let openedBytes = 16 << 10

    /// Returns the number of bytes to read at an offset, after checking both.
    private func allowed(at offset: UInt64, length: UInt64?) throws(WebArchiveError) -> UInt64 {
        let (stop, overflow) = offset.addingReportingOverflow(length ?? 1)
        guard !overflow, stop <= size, length != 0 else {
            let wanted = length.map { "\($0) bytes" } ?? "a record"
            throw WebArchiveError(
                code: .badIndex, problem: "\(wanted) at offset \(offset) can't be in a WARC file of \(size) bytes",
                file: name,
                offset: offset, hint: "the archive's index is wrong")
        }
        guard storedSource != nil || offset <= limits.bytesBeforeRecordMax(compressed: storedSize) else {
            throw WebArchiveError(
                code: .tooLarge,
                problem: "this WARC file is compressed in the ZIP: \(offset) bytes come before the record, "
                    + "and the limit is \(limits.bytesBeforeRecordMax(compressed: storedSize))",
                file: name, offset: offset,
                hint: "create the archive again without compressing its WARC files in the ZIP")
        }
        return length ?? size - offset
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
        let lines = try input.readHead(bytesMax: limits.warcHeaderBytesMax, linesMax: limits.headLinesMax)
        let first = HeaderFields.trimmed(lines.first[...])
        guard WARCRecord.starts(first.utf8.prefix(5)), first.utf8.count < 16 else {
            throw WebArchiveError(
                code: .badRecord, problem: "no WARC record begins here: found \"\(first.prefix(40))\"", file: name,
                offset: offset,
                hint: first.hasPrefix("filedesc:")
                    ? "ARC files aren't supported; convert them with `warcio recompress`" : nil)
        }
        let headers = lines.fields
        guard let length = headers["Content-Length"].flatMap({ UInt64($0) }) else {
            throw WebArchiveError(
                code: .badRecord, problem: "the WARC record has no valid Content-Length", file: name, offset: offset)
        }
        return WARCRecord(
            version: String(first.dropFirst(5)), hasOddVersionLine: !first.hasPrefix("WARC/"), headers: headers,
            contentLength: length, offset: offset,
            isCompressed: isCompressed, file: name, headerLength: input.offset - start, reader: self, window: window)
    }

    /// Returns the file's bytes at `offset`, at most `length`. Both must have been checked.
    private func input(
        at offset: UInt64, length: UInt64, _ check: CancellationCheck? = nil
    ) throws(WebArchiveError) -> BufferedInput {
        switch storage {
        case .source(let source):
            let window = try SubrangeByteSource(source, offset: offset, length: length)
            return BufferedInput(SourceStream(window), offset: offset)
        case .deflated(let directory, let entry):
            let whole = BufferedInput(try directory.stream(of: entry, allowance))
            _ = try whole.skip(offset, check)
            return BufferedInput(RestOfInput(whole, length: length), offset: offset)
        }
    }
}
