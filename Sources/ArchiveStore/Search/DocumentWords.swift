import Foundation
import WebArchive

/// The words of a document, as its row of `word` has them: folded, and separated by spaces.
struct DocumentWords: Sendable {
    let title: String
    let heading: String
    let url: String
    /// Without what is beside the page's content.
    let body: String
    /// Its site, type and language, and the words beside the page's content, which count nothing in the order of results.
    let facet: String
    /// How words of the title and the text are written in lower case, by their folded form, if they differ.
    let written: [String: String]
    /// `false` for documents of the version before.
    let isInVocabulary: Bool

    /// The values of a row of `word`.
    var columns: [String] { [title, heading, url, body, facet] }
    /// About what they take in memory, in bytes.
    var size: Int { columns.reduce(0) { $0 + $1.utf8.count } + written.count * Self.writtenBytes }

    /// The words of a document must be the same when it is added and deleted, so they depend only on what the index
    /// stores. It stores one spelling of each URL; all spellings have the key.
    ///
    /// - Parameters:
    ///   - language: The language that the page declares; empty if it declares none.
    ///   - contents: The version of the document; see `SearchSchema`.
    ///   - spellings: What other documents have noted, which isn't noted again.
    init(
        key: String, title: String, type: String, language: String, _ text: SearchText?, _ folding: WordFolding,
        contents: Int = SearchSchema.contents, spellings: KnownSpellings = KnownSpellings()
    ) {
        var written: [String: String] = [:]
        func folded(_ text: some Collection<UInt8>) -> String {
            var words: [UInt8] = []
            Array(text).withUnsafeBufferPointer {
                folding.append($0, to: &words) { word, source in
                    guard !word.elementsEqual(source), spellings.isNew(source) else { return }
                    Self.note(word, source, in: &written)
                }
            }
            return String(decoding: words, as: UTF8.self)
        }
        /// Returns a word for each text as a whole, so that a heading that is what was searched for counts more.
        func wholes(_ texts: [ArraySlice<UInt8>]) -> String {
            let short = texts.prefix(Self.wholesMax).filter { $0.count <= Self.wholeBytesMax }
            return Set(short.compactMap { WholeText.word(for: folded($0)) }).sorted().joined(separator: " ")
        }
        let title = WordFolding.composed(title)
        let headings = (text?.headings ?? []).split(separator: 0x0A)
        let titleParts = WholeText.parts(ofTitle: title).map { Array($0.utf8)[...] }
        let url = SearchSite.text(ofKey: key)
        self.title = folded(title.utf8) + wholes(titleParts)
        heading = folded(text?.headings ?? []) + wholes(headings)
        let readable = url.utf8.contains(UInt8(ascii: "%")) ? url.removingPercentEncoding ?? url : url
        self.url = folded(WordFolding.composed(readable).utf8)
        body = folded(text?.content ?? [])
        isInVocabulary = contents == SearchSchema.contents
        let guessed = language.isEmpty ? FunctionWords.language(of: body) : language
        let facets = SearchFacet.words(
            host: SearchSite.host(ofKey: key), type: type, language: language,
            formsLanguage: isInVocabulary ? guessed : "")
        facet = folded(text?.besideContent ?? []) + facets
        self.written = written.filter { !$0.value.isEmpty }
    }

    private static func note(
        _ word: UnsafeBufferPointer<UInt8>, _ source: UnsafeBufferPointer<UInt8>, in written: inout [String: String]
    ) {
        let folded = String(decoding: word, as: UTF8.self)
        guard written[folded] == nil else { return }
        let lower = String(decoding: source, as: UTF8.self).lowercased()
        written[folded] = lower == folded || WordFolding.isOfRun(folded) ? "" : lower
    }

    /// What an entry of `written` takes.
    private static let writtenBytes = 120
    private static let wholesMax = 1000
    /// Longer texts have more words than one that is searched as a whole.
    private static let wholeBytesMax = 4 << 10
}

/// Which words as written were noted lately. Most are on many pages.
final class KnownSpellings {
    /// The hash of the last word of those that share a place; empty until there is a word.
    private var hashes: [UInt64] = []

    func isNew(_ word: UnsafeBufferPointer<UInt8>) -> Bool {
        if hashes.isEmpty { hashes = [UInt64](repeating: 0, count: 1 << 15) }
        let hash = word.quickHash
        let place = Int(truncatingIfNeeded: hash) & (hashes.count - 1)
        guard hashes[place] != hash else { return false }
        hashes[place] = hash
        return true
    }
}

private let hashStart = UInt64.random(in: .min ... .max)

extension UnsafeBufferPointer<UInt8> {
    /// FNV-1a from a random start, so that a page can't be made of words with the same hash, with the upper half mixed into
    /// the lower one.
    var quickHash: UInt64 {
        let hash = reduce(hashStart) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return hash ^ hash >> 32
    }
}
