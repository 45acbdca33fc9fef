/// Where an index entry was read.
public struct IndexLocation: Sendable, Hashable, CustomStringConvertible {
    /// Name of the entry in the package: `indexes/index.cdx`.
    public let file: String
    /// Line, counted from 1; for a WARC that stands in for a missing index, the record.
    public let line: Int

    /// `indexes/index.cdx line 12`.
    public var description: String { "\(file) line \(line)" }
}

/// Reads one CDXJ text from the first line to the last, past bad lines, with flat memory.
///
/// Source: CDXJ 0.1.0. `!meta` lines, and the `CDX N b a …` line that older tools begin with, are passed over.
final class CDXJSequentialReader {
    let file: String
    private let lines: LineReader
    private let depthMax: Int
    private var previousSortKey: ArraySlice<UInt8> = []
    /// Lines that did not sort behind the one before.
    private(set) var unsortedLines = 0
    /// The line of the entry that was read last, as it is in the index.
    private(set) var lastLine: [UInt8] = []
    /// Lines that had something in them, good or bad.
    private(set) var contentLines = 0

    init(_ stream: any ByteStream, file: String, limits: Limits) {
        self.file = file
        depthMax = limits.jsonDepthMax
        lines = LineReader(
            stream, lineBytesMax: limits.indexLineBytesMax, skippedLineBytesMax: limits.skippedLineBytesMax)
    }

    /// The next entry, or `nil` at the end. Lines that cannot be used go to `log`.
    ///
    /// - Throws: What the stream throws; `tooLarge` for text that has no lines.
    func next(_ log: inout FindingLog) throws(WebArchiveError) -> (entry: CDXJEntry, location: IndexLocation)? {
        while let line = try lines.next() {
            let location = IndexLocation(file: file, line: line.number)
            guard let bytes = line.bytes else {
                contentLines += 1
                note("index-line-too-long", "An index line is too long to be one.", location, &log)
                continue
            }
            if CDXJLine.isHeader(bytes, number: line.number) { continue }
            contentLines += 1
            checkOrder(bytes, location, &log)
            do throws(CDXJProblem) {
                let entry = try CDXJEntry(line: bytes, depthMax: depthMax)
                lastLine = bytes
                return (entry, location)
            } catch {
                note(error, location, &log)
            }
        }
        return nil
    }

    /// The replay engine searches compressed indexes block by block, but loads all lines of a plain one.
    private var unsortedConsequence: String {
        file.hasSuffix(".gz")
            ? "Replay by ranges may miss captures; lookups by this program find them."
            : "Every capture can be replayed; lookups use a sorted copy of the index."
    }

    private func checkOrder(_ line: [UInt8], _ location: IndexLocation, _ log: inout FindingLog) {
        let sortKey = CDXJLine.sortKey(of: line[...])
        if sortKey.lexicographicallyPrecedes(previousSortKey) {
            unsortedLines += 1
            if unsortedLines == 1 {
                log.add(
                    .warning, "index-unsorted", "The index is not sorted: this line belongs before the one above it.",
                    at: location.description,
                    consequence: unsortedConsequence)
            }
        }
        previousSortKey = sortKey
    }

    private func note(_ problem: CDXJProblem, _ location: IndexLocation, _ log: inout FindingLog) {
        switch problem {
        case .encoding: note("index-not-utf8", "An index line is not UTF-8.", location, &log)
        case .syntax(let what): note("index-bad-line", "An index line cannot be read: \(what).", location, &log)
        case .incomplete(let what):
            note("index-incomplete-line", "An index line says too little: \(what).", location, &log)
        }
    }

    private func note(_ code: String, _ what: String, _ location: IndexLocation, _ log: inout FindingLog) {
        log.add(
            .warning, code, what, at: location.description,
            consequence: "The capture that this line names cannot be found; the others can.")
    }
}
