/// Reads the captures that match a filter from several archives, sorted by key and timestamp. Of the copies of a capture
/// in several archives, returns the first. Use it from one thread at a time.
///
/// Indexes that can be searched are read from any position at the same cost, in constant memory. The others are read
/// completely and sorted, in temporary files if necessary.
package final class URLScan {
    /// A position between two matching captures, valid for any scan of the same archives with the same filter.
    package struct Position: Sendable, Hashable {
        /// The key and timestamp of the last line that was read, up to `keyBytesMax` bytes.
        package let key: [UInt8]
        /// The number of matching captures with this key that were returned.
        package let passed: Int

        /// The number of bytes of a key that are compared, so that positions stay short.
        package static let keyBytesMax = 2048

        package init(key: [UInt8] = [], passed: Int = 0) {
            (self.key, self.passed) = (key, passed)
        }
    }

    /// The result of a step.
    package enum Step {
        /// A capture, and the position of its archive in the list of sources.
        case capture(CDXJEntry, source: Int)
        /// The deadline has passed. `position` is where to continue.
        case paused
        /// There are no more captures.
        case end
    }

    /// The matching lines of one index, or of all indexes that were sorted.
    private struct Reader {
        /// Returns the next line.
        let next: CDXJMerge.Reader
        /// The next capture, if it's known.
        var head: (entry: CDXJEntry, source: Int)?
        /// The key up to which lines were read.
        var key: ArraySlice<UInt8> = []
    }

    /// When to pause. Each step reads some lines, and the scan never pauses where it started.
    package var deadline: ContinuousClock.Instant?
    /// The position after the last capture that was returned.
    package private(set) var returned: Position
    /// Whether a searched index turned out to be unsorted or damaged. A new scan reads it completely.
    package private(set) var foundFault = false

    private let matcher: URLMatcher
    private let needsSURTs: Bool
    private let start: Position
    private var toSkip: Int
    private let temporaryFolder: String
    private let limits: Limits
    private let check: CancellationCheck
    /// The archives; `nil` after they have been opened.
    private var sources: [CDXQuerySource]?
    private let sourceCount: Int
    /// The opened archives by their position; those that are skipped are missing.
    private var files: [Int: WACZFile] = [:]
    private var revisits = RevisitTypes()
    private var readers: [Reader] = []
    /// The captures with the last key, and the archives that they were read from.
    private var seen: [CDXJEntry.CopyIdentity: Int] = [:]

    /// The number of lines to read from one index before reading from another.
    private static let linesPerTurn = 1024

    /// - Parameters:
    ///   - start: The position to continue from; `nil` for the first capture.
    ///   - needsSURTs: Whether captures must be sorted by SURTs even if an index has other keys.
    ///   - temporaryFolder: The folder for sorting lines that don't fit into memory. No file remains there.
    package init(
        _ filter: URLFilter, sources: [CDXQuerySource], from start: Position? = nil, needsSURTs: Bool = false,
        temporaryFolder: String, limits: Limits = .standard, _ check: CancellationCheck = CancellationCheck()
    ) {
        matcher = URLMatcher(filter)
        self.needsSURTs = needsSURTs || matcher.needsSURTs
        self.start = start ?? Position()
        returned = Position(key: self.start.key)
        toSkip = self.start.passed
        (self.sources, self.temporaryFolder, self.limits, self.check) = (sources, temporaryFolder, limits, check)
        sourceCount = sources.count
    }

    /// The position to continue from. Between the last capture that was returned and this position, nothing matches.
    package var position: Position {
        guard sources == nil else { return start }
        guard let first = first.map({ readers[$0].key }), !first.elementsEqual(returned.key) else { return returned }
        return Position(key: Array(first))
    }

    /// Returns the next capture.
    ///
    /// - Throws: `io`, `cancelled`; `badIndex` or a damage code if an index turns out to be unsorted or damaged, and
    ///   `foundFault` is set. `tooLarge` if an index exceeds its limits.
    package func next() throws(WebArchiveError) -> Step {
        if let sources {
            self.sources = nil
            try open(sources)
        }
        var hasTurned = false
        while let turn = first {
            if let head = readers[turn].head {
                readers[turn].head = nil
                let isSameKey = readers[turn].key.elementsEqual(returned.key)
                let isCopy = isCopy(head.entry, head.source, isSameKey: isSameKey)
                returned = Position(key: Array(readers[turn].key), passed: isSameKey ? returned.passed + 1 : 1)
                if toSkip > 0, returned.key == start.key {
                    toSkip -= 1
                    continue
                }
                if isCopy { continue }
                return .capture(head.entry, source: head.source)
            }
            let canPause = hasTurned && !readers[turn].key.elementsEqual(start.key)
            if canPause, let deadline, ContinuousClock.now >= deadline { return .paused }
            try advance(turn)
            hasTurned = true
        }
        return .end
    }

    /// Whether a capture was read from another archive before.
    private func isCopy(_ entry: CDXJEntry, _ source: Int, isSameKey: Bool) -> Bool {
        guard sourceCount > 1 else { return false }
        if !isSameKey { seen.removeAll(keepingCapacity: true) }
        let identity = entry.copyIdentity
        defer { seen[identity] = seen[identity] ?? source }
        return seen[identity].map { $0 != source } ?? false
    }

    /// The reader whose turn it is: the one with the smallest key. Of equal ones, those without a head come first, then
    /// those of the first archives.
    private var first: Int? {
        readers.indices.min { left, right in
            let (one, other) = (readers[left], readers[right])
            if one.key.lexicographicallyPrecedes(other.key) { return true }
            if other.key.lexicographicallyPrecedes(one.key) { return false }
            return (one.head?.source ?? -1, left) < (other.head?.source ?? -1, right)
        }
    }

    /// Reads up to the next capture, or a number of lines. Removes the reader at its end.
    private func advance(_ turn: Int) throws(WebArchiveError) {
        for count in 1...Self.linesPerTurn {
            guard let line = try readers[turn].next() else {
                readers.remove(at: turn)
                return
            }
            try check.step()
            let found = CDXJLine(position: .init(file: 0, offset: 0), bytes: line.bytes)
            let parsed = matcher.mayMatch(found) ? CDXJEntry.parsed(line.bytes, limits: limits) : nil
            let entry = try parsed.map { (entry) throws(WebArchiveError) in
                try revisits.withType(entry, in: files[line.source])
            }
            guard let entry, matcher.matches(entry, found, limits: limits), matcher.includesType(of: entry) else {
                if count == Self.linesPerTurn { readers[turn].key = Self.key(of: found) }
                continue
            }
            let key = Self.key(of: found)
            if key.lexicographicallyPrecedes(start.key) { continue }
            (readers[turn].key, readers[turn].head) = (key, (entry, line.source))
            return
        }
    }

    private static func key(of line: CDXJLine) -> ArraySlice<UInt8> { line.sortKey.prefix(Position.keyBytesMax) }
}

