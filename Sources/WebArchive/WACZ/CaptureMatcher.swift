import Foundation

/// Decides which captures are of a URL, in the same way for a search and for a scan.
struct CaptureMatcher: Sendable {
    private let url: String
    private let folded: [UInt8]
    /// The URL before its `__wb_method=`, when it has one; then keys decide as well, as bodies are part of them.
    private let foldedBase: [UInt8]?
    private let keys: Set<String>

    /// Whether the URL names a request method, as replay writes requests other than `GET`.
    var namesMethod: Bool { foldedBase != nil }

    init(url: String) {
        self.url = url
        folded = SURT.folded(url)
        let bytes = Array(url.utf8)
        let method = CDXJLine.methodStart(in: bytes[...]).flatMap { start in
            start > 0 && "?&".utf8.contains(bytes[start - 1]) ? start - 1 : nil
        }
        foldedBase = method.map { SURT.folded(String(decoding: bytes[..<$0], as: UTF8.self)) }
        keys = method == nil ? [] : Set(Self.spellings(of: url).flatMap { SURT.candidates(for: $0) })
    }

    /// A URL that names a method, as it is and with the spaces of its body spelled as indexers do: the escapes of a form
    /// undone, a plus a space.
    private static func spellings(of url: String) -> [String] {
        let bytes = Array(url.utf8)
        guard let start = CDXJLine.methodStart(in: bytes[...]) else { return [url] }
        let (head, body) = (bytes[..<start], String(decoding: bytes[start...], as: UTF8.self))
        let spaced = body.replacing("+", with: " ")
        let spellings = [spaced, spaced.removingPercentEncoding ?? spaced].map {
            String(decoding: head, as: UTF8.self) + $0.replacing(" ", with: "%20")
        }
        return [url] + Set(spellings).subtracting([url]).sorted()
    }

    /// Whether an entry's URL is the one; for a URL that names a method, whether its key says the same request.
    func accepts(_ entry: CDXJEntry) -> Bool {
        if entry.url == url { return true }
        let found = SURT.folded(entry.url)
        if found == folded { return true }
        return foldedBase.map { found == $0 && keys.contains(entry.urlKey) } ?? false
    }

    /// The lines among which such entries are.
    ///
    /// Entries of other methods carry the request in their key: `org,example)/post?__wb_method=post&q=one`, with the
    /// arguments of URL and body sorted together, or joined as they were.
    func ranges(includesMethods: Bool, includesPlainKeys: Bool) -> [CDXJRange] {
        var keys = Self.spellings(of: url).flatMap { SURT.candidates(for: $0) }
        if includesPlainKeys { keys += Self.plainKeys(url) }
        var ranges: Set<CDXJRange> = []
        for key in keys {
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
        let rest = parts.text(parts.path) + parts.text(parts.query)
        let paths = parts.path.isEmpty ? [rest, "/\(rest)"] : rest == "/" ? ["/", ""] : [rest]
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
}
