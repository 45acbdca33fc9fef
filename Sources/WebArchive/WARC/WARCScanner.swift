/// Receives the blocks of the records that a scanner reads. A block may turn out to be damaged while it's received.
protocol WARCBlockReceiver: AnyObject {
    func begin(_ record: WARCRecord)
    func receive(_ bytes: UnsafeRawBufferPointer) throws(WebArchiveError)
}

/// A part of a WARC file that can't be read, up to the next record that can.
struct DamagedStretch: Sendable, Hashable {
    /// The offset of its first byte.
    let start: UInt64
    /// The offset after its last byte. The last stretch goes to the end of the file.
    var end = UInt64.max
    /// The reason.
    let problem: String
    /// The URL of its first record, if the header can be read.
    let url: String?
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
    /// The first stretches of the part read so far that can't be read.
    private(set) var damage: [DamagedStretch] = []
    /// The number of all stretches that can't be read.
    private(set) var damageCount = 0
    /// The offset in the WARC file up to which it was read.
    var offset: UInt64 { input.offset }
    private(set) var log: FindingLog
    /// Whether a gzip member holds more or less than one record, so that records can't be read alone.
    private(set) var hasOtherMembers = false
    private let reader: WARCReader
    private let input: BufferedInput
    private let receiver: (any WARCBlockReceiver)?
    /// The last record whose header was read.
    private var lastRecord: WARCRecord?
    /// The capture in which the file ends.
    private var cutRecord: WARCRecord?
    /// The number of bytes of record headers that may still be read, which take the most time of all.
    private var headerBytesLeft: UInt64

    /// - Parameter receiver: Receives all blocks. Items have no HTTP head then.
    init(_ reader: WARCReader, _ input: BufferedInput, receiver: (any WARCBlockReceiver)? = nil) {
        self.reader = reader
        self.input = input
        self.receiver = receiver
        headerBytesLeft = reader.limits.inflatedBytesMax(compressed: reader.storedSize)
        log = FindingLog(perCodeMax: reader.limits.findingsPerCodeMax)
    }

    /// Removes the findings so far, and returns them.
    func takeFindings() -> FindingLog { log.taken() }

    /// Removes the stretches so far that can't be read, and returns them and the number of all.
    func takeDamage() -> (kept: [DamagedStretch], count: Int) {
        defer { (damage, damageCount) = ([], 0) }
        return (damage, damageCount)
    }

    /// Returns the next complete record, or `nil` at the end. Damaged records are skipped with a finding.
    ///
    /// - Throws: `io`, or an error in the ZIP entry itself, which ends the scan.
    public func next() throws(WebArchiveError) -> Item? {
        // Within damaged data, what looks like a record's start may be anything, so only the first error counts.
        var damaged: (error: WebArchiveError, offset: UInt64, record: WARCRecord?)?
        while try input.skipLineEnds() {
            let offset = input.offset
            do throws(WebArchiveError) {
                let isMember = GzipMember.starts(try input.peek(3))
                guard let item = try isMember ? compressedItem(at: offset) : plainItem(at: offset) else { continue }
                noteLongURL(of: item)
                noteSpellings(of: item.record)
                if let (error, start, record) = damaged {
                    note(error, at: start, record, isCut: false)
                    endDamage(at: offset)
                }
                return item
            } catch {
                guard error.isDamage || error.code == .tooLarge || error.code == .tooCostly else { throw error }
                damaged = damaged ?? (error, offset, lastRecord?.offset == offset ? lastRecord : nil)
                if error.code == .tooCostly { break }
                if try !findNextRecord(after: offset) { break }
            }
        }
        if let (error, start, record) = damaged {
            let isCut = error.code == .truncated && record != nil
            if isCut, record?.isCapture == true { cutRecord = record }
            note(error, at: start, record, isCut: isCut)
        }
        return nil
    }

