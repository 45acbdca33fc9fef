/// A plain index that lies uncompressed in the package, searched in place by reads at offsets.
public struct SortedCDXJIndex: Sendable {
    let lines: SortedLines
    /// Place among the index files of the package.
    let number: Int

    /// Opens a sorted index, for example one beside a package.
    ///
    /// - Throws: `badIndex` when it has no line.
    public init(_ source: any ByteSource, limits: Limits = .standard) throws(WebArchiveError) {
        try self.init(source, number: 0, limits: limits)
    }

    init(_ source: any ByteSource, number: Int, limits: Limits) throws(WebArchiveError) {
        lines = try SortedLines(source, limits: limits)
        self.number = number
    }
}

/// One index that can be searched without being read as a whole.
public enum CDXJIndex: Sendable {
    /// Plain lines.
    case sorted(SortedCDXJIndex)
    /// Gzipped blocks with an `.idx`.
    case zipNum(ZipNumIndex)

    /// Lines that are looked at to see whether the index is one of captures.
    private static let trialLinesMax = 64
    /// Lines that stand for all when a large index is checked for its order.
    private static let samples = 32

    /// The lines from the first on that is not below `target`.
    func cursor(from target: [UInt8]) throws(WebArchiveError) -> CDXJCursor {
        switch self {
        case .sorted(let index): .sorted(try index.lines.search(target).cursor, number: index.number)
        case .zipNum(let index): .zipNum(try index.cursor(from: target))
        }
    }

    /// Checks the order: in full up to `limits.sortCheckBytesMax`, in samples above.
    ///
    /// - Throws: `badIndex` when the order is broken.
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
            throw WebArchiveError(code: .badIndex, problem: "the index is not sorted", file: name)
        }
    }

    /// Checks the whole index, block by block.
    ///
    /// - Parameter progress: Called now and then; throws to stop.
    /// - Throws: What a search could throw; what `progress` throws.
    func check(_ progress: () throws -> Void) throws {
        switch self {
        case .zipNum(let index): try index.checkBlocks(progress)
        case .sorted(let index):
            guard try index.lines.areSortedThroughout() else {
                throw WebArchiveError(code: .badIndex, problem: "the index is not sorted", file: name)
            }
        }
    }

    /// Whether one of the first lines names a capture.
    func namesCaptures(limits: Limits) throws(WebArchiveError) -> Bool {
        let cursor = try cursor(from: [])
        for _ in 0..<Self.trialLinesMax {
            guard let line = try cursor.peek() else { return false }
            if CDXJEntry.parsed(line.bytes, limits: limits) != nil { return true }
            cursor.advance()
        }
        return false
    }

    /// Whether some keys are URLs as they were captured, not SURTs.
    func hasPlainKeys() throws(WebArchiveError) -> Bool {
        for scheme in ["http:", "https:"] {
            let line = try cursor(from: Array(scheme.utf8)).peek()
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

/// Goes over the lines of an index in order. Belongs to one thread.
enum CDXJCursor {
    case sorted(SortedLineCursor, number: Int)
    case zipNum(ZipNumCursor)

    /// The next line, without passing it; `nil` at the end.
    ///
    /// - Throws: `badIndex` when the order breaks; what reading throws.
    func peek() throws(WebArchiveError) -> CDXJLine? {
        switch self {
        case .sorted(let cursor, let number):
            guard let line = try cursor.peek() else { return nil }
            return CDXJLine(position: .init(file: number, offset: line.offset), bytes: line.bytes)
        case .zipNum(let cursor): return try cursor.peek()
        }
    }

    /// Passes the line that `peek` gave.
    func advance() {
        switch self {
        case .sorted(let cursor, _): cursor.advance()
        case .zipNum(let cursor): cursor.advance()
        }
    }
}

extension CDXJEntry {
    /// The entry of a line; `nil` when the line cannot be used.
    static func parsed(_ line: [UInt8], limits: Limits) -> CDXJEntry? {
        do throws(CDXJProblem) {
            return try CDXJEntry(line: line, depthMax: limits.jsonDepthMax)
        } catch {
            return nil
        }
    }
}
