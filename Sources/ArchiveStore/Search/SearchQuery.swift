import Foundation
import WebArchive

/// What a person searches for: words, phrases and restrictions.
///
///     coral reef           pages with both words, or with other forms of them
///     "coral reef"         these forms, side by side
///     cor*                 words that begin so
///     coral OR sponge      one of them
///     -bleaching           not this word
///     title:reef           in the title
///     site:reef.example    on this host or a subdomain; also type:pdf, lang:de, in:ARCHIVE, collection:ID
///     after:2019 before:2024-06    captured from the beginning of 2019 until the end of May 2024
///
/// Everything else is searched as it is written. There are no syntax errors.
package struct SearchQuery: Sendable, Hashable {
    /// Words side by side.
    struct Term: Sendable, Hashable {
        /// Folded words; at least one.
        var words: [String]
        /// Whether the last word is the beginning of a word.
        var isPrefix = false
        var isInTitle = false
        /// All of it in the text of the query, with its field and quotation marks.
        var source: Substring = ""
        /// The word in the text of the query, if it is a single one that others can stand in for.
        var typed: Substring?

        /// Matches one of the words that stand in for it.
        func expression(for words: [String]) -> MatchExpression? {
            .any(words.map { MatchExpression(phrase: $0, in: isInTitle ? .title : nil) })
        }

        var expression: MatchExpression {
            MatchExpression(
                phrase: words.joined(separator: " "), isPrefix: isPrefix, in: isInTitle ? .title : nil)
        }
    }

    /// Restrictions to documents.
    enum Facet: Sendable, Hashable {
        case site(String)
        case type(String)
        case language(String)

        var word: String {
            switch self {
            case .site(let host): SearchFacet.site(host)
            case .type(let type): SearchFacet.type(type)
            case .language(let language): SearchFacet.language(language)
            }
        }

        /// Facets of the same kind are alternatives.
        var kind: Int {
            switch self {
            case .site: 0
            case .type: 1
            case .language: 2
            }
        }
    }

    /// All have to match; each is a list of alternatives.
    private(set) var groups: [[Term]] = []
    private(set) var excluded: [Term] = []
    var facets: Set<Facet> = []
    private(set) var excludedFacets: Set<Facet> = []
    /// IDs of archives or collections, or unique prefixes; empty for all archives.
    package var archives: [String] = []
    /// IDs of collections.
    package var collections: [String] = []
    /// The earliest time, 14 digits.
    package private(set) var after: String?
    /// The time before which pages were captured, 14 digits.
    package private(set) var before: String?
    /// The text as typed.
    package let text: String
    /// The filters in the text, by their name.
    private(set) var filters: [String: [Substring]] = [:]
    /// Filters whose value isn't valid, as typed. They are searched as words.
    package private(set) var invalidFilters: [String] = []

    /// Whether there is nothing to search for.
    package var isEmpty: Bool { groups.isEmpty && !isRestricted }

    /// Whether it has filters, typed or not.
    var isFiltered: Bool { isRestricted || !excludedFacets.isEmpty }

    /// Whether it has filters that pages can be listed by.
    private var isRestricted: Bool {
        !facets.isEmpty || !archives.isEmpty || !collections.isEmpty || after != nil || before != nil
    }

    /// Parses what a person typed.
    ///
    /// - Throws: `StoreError` `invalidQuery` if it is too long.
    package init(_ text: String) throws(StoreError) {
        guard text.utf8.count <= Self.bytesMax else {
            throw StoreError(
                .invalidQuery, "the search is too long: \(text.utf8.count) bytes; the maximum is \(Self.bytesMax)")
        }
        self.text = text
        var parser = Parser(rest: text[...])
        var joinsNext = false
        while let token = parser.next() {
            if token.isOr {
                joinsNext = !groups.isEmpty
                continue
            }
            if let field = token.field {
                if apply(field, token) {
                    filters[Self.filterNames[field.lowercased()] ?? field.lowercased(), default: []].append(
                        token.source)
                    continue
                }
                if field.lowercased() != "title" { invalidFilters.append("\(field):\(token.text)") }
            }
            let terms = Self.terms(of: token)
            if token.isExcluded {
                excluded += terms
            } else if joinsNext, !terms.isEmpty {
                groups[groups.count - 1] += terms
            } else {
                groups += terms.map { [$0] }
            }
            joinsNext = false
        }
        guard groups.joined().count + excluded.count <= Self.termsMax else {
            throw StoreError(.invalidQuery, "the search has too many words; the maximum is \(Self.termsMax)")
        }
    }

    /// Restricts the search to a media type, site or language. Values of one kind are alternatives.
    package mutating func restrict(sites: [String] = [], types: [String] = [], languages: [String] = []) {
        facets.formUnion(sites.map { .site(SearchSite.host(of: $0)) })
        facets.formUnion(types.map { .type($0.lowercased()) })
        facets.formUnion(languages.map { .language(SearchDocument.language($0)) })
    }

    /// Restricts the search to a span of time. Each text has 4 to 14 digits, optionally with `-`.
    ///
    /// - Returns: `false` if one isn't a time.
    package mutating func restrict(after: String? = nil, before: String? = nil) -> Bool {
        if let after {
            guard let time = Self.time(after) else { return false }
            self.after = max(time, self.after ?? time)
        }
        if let before {
            guard let time = Self.time(before) else { return false }
            self.before = min(time, self.before ?? time)
        }
        return true
    }

    /// Returns the query of the search index; `nil` if there are no words and no facets.
    ///
    /// - Parameters:
    ///   - optional: Words that a page need not have, unless they are in quotation marks.
    ///   - expression: What is looked for in place of a term.
    func expression(
        without optional: Set<String>, _ expression: (Term) -> MatchExpression = { $0.expression }
    ) -> MatchExpression? {
        var required = groups.compactMap { group in
            MatchExpression.any(group.filter { $0.typed == nil || !optional.contains($0.words[0]) }.map(expression))
        }
        // These alternatives find no other pages, but pages that have them rank higher.
        if let phrases, let words = MatchExpression.all(required) {
            required = [MatchExpression.any([words] + phrases) ?? words]
        }
        for kind in 0..<3 {
            if let values = Self.expression(facets.filter { $0.kind == kind }) { required.append(values) }
        }
        let unwanted = excluded.map(\.expression) + [Self.expression(excludedFacets)].compactMap { $0 }
        return MatchExpression.all(required)?.excluding(.any(unwanted))
    }

    /// All words side by side, and as a whole title or heading; `nil` if the query has alternatives.
    private var phrases: [MatchExpression]? {
        let terms = groups.compactMap { $0.count == 1 && !$0[0].isInTitle ? $0[0] : nil }
        guard !terms.isEmpty, terms.count == groups.count, !terms.contains(where: \.isPrefix) else { return nil }
        let phrase = Term(words: terms.flatMap(\.words))
        let whole = WholeText.word(for: phrase.words.joined(separator: " ")).map { MatchExpression(phrase: $0) }
        return (terms.count > 1 ? [phrase.expression] : []) + [whole].compactMap { $0 }
    }

    /// A query for titles in which the last word may be incomplete; `nil` if there are no words. A single letter isn't
    /// enough: too many words begin with it.
    var titleExpression: MatchExpression? {
        var terms = terms
        if let last = terms.last {
            terms[terms.count - 1].isPrefix = true
            if last.words.last?.utf8.count == 1 { terms.removeLast() }
        }
        for index in terms.indices { terms[index].isInTitle = true }
        return .all(terms.map(\.expression))
    }

    /// The words and phrases to mark in results.
    var terms: [Term] { groups.flatMap { $0 } }

    private mutating func apply(_ field: Substring, _ token: Parser.Token) -> Bool {
        let values = token.text.split(separator: ",").map(String.init)
        guard !values.isEmpty else { return false }
        switch field.lowercased() {
        case "site":
            let hosts = values.map { SearchSite.host(of: $0) }
            guard !hosts.contains("") else { return false }
            for host in hosts { add(.site(host), token) }
        case "type":
            let types = values.map { $0.lowercased() }
            guard Set(types).isSubset(of: Self.types) else { return false }
            for type in types { add(.type(type), token) }
        case "lang", "language":
            let languages = values.map(SearchDocument.language)
            guard !languages.contains("") else { return false }
            for language in languages { add(.language(language), token) }
        case "in" where !token.isExcluded: archives += values
        case "collection" where !token.isExcluded: collections += values
        case "after" where !token.isExcluded: return restrict(after: String(token.text))
        case "before" where !token.isExcluded: return restrict(before: String(token.text))
        default: return false
        }
        return true
    }

    private mutating func add(_ facet: Facet, _ token: Parser.Token) {
        if token.isExcluded { excludedFacets.insert(facet) } else { facets.insert(facet) }
    }

    private static func terms(of token: Parser.Token) -> [Term] {
        let isTitle = token.field?.lowercased() == "title"
        var text = token.field == nil || isTitle ? token.text : "\(token.field ?? ""):\(token.text)"
        // The index has URLs without these.
        if token.field == nil, let scheme = text.prefixMatch(of: /(?i)[a-z][a-z0-9+.\-]*:\/\//) {
            text = text[scheme.range.upperBound...]
        }
        if text.hasPrefix("www.") { text = text.dropFirst(4) }
        // The index has URLs decoded.
        let words = Self.words(of: text.removingPercentEncoding ?? String(text))
        guard !words.isEmpty else { return [] }
        let isSingle = words.count == 1 && !token.isQuoted && !token.isPrefix && !WordFolding.isOfRun(words[0])
        // The index has pairs of such characters, which begin with this one, or the character alone.
        let isPrefix = token.isPrefix || words.last.map(WordFolding.isOneCharacterOfRun) ?? false
        return [
            Term(
                words: words, isPrefix: isPrefix, isInTitle: isTitle, source: token.source,
                typed: isSingle ? token.text.trimmed(to: { $0.isLetter || $0.isNumber }) : nil)
        ]
    }

    /// Returns the folded words of a text. A run of a script without spaces is a phrase of its pairs; the last character,
    /// which the index has too, isn't needed unless it is the only one.
    private static func words(of text: String) -> [String] {
        let folding = WordFolding()
        var words: [String] = []
        var end = 0
        var text = WordFolding.composed(text)
        text.withUTF8 { bytes in
            folding.forEachWord(in: bytes) { word, range in
                // The last character of a run lies within the pair before it.
                if range.lowerBound >= end || words.isEmpty || range.upperBound > end {
                    words.append(String(decoding: word, as: UTF8.self))
                }
                end = max(end, range.upperBound)
                return true
            }
        }
        return words
    }

    /// Matches documents with one of the facets; `nil` if there are none.
    private static func expression(_ facets: Set<Facet>) -> MatchExpression? {
        .any(facets.map(\.word).sorted().map { MatchExpression(phrase: $0) })
    }

    private static func time(_ text: String) -> String? { URLFilter.time(text)?.digits14 }

    /// The values of `type:`.
    package static let types: Set<String> = ["html", "pdf", "text", "other"]
    private static let filterNames = ["language": "lang"]
    private static let bytesMax = 8 << 10
    private static let termsMax = 64
}