    /// Returns the capture in which the file ends, as far as it's there. Call it after the last record.
    ///
    /// - Returns: `nil` if the file ends with a whole record, or if the header of the last one is cut too.
    /// - Throws: `io`; the errors of the receiver.
    func nextCutItem() throws(WebArchiveError) -> Item? {
        guard let record = cutRecord else { return nil }
        cutRecord = nil
        let content = try reader.open(at: record.offset, length: nil).content
        do throws(WebArchiveError) {
            guard try content.skip(record.headerLength) == record.headerLength else { return nil }
            try finish(record, content, at: record.offset)
        } catch {
            guard [.truncated, .badGzip, .tooLarge, .tooCostly].contains(error.code) else { throw error }
        }
        return Item(record: record, length: reader.size - record.offset, httpHead: nil)
    }

    private func endDamage(at offset: UInt64) {
        guard damageCount <= Self.damageMax, let last = damage.indices.last else { return }
        damage[last].end = offset
    }

    private static let damageMax = 1000

    /// - Returns: `nil` if the gzip member is empty.
    private func compressedItem(at offset: UInt64) throws(WebArchiveError) -> Item? {
        let member = try GzipMember(input, reader.allowance)
        let content = BufferedInput(member)
        guard try !content.isAtEnd() else {
            log.add(
                .notice, "warc-empty-member", "A gzip member of a WARC file is empty.",
                at: "\(reader.name) byte \(offset)",
                consequence: "Replay isn't affected, but other programs may not read what follows.")
            return nil
        }
        let record: WARCRecord
        let head: HTTPMessageHead?
        do throws(WebArchiveError) {
            record = try self.record(from: content, at: offset, isCompressed: true)
            head = try httpHead(of: record, content)
            try finish(record, content, at: offset)
        } catch {
            // A record, or its header, may go on in the next member.
            if [.truncated, .badRecord].contains(error.code), try isContinued() { hasOtherMembers = true }
            throw error
        }
        try skipEnd(of: content, member, at: offset)
        return Item(record: record, length: input.offset - offset, httpHead: head)
    }

    private func record(
        from content: BufferedInput, at offset: UInt64, isCompressed: Bool
    ) throws(WebArchiveError) -> WARCRecord {
        guard headerBytesLeft > 0 else {
            throw WebArchiveError(
                code: .tooLarge, problem: "the headers expand far more than those of real archives", file: reader.name)
        }
        let start = content.offset
        defer { headerBytesLeft -= min(headerBytesLeft, content.offset - start) }
        let record = try reader.record(from: content, at: offset, window: nil, isCompressed: isCompressed)
        lastRecord = record
        return record
    }

    private func noteLongURL(of item: Item) {
        guard let url = item.record.targetURI, !item.hasShortURL, item.record.isCapture else { return }
        log.add(
            .warning, "url-too-long", "A capture's URL is too long: it has \(url.utf8.count) bytes.",
            at: "\(reader.name) byte \(item.record.offset)", consequence: "This capture isn't listed.")
    }

    /// Notes what other programs, or a verification, can't read.
    private func noteSpellings(of record: WARCRecord) {
        var place: String { "\(reader.name) byte \(record.offset)" }
        if record.hasOddVersionLine {
            log.add(
                .notice, "warc-version-line", "A WARC record begins with “warc/” in lower case instead of “WARC/”.",
                at: place,
                consequence:
                    "Replay by lookups isn't affected, but replay by ranges and other programs may not read it.")
        }
        for digest in [record.payloadDigest, record.blockDigest] {
            guard let digest, WARCDigest(digest) == nil else { continue }
            log.add(
                .notice, "warc-digest-unknown", "A digest of a WARC record can't be read: \"\(digest.prefix(80))\".",
                at: place, consequence: "Replay isn't affected, but damage to this record can't be detected with it.")
        }
    }

