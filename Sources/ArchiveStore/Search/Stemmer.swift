import WebArchive

#if WITH_STEMMER
import CStemmer

/// The rules of a language that reduce the forms of a word to one stem: `limpet` and `limpets` have the stem `limpet`.
///
/// Source: Snowball, snowballstem.org. Not thread-safe.
final class Stemmer {
    private let stemmer: OpaquePointer
    private let folding: WordFolding

    /// - Parameter language: A primary language subtag; see `SearchDocument.language`.
    /// - Returns: `nil` if there are no rules for it.
    init?(language: String, folding: WordFolding) {
        // Both are written forms of Norwegian.
        let code = ["nb", "nn"].contains(language) ? "no" : language
        guard let stemmer = sb_stemmer_new(code, nil) else { return nil }
        (self.stemmer, self.folding) = (stemmer, folding)
    }

    deinit { sb_stemmer_delete(stemmer) }

    /// Returns the folded stem of a word.
    ///
    /// - Parameter word: In lower case, with accents. Empty if there is none.
    func stem(of word: String) -> String {
        var word = word
        let stem: [UInt8]? = word.withUTF8 { bytes in
            guard let found = sb_stemmer_stem(stemmer, bytes.baseAddress, Int32(clamping: bytes.count)) else {
                return nil
            }
            return Array(UnsafeBufferPointer(start: found, count: Int(sb_stemmer_length(stemmer))))
        }
        guard let stem else { return "" }
        let text = String(decoding: stem, as: UTF8.self)
        return stem.allSatisfy { $0 < 0x80 } ? text : String(folding.words(of: text).dropLast())
    }
}
#else
/// Systems without libstemmer have no rules for any language.
final class Stemmer {
    init?(language: String, folding: WordFolding) { return nil }

    func stem(of word: String) -> String { "" }
}
#endif
