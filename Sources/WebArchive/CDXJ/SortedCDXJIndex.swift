/// A plain, uncompressed index that is searched without loading it.
public struct SortedCDXJIndex: Sendable {
    let lines: SortedLines
    /// The position among the index files of the archive.
    let number: Int

    /// Opens a sorted index, for example one stored next to an archive.
    ///
    /// - Throws: `badIndex` if it has no lines.
    public init(_ source: any ByteSource, limits: Limits = .standard) throws(WebArchiveError) {
        try self.init(source, number: 0, limits: limits)
    }

    init(_ source: any ByteSource, number: Int, limits: Limits) throws(WebArchiveError) {
        lines = try SortedLines(source, limits: limits)
        self.number = number
    }
}

/// An index that can be searched without reading all of it.
public enum CDXJIndex: Sendable {
    /// An index of plain lines.
    case sorted(SortedCDXJIndex)
    /// An index of gzipped blocks with an `.idx` file.
    case zipNum(ZipNumIndex)

    /// The number of lines to read when checking that an index lists captures.
    private static let trialLinesMax = 64
    /// The number of lines to sample when checking the order of a large index.
    private static let samples = 32

    /// Returns a cursor at the first line that isn't below `target`.
    ///
    /// - Parameter allowance: Charged with blocks that are decompressed; `nil` for what reads each block about once.
    func cursor(from target: [UInt8], _ allowance: Allowance?) throws(WebArchiveError) -> CDXJCursor {
        switch self {
        case .sorted(let index): .sorted(try index.lines.search(target).cursor, number: index.number)
        case .zipNum(let index): .zipNum(try index.cursor(from: target, allowance))
        }
    }

    /// Returns the last line below `target`, or `nil` if there is none.
    func line(before target: [UInt8]) throws(WebArchiveError) -> CDXJLine? {
        switch self {
        case .sorted(let index):
            guard let below = try index.lines.search(target).below,
                let line = try index.lines.cursor(from: below).peek()
            else { return nil }
            return CDXJLine(position: .init(file: index.number, offset: line.offset), bytes: line.bytes)
        case .zipNum(let index): return try index.line(before: target)
        }
    }

    /// Checks the order of all lines, or of a sample if the index exceeds `limits.sortCheckBytesMax`.
    ///
    /// - Throws: `badIndex` if the index isn't sorted.
    func checkOrder(limits: Limits) throws(WebArchiveError) {
        let isSorted: Bool
        switch self {
        case .sorted(let index):
            isSorted =
                index.lines.source.size <= limits.sortCheckBytesMax
                ? try index.lines.areSortedThroughout() : try index.lines.areSortedInSamples(Self.samples)
        case .zipNum(let index):
            if index.idxSize <= limits.sortCheckBytesMax { return try index.checkPlaces() }
            isSorted = try index.samplesAreSorted(Self.samples)
        }
        guard isSorted else {
            throw WebArchiveError(code: .badIndex, problem: "the index isn't sorted", file: name)
        }
    }

    /// Checks the whole index, block by block.
    ///
    /// - Parameter progress: Called regularly; throws to stop.
    /// - Throws: The errors of a search and of `progress`.
    func check(_ progress: () throws -> Void) throws {
        switch self {
        case .zipNum(let index): try index.checkBlocks(progress)
        case .sorted(let index):
            guard try index.lines.areSortedThroughout() else {
                throw WebArchiveError(code: .badIndex, problem: "the index isn't sorted", file: name)
            }
        }
    }

    /// Returns whether one of the first lines is a capture.
    func namesCaptures(limits: Limits) throws(WebArchiveError) -> Bool {
        let cursor = try cursor(from: [], nil)
        for _ in 0..<Self.trialLinesMax {
            guard let line = try cursor.peek() else { return false }
            if CDXJEntry.parsed(line.bytes, limits: limits) != nil { return true }
            cursor.advance()
        }
        return false
    }

    /// Returns whether some keys are plain URLs instead of SURTs.
    func hasPlainKeys() throws(WebArchiveError) -> Bool {
        for scheme in ["http:", "https:"] {
            let line = try cursor(from: Array(scheme.utf8), nil).peek()
            if line?.bytes.starts(with: scheme.utf8) == true { return true }
        }
        return false
    }

    private var name: String {
        switch self {
        case .sorted(let index): index.lines.source.name
        case .zipNum: "index.idx"
        }
    }
}

/// Iterates over the lines of an index in order. Use it from one thread at a time.
enum CDXJCursor {
    case sorted(SortedLineCursor, number: Int)
    case zipNum(ZipNumCursor)

    /// Returns the next line without advancing, or `nil` at the end.
    ///
    /// - Throws: `badIndex` if a line is out of order; the errors of reading.
    func peek() throws(WebArchiveError) -> CDXJLine? {
        switch self {
        case .sorted(let cursor, let number):
            guard let line = try cursor.peek() else { return nil }
            return CDXJLine(position: .init(file: number, offset: line.offset), bytes: line.bytes)
        case .zipNum(let cursor): return try cursor.peek()
        }
    }

    /// Advances past the line that `peek` returned.
    func advance() {
        switch self {
        case .sorted(let cursor, _): cursor.advance()
        case .zipNum(let cursor): cursor.advance()
        }
    }
}

extension CDXJEntry {
    /// Returns the entry of a line, or `nil` if the line isn't valid.
    static func parsed(_ line: [UInt8], limits: Limits) -> CDXJEntry? {
        try? CDXJEntry(line: line, depthMax: limits.jsonDepthMax)
    }
}