    /// Reads what follows a record in its gzip member: CR LF CR LF.
    private func skipEnd(of content: BufferedInput, _ member: GzipMember, at offset: UInt64) throws(WebArchiveError) {
        guard try content.skipLineEnds() else { return }
        hasOtherMembers = true
        log.add(
            .error, "warc-shared-member", "A gzip member of a WARC file holds more than one record.",
            at: "\(reader.name) byte \(offset)", consequence: "Only the first of these records can be replayed.")
        // Of a member that expands to more, the search for the next record goes on in the compressed bytes.
        var skipped = 0
        while skipped < Self.bytesAfterRecordMax, try !content.isAtEnd() {
            skipped += content.unread.count
            content.consume(content.unread.count)
        }
    }

    private static let bytesAfterRecordMax = 16 << 20

    /// Whether the next gzip member begins within a record.
    private func isContinued() throws(WebArchiveError) -> Bool {
        guard GzipMember.starts(try input.peek(3)) else { return false }
        do throws(WebArchiveError) {
            return try !WARCRecord.starts(reader.open(at: input.offset, length: nil).content.peek(5))
        } catch {
            if error.code == .io { throw error }
            return false
        }
    }

    private func plainItem(at offset: UInt64) throws(WebArchiveError) -> Item {
        guard try WARCRecord.starts(input.peek(5)) else {
            throw WebArchiveError(
                code: .badRecord, problem: "no WARC record begins here", file: reader.name, offset: offset)
        }
        let record = try record(from: input, at: offset, isCompressed: false)
        // Reading on would skip the records that follow.
        guard input.offset <= reader.size, record.contentLength <= reader.size - input.offset else {
            throw truncated(record, reader.size - min(input.offset, reader.size))
        }
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
        guard left == 0 else { throw truncated(record, record.contentLength - left) }
    }

    private func truncated(_ record: WARCRecord, _ count: UInt64) -> WebArchiveError {
        WebArchiveError(
            code: .truncated, problem: "the WARC record needs \(record.contentLength) bytes, but has only \(count)",
            file: reader.name, offset: record.offset)
    }

    /// Returns the HTTP head if it's inside the block.
    private func httpHead(of record: WARCRecord, _ content: BufferedInput) throws(WebArchiveError) -> HTTPMessageHead? {
        guard receiver == nil, record.holdsHTTP, ["response", "revisit"].contains(record.type) else { return nil }
        let wanted = Int(min(record.contentLength, 32 << 10))
        let bytes = try content.peek(wanted)
        let block = BufferedInput(SourceStream(MemoryByteSource(bytes, name: reader.name)), capacity: 32 << 10)
        return try? HTTPMessageHead.read(from: block, limits: reader.limits)
    }

    /// Skips to the next byte that may start a record, after the start of the damaged one.
    private func findNextRecord(after offset: UInt64) throws(WebArchiveError) -> Bool {
        if input.offset == offset { input.consume(min(1, input.unread.count)) }
        while true {
            let bytes = input.unread
            var position = 0
            while position < bytes.count - 4 {
                let byte = bytes[position]
                if byte == 0x1F || byte.asciiLowercased == UInt8(ascii: "w") {
                    let rest = bytes[position..<position + 5]
                    if GzipMember.starts(rest) || WARCRecord.starts(rest) {
                        input.consume(position)
                        return true
                    }
                }
                position += 1
            }
            input.consume(max(0, bytes.count - 4))
            if try !input.fill() { return false }
        }
    }

    private func note(_ error: WebArchiveError, at offset: UInt64, _ record: WARCRecord?, isCut: Bool) {
        damageCount += 1
        if damageCount <= Self.damageMax {
            damage.append(DamagedStretch(start: offset, problem: error.problem, url: record?.targetURI))
        }
        log.add(
            .error, "warc-damaged", "A WARC record can't be read: \(error.problem).",
            at: "\(reader.name) byte \(offset)",
            consequence: isCut
                ? "The file ends within this record. Its content can't be replayed, or only the part that is there."
                : "The content of this record can't be replayed.")
    }
}
