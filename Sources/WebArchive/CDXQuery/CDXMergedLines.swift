/// The lines of several archives that fit, by key and timestamp. Belongs to one thread.
///
/// Indexes that can be searched are read side by side. The others are read as a whole before the first line is given,
/// and sorted, in temporary files when need be.
final class CDXMergedLines {
    /// A line and the place of its archive among those of the query.
    struct Line {
        let bytes: [UInt8]
        let source: Int
    }

    /// A search of one index; an object, so that handing it on costs little.
    private final class Search {
        let lines: CDXJRangeReader
        let wacz: WACZFile

        init(_ lines: CDXJRangeReader, _ wacz: WACZFile) {
            self.lines = lines
            self.wacz = wacz
        }
    }

    private enum Reader {
        case search(Search)
        case sorted(CDXJSortedLines)
    }

    /// The next line of one reader.
    private struct Head {
        let line: Line
        let sortKey: ArraySlice<UInt8>
        let reader: Reader
        /// Place of the reader among those of all archives.
        let place: Int
    }

    /// Whether an index that was searched turned out not to be sorted or to be damaged; it will be scanned from now on.
    private(set) var foundFault = false
    private let matcher: CDXLineMatcher
    private let limits: Limits
    private let progress: CancellationCheck
    private let temporaryFolder: String
    /// `nil` once they are open.
    private var sources: [CDXQuerySource]?
    /// The first at the end.
    private var heads: [Head] = []

    init(
        _ sources: [CDXQuerySource], _ matcher: CDXLineMatcher, temporaryFolder: String, limits: Limits,
        _ progress: CancellationCheck
    ) {
        self.matcher = matcher
        self.limits = limits
        self.progress = progress
        self.sources = sources
        self.temporaryFolder = temporaryFolder
    }

    /// The next line, or `nil` at the end.
    func next() throws(WebArchiveError) -> Line? {
        if let sources {
            self.sources = nil
            try open(sources)
        }
        guard let head = heads.popLast() else { return nil }
        try advance(head.reader, source: head.line.source, place: head.place)
        return head.line
    }

    private func open(_ sources: [CDXQuerySource]) throws(WebArchiveError) {
        var scanned: CDXJSorter?
        var place = 0
        for (number, source) in sources.enumerated() {
            guard let (wacz, trustsOrder) = try source.open() else { continue }
            if let opened = try wacz.searchable(trustsOrder: trustsOrder), !opened.hasPlainKeys {
                for index in opened.indexes {
                    let reader = CDXJRangeReader(index, ranges: matcher.ranges, limits: limits)
                    try advance(.search(Search(reader, wacz)), source: number, place: place)
                    place += 1
                }
            } else {
                // URLs as keys are not in the order of SURTs, so that the lines have to be sorted anew.
                var sorter = scanned ?? CDXJSorter(folder: temporaryFolder, limits: limits)
                scanned = nil
                try scan(wacz, source: number, into: &sorter)
                scanned = sorter
            }
        }
        if let lines = try scanned?.sorted() { try advance(.sorted(lines), source: 0, place: place) }
    }

    private func scan(_ wacz: WACZFile, source: Int, into sorter: inout CDXJSorter) throws(WebArchiveError) {
        let reader = wacz.makeCaptureReader()
        let mark = Array(" \(source)".utf8)
        while let (entry, _) = try reader.next() {
            try progress.step()
            let line = entry.canonicalLine(from: reader.lastLine)
            if matcher.accepts(entry, line: line) { try sorter.add(line + mark) }
        }
    }

    /// Puts the next line of a reader where it belongs; drops a reader that is at its end.
    private func advance(_ reader: Reader, source: Int, place: Int) throws(WebArchiveError) {
        let line: Line
        switch reader {
        case .search(let search):
            guard let found = try searched(search) else { return }
            line = Line(bytes: found, source: source)
        case .sorted(let lines):
            guard let marked = try lines.next() else { return }
            line = Self.unmarked(marked)
        }
        let head = Head(line: line, sortKey: CDXJLine.sortKey(of: line.bytes[...]), reader: reader, place: place)
        var (low, high) = (0, heads.count)
        while low < high {
            let middle = (low + high) / 2
            if Self.isBefore(head, heads[middle]) { low = middle + 1 } else { high = middle }
        }
        heads.insert(head, at: low)
    }

    private func searched(_ search: Search) throws(WebArchiveError) -> [UInt8]? {
        do throws(WebArchiveError) {
            while let line = try search.lines.peek() {
                try progress.step()
                search.lines.advance()
                if matcher.accepts(line, limits: limits) { return line.bytes }
            }
            return nil
        } catch let error where error.isIndexFault {
            search.wacz.captureIndex.giveUp(SequentialReason(error, file: "indexes/"))
            foundFault = true
            throw error
        }
    }

    /// Takes the archive's number off the end of a line.
    static func unmarked(_ line: [UInt8]) -> Line {
        let space = line.lastIndex(of: 0x20) ?? line.endIndex
        let number = Int(String(decoding: line[space...].dropFirst(), as: UTF8.self))
        return Line(bytes: Array(line[..<space]), source: number ?? 0)
    }

    /// By key and timestamp; among equals in the order of the archives.
    private static func isBefore(_ left: Head, _ right: Head) -> Bool {
        if left.sortKey.lexicographicallyPrecedes(right.sortKey) { return true }
        return (left.line.source, left.place) < (right.line.source, right.place)
            && !right.sortKey.lexicographicallyPrecedes(left.sortKey)
    }
}
