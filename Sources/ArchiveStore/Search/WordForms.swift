import GRDB
import WebArchive

/// Finds other forms of words in the vocabulary: words with the same stem by the rules of a language of the library.
struct WordForms {
    private let vocabulary: Vocabulary
    private let folding = WordFolding()
    private var stemmers: [(language: String, stemmer: Stemmer)] = []

    /// Returns the most frequent languages of pages.
    static func languages(_ database: Database) throws -> [String] {
        Array(try Vocabulary(database: database).languages().prefix(languagesMax))
    }

    init(_ database: Database, _ languages: [String]) {
        vocabulary = Vocabulary(database: database)
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
