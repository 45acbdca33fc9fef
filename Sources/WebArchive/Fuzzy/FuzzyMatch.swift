/// Finds the best substitute for a URL that wasn't captured.
///
/// The score compares query arguments: equal ones count most, different ones by their similarity, and names that begin
/// with `_` count little. wabac.js ranks in a similar way, with different numbers.
///
/// The URL is parsed once, in `init`. Use the same value for all archives.
package struct FuzzyMatch: Sendable {
    private let rule: FuzzyRules.Rule?
    private let captured: [ArraySlice<UInt8>]
    private let arguments: Arguments
    /// The sorted arguments that the rule doesn't ignore.
    private let relevant: [ArraySlice<UInt8>]
    /// The index ranges to search: the rule's domain, the URL's path, or the start of the URL.
    let ranges: [CDXJRange]
    /// The path to compare; `nil` if the rule doesn't search by path.
    let path: [UInt8]?
    /// The domain of all candidates, if they aren't compared by path; `nil` if it's unknown.
    let domain: String?
    /// The part of the URL after the first group, for rules that search by the start of the URL.
    private let rest: ArraySlice<UInt8>

    /// Creates a match; `nil` if no rule applies to the URL and it has no query.
    package init?(_ url: String) {
        self.init(url, rules: .standard)
    }

    init?(_ url: String, rules: FuzzyRules) {
        let rule = rules.rule(for: url)
        guard rule != nil || url.utf8.contains(UInt8(ascii: "?")) else { return nil }
        let bytes = Array(url.utf8)
        captured = rule?.match.groups(in: bytes) ?? []
        rest = bytes[(captured.first?.endIndex ?? bytes.endIndex)...]
        let arguments = Arguments(of: url)
        relevant = rule.map { arguments.relevant(for: $0) } ?? []
        (self.rule, self.arguments) = (rule, arguments)
        switch rule?.search {
        case .domain(let name):
            ranges = CaptureQuery(url: name, matchType: .domain).ranges
            (path, domain) = (nil, name.lowercased())
        case .start:
            let start = String(decoding: bytes[..<rest.startIndex], as: UTF8.self)
            ranges = CaptureQuery(url: start, matchType: .prefix).ranges
            (path, domain) = (nil, CaptureHashes.host(of: url))
        case .path, nil:
            let start = Self.withoutQuery(url)
            ranges = SURT.candidates(for: start).flatMap { [CDXJRange(prefix: "\($0) "), CDXJRange(prefix: "\($0)?")] }
            (path, domain) = (SURT.folded(start), nil)
        }
    }

    /// Returns how well a captured URL stands for this one, or `nil` if it can't be a substitute.
    func score(_ other: String) -> Score? {
        if let path, SURT.folded(Self.withoutQuery(other)) != path { return nil }
        let others = Arguments(of: other)
        // Requests with different methods are never the same.
        guard arguments.method == others.method else { return nil }
        let similar = Score(similarity: arguments.similarity(others), isGuess: namesOtherMethod)
        guard let rule else { return similar }
        if rule.search != .path || !captured.isEmpty {
            let same = rule.match.groups(in: Array(other.utf8))
            guard let same, same.elementsEqual(captured, by: { $0.elementsEqual($1) }) else { return nil }
        }
        if rule.search == .start {
            let bytes = Array(other.utf8)
            guard let start = rule.match.groups(in: bytes)?.first else { return nil }
            return Score(similarity: 1 + Arguments.similarity(rest, bytes[start.endIndex...]))
        }
        if !rule.arguments.isEmpty {
            let choice = rule.arguments.firstIndex { $0.allSatisfy { arguments.first($0) == others.first($0) } }
            return choice.map { Score(similarity: Double(rule.arguments.count - $0) + similar.similarity) }
        }
        let isSame = rule.ignore == nil || relevant == others.relevant(for: rule)
        guard isSame, rule.ignore != nil || rule.search != .path else { return similar }
        return Score(similarity: 1 + similar.similarity)
    }

    /// Whether the URL is of a request that sends data, such as `POST`.
    private var namesOtherMethod: Bool { ![nil, "GET", "HEAD"].contains(arguments.method) }

    /// How well a capture stands for a URL.
    struct Score: Equatable {
        /// 0 to 2; with rules that have several lists of arguments, more.
        var similarity: Double
        /// Whether no rule says that what differs doesn't matter, and the request sent data. The answer to other data can
        /// be another answer, so it's used only if it's the only one.
        var isGuess = false
    }

    static func withoutQuery(_ url: String) -> String {
        String(decoding: url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }, as: UTF8.self)
    }
}

