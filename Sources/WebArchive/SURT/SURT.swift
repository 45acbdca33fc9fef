/// Makes searchable keys of URLs: `https://www.example.org/A?b` becomes `org,example)/a?b`.
///
/// Indexers drop different parts of a URL, so one URL can have several keys. See `candidates(for:)`.
public enum SURT {
    /// Returns the key that most tools write for `url`: lower case, without `www.` and default port, with a sorted
    /// query.
    ///
    /// Other URLs than `http` and `https` (`urn:`, `file:`, `dns:`) are returned unchanged, but for spaces and control characters.
    public static func key(for url: String) -> String {
        escapingSpaces(in: HTTPURLParts(url).map { PlainURL($0).key(Form()) } ?? url)
    }

    /// Returns a key with its spaces and control characters percent-encoded, as in an index: a space would end the key there, and
    /// a line feed the line.
    static func escapingSpaces(in key: String) -> String {
        guard key.utf8.contains(where: { $0 <= 0x20 }) else { return key }
        return String(decoding: PercentEncoding.encoded(key.utf8, lowersDigits: true) { $0 > 0x20 }, as: UTF8.self)
    }

    /// Returns the key of Python's `surt` 0.3.1, which py-wacz, cdxj-indexer and pywb use, or `nil` if it makes none.
    ///
    /// It normalizes escapes, resolves empty and dot segments of the path, and drops session IDs and the trailing
    /// slash.
    public static func pythonKey(for url: String) -> String? {
        PythonSURT(url)?.key(Form(dropsTrailingSlash: true))
    }

    /// Returns all keys that indexers may have written for `url`, the most common first.
    ///
    /// `docs/cdx.md` lists the indexers and their keys. Compare the URLs of the captures found: some keys belong to
    /// other URLs in the indexes of other tools.
    public static func candidates(for url: String) -> [String] {
        var keys = KeyList(canonicalKeys(for: url))
        looseKeys(for: url).forEach { keys.add($0) }
        return keys.keys
    }

    /// Returns the candidates that identify a URL, for queries that compare only keys.
    static func canonicalKeys(for url: String) -> [String] {
        var keys = KeyList()
        guard let parts = HTTPURLParts(url) else {
            keys.add(url)
            pythonKey(for: url).map { keys.add($0) }
            return keys.keys
        }
        let plain = PlainURL(parts)
        let pythonSURT = parts.isUsual ? nil : PythonSURT(url)
        for form in Form.all(for: parts) {
            keys.add(plain.key(form))
            if let pythonSURT { keys.add(pythonSURT.key(form)) }
            for variant in form.rareVariants(for: parts) { keys.add(plain.key(variant)) }
        }
        guard !parts.isUsual else { return keys.keys }
        let browser = BrowserURL(parts)
        keys.add(browser.key(dropsWWW: true))
        keys.add(browser.key(dropsWWW: false))
        let dropsWWW = HTTPURLParts.www(in: parts.bytes, at: parts.hostFieldStart) != nil
        let arguments = SearchParameters(browser.query)
        guard !arguments.isLossy else { return keys.keys }
        for query in arguments.spellings { keys.add(browser.key(dropsWWW: dropsWWW, query: query)) }
        return keys.keys
    }

    /// Returns the keys of indexers that drop more of a URL than others or encode it differently.
    static func looseKeys(for url: String) -> [String] {
        guard let parts = HTTPURLParts(url) else { return [] }
        var keys: [String] = []
        // The first versions of warcio.js drop the first `www.` anywhere in the URL.
        if let www = HTTPURLParts.firstWWW(in: parts.bytes), www.lowerBound != parts.hostFieldStart,
            let rest = HTTPURLParts(
                String(decoding: parts.bytes[..<www.lowerBound] + parts.bytes[www.upperBound...], as: UTF8.self))
        {
            let browser = BrowserURL(rest)
            let query = SearchParameters(browser.query).spellings[0]
            keys.append(browser.key(dropsWWW: false, query: query))
        }
        guard !parts.isUsual || !parts.port.isEmpty || parts.bytes[parts.host].starts(with: "www".utf8) else {
            return keys
        }
        // The first alpha versions of wacksy keep everything except the port.
        let browser = BrowserURL(parts, lowersCase: false)
        let query = browser.query.isEmpty ? "" : "?\(browser.query)"
        let host = reversed(browser.host, Form(dropsWWW: false))
        return keys + [RustSURT(browser).key, "\(host))\(browser.path)\(query)"] + keysOfInvalidUTF8(url, parts)
    }

    /// Returns the keys of indexers that escape bytes twice that aren't UTF-8 (`%25fc`), or replace them (`%ef%bf%bd`), so
    /// that different URLs have the same key.
    private static func keysOfInvalidUTF8(_ url: String, _ parts: HTTPURLParts) -> [String] {
        guard parts.bytes.contains(UInt8(ascii: "%")), !PercentEncoding.decodesAsUTF8(url),
            let key = pythonKey(for: url)
        else { return [] }
        let rewritten = PercentEncoding.InvalidForm.allCases.compactMap {
            PercentEncoding.rewritingInvalid(key, as: $0)
        }
        let browser = BrowserURL(parts)
        let arguments = SearchParameters(browser.query)
        guard arguments.isLossy else { return rewritten }
        let dropsWWW = HTTPURLParts.www(in: parts.bytes, at: parts.hostFieldStart) != nil
        return rewritten + arguments.spellings.map { browser.key(dropsWWW: dropsWWW, query: $0) }
    }