// MARK: - Queries that are made from another one

extension SearchQuery {
    /// Returns the query with other words in place of those that were typed.
    func replacing(_ corrections: [(typed: Substring, with: String)]) throws(StoreError) -> SearchQuery {
        var changed = text
        for (typed, word) in corrections.sorted(by: { $0.typed.startIndex > $1.typed.startIndex }) {
            changed.replaceSubrange(typed.startIndex..<typed.endIndex, with: word)
        }
        return try withText(changed)
    }

    /// Returns the query with one group of its words only, and with all filters.
    func keeping(_ group: [Term]) throws(StoreError) -> SearchQuery {
        let words = group.map { String($0.source) }.joined(separator: " OR ")
        let kept = filters.values.joined().sorted { $0.startIndex < $1.startIndex }
        return try withText(([words] + kept.map(String.init)).joined(separator: " "))
    }

    /// Returns the query without a filter; `nil` if it has no such filter.
    ///
    /// - Parameter filter: A name such as `site`.
    func without(_ filter: String) throws(StoreError) -> SearchQuery? {
        var query = try withText(text(without: filters[filter] ?? []))
        switch filter {
        case "site": query.facets = query.facets.filter { $0.kind != 0 }
        case "type": query.facets = query.facets.filter { $0.kind != 1 }
        case "lang": query.facets = query.facets.filter { $0.kind != 2 }
        case "in": query.archives = []
        case "collection": query.collections = []
        case "after": query.after = nil
        default: query.before = nil
        }
        return query.restrictions == restrictions ? nil : query
    }

