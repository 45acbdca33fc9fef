/// Searchable URL keys: `https://www.example.org/A?b` is `org,example)/a?b`.
///
/// Writers of indexes differ in what they drop, so a key only finds candidates; `matches` then compares the URLs.
public enum SURT {
    /// The key that most tools write for `url`: lower case, `www.` dropped, default port dropped, query sorted.
    ///
    /// What is no `http` or `https` URL (`urn:`, `file:`, `dns:`) is its own key.
    public static func key(for url: String) -> String {
        guard let parts = HTTPURLParts(url) else { return url }
        return plain(parts, Form())
    }

    /// The key that Python's `surt` 0.3.1 makes, which py-wacz, cdxj-indexer and pywb use: escapes normalised, empty
    /// and dotted path segments resolved, session numbers and the trailing slash dropped. `nil` where it makes none.
    public static func referenceKey(for url: String) -> String? {
        ReferenceURL(url)?.key(Form(dropsTrailingSlash: true))
    }

    /// Every key under which a writer may have put `url`, the most usual first.
    ///
    /// Writers known: Python's `surt`, warcio.js (js-wacz, ArchiveWeb.page), CDXJ 0.1.0 itself, which keeps `www.`, and
    /// those that leave case, query order, addresses or letters of a host as they are.
    public static func candidates(for url: String) -> [String] {
        var keys = KeyList()
        guard let parts = HTTPURLParts(url) else {
            keys.add(url)
            referenceKey(for: url).map { keys.add($0) }
            return keys.keys
        }
        let rewritten: (reference: ReferenceURL?, browser: BrowserURL?) =
            parts.isUsual ? (nil, nil) : (ReferenceURL(url), BrowserURL(parts))
        for form in Form.all(for: parts) {
            keys.add(plain(parts, form))
            if let reference = rewritten.reference { keys.add(reference.key(form)) }
            if let browser = rewritten.browser { keys.add(browser.key(form)) }
            for variant in form.rareVariants(for: parts) { keys.add(plain(parts, variant)) }
        }
        return keys.keys
    }

    /// Whether two URLs name the same page: equal but for `http` against `https`, the case of the host and its
    /// spelling in letters or as `xn--`, user and password, a default port, an empty path and the fragment.
    public static func matches(_ left: String, _ right: String) -> Bool {
        left == right || folded(left) == folded(right)
    }

    /// The bytes of a URL without what `matches` ignores.
    static func folded(_ url: String) -> [UInt8] {
        guard let parts = HTTPURLParts(url) else { return Array(url.utf8.prefix { $0 != UInt8(ascii: "#") }) }
        var folded: [UInt8] = []
        folded.reserveCapacity(parts.bytes.count + 1)
        folded.append(contentsOf: "//".utf8)
        let host = parts.bytes[parts.host]
        if host.allSatisfy({ $0 < 0x80 }) {
            folded.append(contentsOf: host.lazy.map { HTTPURLParts.lower($0) })
        } else {
            folded.append(contentsOf: Punycode.asciiHost(parts.text(parts.host)).utf8)
        }
        folded.append(contentsOf: parts.bytes[parts.port])
        folded.append(UInt8(ascii: "/"))
        folded.append(contentsOf: parts.bytes[parts.path].dropFirst())
        folded.append(contentsOf: parts.bytes[parts.query])
        return folded
    }

    /// Whether a key is a SURT: reversed labels, perhaps a port, `)` and a path.
    static func isSURT(_ key: some StringProtocol) -> Bool {
        guard let bracket = key.utf8.firstIndex(of: UInt8(ascii: ")")) else { return false }
        let host = key[..<bracket]
        let rest = key[bracket...].utf8.dropFirst()
        return !host.isEmpty && !host.contains("/") && !host.contains("(")
            && (rest.isEmpty || rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "?"))
    }

    /// What a writer drops and keeps.
    struct Form: Hashable {
        var dropsWWW = true
        var dropsTrailingSlash = false
        var sortsQuery = true
        var lowersPath = true
        var reversesAddress = true
        var spellsHostInLetters = false

        /// The usual forms that can differ for a URL.
        static func all(for parts: HTTPURLParts) -> [Form] {
            let hasSlash = parts.bytes[parts.path].last == UInt8(ascii: "/") && parts.path.count > 1
            let host = parts.bytes[parts.host].prefix(3).map { HTTPURLParts.lower($0) }
            // An escape may hide a `w`; what is in letters may be one, too.
            let hasWWW = host == Array("www".utf8) || !parts.isUsual
            var forms: [Form] = []
            for dropsTrailingSlash in hasSlash || !parts.isUsual ? [false, true] : [false] {
                for dropsWWW in hasWWW ? [true, false] : [true] {
                    forms.append(Form(dropsWWW: dropsWWW, dropsTrailingSlash: dropsTrailingSlash))
                }
            }
            return forms
        }

        /// The same form with one habit, or two, of which few writers are known, as far as they differ for a URL.
        func rareVariants(for parts: HTTPURLParts) -> [Form] {
            guard !parts.isUsual else { return [] }
            var variants: [Form] = []
            for sortsQuery in [true, false] {
                for lowersPath in [true, false] {
                    var variant = self
                    variant.sortsQuery = sortsQuery
                    variant.lowersPath = lowersPath
                    variants.append(variant)
                }
            }
            var other = self
            other.reversesAddress = false
            variants.append(other)
            other = self
            other.spellsHostInLetters = true
            variants.append(other)
            return variants
        }
    }

    /// The key without any decoding of escapes.
    private static func plain(_ parts: HTTPURLParts, _ form: Form) -> String {
        var name = parts.text(parts.host).lowercased()
        if form.spellsHostInLetters { name = Punycode.unicodeHost(name) ?? name }
        func cased(_ text: String) -> String { form.lowersPath ? text.lowercased() : text }
        var path = parts.path.isEmpty ? "/" : cased(parts.text(parts.path))
        if form.dropsTrailingSlash, path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        var query = cased(parts.text(parts.query.dropFirst()))
        if form.sortsQuery {
            query = query.split(separator: "&", omittingEmptySubsequences: false)
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "&")
        }
        return "\(reversed(name, form))\(parts.text(parts.port)))\(path)\(query.isEmpty ? "" : "?\(query)")"
    }

    /// A lower-case host with its labels reversed and its `www.` treated as `form` asks.
    static func reversed(_ host: String, _ form: Form) -> String {
        guard !host.hasPrefix("["), !host.contains(":") else { return host }
        var labels = host.split(separator: ".", omittingEmptySubsequences: false)
        if !form.reversesAddress, labels.allSatisfy({ $0.utf8.allSatisfy(HTTPURLParts.isDigit) }) { return host }
        if form.dropsWWW, labels.count > 1, let first = labels.first, first.hasPrefix("www"),
            first.utf8.dropFirst(3).allSatisfy(HTTPURLParts.isDigit)
        {
            labels.removeFirst()
        }
        return labels.reversed().joined(separator: ",")
    }

    /// Keys in order, each once.
    private struct KeyList {
        private(set) var keys: [String] = []

        mutating func add(_ key: String) {
            if !keys.contains(key) { keys.append(key) }
        }
    }
}