extension FuzzyMatch {
    /// The arguments of a URL's query. Comparing them takes linear time.
    private struct Arguments {
        /// Each argument as `name=value`, even if the query contains only the name.
        private let texts: [ArraySlice<UInt8>]
        /// The values for each name, in order.
        private let values: [ArraySlice<UInt8>: [ArraySlice<UInt8>]]
        /// The value of `__wb_method` in upper case.
        let method: String?

        init(of url: String) {
            let query = Array(url.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst().prefix { $0 != UInt8(ascii: "#") })
            var texts: [ArraySlice<UInt8>] = []
            var values: [ArraySlice<UInt8>: [ArraySlice<UInt8>]] = [:]
            for text in query.split(separator: UInt8(ascii: "&")).prefix(Self.countMax) {
                let name = text.prefix { $0 != UInt8(ascii: "=") }
                texts.append(name.endIndex == text.endIndex ? text + [UInt8(ascii: "=")] : text)
                values[Self.withoutIndex(name), default: []].append(text[name.endIndex...].dropFirst())
            }
            (self.texts, self.values) = (texts, values)
            method = values[Array("__wb_method".utf8)[...]]?.first
                .map { String(decoding: $0, as: UTF8.self).uppercased() }
        }

        /// Returns the first value for a name.
        func first(_ name: String) -> ArraySlice<UInt8>? { values[Array(name.utf8)[...]]?.first }

        func relevant(for rule: FuzzyRules.Rule) -> [ArraySlice<UInt8>] {
            texts.filter { !rule.ignores($0) }.sorted { $0.lexicographicallyPrecedes($1) }
        }

        /// Returns the weighted share of equal arguments, 0 to 1.
        func similarity(_ others: Arguments) -> Double {
            var total = 0.0
            var alike = 0.0
            for (name, mine) in values {
                let weight = Self.weight(of: name)
                total += weight
                guard let theirs = others.values[name] else { continue }
                alike += weight * (mine == theirs ? 1 : Self.similarity(mine, theirs))
            }
            for name in others.values.keys where values[name] == nil { total += Self.weight(of: name) }
            return total == 0 ? 1 : alike / total
        }

        private static func weight(of name: ArraySlice<UInt8>) -> Double {
            name.first == UInt8(ascii: "_") && !name.starts(with: "__wb_".utf8) ? 0.1 : 1
        }

        /// Returns `name` for `name[3]`, an item of a list.
        private static func withoutIndex(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            var rest = name
            if rest.last == UInt8(ascii: "]") {
                rest = rest.dropLast()
            } else if rest.suffix(3).elementsEqual("%5D".utf8) {
                rest = rest.dropLast(3)
            } else {
                return name
            }
            while let digit = rest.last, digit.isASCIIDigit { rest = rest.dropLast() }
            if rest.last == UInt8(ascii: "[") { return rest.dropLast() }
            return rest.suffix(3).elementsEqual("%5B".utf8) ? rest.dropLast(3) : name
        }

        /// Returns the share of common values of two lists, or the similarity of two single values.
        private static func similarity(_ mine: [ArraySlice<UInt8>], _ theirs: [ArraySlice<UInt8>]) -> Double {
            guard mine.count > 1 || theirs.count > 1 else { return similarity(mine[0], theirs[0]) }
            let (mine, theirs) = (Set(mine), Set(theirs))
            return Double(mine.intersection(theirs).count) / Double(mine.union(theirs).count)
        }

