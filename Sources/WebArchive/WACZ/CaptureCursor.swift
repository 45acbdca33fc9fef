/// Which captures to list: those of a URL, or of all URLs that begin alike.
public struct CaptureQuery: Sendable, Hashable {
    /// How much of a URL has to fit. Names are those of pywb's CDX server.
    public enum MatchType: String, Sendable, Hashable, Codable, CaseIterable {
        /// The URL, as far as keys tell URLs apart: `http` and `https`, case and `www.` are one.
        case exact
        /// Every URL that begins with it.
        case prefix
        /// Every URL of its host, whatever the port.
        case host
        /// Every URL of its host and of the hosts below it.
        case domain
    }

    /// A URL; for `host` and `domain` a host name will do.
    public let url: String
    /// How much of the URL has to fit.
    public let matchType: MatchType

    /// Makes a query.
    public init(url: String, matchType: MatchType) {
        self.url = url
        self.matchType = matchType
    }

    /// The lines that fit.
    var ranges: [CDXJRange] {
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

    /// Keys drop a slash or a question mark at the end; without it, more would fit than was asked for. As in pywb.
    private var prefixes: [CDXJRange] {
        if url.hasSuffix("?") { return keys.map { CDXJRange(prefix: $0.hasSuffix("?") ? $0 : "\($0)?") } }
        let endsInSlash = url.hasSuffix("/")
        return keys.filter { !endsInSlash || $0.hasSuffix("/") }.map { CDXJRange(prefix: $0) }
    }

    /// A URL that names its scheme, which `localhost:8080/` does not: `http` is added to it.
    static func withScheme(_ url: String) -> String {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return "http://\(url)" }
        if url[colon...].hasPrefix("://") { return url }
        let scheme = url[..<colon]
        guard let first = scheme.first, first.isASCII, first.isLetter, !scheme.contains(".") else {
            return "http://\(url)"
        }
        let port = url[colon...].utf8.dropFirst().prefix { HTTPURLParts.isDigit($0) }
        let rest = url[colon...].utf8.dropFirst(1 + port.count)
        let isPort = !port.isEmpty && (rest.first.map { "/?".utf8.contains($0) } ?? true)
        return isPort ? "http://\(url)" : url
    }
}

/// Lists entries one after another. Belongs to one thread.
public final class CaptureCursor {
    private enum Phase {
        case unopened
        case search(CDXJMerge)
        case scan(CaptureReader)
    }

    /// Whether entries come in the order of keys and times; known once the first was asked for.
    public private(set) var isSorted = false
    /// Bytes of the index lines that fit, those that could not be read included.
    private(set) var bytesRead = 0
    private let wacz: WACZFile
    private let ranges: [CDXJRange]
    private let assumesSorted: Bool
    private let check: CancellationCheck
    private var phase = Phase.unopened

    convenience init(_ wacz: WACZFile, _ query: CaptureQuery, assumesSorted: Bool) {
        self.init(wacz, ranges: query.ranges, assumesSorted: assumesSorted)
    }

    init(
        _ wacz: WACZFile, ranges: [CDXJRange], assumesSorted: Bool, _ check: CancellationCheck = CancellationCheck()
    ) {
        self.wacz = wacz
        self.assumesSorted = assumesSorted
        self.ranges = ranges
        self.check = check
    }

    /// The next entry, or `nil` at the end.
    ///
    /// - Throws: `badIndex` when an index turns out not to be sorted; a new cursor then reads it as a whole. `io`.
    public func next() throws(WebArchiveError) -> CDXJEntry? {
        switch phase {
        case .unopened:
            try open()
            return try next()
        case .search(let lines):
            return try searching { () throws(WebArchiveError) in
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
        // URLs as keys are not in the order of SURTs, so that ranges of hosts do not exist among them.
        if let opened = try wacz.searchable(assumesSorted: assumesSorted), !opened.hasPlainKeys {
            isSorted = true
            let lines = CDXJMerge()
            try searching { () throws(WebArchiveError) in
                for index in opened.indexes {
                    let reader = CDXJRangeReader(index, ranges: ranges, limits: wacz.limits)
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

    /// Notes that an index must be read as a whole from now on when a search finds it at fault.
    private func searching<Value>(
        _ search: () throws(WebArchiveError) -> Value
    ) throws(WebArchiveError) -> Value {
        do throws(WebArchiveError) {
            return try search()
        } catch let error where error.isIndexFault {
            wacz.captureIndex.giveUp(after: error)
            throw error
        }
    }

    private func fits(_ entry: CDXJEntry) -> Bool {
        let isSURT = SURT.isSURT(entry.urlKey) || HTTPURLParts(entry.urlKey) == nil
        let line = Array("\(isSURT ? entry.urlKey : SURT.key(for: entry.url)) ".utf8)
        return ranges.contains { $0.contains(line) }
    }
}
