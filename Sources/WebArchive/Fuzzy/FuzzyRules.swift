/// Which URLs name the same thing though they differ: the rules of `fuzzy-rules.json`, which says what each part means.
struct FuzzyRules: Sendable {
    /// One rule.
    struct Rule: Sendable {
        /// Where the other URL may be.
        enum Search: Sendable, Hashable {
            case path
            case domain(String)
            /// URLs that begin as this one does, up to the end of the first group.
            case start
        }

        let match: RegularExpression
        let search: Search
        /// Arguments that decide alone, the best choice first; empty when they all count.
        let arguments: [[String]]
        let ignore: RegularExpression?

        /// Whether an argument, `name=value`, does not matter.
        func ignores(_ argument: ArraySlice<UInt8>) -> Bool {
            ignore?.finds(Array(argument)) ?? false
        }
    }

    let rules: [Rule]

    /// The first rule that finds a URL; `nil` when none does.
    func rule(for url: String) -> Rule? {
        let bytes = Array(url.utf8)
        guard bytes.count <= Self.urlBytesMax else { return nil }
        return rules.first { $0.match.finds(bytes) }
    }

    /// The rules that come with the library.
    ///
    /// They are part of the program, and a test reads them: an error here is one of ours and leaves no rules. A build without RE2
    /// has none; what is left then is the likeness of queries.
    static let standard = (try? FuzzyRules(json: PackageResources.fuzzy_rules_json)) ?? FuzzyRules(rules: [])

    private init(rules: [Rule]) {
        self.rules = rules
    }

    /// - Throws: `badJSON` when a rule is not what `fuzzy-rules.json` says it is.
    init(json bytes: [UInt8]) throws(WebArchiveError) {
        let json = try JSONValue.parseObject(bytes, file: "fuzzy-rules.json", limits: .standard)
        var rules: [Rule] = []
        for (position, rule) in (json["rules"]?.array ?? []).enumerated() {
            do throws(RegularExpression.Problem) {
                guard let made = try Rule(rule) else {
                    throw RegularExpression.Problem(what: "it is incomplete")
                }
                rules.append(made)
            } catch {
                throw WebArchiveError(
                    code: .badJSON, problem: "rule \(position + 1) cannot be used: \(error.what)",
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
        ignore =
            if let ignore = json["ignore"]?.string {
                try RegularExpression(ignore, memoryMax: Limits.standard.queryPatternMemoryMax)
            } else { nil }
    }
}
