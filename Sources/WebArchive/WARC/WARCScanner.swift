/// Receives the blocks of the records that a scanner reads. A block may turn out to be damaged while it's received.
protocol WARCBlockReceiver: AnyObject {
    func begin(_ record: WARCRecord)
    func receive(_ bytes: UnsafeRawBufferPointer) throws(WebArchiveError)
}

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
    /// The offset in the WARC file up to which it was read.
    var offset: UInt64 { input.offset }
    private(set) var log: FindingLog
    private let reader: WARCReader
    private let input: BufferedInput
    private let receiver: (any WARCBlockReceiver)?

    /// - Parameter receiver: Receives all blocks. Items have no HTTP head then.
    init(_ reader: WARCReader, _ input: BufferedInput, receiver: (any WARCBlockReceiver)? = nil) {
        self.reader = reader
        self.input = input
        self.receiver = receiver
        log = FindingLog(perCodeMax: reader.limits.findingsPerCodeMax)
    }

    /// Removes the findings so far, and returns them.
    func takeFindings() -> FindingLog { log.taken() }

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
        try member.drain(limit: Self.bytesAfterBlockMax)
        return Item(record: record, length: input.offset - offset, httpHead: head)
    }

    private func plainItem(at offset: UInt64) throws(WebArchiveError) -> Item {
        let record = try reader.record(from: input, at: offset, window: nil, isCompressed: false)
        let head = try httpHead(of: record, input)
        try finish(record, input, at: offset)
        return Item(record: record, length: input.offset - offset, httpHead: head)
    }

    /// Reads the block up to its declared end.
    private func finish(_ record: WARCRecord, _ content: BufferedInput, at offset: UInt64) throws(WebArchiveError) {
        var left = record.contentLength
        receiver?.begin(record)
        while left > 0, try !content.isAtEnd() {
            let bytes = UnsafeRawBufferPointer(rebasing: content.unread.prefix(Int(clamping: left)))
            try receiver?.receive(bytes)
            content.consume(bytes.count)
            left -= UInt64(bytes.count)
        }
        guard left == 0 else {
            throw WebArchiveError(
                code: .truncated,
                problem:
                    "the WARC record needs \(record.contentLength) bytes, but has only \(record.contentLength - left)",
                file: reader.name, offset: offset)
        }
    }

    /// Returns the HTTP head if it's inside the block.
    private func httpHead(of record: WARCRecord, _ content: BufferedInput) throws(WebArchiveError) -> HTTPMessageHead? {
        guard receiver == nil, record.holdsHTTP, ["response", "revisit"].contains(record.type) else { return nil }
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

    /// The maximum number of bytes in a gzip member after its record. There are four, CR LF CR LF.
    private static let bytesAfterBlockMax = 1 << 20

    private func note(_ error: WebArchiveError, at offset: UInt64) {
        log.add(
            .error, "warc-damaged", "A WARC record can't be read: \(error.problem).",
            at: "\(reader.name) byte \(offset)", consequence: "The content of this record can't be replayed.")
    }
}
