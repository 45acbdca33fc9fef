/// A query for the captures of a URL, or of a set of URLs.
public struct CaptureQuery: Sendable, Hashable {
    /// The part of a URL that has to match. Names are those of pywb's CDX server.
    public enum MatchType: String, Sendable, Hashable, Codable, CaseIterable {
        /// The URL itself, ignoring what keys ignore: `http` or `https`, case, and `www.`.
        case exact
        /// All URLs that begin with the URL.
        case prefix
        /// All URLs of its host, with any port.
        case host
        /// All URLs of its host and of subdomains.
        case domain
    }

    /// The URL; for `host` and `domain`, a host name is enough.
    public let url: String
    /// The part of the URL that has to match.
    public let matchType: MatchType

    /// Creates a query.
    public init(url: String, matchType: MatchType) {
        self.url = url
        self.matchType = matchType
    }

    /// As the URL of a prefix query: all captures.
    static let everything = "*"

    /// The index ranges that match.
    var ranges: [CDXJRange] {
        // UTF-8 has no byte 0xFF.
        if url == Self.everything { return [CDXJRange(start: [], end: [0xFF])] }
        switch matchType {
        case .exact: return CaptureMatcher(url: url).keys.map { CDXJRange(prefix: "\($0) ") }
        case .prefix: return prefixes
        case .host, .domain:
            let hosts = Set(
                keys.filter(SURT.isSURT).compactMap { $0.split(separator: ")").first?.split(separator: ":").first })
            let ends = matchType == .host ? [")", ":"] : [")", ":", ","]
            return hosts.flatMap { host in ends.map { CDXJRange(prefix: "\(host)\($0)") } }
        }
    }

    private var keys: [String] { SURT.canonicalKeys(for: Self.withScheme(url)) }

    /// The ranges of a prefix query. Keys drop a trailing slash or question mark; without it, too much would match. As
    /// in pywb.
    private var prefixes: [CDXJRange] {
        if url.hasSuffix("?") { return keys.map { CDXJRange(prefix: $0.hasSuffix("?") ? $0 : "\($0)?") } }
        let endsInSlash = url.hasSuffix("/")
        return keys.filter { !endsInSlash || $0.hasSuffix("/") }.map { CDXJRange(prefix: $0) }
    }

    /// Returns the URL with a scheme: adds `http` if it's missing, as in `localhost:8080/`.
    static func withScheme(_ url: String) -> String {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return "http://\(url)" }
        if url[colon...].hasPrefix("://") { return url }
        let scheme = url[..<colon]
        guard let first = scheme.first, first.isASCII, first.isLetter, !scheme.contains(".") else {
            return "http://\(url)"
        }
        let port = url[colon...].utf8.dropFirst().prefix(while: \.isASCIIDigit)
        let rest = url[colon...].utf8.dropFirst(1 + port.count)
        let isPort = !port.isEmpty && (rest.first.map { "/?".utf8.contains($0) } ?? true)
        return isPort ? "http://\(url)" : url
    }
}

/// Iterates over index entries. Use it from one thread at a time.
public final class CaptureCursor {
    private enum Phase {
        case unopened
        case search(CDXJMerge)
        case scan(CaptureReader)
    }

    /// Whether entries are sorted by key and time. Valid after the first call of `next()`.
    public private(set) var isSorted = false
    /// The number of bytes of matching index lines, including invalid ones.
    private(set) var bytesRead = 0
    private let wacz: WACZFile
    private let ranges: [CDXJRange]
    private let check: CancellationCheck
    private var phase = Phase.unopened

    convenience init(_ wacz: WACZFile, _ query: CaptureQuery) {
        self.init(wacz, ranges: query.ranges)
    }

    init(_ wacz: WACZFile, ranges: [CDXJRange], _ check: CancellationCheck = CancellationCheck()) {
        self.wacz = wacz
        self.ranges = ranges
        self.check = check
    }

    /// Returns the next entry, or `nil` at the end.
    ///
    /// - Throws: `badIndex` if an index turns out to be unsorted; a new cursor then reads all of it. `io`.
    public func next() throws(WebArchiveError) -> CDXJEntry? {
        switch phase {
        case .unopened:
            try open()
            return try next()
        case .search(let lines):
            return try wacz.captureIndex.searching { () throws(WebArchiveError) in
                while let line = try lines.next() {
                    try check.step()
                    bytesRead += line.bytes.count
                    if let entry = CDXJEntry.parsed(line.bytes, limits: wacz.limits) { return entry }
                }
                return nil
            }
        case .scan(let reader):
            while let (entry, _) = try reader.next() {
                try check.step()
                guard fits(entry) else { continue }
                bytesRead += reader.lastLine?.count ?? 0
                return entry
            }
            return nil
        }
    }

    private func open() throws(WebArchiveError) {
        // Plain URLs sort differently from SURTs, so hosts aren't contiguous ranges.
        if let opened = try wacz.searchable(needsSURTs: true) {
            isSorted = true
            let lines = CDXJMerge()
            try wacz.captureIndex.searching { () throws(WebArchiveError) in
                for index in opened.indexes {
                    let reader = CDXJRangeReader(index, ranges: ranges, limits: wacz.limits, nil)
                    try lines.add { () throws(WebArchiveError) in
                        try reader.next().map { CDXJMerge.Line(bytes: $0.bytes) }
                    }
                }
            }
            phase = .search(lines)
        } else {
            phase = .scan(wacz.makeCaptureReader())
        }
    }

    private func fits(_ entry: CDXJEntry) -> Bool {
        let isSURT = SURT.isSURT(entry.urlKey) || HTTPURLParts(entry.urlKey) == nil
        let line = Array("\(isSURT ? entry.urlKey : SURT.key(for: entry.url)) ".utf8)
        return ranges.contains { $0.contains(line) }
    }
}
