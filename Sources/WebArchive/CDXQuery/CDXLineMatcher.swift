/// Decides which lines are of a URL, or of URLs that begin alike, in the same way for a search and for a scan.
///
/// An exact query takes what `WACZFile.captures(ofURL:)` finds, by the URL, and every line with a key under which a
/// writer may have put the URL (`SURT.candidates`), which is what pywb goes by. The other match types go by keys.
struct CDXLineMatcher: Sendable {
    /// The lines to look at.
    let ranges: [CDXJRange]
    /// Keys that are enough, for an exact query.
    private let exactKeys: Set<ArraySlice<UInt8>>
    private let captures: CaptureMatcher?

    init(_ query: CaptureQuery) {
        let keys = SURT.candidates(for: query.url)
        switch query.matchType {
        case .exact:
            let captures = CaptureMatcher(url: query.url)
            self.captures = captures
            exactKeys = Set(keys.map { Array($0.utf8)[...] })
            ranges = captures.ranges(includesMethods: true, includesPlainKeys: false)
        case .prefix, .host, .domain:
            captures = nil
            exactKeys = []
            ranges = query.matchType == .prefix ? Self.prefixes(keys, of: query.url) : Self.hosts(keys, query.matchType)
        }
    }

    /// Whether a line in `ranges` is one of the query's.
    func accepts(_ line: CDXJLine, limits: Limits) -> Bool {
        guard let captures, !exactKeys.contains(line.urlKey) else { return true }
        return CDXJEntry.parsed(line.bytes, limits: limits).map { captures.accepts($0) } ?? false
    }

    /// Whether an entry is one of the query's; `line` is its canonical line.
    func accepts(_ entry: CDXJEntry, line: [UInt8]) -> Bool {
        if let captures { return exactKeys.contains(line.prefix { $0 != 0x20 }) || captures.accepts(entry) }
        return ranges.contains { $0.contains(line) }
    }

    /// Keys drop a slash or a question mark at the end; without it, more would fit than was asked for.
    private static func prefixes(_ keys: [String], of url: String) -> [CDXJRange] {
        if url.hasSuffix("?") { return keys.map { CDXJRange(prefix: $0.hasSuffix("?") ? $0 : "\($0)?") } }
        let endsInSlash = url.hasSuffix("/")
        return keys.filter { !endsInSlash || $0.hasSuffix("/") }.map { CDXJRange(prefix: $0) }
    }

    private static func hosts(_ keys: [String], _ matchType: CaptureQuery.MatchType) -> [CDXJRange] {
        let hosts = Set(keys.compactMap { $0.split(separator: ")").first?.split(separator: ":").first })
        let ends = matchType == .host ? [")", ":"] : [")", ":", ","]
        return hosts.flatMap { host in ends.map { CDXJRange(prefix: "\(host)\($0)") } }
    }
}
