/// Decides which index lines match a capture query, with the same result for a search and for a scan.
///
/// An exact query matches what `WACZFile.captures(ofURL:)` returns. The other match types compare keys.
struct CDXLineMatcher: Sendable {
    /// The ranges that contain the matching lines.
    let ranges: [CDXJRange]
    /// The matcher of an exact query.
    private let captures: CaptureMatcher?
    /// Whether the lines are captures of one URL.
    var isExact: Bool { captures != nil }

    init(_ query: CaptureQuery) {
        captures = query.matchType == .exact ? CaptureMatcher(url: query.url) : nil
        ranges = captures?.ranges(includesMethods: true, includesPlainKeys: false) ?? query.ranges
    }

    /// Returns whether a line in `ranges` matches the query.
    func accepts(_ line: CDXJLine, limits: Limits) -> Bool {
        guard let captures, !captures.hasKey(line.urlKey) else { return true }
        return CDXJEntry.parsed(line.bytes, limits: limits).map { captures.accepts($0) } ?? false
    }

    /// Returns whether an entry matches the query. `line` is its canonical line.
    func accepts(_ entry: CDXJEntry, line: [UInt8]) -> Bool {
        if let captures { return captures.hasKey(line.prefix { $0 != 0x20 }) || captures.accepts(entry) }
        return ranges.contains { $0.contains(line) }
    }

    /// Returns how well a matching line fits the wanted time.
    func rank(of line: CDXQueryLine, for wanted: CaptureTimestamp) -> CaptureRank? {
        guard let time = CaptureTimestamp(digits: String(decoding: line.timestamp, as: UTF8.self)) else { return nil }
        let url = line.value(of: .member(.url), sourceName: "")
        let spelling = captures.flatMap { captures in url.map { captures.spelling(of: $0) } } ?? .other
        return CaptureRank(time, spelling, for: wanted)
    }
}
