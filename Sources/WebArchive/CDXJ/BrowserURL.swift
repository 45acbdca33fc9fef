/// A URL as a browser's URL parser leaves it once it is in lower case, which is what warcio.js makes its keys from.
///
/// Source: WHATWG URL, "path state" and "query state", as far as they change what `plain` keys have: escapes added,
/// dotted segments resolved, host in ASCII. Numbers as hosts are left alone.
struct BrowserURL {
    private let host: String
    private let port: String
    private let path: String
    private let query: String

    /// `nil` when nothing of it differs from the URL as it is written.
    init?(_ parts: HTTPURLParts) {
        let lowered = parts.text(parts.path).lowercased()
        let written = lowered.isEmpty ? "/" : lowered
        let search = String(parts.text(parts.query).lowercased().dropFirst())
        let name = parts.text(parts.host).lowercased()
        host = Punycode.asciiHost(name)
        port = parts.text(parts.port)
        path = Self.resolved(Self.escaped(written.replacing("\\", with: "/"), besides: "\"#<>?^`{}"))
        query = Self.escaped(search, besides: "\"#<>'")
        if host == name, path == written, query == search { return nil }
    }

    func key(_ form: SURT.Form) -> String {
        var path = path
        if form.dropsTrailingSlash, path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        let sorted = query.split(separator: "&", omittingEmptySubsequences: false)
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "&")
        return "\(SURT.reversed(host, form))\(port))\(path)\(query.isEmpty ? "" : "?\(sorted)")"
    }

    private static func escaped(_ text: String, besides special: String) -> String {
        let special = Set(special.utf8)
        let kept = text.utf8.filter { ![0x09, 0x0A, 0x0D].contains($0) }
        return String(
            decoding: PercentEncoding.encoded(kept) { (0x21...0x7E).contains($0) && !special.contains($0) },
            as: UTF8.self)
    }

    private static func resolved(_ path: String) -> String {
        guard path.contains("/.") || path.contains("/%2e") else { return path }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (position, segment) in segments.enumerated() {
            let isLast = position == segments.count - 1
            switch segment.replacing("%2e", with: ".") {
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
