import GRDB
import WebArchive

/// A query that also finds other forms of its words, and doesn't need words such as "how do I".
struct WiderQuery {
    /// `nil` if it finds nothing else.
    private(set) var expression: MatchExpression?
    /// Other forms of words, by folded word.
    private(set) var forms: [String: [String]] = [:]

    init(_ query: SearchQuery, _ finder: inout WordForms) throws {
        let optional = Self.optionalWords(query, finder)
        var alternatives: [String: MatchExpression] = [:]
        var isWider = !optional.isEmpty
        for term in query.terms.prefix(Self.wordsMax) where term.typed != nil && !optional.contains(term.words[0]) {
            let found = try finder.forms(of: term)
            guard let exact = MatchExpression.any([term.expression]), !found.isEmpty else { continue }
            let others = found.compactMap { item in
                term.expression(for: item.words).flatMap {
                    MatchExpression.all([$0, MatchExpression(phrase: SearchFacet.formsLanguage(item.language))])
                }
            }
            alternatives[term.id] = MatchExpression.any([exact] + others)
            forms[term.words[0], default: []] += found.flatMap(\.words)
            isWider = true
        }
        guard isWider else { return }
        expression = query.expression { term in
            if term.typed != nil, optional.contains(term.words[0]) { return nil }
            return alternatives[term.id] ?? term.expression
        }
    }

    /// Returns the words that a page need not have: those that say little in a language of the library, if there are others.
    private static func optionalWords(_ query: SearchQuery, _ finder: WordForms) -> Set<String> {
        let known = finder.languages.compactMap { FunctionWords.byLanguage[$0] }
        let optional = query.terms.filter { term in
            term.typed != nil && !term.isInTitle && known.contains { $0.contains(term.words[0][...]) }
        }
        return optional.count == query.terms.count ? [] : Set(optional.map { $0.words[0] })
    }

    private static let wordsMax = 12
}

extension SearchQuery.Term {
    fileprivate var id: String { "\(isInTitle) \(words[0])" }
}

/// Finds other forms of words in the vocabulary: words with the same stem by the rules of a language of the library.
struct WordForms {
    private let vocabulary: Vocabulary
    private let folding = WordFolding()
    private var stemmers: [(language: String, stemmer: Stemmer)] = []
    /// The most frequent languages of pages.
    let languages: [String]

    init(_ database: Database) throws {
        vocabulary = Vocabulary(database: database)
        languages = Array(try vocabulary.languages().prefix(Self.languagesMax))
        for language in languages {
            if let stemmer = Stemmer(language: language, folding: folding) { stemmers.append((language, stemmer)) }
        }
    }

    /// Returns other forms of a word, those on the most pages first.
    func forms(of term: SearchQuery.Term) throws -> [(language: String, words: [String])] {
        let word = term.words[0]
        guard let typed = term.typed, !stemmers.isEmpty, word.unicodeScalars.count >= Self.lettersMin else { return [] }
        let spellings = Set([typed.lowercased(), try vocabulary.entry(word)?.text ?? word])
        let stems = stemmers.map { item in Set(spellings.map { item.stemmer.stem(of: $0) }).filter { !$0.isEmpty } }
        var candidates: [Vocabulary.Entry] = []
        for prefix in prefixes(of: stems.joined()) {
            candidates += try vocabulary.entries(startingWith: prefix)
        }
        candidates.removeAll { $0.word == word }
        candidates.sort { ($0.pages, $1.word) > ($1.pages, $0.word) }
        return zip(stemmers, stems).compactMap { item, stems in
            let found = candidates.lazy.filter { stems.contains(item.stemmer.stem(of: $0.text)) }
                .prefix(Self.formsMax).map(\.word)
            return found.isEmpty ? nil : (item.language, Array(found))
        }
    }

    /// Returns texts with which words that have one of these stems begin. The last letter of a stem can differ from that of
    /// the word: "happi" is the stem of "happy".
    private func prefixes(of stems: some Sequence<String>) -> [String] {
        let texts = Set(
            stems.map { stem in
                stem.unicodeScalars.count > Self.lettersMin
                    ? String(String.UnicodeScalarView(stem.unicodeScalars.dropLast())) : stem
            }
        ).sorted()
        // One that begins with another one is read with it.
        return texts.reduce(into: []) { kept, text in
            if kept.last.map({ text.hasPrefix($0) }) != true { kept.append(text) }
        }
    }

    private static let languagesMax = 8
    private static let lettersMin = 3
    private static let formsMax = 20
}
