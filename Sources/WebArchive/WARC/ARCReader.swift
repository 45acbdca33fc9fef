/// Reads an ARC file, the format before WARC, record by record. ARC 1.0 and 1.1 (Internet Archive, 1996).
///
/// Records are gzip members or uncompressed. The first one describes the file.
final class ARCReader {
    /// The header of a record.
    struct Header: Sendable, Hashable {
        let url: String
        let address: String
        let time: CaptureTimestamp
        /// The media type of the document.
        let type: String
        /// The size of the block in bytes.
        let length: UInt64

        /// Whether the record describes the file.
        var isDescription: Bool { url.hasPrefix("filedesc:") }

        /// Parses a line: `URL address date type length`, or version 2 with five more fields before the length. URLs with spaces
        /// exist.
        init?(_ line: [UInt8]) {
            let fields = HeaderFields.trimmed(line[...]).split(separator: " ", omittingEmptySubsequences: false)
                .map(String.init)
            for count in [4, 9] where fields.count > count {
                let tail = fields.suffix(count)
                let first = tail.startIndex
                guard let length = tail.last.flatMap({ UInt64($0) }), tail[first + 1].utf8.count >= 12,
                    let time = CaptureTimestamp(digits: tail[first + 1])
                else { continue }
                url = fields.dropLast(count).joined(separator: "%20")
                (address, type) = (tail[first], tail[first + 2])
                (self.time, self.length) = (time, length)
                return
            }
            return nil
        }
    }

    private(set) var log: FindingLog
    private let input: BufferedInput
    private let source: any ByteSource
    private let isCompressed: Bool
    /// The last record, in which the file may end, and its offset.
    private var cutRecord: (header: Header, offset: UInt64)?
    private let limits: Limits
    private let allowance: Allowance

    init(_ source: any ByteSource, limits: Limits, _ allowance: Allowance) throws(WebArchiveError) {
        input = BufferedInput(SourceStream(source))
        isCompressed = GzipMember.starts(try input.peek(3))
        (self.source, self.limits, self.allowance) = (source, limits, allowance)
        log = FindingLog(perCodeMax: limits.findingsPerCodeMax)
    }

    /// The number of bytes read.
    var offset: UInt64 { input.offset }

    /// Calls `body` with each record that can be read, and with what is there of a last one that is cut. Damaged ones are
    /// skipped with a finding.
    func forEachRecord(_ body: (_ header: Header, _ block: any ByteStream, _ isCut: Bool) throws -> Void) throws {
        var isDamaged = false
        while try input.skipLineEnds() {
            let offset = input.offset
            do {
                if isCompressed {
                    guard GzipMember.starts(try input.peek(3)) else {
                        throw WebArchiveError(
                            code: .badRecord, problem: "no ARC record begins here", file: input.name, offset: offset)
                    }
                    let member = try GzipMember(input, allowance)
                    try read(BufferedInput(member), at: offset, bytesLeft: nil, body)
                    try member.drain(limit: 1 << 20)
                } else {
                    try read(input, at: offset, bytesLeft: source.size, body)
                }
                isDamaged = false
                cutRecord = nil
            } catch let error as WebArchiveError where error.isDamage || error.code == .tooLarge {
                if isDamaged || error.code != .truncated || cutRecord?.offset != offset { cutRecord = nil }
                if !isDamaged {
                    log.add(
                        .error, "warc-damaged", "An ARC record can't be read: \(error.problem).",
                        at: "\(input.name) byte \(offset)",
                        consequence: cutRecord == nil
                            ? "The content of this record can't be replayed."
                            : "If the file ends within this record, only the part that is there can be replayed.")
                }
                isDamaged = true
                if input.offset == offset { input.consume(min(1, input.unread.count)) }
                try findNextRecord()
            }
        }
        try readCutRecord(body)
    }

    private func readCutRecord(_ body: (Header, any ByteStream, Bool) throws -> Void) throws {
        guard let (header, offset) = cutRecord else { return }
        cutRecord = nil
        let raw = BufferedInput(SourceStream(source, offset: offset))
        let content = isCompressed ? BufferedInput(try GzipMember(raw, allowance)) : raw
        guard try content.readLine(limit: lineBytesMax) != nil else { return }
        try body(header, CutStream(content), true)
    }

    private var lineBytesMax: Int { limits.urlBytesMax + Self.otherFieldsBytesMax }

    private func read(
        _ content: BufferedInput, at offset: UInt64, bytesLeft: UInt64?,
        _ body: (Header, any ByteStream, Bool) throws -> Void
    ) throws {
        guard let line = try content.readLine(limit: lineBytesMax), let header = Header(line) else {
            throw WebArchiveError(
                code: .badRecord, problem: "no ARC record begins here", file: input.name, offset: offset)
        }
        cutRecord = (header, offset)
        if let bytesLeft, header.length > bytesLeft - min(bytesLeft, content.offset) {
            throw WebArchiveError(
                code: .truncated, problem: "the ARC record needs \(header.length) bytes, but fewer are left",
                file: input.name, offset: offset)
        }
        let block = WARCBlockReader(
            content, length: header.length, file: input.name, recordOffset: offset, checksEnd: false)
        try body(header, block, false)
        try block.forEachPiece { _ in }
    }

    /// Skips to the next byte that may start a record: a gzip member, or a line that is a header.
    private func findNextRecord() throws(WebArchiveError) {
        while try !input.isAtEnd() {
            let bytes = input.unread
            if isCompressed {
                if let found = bytes.firstIndex(of: 0x1F) {
                    input.consume(found)
                    if GzipMember.starts(try input.peek(3)) { return }
                    input.consume(1)
                } else {
                    input.consume(bytes.count)
                }
                continue
            }
            let end = input.lineEnd
            input.consume(end.map { $0 + 1 } ?? bytes.count)
            if end != nil {
                _ = try input.look(limits.urlBytesMax + Self.otherFieldsBytesMax)
                let length = input.lineEnd ?? 0
                // Most lines are too short for a URL, a time of 12 digits, three other fields and four spaces.
                if length >= 20, Header(Array(input.unread.prefix(length))) != nil { return }
            }
        }
    }

    /// Whether a record can be read.
    func hasRecord() throws(WebArchiveError) -> Bool {
        struct Found: Error {}
        do {
            try forEachRecord { _, _, _ in throw Found() }
        } catch let error as WebArchiveError {
            throw error
        } catch {
            return true
        }
        return false
    }

    /// The maximum size of the fields after the URL in a record's header.
    private static let otherFieldsBytesMax = 1 << 10
}

/// The block of a record in which a file ends, as far as it can be read.
final class CutStream: ByteStream {
    var name: String { input.name }
    private let input: BufferedInput

    init(_ input: BufferedInput) {
        self.input = input
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        do throws(WebArchiveError) {
            return try input.read(into: buffer)
        } catch {
            guard error.isDamage else { throw error }
            return 0
        }
    }
}
