/// Reads all index entries of a WACZ in constant memory, except those of records that aren't captures.
///
/// If there is no index, or none has a valid line, it reads the headers of the WARC records instead.
public final class CaptureReader {
    private enum Current {
        case index(CDXJSequentialReader)
        case warc(WARCScanner, ZIPEntry)
        case lost(ArraySlice<(entry: CDXJEntry, location: IndexLocation)>)
    }

    /// The findings in the part read so far.
    public var findings: [Finding] { log.findings }
    /// The number of bytes read from the index files, or from the WARC files if there is no index.
    public private(set) var bytesRead: UInt64 = 0
    /// The names of unsorted index files, among those read to the end.
    private(set) var unsortedFiles: Set<String> = []
    /// The names of index files, among those read so far, that also list records that aren't captures.
    private(set) var filesWithOtherRecords: Set<String> = []
    /// The index line of the last entry as written; `nil` if it comes from a record's header.
    var lastLine: [UInt8]? {
        guard case .index(let index) = current else { return nil }
        return index.lastLine
    }
    /// Whether entries come from the headers of the WARC records, because there is no index.
    public private(set) var isReadingRecords = false
    /// The name of the index file whose last line is missing, and its last key; the captures were read from the records.
    private(set) var fileWithoutLastLine: String?
    private var lastKey: ArraySlice<UInt8> = []
    private var isEndChecked = false
    private let wacz: WACZFile
    private let recordTypes: RecordTypeReader
    private var log: FindingLog
    private var pending: ArraySlice<ZIPEntry>
    private var current: Current?
    private var entryCount = 0
    private var recordNumber = 0
    /// The number of entries without a status whose records may still be read.
    private var recordsLeft: Int

    init(_ wacz: WACZFile) {
        self.wacz = wacz
        recordTypes = RecordTypeReader(wacz)
        log = FindingLog(perCodeMax: wacz.limits.findingsPerCodeMax)
        pending = wacz.indexEntries[...]
        recordsLeft = wacz.captureIndex.listsOnlyCaptures ? 0 : Self.recordsMax
    }

    /// Returns the next entry and its location, or `nil` at the end. Invalid lines become findings.
    ///
    /// - Throws: `tooLarge` if an index exceeds its limits; `io` if the file can't be read.
    public func next() throws(WebArchiveError) -> (entry: CDXJEntry, location: IndexLocation)? {
        while true {
            do throws(WebArchiveError) {
                if let found = try nextInCurrent() {
                    entryCount += 1
                    return found
                }
                guard try openNext() else { return nil }
            } catch let error where error.isDamage {
                current = nil
                log.add(
                    .error, "index-damaged", "The rest of a file can't be read: \(error.problem).", at: error.file,
                    consequence: "Captures listed only in that part can't be found.")
            }
        }
    }

    /// More entries without a status count as captures.
    private static let recordsMax = 1_000_000

    /// Opens the next file; returns `false` if there is none left.
    private func openNext() throws(WebArchiveError) -> Bool {
        if pending.isEmpty, entryCount == 0, !isReadingRecords { startReadingRecords() }
        if pending.isEmpty, !isReadingRecords, !isEndChecked {
            isEndChecked = true
            if recordsLeft > 0, filesWithOtherRecords.isEmpty { wacz.captureIndex.noteOnlyCaptures() }
            if let lost = try lostCaptures() {
                current = .lost(lost[...])
                return true
            }
        }
        guard let entry = pending.popFirst() else { return false }
        // Of this file alone: a lookup may have to read all of them.
        let allowance = Allowance(archiveSize: entry.compressedSize)
        guard !isReadingRecords else {
            recordNumber = 0
            guard
                entry.method == .stored
                    || entry.uncompressedSize <= wacz.limits.inflatedBytesMax(compressed: entry.compressedSize)
            else { throw tooLarge(entry, ByteSize.text(entry.uncompressedSize)) }
            current = .warc(try WARCReader(entry: entry, of: wacz.directory, allowance).makeScanner(), entry)
            return true
        }
        let counted = CountedStream(try wacz.directory.stream(of: entry, allowance)) { [weak self] count in
            self?.bytesRead += count
        }
        current = .index(
            CDXJSequentialReader(
                WACZFile.textStream(of: entry, from: counted, allowance, limits: wacz.limits), file: entry.name,
                limits: wacz.limits))
        return true
    }