    /// Returns whether two URLs identify the same page.
    ///
    /// Ignores `http` or `https`, the case of the host and its form (Unicode or `xn--`), user and password, a default
    /// port, an empty path and the fragment.
    public static func matches(_ left: String, _ right: String) -> Bool {
        left == right || folded(left) == folded(right)
    }

    /// Returns the bytes of a URL without the parts that `matches` ignores.
    static func folded(_ url: String) -> [UInt8] {
        guard let parts = HTTPURLParts(url) else { return Array(url.utf8.prefix { $0 != UInt8(ascii: "#") }) }
        var folded: [UInt8] = []
        folded.reserveCapacity(parts.bytes.count + 1)
        folded.append(contentsOf: "//".utf8)
        let host = parts.bytes[parts.host]
        if host.allSatisfy({ $0 < 0x80 }) {
            folded.append(contentsOf: host.lazy.map { $0.asciiLowercased })
        } else {
            folded.append(contentsOf: Punycode.asciiHost(parts.text(parts.host)).utf8)
        }
        folded.append(contentsOf: parts.bytes[parts.port])
        folded.append(UInt8(ascii: "/"))
        folded.append(contentsOf: parts.bytes[parts.path].dropFirst())
        folded.append(contentsOf: parts.bytes[parts.query])
        return folded
    }

    /// Returns whether a key is a SURT: reversed labels, an optional port, `)` and a path.
    package static func isSURT(_ key: some StringProtocol) -> Bool {
        guard let bracket = key.utf8.firstIndex(of: UInt8(ascii: ")")) else { return false }
        let host = key[..<bracket]
        let rest = key[bracket...].utf8.dropFirst()
        return !host.isEmpty && !host.contains("/") && !host.contains("(")
            && (rest.isEmpty || rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "?"))
    }

    /// Returns the host of a SURT, in the order of URLs, and its port with the colon, which may be empty: `example.org` and
    /// `:8080` for `org,example:8080)/`. `nil` for other keys.
    package static func host(ofKey key: String) -> (name: String, port: Substring)? {
        guard isSURT(key) else { return nil }
        let host = key.utf8.prefix { $0 != UInt8(ascii: ")") }
        // IPv6 addresses contain colons.
        let end =
            host.first == UInt8(ascii: "[")
            ? host.firstIndex(of: UInt8(ascii: "]")).map(host.index(after:)) : host.firstIndex(of: UInt8(ascii: ":"))
        let labels = host[..<(end ?? host.endIndex)]
        let name = labels.split(separator: UInt8(ascii: ",")).reversed().map { Substring($0) }.joined(separator: ".")
        return (name, Substring(host[labels.endIndex...]))
    }

    /// The parts of a URL that an indexer drops and keeps.
    struct Form: Hashable {
        var dropsWWW = true
        var dropsTrailingSlash = false
        var sortsQuery = true
        var lowersPath = true
        var reversesIPAddress = true
        var usesUnicodeHost = false

        /// Returns the common forms that differ for a URL.
        static func all(for parts: HTTPURLParts) -> [Form] {
            let hasSlash = parts.bytes[parts.path].last == UInt8(ascii: "/") && parts.path.count > 1
            let host = parts.bytes[parts.host].prefix(3).map { $0.asciiLowercased }
            // A `w` may be escaped, or written with a Unicode character.
            let hasWWW = host == Array("www".utf8) || !parts.isUsual
            var forms: [Form] = []
            for dropsTrailingSlash in hasSlash || !parts.isUsual ? [false, true] : [false] {
                for dropsWWW in hasWWW ? [true, false] : [true] {
                    forms.append(Form(dropsWWW: dropsWWW, dropsTrailingSlash: dropsTrailingSlash))
                }
            }
            return forms
        }

        /// Returns variants of the form that only a few indexers use, if they differ for a URL.
        func rareVariants(for parts: HTTPURLParts) -> [Form] {
            guard !parts.isUsual else { return [] }
            func variant(_ change: (inout Form) -> Void) -> Form {
                var form = self
                change(&form)
                return form
            }
            return [
                self, variant { $0.lowersPath = false }, variant { $0.sortsQuery = false },
                variant { ($0.sortsQuery, $0.lowersPath) = (false, false) },
                variant { $0.reversesIPAddress = false }, variant { $0.usesUnicodeHost = true },
            ]
        }
    }

    /// Returns a lower-case host with its labels reversed, and without `www.` if the form drops it.
    static func reversed(_ host: String, _ form: Form) -> String {
        guard !host.utf8.starts(with: "[".utf8), !host.utf8.contains(UInt8(ascii: ":")) else { return host }
        var labels = Array(host.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)[...]
        if !form.reversesIPAddress, labels.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) }) { return host }
        if form.dropsWWW, labels.count > 1, let first = labels.first, first.starts(with: "www".utf8),
            first.dropFirst(3).allSatisfy(\.isASCIIDigit)
        {
            labels.removeFirst()
        }
        return String(decoding: Array(labels.reversed().joined(separator: [UInt8(ascii: ",")])), as: UTF8.self)
    }

    /// An ordered list of unique keys.
    private struct KeyList {
        private(set) var keys: [String]

        init(_ keys: [String] = []) {
            self.keys = keys
        }

        mutating func add(_ written: String) {
            let key = SURT.escapingSpaces(in: written)
            if !keys.contains(key) { keys.append(key) }
        }
    }
}
