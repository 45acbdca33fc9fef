/// The location of an index entry.
public struct IndexLocation: Sendable, Hashable, CustomStringConvertible {
    /// The name of the index file in the archive: `indexes/index.cdx`.
    public let file: String
    /// The line number, counted from 1; the record number if a WARC file is read because the index is missing.
    public let line: Int

    /// `indexes/index.cdx line 12`.
    public var description: String { "\(file) line \(line)" }
}

/// Reads a CDXJ index from the first line to the last in constant memory, skipping invalid lines.
///
/// Source: CDXJ 0.1.0. `!meta` lines, and the `CDX N b a …` header of older tools, are skipped.
final class CDXJSequentialReader {
    let file: String
    private let lines: LineReader
    private let depthMax: Int
    /// The key and timestamp of the last line that isn't blank.
    private(set) var previousSortKey: ArraySlice<UInt8> = []
    /// The number of lines that sort before the previous one.
    private(set) var unsortedLines = 0
    /// The index line of the last entry, as written.
    private(set) var lastLine: [UInt8] = []
    /// The number of lines that aren't blank, valid or not.
    private(set) var contentLines = 0

    init(_ stream: any ByteStream, file: String, limits: Limits) {
        self.file = file
        depthMax = limits.jsonDepthMax
        lines = LineReader(
            stream, lineBytesMax: limits.indexLineBytesMax, skippedLineBytesMax: limits.skippedLineBytesMax)
    }

    /// Returns the next entry, or `nil` at the end. Adds a finding to `log` for each invalid line.
    ///
    /// - Throws: The errors of the stream; `tooLarge` if a line never ends.
    func next(_ log: inout FindingLog) throws(WebArchiveError) -> (entry: CDXJEntry, location: IndexLocation)? {
        while let line = try lines.next() {
            let location = IndexLocation(file: file, line: line.number)
            guard let bytes = line.bytes else {
                contentLines += 1
                note("index-line-too-long", "An index line is too long.", location, &log)
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

    // The replay engine searches compressed indexes block by block, but loads all lines of a plain one.
    private var unsortedConsequence: String {
        file.hasSuffix(".gz")
            ? "Replay by ranges may miss captures; replay by lookups finds them."
            : "Replay isn't affected: lookups use a sorted copy of the index."
    }

    private func checkOrder(_ line: [UInt8], _ location: IndexLocation, _ log: inout FindingLog) {
        let sortKey = CDXJLine.sortKey(of: line[...])
        if sortKey.lexicographicallyPrecedes(previousSortKey) {
            unsortedLines += 1
            if unsortedLines == 1 {
                log.add(
                    .warning, "index-unsorted", "The index isn't sorted: this line belongs before the previous one.",
                    at: location.description,
                    consequence: unsortedConsequence)
            }
        }
        previousSortKey = sortKey
    }

    private func note(_ problem: CDXJProblem, _ location: IndexLocation, _ log: inout FindingLog) {
        switch problem {
        case .encoding: note("index-not-utf8", "An index line isn't UTF-8.", location, &log)
        case .syntax(let what): note("index-bad-line", "An index line can't be read: \(what).", location, &log)
        case .incomplete(let what):
            note("index-incomplete-line", "An index line is incomplete: \(what).", location, &log)
        case .longURL(let count):
            note("url-too-long", "A capture's URL is too long: it has \(count) bytes.", location, &log)
        }
    }

    private func note(_ code: String, _ what: String, _ location: IndexLocation, _ log: inout FindingLog) {
        log.add(
            .warning, code, what, at: location.description,
            consequence: "The capture on this line can't be found, but the others can.")
    }
}