        /// Returns the similarity of two different values, below 0.5: of numbers by distance, of texts by common
        /// prefix.
        static func similarity(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Double {
            if let first = number(one), let second = number(other) {
                let distance = abs(first - second)
                return distance.isFinite ? 0.5 / (1 + distance) : 0
            }
            let common = zip(one, other).prefix { $0 == $1 }.count
            return 0.5 * Double(common) / Double(max(one.count, other.count, 1) + 1)
        }

        private static func number(_ text: ArraySlice<UInt8>) -> Double? {
            text.count <= digitsMax ? Double(String(decoding: text, as: UTF8.self)) : nil
        }

        private static let countMax = 64
        private static let digitsMax = 32
    }
}

/// The choice of a substitute among the captures of one archive, or of several that replay together.
package struct FuzzyChoice {
    fileprivate let match: FuzzyMatch
    private let time: CaptureTimestamp?
    fileprivate private(set) var best: (entry: CDXJEntry, score: FuzzyMatch.Score, time: CaptureTimestamp)?
    /// The request of the best guess, and whether there is a guess with other data, or may be one.
    private var guessed: String?
    private var hasOtherGuesses = false

    /// - Parameter time: The time that decides between equally good captures; the latest wins if `nil`.
    package init(_ match: FuzzyMatch, at time: CaptureTimestamp?) {
        (self.match, self.time) = (match, time)
    }

    /// The best substitute; `nil` if there is none, or if it would be a guess among several answers.
    package var capture: CDXJEntry? {
        guard let best, !(best.score.isGuess && hasOtherGuesses) else { return nil }
        return best.entry
    }

    /// Takes a capture if it's better than those before.
    fileprivate mutating func take(_ entry: CDXJEntry) {
        guard let moment = entry.captureTime, entry.status != 304, var score = match.score(entry.requestURL) else {
            return
        }
        if score.isGuess {
            hasOtherGuesses = hasOtherGuesses || guessed.map { $0 != entry.requestURL } ?? false
            guessed = entry.requestURL
        }
        // Prefers pages to redirects and errors.
        if let status = entry.status, status >= 300 { score.similarity -= 0.5 }
        guard let best, !isBetter(score, moment, than: best) else {
            best = (entry, score, moment)
            return
        }
    }

    private func isBetter(
        _ score: FuzzyMatch.Score, _ moment: CaptureTimestamp,
        than best: (entry: CDXJEntry, score: FuzzyMatch.Score, time: CaptureTimestamp)
    ) -> Bool {
        guard score.isGuess == best.score.isGuess else { return best.score.isGuess }
        guard score.similarity == best.score.similarity else { return score.similarity > best.score.similarity }
        return moment.isBetter(than: best.time, for: time)
    }

    /// Notes that not all captures were compared.
    fileprivate mutating func stopEarly() { hasOtherGuesses = true }
}

extension WACZFile {
    /// Compares captures with a URL that wasn't captured, by the rules of `fuzzy-rules.json`.
    ///
    /// Compares at most `Limits.fuzzyCandidatesMax` captures and `fuzzyCandidateBytesMax` bytes of index lines.
    ///
    /// - Returns: Whether a capture of this archive is better than those chosen before.
    /// - Throws: As `captures(ofURL:)` does; also `cancelled`.
    package func choose(
        _ choice: inout FuzzyChoice, _ check: CancellationCheck
    ) throws(WebArchiveError) -> Bool {
        try check.now()
        let before = choice
        choice = try reading(before.match.ranges, check) { (cursor) throws(WebArchiveError) in
            var choice = before
            var count = 0
            while let entry = try cursor.next() {
                guard count < limits.fuzzyCandidatesMax, cursor.bytesRead < limits.fuzzyCandidateBytesMax else {
                    choice.stopEarly()
                    break
                }
                count += 1
                choice.take(entry)
            }
            return choice
        }
        return choice.best?.entry != before.best?.entry
    }
}
