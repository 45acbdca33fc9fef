/// Decides which captures are of a URL, in the same way for a search and for a scan: those with one of its keys.
///
/// The keys of a URL are computed once, here: make one matcher for all archives that are asked.
package struct CaptureMatcher: Sendable {
    private let url: String
    /// The URL without its fragment; of the captures of one moment the one that is spelled so is meant.
    let spelling: Substring
    private let folded: [UInt8]
    /// Keys that are enough for a capture to be one of the URL's, with and without a slash at the end of its path.
    let keys: [String]
    private let keyBytes: Set<ArraySlice<UInt8>>
    /// The other keys under which a writer may have put the URL. In other indexes they are those of other URLs.
    private let looseKeys: [String]
    /// Whether the URL names a request method, as replay writes requests other than `GET`.
    let namesMethod: Bool

    package init(url: String) {
        self.url = url
        spelling = url.prefix { $0 != "#" }
        folded = SURT.folded(url)
        let bytes = Array(url.utf8)
        namesMethod = CDXJLine.methodStart(in: bytes[...]).map { $0 > 0 && "?&".utf8.contains(bytes[$0 - 1]) } ?? false
        let spellings = Self.spellings(of: url)
        let canonical = spellings.flatMap { SURT.canonicalKeys(for: $0) }
        let keys = namesMethod ? canonical : Self.withSlashes(canonical)
        self.keys = keys
        keyBytes = Set(keys.map { Array($0.utf8)[...] })
        looseKeys = spellings.flatMap { SURT.looseKeys(for: $0) }
    }

    /// Python's `surt` drops the slash at the end of a path, and other writers keep it: `/species` is `/species/`.
    private static func withSlashes(_ keys: [String]) -> [String] {
        let others = keys.compactMap { key -> String? in
            let path = key.prefix { $0 != "?" }
            guard SURT.isSURT(key), !path.hasSuffix("/") else { return nil }
            return "\(path)/\(key[path.endIndex...])"
        }
        return keys + others.filter { !keys.contains($0) }
    }

    /// Whether only one of the paths of two URLs ends in a slash, so that what is relative to them leads elsewhere.
    package static func differBySlash(_ one: String, _ other: String) -> Bool {
        let ends = [one, other].map { url in
            HTTPURLParts(url).map { $0.path.count > 1 && $0.bytes[$0.path].last == UInt8(ascii: "/") }
        }
        return ends[0] != nil && ends[1] != nil && ends[0] != ends[1]
    }

    /// A URL that names a method, as it is and with the spaces of its body spelled as indexers do: the escapes of a form
    /// undone, a plus a space.
    private static func spellings(of url: String) -> [String] {
        let bytes = Array(url.utf8)
        guard let start = CDXJLine.methodStart(in: bytes[...]) else { return [url] }
        let (head, body) = (bytes[..<start], String(decoding: bytes[start...], as: UTF8.self))
        let spaced = body.replacing("+", with: " ")
        let decoded = String(decoding: PercentEncoding.decoded(Array(spaced.utf8)), as: UTF8.self)
        let spellings = [spaced, decoded].map {
            String(decoding: head, as: UTF8.self) + $0.replacing(" ", with: "%20")
        }
        return [url] + Set(spellings).subtracting([url]).sorted()
    }

    /// Whether an entry is one of the URL's.
    func accepts(_ entry: CDXJEntry) -> Bool {
        if entry.url == url || hasKey(Array(entry.urlKey.utf8)[...]) { return true }
        if HTTPURLParts(entry.urlKey) != nil, hasKey(Array(SURT.key(for: entry.requestURL).utf8)[...]) { return true }
        return SURT.folded(entry.url) == folded
    }

    /// Whether a key of an index is one of the URL's. That is enough for a capture to be accepted.
    func hasKey(_ key: ArraySlice<UInt8>) -> Bool { keyBytes.contains(key) }

    /// How well an entry that is one of the URL's answers for a moment.
    package func rank(of entry: CDXJEntry, for wanted: CaptureTimestamp?) -> CaptureRank? {
        entry.captureTime.map { CaptureRank($0, isSpelledAsAsked: entry.url == spelling, for: wanted) }
    }

    /// The lines among which such entries are.
    ///
    /// Entries of other methods carry the request in their key: `org,example)/post?__wb_method=post&q=one`, with the
    /// arguments of URL and body sorted together, or joined as they were.
    func ranges(includesMethods: Bool, includesPlainKeys: Bool) -> [CDXJRange] {
        var ranges: Set<CDXJRange> = []
        for key in keys + looseKeys + (includesPlainKeys ? Self.plainKeys(url) : []) {
            ranges.insert(CDXJRange(prefix: "\(key) "))
            guard includesMethods else { continue }
            let path = key.prefix { $0 != "?" }
            let start = "\(path)?"
            let first = CDXJRange(prefix: "\(start)__wb_method=")
            ranges.insert(first)
            // Arguments that sort before `__wb_method` come first in the key; only lines with a method count.
            ranges.insert(CDXJRange(start: Array(start.utf8), end: first.start, needsMethod: true))
            if key.utf8.count > start.utf8.count { ranges.insert(CDXJRange(prefix: "\(key)&__wb_method=")) }
        }
        return Array(ranges)
    }

    /// Keys of writers that put the URL itself there, with and without what `SURT.matches` ignores.
    private static func plainKeys(_ url: String) -> [String] {
        guard let parts = HTTPURLParts(url) else { return [] }
        let host = parts.text(parts.host).lowercased()
        let paths = pathsWithSlash(parts).map { $0 + parts.text(parts.query) }
        var keys = [url]
        for (scheme, port) in [("http", ":80"), ("https", ":443")] {
            for name in Set([host, Punycode.asciiHost(host), Punycode.unicodeHost(host) ?? host]) {
                for port in parts.port.isEmpty ? ["", port] : [parts.text(parts.port)] {
                    keys += paths.map { "\(scheme)://\(name)\(port)\($0)" }
                }
            }
        }
        return keys
    }

    private static func pathsWithSlash(_ parts: HTTPURLParts) -> [String] {
        let path = parts.text(parts.path)
        return path.hasSuffix("/") ? [path, String(path.dropLast())] : [path, "\(path)/"]
    }
}
