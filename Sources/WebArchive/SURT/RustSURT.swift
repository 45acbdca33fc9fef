/// A URL as parsed by the Rust crate `surt-rs` 0.1.3, which wacksy uses. Session IDs stay.
///
/// The whole key is decoded once, so it may contain any character. Source: surt-rs, `src/lib.rs`.
struct RustSURT {
    private let host: String
    private let port: String
    private let path: String
    private let query: String

    /// - Parameter url: The URL with its original case.
    init(_ url: BrowserURL) {
        host = Self.withoutWWW(url.host)
        port = url.port
        let sorted = PlainURL.sorted(url.query)
        // A trailing slash of the URL is removed, even in the query.
        let endsInSlash = url.path != "/" && (sorted.isEmpty ? url.path : sorted).hasSuffix("/")
        path = url.path.hasSuffix("/") && endsInSlash && sorted.isEmpty ? String(url.path.dropLast()) : url.path
        query = endsInSlash && !sorted.isEmpty ? String(sorted.dropLast()) : sorted
    }

    var key: String {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false).reversed().joined(separator: ",")
        let whole = Array("\(labels)\(port))\(path)\(query.isEmpty ? "" : "?\(query)")".lowercased().utf8)
        let key = String(decoding: PercentEncoding.decoded(whole), as: UTF8.self).replacing(" ", with: "%20")
        let start = key.prefix { $0 != "?" }
        guard start.hasSuffix("/"), !start.hasSuffix(")/") else { return key }
        return "\(start.dropLast())\(key[start.endIndex...])"
    }

    /// Returns a host without a first label that begins with `www`, unless only one label would be left.
    private static func withoutWWW(_ host: String) -> String {
        guard host.hasPrefix("www"), let dot = host.firstIndex(of: "."),
            host[..<dot].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
        else { return host }
        let rest = host[host.index(after: dot)...]
        return rest.contains(".") ? String(rest) : host
    }
}
