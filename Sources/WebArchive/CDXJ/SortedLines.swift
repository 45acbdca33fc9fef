/// A file of sorted lines that is searched in place, with O(log n) reads of a few kilobytes.
struct SortedLines: Sendable {
    let source: any ByteSource
    /// The byte offset of the first line after headers and blank lines.
    let start: UInt64
    private let limits: Limits

    /// The number of bytes that one probe reads. At about this size, the search stops halving and reads line by line.
    private static let windowBytes = 4096
    /// The maximum number of header lines to skip.
    private static let headerLinesMax = 1024

    /// - Throws: `badIndex` if no line follows the headers.
    init(_ source: any ByteSource, limits: Limits) throws(WebArchiveError) {
        self.source = source
        self.limits = limits
        let lines = Self.lines(of: source, from: 0, limits: limits)
        for _ in 0..<Self.headerLinesMax {
            guard let line = try lines.next() else { break }
            if let bytes = line.bytes, CDXJLine.isHeader(bytes, number: line.number) { continue }
            start = line.offset
            return
        }
        throw WebArchiveError(code: .badIndex, problem: "the index lists no captures", file: source.name)
    }

    /// Returns a cursor at `offset`, which must be the start of a line.
    func cursor(from offset: UInt64) -> SortedLineCursor {
        SortedLineCursor(Self.lines(of: source, from: offset, limits: limits), file: source.name)
    }

