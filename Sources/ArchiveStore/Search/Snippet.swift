import WebArchive

/// A piece of a page's text around what was found.
package struct Snippet: Sendable, Hashable, Encodable {
    package struct Part: Sendable, Hashable, Encodable {
        package let text: String
        /// Whether this is a word or phrase of the search.
        package let isMatch: Bool

        private enum CodingKeys: String, CodingKey {
            case text
            case isMatch = "match"
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(text, forKey: .text)
            if isMatch { try container.encode(true, forKey: .isMatch) }
        }
    }

    package private(set) var parts: [Part] = []

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(parts)
    }
}

/// Finds the part of a text with the most words of a search.
struct SnippetFinder {
    private let terms: [SearchQuery.Term]
    /// The words of each term.
    private let wordsOfTerms: [[[UInt8]]]
    /// Other forms of terms of one word, by the number of the term.
    private let forms: [[UInt8]: Set<Int>]
    private let folding: WordFolding

    /// - Parameter forms: Other forms of words.
    init(_ terms: [SearchQuery.Term], forms: [String: [String]] = [:], folding: WordFolding) {
        self.terms = terms.filter { !$0.isInTitle }
        wordsOfTerms = self.terms.map { $0.words.map { Array($0.utf8) } }
        var numbers: [[UInt8]: Set<Int>] = [:]
        for (number, term) in self.terms.enumerated() where term.typed != nil {
            for form in forms[term.words[0]] ?? [] { numbers[Array(form.utf8), default: []].insert(number) }
        }
        self.forms = numbers
        self.folding = folding
    }

    /// - Parameter text: Valid UTF-8.
    func snippet(of text: [UInt8]) -> Snippet {
        let matches = text.withUnsafeBufferPointer(find)
        let shown = text.withUnsafeBufferPointer { bestWindow(matches, $0) }
        let first = shown.first?.range.lowerBound ?? 0
        let start = Self.start(in: text, before: first)
        let last = max(shown.last?.range.upperBound ?? 0, start + Self.bytesMax)
        let end = Self.wordEnd(in: text, near: min(text.count, last))
        var snippet = Snippet()
        var position = start
        var isFirst = true
        for match in shown where match.range.lowerBound >= position && match.range.upperBound <= end {
            snippet.add(text[position..<match.range.lowerBound], isMatch: false, begins: isFirst && start > 0)
            snippet.add(text[match.range], isMatch: true)
            (position, isFirst) = (match.range.upperBound, false)
        }
        snippet.add(
            text[position..<max(position, end)], isMatch: false, begins: isFirst && start > 0, ends: end < text.count)
        return snippet
    }

    private struct Match {
        let term: Int
        let range: Range<Int>
    }

    /// Returns matches in order, up to the first window in a sentence that has all terms, or to the last of several others.
    private func find(_ text: UnsafeBufferPointer<UInt8>) -> [Match] {
        var progress = Array(repeating: (count: 0, start: 0), count: terms.count)
        var matches: [Match] = []
        var windowsLeft = Self.windowsMax
        var isEnough = false
        /// Adds a match, and finds out whether it completes a window that is good enough.
        func add(_ match: Match) {
            matches.append(match)
            if hasAll(matches) { windowsLeft -= Self.isInSentence(match.range, text) ? windowsLeft : 1 }
            isEnough = isEnough || windowsLeft <= 0 || matches.count >= Self.matchesMax
        }
        folding.forEachWord(in: text) { word, range in
            let others = forms.isEmpty ? nil : forms[Array(word)]
            for (number, words) in wordsOfTerms.enumerated() {
                if others?.contains(number) == true {
                    add(Match(term: number, range: range))
                    continue
                }
                var count = progress[number].count
                if !isMatch(word, words[count], isLast: count == words.count - 1, number) {
                    count = 0
                    guard isMatch(word, words[0], isLast: words.count == 1, number) else {
                        progress[number].count = 0
                        continue
                    }
                }
                if count == 0 { progress[number].start = range.lowerBound }
                progress[number].count = count + 1
                guard count + 1 == words.count else { continue }
                progress[number].count = 0
                add(Match(term: number, range: progress[number].start..<range.upperBound))
            }
            return !isEnough || range.upperBound < (matches.last?.range.upperBound ?? 0) + Self.bytesMax
        }
        return matches.sorted { ($0.range.lowerBound, $0.range.count) < ($1.range.lowerBound, $1.range.count) }
    }

