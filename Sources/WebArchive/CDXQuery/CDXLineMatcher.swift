/// Decides which lines are of a URL, or of URLs that begin alike, in the same way for a search and for a scan.
///
/// An exact query takes what `WACZFile.captures(ofURL:)` finds. The other match types go by keys.
struct CDXLineMatcher: Sendable {
    /// The lines to look at.
    let ranges: [CDXJRange]
    /// For an exact query.
    private let captures: CaptureMatcher?

    init(_ query: CaptureQuery) {
        captures = query.matchType == .exact ? CaptureMatcher(url: query.url) : nil
        ranges = captures?.ranges(includesMethods: true, includesPlainKeys: false) ?? query.ranges
    }

    /// Whether a line in `ranges` is one of the query's.
    func accepts(_ line: CDXJLine, limits: Limits) -> Bool {
        guard let captures, !captures.hasKey(line.urlKey) else { return true }
        return CDXJEntry.parsed(line.bytes, limits: limits).map { captures.accepts($0) } ?? false
    }

    /// Whether an entry is one of the query's; `line` is its canonical line.
    func accepts(_ entry: CDXJEntry, line: [UInt8]) -> Bool {
        if let captures { return captures.hasKey(line.prefix { $0 != 0x20 }) || captures.accepts(entry) }
        return ranges.contains { $0.contains(line) }
    }

    /// How well one of the lines answers for a moment.
    func rank(of line: CDXQueryLine, for wanted: CaptureTimestamp) -> CaptureRank? {
        guard let time = CaptureTimestamp(digits: String(decoding: line.timestamp, as: UTF8.self)) else { return nil }
        let url = line.value(of: .member(.url), sourceName: "")
        let isSpelledAsAsked = captures.map { url?.elementsEqual($0.spelling.utf8) == true } ?? false
        return CaptureRank(time, isSpelledAsAsked: isSpelledAsAsked, for: wanted)
    }
}
