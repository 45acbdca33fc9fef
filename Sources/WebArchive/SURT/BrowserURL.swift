/// A URL as parsed by browsers.
///
/// Source: WHATWG URL, "path state" and "query state", as far as they matter for keys: adds escapes, resolves dot
/// segments and converts the host to ASCII. Numeric hosts aren't changed.
struct BrowserURL {
    let host: String
    let port: String
    let path: String
    /// The query without its question mark.
    let query: String

    /// - Parameter lowersCase: Whether to lower the case of path and query first, as in warcio.js. Hosts are always
    ///   lowered.
    init(_ parts: HTTPURLParts, lowersCase: Bool = true) {
        func cased(_ text: String) -> String { lowersCase ? text.lowercased() : text }
        let written = cased(parts.text(parts.path))
        host = Punycode.asciiHost(parts.text(parts.host).lowercased())
        port = parts.text(parts.port)
        path = Self.resolved(
            Self.escaped(written.isEmpty ? "/" : written.replacing("\\", with: "/")) { !"\"#<>?^`{}".utf8.contains($0) }
        )
        query = Self.escaped(cased(parts.text(parts.query.dropFirst()))) { !"\"#<>'".utf8.contains($0) }
    }

    /// Returns the key of warcio.js since 2.3, with the arguments sorted as text.
    func key(dropsWWW: Bool) -> String {
        key(dropsWWW: dropsWWW, query: PlainURL.sorted(query))
    }

    func key(dropsWWW: Bool, query: String) -> String {
        let host = SURT.reversed(host, SURT.Form(dropsWWW: dropsWWW))
        return "\(host)\(port))\(path)\(query.isEmpty ? "" : "?\(query)")"
    }

    private static func escaped(_ text: String, isKept: (UInt8) -> Bool) -> String {
        let kept = text.utf8.lazy.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        return String(
            decoding: PercentEncoding.encoded(kept) { (0x21...0x7E).contains($0) && isKept($0) }, as: UTF8.self)
    }

    private static func resolved(_ path: String) -> String {
        guard path.contains("/.") || path.contains("/%2e") || path.contains("/%2E") else { return path }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (position, segment) in segments.enumerated() {
            let isLast = position == segments.count - 1
            switch segment.utf8.count <= 6 ? segment.lowercased().replacing("%2e", with: ".") : "" {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}