    private func isMatch(_ word: UnsafeBufferPointer<UInt8>, _ wanted: [UInt8], isLast: Bool, _ term: Int) -> Bool {
        isLast && terms[term].isPrefix ? word.starts(with: wanted) : word.elementsEqual(wanted)
    }

    /// Whether the last matches have all terms within a window.
    private func hasAll(_ matches: [Match]) -> Bool {
        guard let end = matches.last?.range.upperBound else { return false }
        let near = matches.suffix(Self.windowMatchesMax).filter { end - $0.range.lowerBound <= Self.bytesMax }
        return Set(near.map(\.term)).count == terms.count
    }

    /// Returns the matches of the window with the most different terms; of equal ones, the first in a sentence.
    private func bestWindow(_ matches: [Match], _ text: UnsafeBufferPointer<UInt8>) -> [Match] {
        var best: (score: Int, start: Int) = (0, 0)
        for start in matches.indices {
            let count = Set(window(matches, from: start).map(\.term)).count
            guard 2 * count + 1 > best.score else { continue }
            let score = 2 * count + (Self.isInSentence(matches[start].range, text) ? 1 : 0)
            if score > best.score { best = (score, start) }
        }
        return matches.isEmpty ? [] : Array(window(matches, from: best.start))
    }

    private func window(_ matches: [Match], from start: Int) -> ArraySlice<Match> {
        matches[start...].prefix(Self.windowMatchesMax).prefix {
            $0.range.upperBound - matches[start].range.lowerBound <= Self.bytesMax
        }
    }

    /// Whether a match is in a line as long as a sentence. Menus and titles are shorter.
    private static func isInSentence(_ range: Range<Int>, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let before = text[..<range.lowerBound].suffix(sentenceMin).reversed().prefix { $0 != 0x0A }.count
        let after = text[range.lowerBound...].prefix(sentenceMin).prefix { $0 != 0x0A }.count
        return before + after >= sentenceMin
    }

    /// Returns where a snippet starts: at the start of the line, or of a word a little before the first match.
    private static func start(in text: [UInt8], before first: Int) -> Int {
        let near = max(0, first - bytesBefore)
        if let lineEnd = text[near..<first].lastIndex(of: 0x0A) {
            let line = text[(lineEnd + 1)...].prefix(sentenceMin).prefix { $0 != 0x0A }
            if line.count == sentenceMin { return lineEnd + 1 }
        }
        return wordStart(in: text, near: near)
    }

    private static func wordStart(in text: [UInt8], near position: Int) -> Int {
        guard position > 0 else { return 0 }
        let ahead = text[position...].prefix(40)
        if let space = ahead.firstIndex(where: { $0 <= 0x20 }) { return space + 1 }
        var start = position
        while start > 0, text[start] & 0xC0 == 0x80 { start -= 1 }
        return start
    }

    private static func wordEnd(in text: [UInt8], near position: Int) -> Int {
        guard position < text.count else { return text.count }
        let behind = text[..<position].suffix(40)
        if let space = behind.lastIndex(where: { $0 <= 0x20 }) { return space }
        var end = position
        while end > 0, text[end] & 0xC0 == 0x80 { end -= 1 }
        return end
    }

    private static let bytesBefore = 60
    private static let bytesMax = 240
    private static let matchesMax = 2000
    /// How many windows are looked at for one in a sentence.
    private static let windowsMax = 20
    private static let sentenceMin = 80
    private static let windowMatchesMax = 40
}

extension Snippet {
    fileprivate mutating func add(_ bytes: ArraySlice<UInt8>, isMatch: Bool, begins: Bool = false, ends: Bool = false) {
        var text = String(decoding: bytes, as: UTF8.self).split(omittingEmptySubsequences: true) {
            $0.isWhitespace || $0.isNewline
        }.joined(separator: " ")
        if bytes.first.map({ $0 <= 0x20 }) == true, !parts.isEmpty { text = " " + text }
        if bytes.last.map({ $0 <= 0x20 }) == true, !ends, text != " " { text += " " }
        if begins { text = "…" + text }
        if ends { text += "…" }
        if !text.isEmpty { parts.append(Part(text: text, isMatch: isMatch)) }
    }
}