    static let filterOrder = ["in", "collection", "site", "type", "lang", "after", "before"]

    private var restrictions: [AnyHashable] {
        [facets, excludedFacets, archives, collections, after, before]
    }

    private func text(without parts: [Substring]) -> String {
        var changed = text
        for part in parts.sorted(by: { $0.startIndex > $1.startIndex }) {
            changed.removeSubrange(part.startIndex..<part.endIndex)
        }
        return changed.split(separator: " ").joined(separator: " ")
    }

    /// Parses another text, and keeps the restrictions that aren't part of the text.
    private func withText(_ text: String) throws(StoreError) -> SearchQuery {
        let own = try SearchQuery(self.text)
        var query = try SearchQuery(text)
        query.facets.formUnion(facets.subtracting(own.facets))
        query.archives += archives.filter { !own.archives.contains($0) }
        query.collections += collections.filter { !own.collections.contains($0) }
        if after != own.after { query.after = [query.after, after].compactMap { $0 }.max() }
        if before != own.before { query.before = [query.before, before].compactMap { $0 }.min() }
        return query
    }
}

extension Substring {
    /// Removes other characters at both ends.
    fileprivate func trimmed(to isKept: (Character) -> Bool) -> Substring {
        guard let first = firstIndex(where: isKept), let last = lastIndex(where: isKept) else { return prefix(0) }
        return self[first...last]
    }
}

