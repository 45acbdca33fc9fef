import GRDB
import WebArchive

/// Finds words of the vocabulary that are spelled like a word that isn't in it.
///
/// Words with one error are found wherever it is; with two errors, only if they begin with the same letters.
/// `Spelling` says what an error is.
struct SimilarWords {
    let vocabulary: Vocabulary

    /// Returns the words that were most likely meant, best first.
    ///
    /// - Parameter word: Folded.
    func suggestions(for word: String) throws -> [Vocabulary.Entry] {
        let letters = Array(word.unicodeScalars)
        guard (Self.lettersMin...Self.lettersMax).contains(letters.count) else { return [] }
        var found: [(entry: Vocabulary.Entry, errors: Int)] = []
        for variant in Self.variants(of: letters) {
            if let entry = try vocabulary.entry(variant) { found.append((entry, 1)) }
        }
        if letters.count >= Self.twoErrorsMin {
            let start = String(String.UnicodeScalarView(letters.prefix(Self.commonStart)))
            for entry in try vocabulary.entries(startingWith: start) {
                let other = Array(entry.word.unicodeScalars)
                if Spelling.distance(letters, other, most: 2) == 2 { found.append((entry, 2)) }
            }
        }
        // A word of one page can be another error, or was invented to be suggested.
        let order = found.sorted { one, other in
            let isRare = (one.entry.pages < 2, other.entry.pages < 2)
            if isRare.0 != isRare.1 { return isRare.1 }
            if one.errors != other.errors { return one.errors < other.errors }
            return (one.entry.pages, other.entry.word) > (other.entry.pages, one.entry.word)
        }
        var seen: Set<String> = [word]
        return order.map(\.entry).filter { seen.insert($0.word).inserted }
    }

    /// Returns all words with one error.
    private static func variants(of word: [Unicode.Scalar]) -> Set<String> {
        let letters = alphabet(of: word)
        var variants: Set<String> = []
        func add(_ scalars: some Sequence<Unicode.Scalar>) {
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            variants.insert(String(text))
        }
        for place in 0...word.count {
            let (before, after) = (word[..<place], word[place...])
            for letter in letters { add(before + [letter] + after) }
            guard place < word.count else { continue }
            add(before + after.dropFirst())
            for letter in letters { add(before + [letter] + after.dropFirst()) }
            if place + 1 < word.count { add(before + [word[place + 1], word[place]] + after.dropFirst(2)) }
        }
        return variants
    }

    /// The letters of the script of a word.
    private static func alphabet(of word: [Unicode.Scalar]) -> [Unicode.Scalar] {
        let ranges: [ClosedRange<UInt32>] = [
            0x61...0x7A, 0x3B1...0x3C9, 0x430...0x45F, 0x561...0x586, 0x5D0...0x5EA, 0x621...0x64A,
        ]
        let used = ranges.filter { range in word.contains { range.contains($0.value) } }
        return used.prefix(1).joined().compactMap(Unicode.Scalar.init)
    }

    private static let lettersMin = 3
    private static let lettersMax = 24
    /// Shorter words have too many others that differ by two letters.
    private static let twoErrorsMin = 7
    private static let commonStart = 3
}
