/// The parts of a URL for keys in which no escape is decoded or added.
struct PlainURL {
    private let host: String
    private let port: String
    private let path: String
    private let query: String
    private let sortedQuery: String
    private let lowerPath: String
    private let lowerQuery: String
    private let lowerSortedQuery: String

    init(_ parts: HTTPURLParts) {
        host = parts.text(parts.host).lowercased()
        port = parts.text(parts.port)
        path = parts.path.isEmpty ? "/" : parts.text(parts.path)
        query = parts.text(parts.query.dropFirst())
        lowerPath = path.lowercased()
        lowerQuery = query.lowercased()
        sortedQuery = Self.sorted(query)
        lowerSortedQuery = lowerQuery == query ? sortedQuery : Self.sorted(lowerQuery)
    }

    func key(_ form: SURT.Form) -> String {
        let name = form.usesUnicodeHost ? Punycode.unicodeHost(host) ?? host : host
        var path = form.lowersPath ? lowerPath : path
        if form.dropsTrailingSlash, path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        let query =
            form.lowersPath
            ? (form.sortsQuery ? lowerSortedQuery : lowerQuery) : (form.sortsQuery ? sortedQuery : query)
        return "\(SURT.reversed(name, form))\(port))\(path)\(query.isEmpty ? "" : "?\(query)")"
    }

    /// Returns a query with its arguments sorted as text.
    static func sorted(_ query: String) -> String {
        guard query.utf8.contains(UInt8(ascii: "&")) else { return query }
        let arguments = Array(query.utf8).split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            .sorted { $0.lexicographicallyPrecedes($1) }
        return String(decoding: Array(arguments.joined(separator: [UInt8(ascii: "&")])), as: UTF8.self)
    }
}
