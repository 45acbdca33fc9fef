/// Reads a WARC file once, record by record, skipping damaged ones.
public final class WARCScanner {
    /// A record that was read to its end.
    public struct Item: Sendable {
        /// The record.
        public let record: WARCRecord
        /// The number of bytes of the record in the WARC file.
        public let length: UInt64
        /// The head of the HTTP message, if the record has a valid one.
        public let httpHead: HTTPMessageHead?
    }

    /// The findings in the part read so far.
    public var findings: [Finding] { log.findings }
    private let reader: WARCReader
    private let input: BufferedInput
    private var log: FindingLog

    init(_ reader: WARCReader, _ input: BufferedInput) {
        self.reader = reader
        self.input = input
        log = FindingLog(perCodeMax: reader.limits.findingsPerCodeMax)
    }

    /// Returns the next complete record, or `nil` at the end. Damaged records are skipped with a finding.
    ///
    /// - Throws: `io`, or an error in the ZIP entry itself, which ends the scan.
    public func next() throws(WebArchiveError) -> Item? {
        while try skipLineEnds() {
            let offset = input.offset
            do throws(WebArchiveError) {
                if GzipMember.starts(try input.peek(3)) { return try compressedItem(at: offset) }
                return try plainItem(at: offset)
            } catch {
                guard error.isDamage || error.code == .tooLarge else { throw error }
                note(error, at: offset)
                if try !findNextRecord(after: offset) { return nil }
            }
        }
        return nil
    }

    private func compressedItem(at offset: UInt64) throws(WebArchiveError) -> Item {
        let member = try GzipMember(input)
        let content = BufferedInput(member)
        let record = try reader.record(from: content, at: offset, window: nil, isCompressed: true)
        let head = try httpHead(of: record, content)
        try finish(record, content, at: offset)
        try member.drain()
        return Item(record: record, length: input.offset - offset, httpHead: head)
    }

    private func plainItem(at offset: UInt64) throws(WebArchiveError) -> Item {
        let record = try reader.record(from: input, at: offset, window: nil, isCompressed: false)
        let head = try httpHead(of: record, input)
        try finish(record, input, at: offset)
        return Item(record: record, length: input.offset - offset, httpHead: head)
    }

    /// Skips the rest of the block, up to its declared end.
    private func finish(_ record: WARCRecord, _ content: BufferedInput, at offset: UInt64) throws(WebArchiveError) {
        let base = record.isCompressed ? 0 : offset
        let done = content.offset - base - record.headerLength
        let left = record.contentLength - min(done, record.contentLength)
        let skipped = try content.skip(left)
        guard skipped == left else {
            throw WebArchiveError(
                code: .truncated,
                problem: "the WARC record needs \(record.contentLength) bytes, but has only \(done + skipped)",
                file: reader.name, offset: offset)
        }
    }

    /// Returns the HTTP head if it's inside the block.
    private func httpHead(of record: WARCRecord, _ content: BufferedInput) throws(WebArchiveError) -> HTTPMessageHead? {
        guard record.holdsHTTP, ["response", "revisit"].contains(record.type) else { return nil }
        let wanted = Int(min(record.contentLength, 32 << 10))
        let bytes = try content.peek(wanted)
        let block = BufferedInput(SourceStream(MemoryByteSource(bytes, name: reader.name)), capacity: 32 << 10)
        return try? HTTPMessageHead.read(from: block, limits: reader.limits)
    }

    private func skipLineEnds() throws(WebArchiveError) -> Bool {
        while let byte = try input.peek(1).first {
            guard byte == 0x0D || byte == 0x0A else { return true }
            input.consume(1)
        }
        return false
    }

    /// Skips to the next byte that may start a record, after the start of the damaged one.
    private func findNextRecord(after offset: UInt64) throws(WebArchiveError) -> Bool {
        if input.offset == offset { input.consume(min(1, input.unread.count)) }
        while true {
            let bytes = input.unread
            for position in bytes.indices.dropLast(4) {
                let rest = bytes[position...].prefix(5)
                if GzipMember.starts(rest) || rest.elementsEqual("WARC/".utf8) {
                    input.consume(position)
                    return true
                }
            }
            input.consume(max(0, bytes.count - 4))
            if try !input.fill() { return false }
        }
    }

    private func note(_ error: WebArchiveError, at offset: UInt64) {
        log.add(
            .error, "warc-damaged", "A WARC record can't be read: \(error.problem).",
            at: "\(reader.name) byte \(offset)", consequence: "The content of this record can't be replayed.")
    }
}