    /// Finds the first line that isn't below `target`.
    ///
    /// - Returns: A cursor at that line, and the offset of the last line below `target`, if any.
    /// - Throws: `badIndex` if lines read during the search are out of order.
    func search(_ target: [UInt8]) throws(WebArchiveError) -> (cursor: SortedLineCursor, below: UInt64?) {
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.windowBytes, alignment: 16)
        defer { window.deallocate() }
        // Lines before `low` are below the target, lines from `high` on aren't. A probe starts before `limit`.
        var (low, high, limit) = (start, source.size, source.size)
        var lowKey: ArraySlice<UInt8> = []
        var highKey: ArraySlice<UInt8>?
        while limit - low > UInt64(Self.windowBytes) {
            let middle = low + (limit - low) / 2
            guard let probe = try probe(from: middle, before: limit, window) else {
                limit = middle
                continue
            }
            guard !probe.key.lexicographicallyPrecedes(lowKey), highKey?.lexicographicallyPrecedes(probe.key) != true
            else {
                throw unsorted(at: probe.offset)
            }
            if probe.key.lexicographicallyPrecedes(target) {
                (low, lowKey) = (probe.offset, probe.key)
            } else {
                (high, limit, highKey) = (probe.offset, probe.offset, probe.key)
            }
        }
        return try walk(from: low, to: high, target)
    }

    private func walk(
        from low: UInt64, to high: UInt64, _ target: [UInt8]
    ) throws(WebArchiveError) -> (cursor: SortedLineCursor, below: UInt64?) {
        let cursor = cursor(from: low)
        var below: UInt64?
        while let line = try cursor.peek(), line.offset < high, line.bytes.lexicographicallyPrecedes(target) {
            below = line.offset
            cursor.advance()
        }
        return (cursor, below)
    }

    /// Returns the last line that isn't a header or blank. Reads backwards from the end.
    func last() throws(WebArchiveError) -> (offset: UInt64, bytes: [UInt8])? {
        var reach = UInt64(Self.windowBytes)
        while true {
            let from = source.size - start > reach ? source.size - reach : start
            let lines = Self.lines(of: source, from: from, limits: limits)
            // Unless it starts at the first line, reading starts in the middle of one.
            if from > start { _ = try lines.next() }
            var last: (offset: UInt64, bytes: [UInt8])?
            while let line = try lines.next() {
                guard let bytes = line.bytes, !CDXJLine.isHeader(bytes, number: nil) else { continue }
                last = (line.offset, bytes)
            }
            if last != nil || from == start || reach > 2 * UInt64(limits.indexLineBytesMax) { return last }
            reach *= 8
        }
    }

    /// Returns whether all lines are in order. Reads the whole file.
    func areSortedThroughout() throws(WebArchiveError) -> Bool {
        let lines = LineReader(
            SourceStream(source, offset: start), offset: start, lineBytesMax: limits.indexLineBytesMax,
            skippedLineBytesMax: limits.skippedLineBytesMax)
        var previous: ArraySlice<UInt8> = []
        while let line = try lines.next() {
            guard let bytes = line.bytes, !CDXJLine.isHeader(bytes, number: nil) else { continue }
            let key = CDXJLine.sortKey(of: bytes[...])
            if key.lexicographicallyPrecedes(previous) { return false }
            previous = key
        }
        return true
    }

    /// Returns whether `count` lines, spread evenly over the file, are in order.
    func areSortedInSamples(_ count: Int) throws(WebArchiveError) -> Bool {
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.windowBytes, alignment: 16)
        defer { window.deallocate() }
        var previous: ArraySlice<UInt8> = []
        let step = max((source.size - start) / UInt64(count), 1)
        for offset in stride(from: start, to: source.size, by: Int(step)) {
            guard let probe = try probe(from: offset, before: source.size, window) else { break }
            if probe.key.lexicographicallyPrecedes(previous) { return false }
            previous = probe.key
        }
        return true
    }

    /// Returns the position and sort key of the first line that starts after `offset` and before `limit`.
    private func probe(
        from offset: UInt64, before limit: UInt64, _ window: UnsafeMutableRawBufferPointer
    ) throws(WebArchiveError) -> (offset: UInt64, key: ArraySlice<UInt8>)? {
        let count = try source.read(at: offset, into: window)
        if let lineEnd = UnsafeRawBufferPointer(rebasing: window[..<count]).lineEnd {
            let lineStart = lineEnd + 1
            guard offset + UInt64(lineStart) < limit else { return nil }
            let line = [UInt8](UnsafeRawBufferPointer(rebasing: window[lineStart..<count]).prefix(256))
            let key = CDXJLine.sortKey(of: line[...])
            if key.count > 1, key.endIndex < line.endIndex, !key.contains(0x0A), line[0] > 0x21 {
                return (offset + UInt64(lineStart), key)
            }
        }
        return try longProbe(from: offset, before: limit)
    }

    /// Does the same as `probe` when lines or keys are longer than a window, or blank.
    private func longProbe(
        from offset: UInt64, before limit: UInt64
    ) throws(WebArchiveError) -> (offset: UInt64, key: ArraySlice<UInt8>)? {
        let lines = Self.lines(of: source, from: offset, limits: limits)
        _ = try lines.next()
        while let line = try lines.next(), line.offset < limit {
            guard let bytes = line.bytes, !CDXJLine.isHeader(bytes, number: nil) else { continue }
            return (line.offset, CDXJLine.sortKey(of: bytes[...]))
        }
        return nil
    }

    private func unsorted(at offset: UInt64) -> WebArchiveError {
        WebArchiveError(code: .badIndex, problem: "the index isn't sorted", file: source.name, offset: offset)
    }

    private static func lines(of source: any ByteSource, from offset: UInt64, limits: Limits) -> LineReader {
        LineReader(
            SourceStream(source, offset: offset), offset: offset, capacity: 2 * windowBytes,
            lineBytesMax: limits.indexLineBytesMax, skippedLineBytesMax: limits.skippedLineBytesMax)
    }
}

/// Iterates over sorted lines, skipping headers and lines that are too long, and checks their order.
final class SortedLineCursor {
    private let lines: LineReader
    private let file: String
    private var pending: (offset: UInt64, bytes: [UInt8])?
    private var previousKey: ArraySlice<UInt8> = []

    init(_ lines: LineReader, file: String) {
        self.lines = lines
        self.file = file
    }

    /// Returns the next line without advancing, or `nil` at the end.
    ///
    /// - Throws: `badIndex` if it belongs before the previous line.
    func peek() throws(WebArchiveError) -> (offset: UInt64, bytes: [UInt8])? {
        while pending == nil {
            guard let line = try lines.next() else { return nil }
            guard let bytes = line.bytes, !CDXJLine.isHeader(bytes, number: nil) else { continue }
            let key = CDXJLine.sortKey(of: bytes[...])
            guard !key.lexicographicallyPrecedes(previousKey) else {
                throw WebArchiveError(
                    code: .badIndex, problem: "the index isn't sorted", file: file, offset: line.offset)
            }
            previousKey = key
            pending = (line.offset, bytes)
        }
        return pending
    }

    /// Advances past the line that `peek` returned.
    func advance() { pending = nil }
}
