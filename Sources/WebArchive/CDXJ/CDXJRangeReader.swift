/// Reads the lines of one index that are in any of several ranges, in order and without duplicates.
///
/// For each range it searches again, unless the next line is already in the range. Use it from one thread at a time.
final class CDXJRangeReader {
    private let index: CDXJIndex
    private let ranges: [CDXJRange]
    private let passedLinesMax: Int
    private let allowance: Allowance?
    private var cursor: CDXJCursor?
    /// The number of consecutive lines without a method that were only in ranges that need one.
    private var passedLines = 0

    /// - Parameter allowance: See `CDXJIndex.cursor`.
    init(_ index: CDXJIndex, ranges: [CDXJRange], limits: Limits, _ allowance: Allowance?) {
        (self.index, self.allowance) = (index, allowance)
        self.ranges = ranges.sorted { $0.start.lexicographicallyPrecedes($1.start) }
        passedLinesMax = limits.methodSearchLinesMax
    }

    /// Returns the next line, or `nil` at the end.
    func next() throws(WebArchiveError) -> CDXJLine? {
        if cursor == nil {
            guard let first = ranges.first else { return nil }
            cursor = try index.cursor(from: first.start, allowance)
        }
        while let line = try cursor?.peek() {
            var (isContained, needsMethod) = (false, true)
            for range in ranges where range.contains(line.bytes) {
                isContained = true
                if !range.needsMethod {
                    needsMethod = false
                    break
                }
            }
            if isContained, !needsMethod || line.namesMethod {
                passedLines = 0
                cursor?.advance()
                return line
            }
            if isContained, passedLines < passedLinesMax {
                passedLines += 1
                cursor?.advance()
                continue
            }
            passedLines = 0
            guard let next = ranges.first(where: { line.bytes.lexicographicallyPrecedes($0.start) }) else { return nil }
            cursor = try index.cursor(from: next.start, allowance)
        }
        return nil
    }
}
