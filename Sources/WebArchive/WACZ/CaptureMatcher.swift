/// Decides which captures match a URL by its keys, with the same result for a search and for a scan.
///
/// The keys are computed once, in `init`. Use the same matcher for all archives.
package struct CaptureMatcher: Sendable {
    let url: String
    /// The URL without its fragment.
    private let withoutFragment: Substring
    private let folded: [UInt8]
    /// The keys that identify captures of the URL, with and without a trailing slash.
    let keys: [String]
    private let keyBytes: Set<ArraySlice<UInt8>>
    /// Other keys that an indexer may have written. In other indexes, they belong to other URLs.
    private let looseKeys: [String]
    /// Loose keys that other URLs may have in the same index, since this one has escaped bytes that aren't UTF-8.
    let ambiguousKeys: [String]
    /// Whether the URL contains a request method, as in replay requests other than `GET`.
    let namesMethod: Bool

    package init(url: String) {
        self.url = url
        withoutFragment = url.prefix { $0 != "#" }
        folded = SURT.folded(url)
        let bytes = Array(url.utf8)
        namesMethod = CDXJLine.methodStart(in: bytes[...]).map { $0 > 0 && "?&".utf8.contains(bytes[$0 - 1]) } ?? false
        let spellings = Self.spellings(of: url)
        let canonical = spellings.flatMap { SURT.canonicalKeys(for: $0) }
        let keys = namesMethod ? canonical : Self.withSlashes(canonical)
        self.keys = keys
        keyBytes = Set(keys.map { Array($0.utf8)[...] })
        looseKeys = spellings.flatMap { SURT.looseKeys(for: $0) }
        let isUTF8 = !bytes.contains(UInt8(ascii: "%")) || PercentEncoding.decodesAsUTF8(url)
        ambiguousKeys = isUTF8 ? [] : looseKeys
    }

    /// Returns keys with and without a trailing slash, which Python's `surt` drops and other indexers keep.
    private static func withSlashes(_ keys: [String]) -> [String] {
        let others = keys.compactMap { key -> String? in
            let path = key.prefix { $0 != "?" }
            guard SURT.isSURT(key), !path.hasSuffix("/") else { return nil }
            return "\(path)/\(key[path.endIndex...])"
        }
        return keys + others.filter { !keys.contains($0) }
    }

    /// Returns whether the path of only one URL ends in a slash, so that relative links lead to different URLs.
    package static func differBySlash(_ one: String, _ other: String) -> Bool {
        let ends = [one, other].map { url in
            HTTPURLParts(url).map { $0.path.count > 1 && $0.bytes[$0.path].last == UInt8(ascii: "/") }
        }
        return ends[0] != nil && ends[1] != nil && ends[0] != ends[1]
    }

    /// Returns whether two URLs are the same page, apart from which characters are percent-encoded. A browser encodes some
    /// that a crawler recorded as they were.
    package static func matchDecoded(_ one: String, _ other: String) -> Bool {
        func decoded(_ url: String) -> String {
            String(decoding: PercentEncoding.decoded(Array(url.utf8)), as: UTF8.self)
        }
        return SURT.matches(decoded(one), decoded(other))
    }

    /// Returns whether two URLs differ at most in which characters are percent-encoded, and in the fragment.
    package static func isSpelled(_ one: String, as other: String) -> Bool {
        func decoded(_ url: String) -> [UInt8] { PercentEncoding.decoded(Array(url.prefix { $0 != "#" }.utf8)) }
        return decoded(one) == decoded(other)
    }

    /// Returns the spellings of a URL with a method: unchanged, and with the spaces of its body as indexers write them,
    /// with escapes decoded and pluses as spaces.
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

    /// Returns whether an entry is a capture of the URL.
    package func accepts(_ entry: CDXJEntry) -> Bool {
        if entry.url == url || hasKey(Array(entry.urlKey.utf8)[...]) { return true }
        if HTTPURLParts(entry.urlKey) != nil, hasKey(Array(SURT.key(for: entry.requestURL).utf8)[...]) { return true }
        if ambiguousKeys.contains(entry.urlKey) {
            // Without the body, the key is all there is to compare.
            if namesMethod && entry.requestBody == nil || matches(entry.requestURL) { return true }
        }
        return SURT.folded(entry.url) == folded
    }

    /// Returns whether a capture of another URL would be a capture of this one.
    package func matches(_ other: String) -> Bool {
        other == url || hasKey(Array(SURT.key(for: other).utf8)[...]) || SURT.folded(other) == folded
    }

    /// Returns whether an index key identifies a capture of the URL.
    func hasKey(_ key: ArraySlice<UInt8>) -> Bool { keyBytes.contains(key) }

    /// Returns how well a capture of the URL fits the wanted time.
    package func rank(of entry: CDXJEntry, for wanted: CaptureTimestamp?) -> CaptureRank? {
        entry.captureTime.map { CaptureRank($0, spelling(of: entry.url.utf8), for: wanted) }
    }

    /// Returns how the URL of a capture is spelled. Among captures of the same time, the requested spelling is preferred.
    func spelling(of other: some Sequence<UInt8>) -> CaptureRank.Spelling {
        if other.elementsEqual(url.utf8) { return .asRequested }
        return other.elementsEqual(withoutFragment.utf8) ? .asRequestedWithoutFragment : .other
    }

    /// Returns the ranges of index lines that contain captures of the URL; with `span`, those of captures in it. Ranges
    /// of other methods aren't limited to the span.
    ///
    /// Keys of other methods include the request: `org,example)/post?__wb_method=post&q=one`, with the arguments of URL
    /// and body either sorted together or concatenated.
    func ranges(
        includesMethods: Bool, includesPlainKeys: Bool, span: ClosedRange<CaptureTimestamp>? = nil
    ) -> [CDXJRange] {
        var ranges: Set<CDXJRange> = []
        for key in keys + looseKeys + (includesPlainKeys ? Self.plainKeys(url) : []) {
            ranges.insert(Self.range(of: key, span))
            guard includesMethods else { continue }
            let path = key.prefix { $0 != "?" }
            let start = "\(path)?"
            let first = CDXJRange(prefix: "\(start)__wb_method=")
            ranges.insert(first)
            // Arguments that sort before `__wb_method` come first in the key. Only lines with a method match.
            ranges.insert(CDXJRange(start: Array(start.utf8), end: first.start, needsMethod: true))
            if key.utf8.count > start.utf8.count { ranges.insert(CDXJRange(prefix: "\(key)&__wb_method=")) }
        }
        return Array(ranges)
    }

    private static func range(of key: String, _ span: ClosedRange<CaptureTimestamp>?) -> CDXJRange {
        guard let span else { return CDXJRange(prefix: "\(key) ") }
        // Timestamps with milliseconds sort after those without. A colon sorts after all digits.
        return CDXJRange(
            start: Array("\(key) \(span.lowerBound.digits14)".utf8),
            end: Array("\(key) \(span.upperBound.digits14):".utf8))
    }

    /// Returns the keys of indexers that use the plain URL, with and without the parts that `SURT.matches` ignores.
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