extension URLScan {
    private func open(_ sources: [CDXQuerySource]) throws(WebArchiveError) {
        readers = []
        var sorter: CDXJSorter?
        for (number, source) in sources.enumerated() {
            try check.now()
            guard let wacz = try source.open() else { continue }
            files[number] = wacz
            if let opened = try wacz.searchable(needsSURTs: needsSURTs) {
                for index in opened.indexes { readers.append(search(index, of: wacz, source: number)) }
            } else {
                if sorter == nil { sorter = CDXJSorter(folder: temporaryFolder, limits: limits) }
                try sorter?.addLines(of: wacz, source: number, check) { entry, bytes in
                    let line = CDXJLine(position: .init(file: 0, offset: 0), bytes: bytes)
                    return !Self.key(of: line).lexicographicallyPrecedes(start.key) && matcher.mayMatch(line)
                        && matcher.matches(scanned: entry, line: line, limits: limits)
                }
            }
        }
        if let next = try sorter?.sortedWithSources() { readers.append(Reader(next: next)) }
        for turn in readers.indices { readers[turn].key = start.key[...] }
    }

    private func search(_ index: CDXJIndex, of wacz: WACZFile, source: Int) -> Reader {
        let ranges = matcher.ranges.compactMap { $0.from(start.key) }
        let lines = CDXJRangeReader(index, ranges: ranges, limits: limits, nil)
        return Reader { [weak self] () throws(WebArchiveError) in
            do throws(WebArchiveError) {
                return try wacz.captureIndex.searching { () throws(WebArchiveError) in
                    try lines.next().map { CDXJMerge.Line(bytes: $0.bytes, source: source) }
                }
            } catch {
                self?.foundFault = error.isIndexFault
                throw error
            }
        }
    }
}

extension CDXJRange {
    /// Returns the part of the range from a key on; `nil` if there is none.
    fileprivate func from(_ key: [UInt8]) -> CDXJRange? {
        guard start.lexicographicallyPrecedes(key) else { return self }
        return key.lexicographicallyPrecedes(end) ? CDXJRange(start: key, end: end, needsMethod: needsMethod) : nil
    }
}
