/// How well another URL stands in for one that was not captured.
///
/// What decides is the query: arguments that are equal count most, those that differ count by how much they do, names that
/// begin with `_` count little. wabac.js ranks in this spirit, too; the numbers are our own.
struct FuzzyMatch {
    private let url: String
    private let rule: FuzzyRules.Rule?
    private let caught: [ArraySlice<UInt8>]
    private let arguments: [Argument]

    private struct Argument: Hashable {
        let name: Substring
        let value: Substring

        init(_ text: Substring) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            name = parts[0]
            value = parts.count > 1 ? parts[1] : ""
        }

        var text: String { "\(name)=\(value)" }
        var weight: Double { name.hasPrefix("_") && !name.hasPrefix("__wb_") ? 0.1 : 1 }
    }

    /// - Returns: `nil` when no other URL may stand in: no rule finds it, and it has no query.
    init?(_ url: String, rules: FuzzyRules) {
        self.url = url
        rule = rules.rule(for: url)
        guard rule != nil || url.contains("?") else { return nil }
        caught = rule?.match.groups(in: Array(url.utf8)) ?? []
        arguments = Self.arguments(of: url)
    }

    /// Where to look: the domain that the rule names; `nil` for the path of the URL.
    var domain: String? {
        guard case .domain(let name) = rule?.search else { return nil }
        return name
    }

    /// How alike a captured URL is, 0 to 2; `nil` when it is something else.
    func score(_ other: String) -> Double? {
        let others = Self.arguments(of: other)
        func value(_ name: String, _ arguments: [Argument]) -> Substring? {
            arguments.first { $0.name == name }?.value
        }
        // Another method is another thing, whatever the rule.
        guard value("__wb_method", arguments)?.uppercased() == value("__wb_method", others)?.uppercased() else {
            return nil
        }
        guard let rule else { return likeness(others) }
        if rule.search != .path || !caught.isEmpty {
            let same = rule.match.groups(in: Array(other.utf8)) ?? []
            guard same.elementsEqual(caught, by: { $0.elementsEqual($1) }), rule.match.finds(Array(other.utf8)) else {
                return nil
            }
        }
        if !rule.arguments.isEmpty {
            let areSame = rule.arguments.allSatisfy { value($0, arguments) == value($0, others) }
            return areSame ? 1 + likeness(others) : nil
        }
        let isSame = rule.ignore == nil || counting(arguments, rule) == counting(others, rule)
        if isSame, rule.ignore != nil || rule.search != .path { return 1 + likeness(others) }
        return likeness(others)
    }

    /// The arguments that matter to a rule, in an order of their own.
    private func counting(_ arguments: [Argument], _ rule: FuzzyRules.Rule) -> [String] {
        arguments.map(\.text).filter { !rule.ignores($0) }.sorted()
    }

    /// The share of the arguments' weight that is the same in both, 0 to 1.
    private func likeness(_ others: [Argument]) -> Double {
        let names = Set(arguments.map(\.name)).union(others.map(\.name))
        var total = 0.0
        var alike = 0.0
        for name in names {
            let mine = arguments.filter { $0.name == name }.map(\.value)
            let theirs = others.filter { $0.name == name }.map(\.value)
            let weight = (mine.isEmpty ? theirs.count : mine.count) > 0 ? Argument(name).weight : 0
            total += weight
            guard !mine.isEmpty, !theirs.isEmpty else { continue }
            alike += weight * (mine == theirs ? 1 : Self.likeness(mine[0], theirs[0]))
        }
        return total == 0 ? 1 : alike / total
    }

    /// Of two values that differ: numbers by how far apart they are, texts by how they begin; always below one half.
    private static func likeness(_ one: Substring, _ other: Substring) -> Double {
        if let first = Double(one), let second = Double(other) {
            let distance = abs(first - second)
            return distance.isFinite ? 0.5 / (1 + distance) : 0
        }
        let common = zip(one.utf8, other.utf8).prefix { $0 == $1 }.count
        return 0.5 * Double(common) / Double(max(one.utf8.count, other.utf8.count, 1) + 1)
    }

    private static func arguments(of url: String) -> [Argument] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        return url[url.index(after: mark)...].prefix { $0 != "#" }.split(separator: "&").prefix(argumentsMax)
            .map { Argument($0) }
    }

    private static let argumentsMax = 64
}

extension WACZFile {
    /// The capture that stands in best for a URL that was not captured, by the rules of `fuzzy-rules.json`.
    ///
    /// - Parameter url: What was asked for.
    /// - Parameter time: Of equally good ones the closest in time; the latest when `nil`.
    /// - Parameter trustsOrder: As for `captures(ofURL:trustsOrder:)`.
    /// - Returns: `nil` when nothing may stand in.
    /// - Throws: As `captures(ofURL:trustsOrder:)` does.
    public func fuzzyCapture(
        ofURL url: String, at time: CaptureTimestamp?, trustsOrder: Bool = false
    ) throws(WebArchiveError) -> CDXJEntry? {
        guard let match = FuzzyMatch(url, rules: .standard) else { return nil }
        let cursor =
            if let domain = match.domain {
                captures(matching: CaptureQuery(url: domain, matchType: .domain), trustsOrder: trustsOrder)
            } else {
                captures(withPathOf: url, trustsOrder: trustsOrder)
            }
        let path = SURT.folded(String(url.prefix { $0 != "?" && $0 != "#" }))
        var best: (entry: CDXJEntry, score: Double, time: CaptureTimestamp)?
        var count = 0
        while count < limits.fuzzyCandidatesMax, let entry = try cursor.next() {
            count += 1
            guard let moment = entry.captureTime, entry.status != 304 else { continue }
            let other = entry.requestURL
            guard match.domain != nil || SURT.folded(String(other.prefix { $0 != "?" && $0 != "#" })) == path,
                var score = match.score(other)
            else { continue }
            // A page rather than a redirect or an error.
            if let status = entry.status, status >= 300 { score -= 0.5 }
            if let kept = best {
                guard score > kept.score || score == kept.score && moment.isBetter(than: kept.time, for: time)
                else {
                    continue
                }
            }
            best = (entry, score, moment)
        }
        return best?.entry
    }
}