    private func startReadingRecords() {
        isReadingRecords = true
        bytesRead = 0
        pending = wacz.warcEntries[...]
        let isMissing = wacz.indexEntries.isEmpty
        log.add(
            .warning, isMissing ? "index-missing" : "index-empty",
            isMissing ? "The archive has no index." : "The index lists no captures.", at: "indexes/",
            consequence:
                "Captures can still be replayed: lookups use an index made from the WARC files. Replay by ranges can't."
        )
    }

    /// Returns the captures that an index with a known fault doesn't list.
    private func lostCaptures() throws(WebArchiveError) -> [(entry: CDXJEntry, location: IndexLocation)]? {
        let lost = try LostCaptures(wacz).find(after: lastKey)
        guard let file = wacz.indexEntries.first?.name, !lost.isEmpty else { return nil }
        fileWithoutLastLine = file
        for (entry, location) in lost {
            log.add(
                .warning, "index-last-line-missing",
                "The index doesn't list its last capture: \(entry.url.prefix(500))",
                at: location.description,
                consequence: "Replay by ranges can't find this capture; replay by lookups finds it.")
        }
        return lost
    }

    private func nextInCurrent() throws(WebArchiveError) -> (entry: CDXJEntry, location: IndexLocation)? {
        switch current {
        case nil: return nil
        case .index(let index):
            while let found = try index.next(&log) {
                guard !found.entry.saysCapture, recordsLeft > 0 else { return found }
                recordsLeft -= 1
                if recordTypes.isCapture(found.entry) { return found }
                filesWithOtherRecords.insert(index.file)
            }
            lastKey = index.previousSortKey
            if index.unsortedLines > 0 { unsortedFiles.insert(index.file) }
        case .warc(let scanner, let entry):
            if let found = try nextRecord(scanner, entry) { return found }
            for finding in scanner.findings { log.add(finding) }
        case .lost(var left):
            if let found = left.popFirst() {
                current = .lost(left)
                return found
            }
        }
        current = nil
        return nil
    }

    private func tooLarge(_ entry: ZIPEntry, _ size: String) -> WebArchiveError {
        .expanding(entry.compressedSize, to: size, file: wacz.directory.path(of: entry))
    }

    private func nextRecord(
        _ scanner: WARCScanner, _ entry: ZIPEntry
    ) throws(WebArchiveError) -> (entry: CDXJEntry, location: IndexLocation)? {
        while let item = try scanner.next() {
            recordNumber += 1
            let recordsMax = wacz.limits.linesMax(compressed: entry.compressedSize)
            guard recordNumber <= recordsMax else { throw tooLarge(entry, "more than \(recordsMax) records") }
            bytesRead += item.length
            let filename = String(wacz.path(of: entry).dropFirst("archive/".count))
            guard let made = CDXJEntry(item, filename: filename) else { continue }
            return (made, IndexLocation(file: entry.name, line: recordNumber))
        }
        return nil
    }
}

extension CDXJEntry {
    /// Creates the entry that an indexer writes for a record; `nil` for record types that aren't indexed.
    init?(_ item: WARCScanner.Item, filename: String) {
        let record = item.record
        guard item.isCapture, let url = record.targetURI, let time = record.timestamp else { return nil }
        let payloadType = record.holdsHTTP ? item.httpHead?.mime : HTTPMessageHead.withinLimit(record.contentType)
        self.init(
            urlKey: SURT.key(for: url), timestamp: time.digits14, url: url,
            mime: record.isRevisit ? "warc/revisit" : payloadType, status: item.httpHead?.status,
            digest: HTTPMessageHead.withinLimit(record.payloadDigest), filename: filename, offset: record.offset,
            length: item.length)
    }
}

/// A stream that reports the number of bytes read.
private final class CountedStream: ByteStream {
    var name: String { stream.name }
    private let stream: any ByteStream
    private let count: (UInt64) -> Void

    init(_ stream: any ByteStream, _ count: @escaping (UInt64) -> Void) {
        self.stream = stream
        self.count = count
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(WebArchiveError) -> Int {
        let found = try stream.read(into: buffer)
        count(UInt64(found))
        return found
    }
}