/// Splits a search into words and quoted phrases.
private struct Parser {
    struct Token {
        /// What is before a colon, such as `title`.
        var field: Substring?
        var text: Substring
        var isExcluded = false
        var isPrefix = false
        var isQuoted = false
        var isOr = false
        /// All of it.
        var source: Substring = ""
    }

    var rest: Substring

    mutating func next() -> Token? {
        rest = rest.drop(while: \.isWhitespace)
        let all = rest
        var token = read()
        token?.source = all[..<rest.startIndex]
        return token
    }

    private mutating func read() -> Token? {
        guard let first = rest.first else { return nil }
        var token = Token(text: "")
        if first == "-", let second = rest.dropFirst().first, !second.isWhitespace, second != "-" {
            token.isExcluded = true
            rest = rest.dropFirst()
        }
        if let field = takeField() { token.field = field }
        if rest.first == "\"" {
            token.isQuoted = true
            rest = rest.dropFirst()
            token.text = rest.prefix { $0 != "\"" }
            rest = rest.dropFirst(token.text.count + 1)
            if rest.first == "*" {
                token.isPrefix = true
                rest = rest.dropFirst()
            }
            return token
        }
        token.text = rest.prefix { !$0.isWhitespace && $0 != "\"" }
        rest = rest.dropFirst(token.text.count)
        token.isPrefix = token.text.last == "*"
        token.isOr = token.text == "OR" && token.field == nil && !token.isExcluded
        return token
    }

    private mutating func takeField() -> Substring? {
        let name = rest.prefix { $0.isASCII && $0.isLetter }
        guard !name.isEmpty, Self.fields.contains(name.lowercased()) else { return nil }
        let after = rest.dropFirst(name.count)
        guard after.first == ":", let value = after.dropFirst().first, !value.isWhitespace else { return nil }
        rest = after.dropFirst()
        return name
    }

    private static let fields: Set<String> = [
        "title", "site", "type", "lang", "language", "in", "collection", "after", "before",
    ]
}
