import Foundation
import Testing

@testable import WebArchive

struct WordFoldingTests {
    private func words(_ text: String) -> [String] {
        WordFolding().words(of: WordFolding.composed(text)).split(separator: " ").map(String.init)
    }

    /// Spellings that people use for the same word. Unicode UAX #15 (NFKD), DIN 5007-2 for German.
    @Test(arguments: [
        ("Café", "cafe"), ("cafe\u{301}", "cafe"), ("STRASSE", "Straße"), ("Ёлка", "елка"), ("Κόσμος", "ΚΟΣΜΟΣ"),
        ("ﬁnance", "finance"), ("２０２４", "2024"), ("Łódź", "lodz"), ("Ångström", "angstrom"),
        ("smørrebrød", "smorrebrod"),
        ("مُحَمَّد", "محمد"), ("كـتاب", "كتاب"), ("שָׁלוֹם", "שלום"), ("co\u{AD}operate", "cooperate"),
        ("İstanbul", "istanbul"),
        ("ｶﾞｲﾄﾞ", "ガイド"), ("か\u{3099}っこう", "がっこう"), ("\u{1112}\u{1161}\u{11AB}국", "한국"),
    ])
    func variantsAreTheSame(one: String, other: String) {
        #expect(words(one) == words(other))
        #expect(!words(one).isEmpty)
    }

    /// Marks that change the word stay.
    @Test(arguments: [("किताब", "कताब"), ("バス", "ハス"), ("ไม้", "ไม"), ("한", "하")])
    func othersDiffer(one: String, other: String) { #expect(words(one) != words(other)) }

    @Test(arguments: [
        ("", []), ("  -- !", []), ("Hello, world", ["hello", "world"]), ("don't", ["don", "t"]),
        ("C++ node.js 3.11", ["c", "node", "js", "3", "11"]), ("東京", ["東京", "京"]), ("東", ["東"]),
        ("東京都の天気", ["東京", "京都", "都の", "の天", "天気", "気"]), ("iPhone用ケース", ["iphone", "用ケ", "ケー", "ース", "ス"]),
        ("서울 날씨", ["서울", "울", "날씨", "씨"]), ("a\u{200B}b", ["a", "b"]), ("a\u{202E}b", ["ab"]), ("½", ["12"]),
    ])
    func textIsSplit(text: String, expected: [String]) { #expect(words(text) == expected.map(decomposed)) }

    /// The index has compatibility decompositions, except of Hangul.
    private func decomposed(_ word: String) -> String {
        let isHangul = word.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }
        return isHangul ? word : word.decomposedStringWithCompatibilityMapping
    }

    /// Both ways to read words give the same.
    @Test func foldedTextHasTheWordsOfTheText() {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "abc", "A", "é", "東京", "の", "-", " ", "\n", "ß", "9", "ค", "e\u{301}", "\u{AD}", "\u{200B}", "한국", ".",
        ]
        for _ in 0..<500 {
            var text = (0..<30).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            var expected: [String] = []
            text.withUTF8 { bytes in
                WordFolding().forEachWord(in: bytes) { word, _ in
                    expected.append(String(decoding: word, as: UTF8.self))
                    return true
                }
            }
            #expect(WordFolding().words(of: text).split(separator: " ").map(String.init) == expected, "\(text)")
        }
    }

    @Test func rangesAreThoseOfTheText() {
        let text = "Ein Café: 東京都"
        var found: [String] = []
        var copy = text
        copy.withUTF8 { bytes in
            WordFolding().forEachWord(in: bytes) { _, range in
                found.append(String(decoding: bytes[range], as: UTF8.self))
                return true
            }
        }
        #expect(found == ["Ein", "Café", "東京", "京都", "都"])
    }

    @Test func longWordsAreCutEqually() {
        let long = String(repeating: "ab", count: 10_000)
        let word = words(long)
        #expect(word.count == 1 && word[0].utf8.count == WordFolding.wordBytesMax)
        #expect(words(long.uppercased()) == word)
    }

    @Test func anyBytesAreAccepted() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var text = String(
                decoding: (0..<500).map { _ in UInt8.random(in: 0...255, using: &generator) }, as: UTF8.self)
            var end = 0
            text.withUTF8 { bytes in
                WordFolding().forEachWord(in: bytes) { word, range in
                    #expect(!word.isEmpty && range.upperBound <= bytes.count && range.lowerBound <= range.upperBound)
                    end = max(end, range.upperBound)
                    return true
                }
            }
            #expect(end <= text.utf8.count)
        }
    }
}
