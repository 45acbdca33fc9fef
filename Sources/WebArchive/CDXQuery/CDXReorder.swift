/// Sorts lines by rank in bounded memory. Use it from one thread at a time.
///
/// With a limit, keeps only that many lines. Lines that don't fit into memory go to sorted runs in temporary files.
struct CDXReorder {
    /// The sort key. The smallest comes first.
    struct Rank: Comparable {
        let first: UInt64
        let second: UInt64

        static func < (left: Rank, right: Rank) -> Bool {
            (left.first, left.second) < (right.first, right.second)
        }

        /// The rank with a fixed number of digits, so that its text sorts like the numbers.
        var digits: String {
            [first, second].map { number in
                let digits = String(number, radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
        }
    }

    private let limit: Int?
    private let limits: Limits
    private var kept: [(rank: Rank, line: CDXJMerge.Line)] = []
    private var byteCount = 0
    /// No line with a larger rank can be among the first `limit`.
    private var worst: Rank?
    private var sorter: CDXJSorter
    private var isSpilled = false
    private var sorted: CDXJMerge?
    private var given = 0

    /// The number of lines to keep beyond the limit before sorting and cutting.
    private static let slack = 1024

    init(limit: Int?, temporaryFolder: String, limits: Limits) {
        self.limit = limit
        self.limits = limits
        sorter = CDXJSorter(folder: temporaryFolder, limits: limits)
    }

    /// Adds a line. Lines of equal rank keep the order in which they were added.
    mutating func add(_ line: CDXJMerge.Line, _ rank: Rank) throws(WebArchiveError) {
        if isSpilled { return try spill(line, rank) }
        if let worst, !(rank < worst) { return }
        kept.append((rank, line))
        byteCount += line.bytes.count + 64
        if let limit, kept.count - Self.slack >= limit { cut(to: limit) }
        guard byteCount > limits.sortedBytesMax else { return }
        if let limit { cut(to: limit) }
        guard byteCount > limits.sortedBytesMax / 2 else { return }
        isSpilled = true
        for (rank, line) in kept { try spill(line, rank) }
        kept = []
    }

    /// Returns the next line in order. Don't add lines afterwards.
    mutating func next() throws(WebArchiveError) -> CDXJMerge.Line? {
        guard isSpilled else {
            if given == 0 { sortKept() }
            guard given < kept.count else { return nil }
            given += 1
            return kept[given - 1].line
        }
        if sorted == nil { sorted = try sorter.sorted() }
        guard let line = try sorted?.next() else { return nil }
        return CDXJMerge.Line(withSource: line.bytes.dropFirst(Self.rankBytes))
    }

    private static let rankBytes = 34

    private mutating func spill(_ line: CDXJMerge.Line, _ rank: Rank) throws(WebArchiveError) {
        // The sort key ends at the first of two spaces, as no digit follows.
        try sorter.add(Array("\(rank.digits)  ".utf8) + line.bytes, source: line.source)
    }

    private mutating func sortKept() {
        // Swift's sort isn't documented as stable, so positions decide among equals.
        let ordered = kept.enumerated().sorted { left, right in
            left.element.rank == right.element.rank
                ? left.offset < right.offset : left.element.rank < right.element.rank
        }
        kept = ordered.map(\.element)
    }

    private mutating func cut(to limit: Int) {
        sortKept()
        guard kept.count > limit else { return }
        kept.removeLast(kept.count - limit)
        worst = kept.last?.rank
        byteCount = kept.reduce(0) { $0 + $1.line.bytes.count + 64 }
    }
}
