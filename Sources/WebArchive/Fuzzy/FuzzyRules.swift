/// The rules for different URLs of the same content. `fuzzy-rules.json` documents their format.
struct FuzzyRules: Sendable {
    /// A rule for a kind of URL.
    struct Rule: Sendable {
        /// Where to search for substitutes.
        enum Search: Sendable, Hashable {
            case path
            case domain(String)
            /// URLs with the same start, up to the end of the first group.
            case start
        }

        let match: RegularExpression
        let search: Search
        /// Lists of arguments that must be equal, the best list first; empty if all arguments count.
        let arguments: [[String]]
        let ignore: RegularExpression?

        /// Returns whether the rule ignores an argument, `name=value`.
        func ignores(_ argument: ArraySlice<UInt8>) -> Bool {
            ignore?.finds(Array(argument)) ?? false
        }
    }

    let rules: [Rule]

    /// Returns the first rule that applies to a URL.
    func rule(for url: String) -> Rule? {
        let bytes = Array(url.utf8)
        guard bytes.count <= Self.urlBytesMax else { return nil }
        return rules.first { $0.match.finds(bytes) }
    }

    /// The rules that come with the library.
    ///
    /// A test checks that they can be read; an error leaves no rules. Builds without RE2 have no rules and compare only
    /// the queries.
    static let standard = (try? FuzzyRules(json: PackageResources.fuzzy_rules_json)) ?? FuzzyRules(rules: [])

    private init(rules: [Rule]) {
        self.rules = rules
    }

    /// - Throws: `badJSON` if a rule doesn't have the documented format.
    init(json bytes: [UInt8]) throws(WebArchiveError) {
        var written: [JSONValue] = []
        try JSONScanner.readDescription(bytes, file: "fuzzy-rules.json", limits: .standard) {
            (scanner, key) throws(JSONProblem) in
            if key == "rules" { written = try scanner.value().array ?? [] } else { try scanner.skipValue() }
        }
        var rules: [Rule] = []
        for (position, rule) in written.enumerated() {
            do throws(RegularExpression.Problem) {
                guard let made = try Rule(rule) else {
                    throw RegularExpression.Problem(what: "it is incomplete")
                }
                rules.append(made)
            } catch {
                throw WebArchiveError(
                    code: .badJSON, problem: "rule \(position + 1) can't be used: \(error.what)",
                    file: "fuzzy-rules.json")
            }
        }
        self.rules = rules
    }

    private static let urlBytesMax = 4096
}

extension FuzzyRules.Rule {
    fileprivate init?(_ json: JSONValue) throws(RegularExpression.Problem) {
        guard let match = json["match"]?.string else { return nil }
        self.match = try RegularExpression(match, memoryMax: Limits.standard.queryPatternMemoryMax)
        switch (json["search"]?.string ?? "path", json["domain"]?.string) {
        case ("path", nil): search = .path
        case ("domain", let domain?): search = .domain(domain)
        case ("start", nil): search = .start
        default: return nil
        }
        arguments = json["arguments"]?.array?.compactMap { $0.array?.compactMap(\.string) } ?? []
        ignore = try json["ignore"]?.string.map { (text) throws(RegularExpression.Problem) in
            try RegularExpression(text, memoryMax: Limits.standard.queryPatternMemoryMax)
        }
    }
}
