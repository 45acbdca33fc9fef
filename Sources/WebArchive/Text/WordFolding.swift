import Foundation
import Synchronization

/// Splits text into words as they are indexed and searched, so that spelling variants match.
///
/// Words are runs of letters, digits and private-use characters. They are folded: compatibility decomposition (NFKD),
/// lower case, without combining marks in Latin, Greek, Cyrillic, Arabic and Hebrew, and with ß as ss and similar
/// letters. Other marks, such as vowel signs of Indic scripts, stay. Runs of Han, Kana, Hangul, Thai, Lao and Khmer,
/// which don't separate words, become overlapping pairs of characters and the last character:
/// 東京都 is 東京, 京都, 都.
///
/// Not thread-safe: it caches how characters fold.
package final class WordFolding {
    /// The version of these rules. An index made with another version doesn't match.
    package static let version = 1
    /// The maximum size of a word in bytes; the rest of a longer one is ignored.
    package static let wordBytesMax = 96

    /// What values before have cached, so that a search doesn't begin with nothing.
    private static let known = Mutex(CharacterFolds())
    private var folds: CharacterFolds

    package init() {
        folds = Self.known.withLock { $0 }
    }

    deinit {
        let folds = folds
        Self.known.withLock { if folds.count > $0.count { $0 = folds } }
    }

    /// Calls `body` with each word and the range of `text` that it was read from.
    ///
    /// - Parameter text: Valid UTF-8.
    /// - Parameter body: Returns whether to continue. The word is valid during the call.
    package func forEachWord(
        in text: UnsafeBufferPointer<UInt8>, _ body: (_ word: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool
    ) {
        withRun { $0.read(text, body) }
    }

    /// Calls `body` with a run that has the folds: Swift checks each access to a field of an object, but not to those of a
    /// local value.
    private func withRun(_ body: (inout Run) -> Void) {
        var run = Run(folds: .none)
        swap(&run.folds, &folds)
        body(&run)
        swap(&run.folds, &folds)
    }

    /// Returns the words of `text`, separated by spaces.
    package func words(of text: String) -> String {
        var folded: [UInt8] = []
        append(text, to: &folded)
        return String(decoding: folded, as: UTF8.self)
    }

    /// Appends the words of `text` to `folded`, each followed by a space.
    package func append(_ text: String, to folded: inout [UInt8]) {
        var text = text
        text.withUTF8 { append($0, to: &folded) }
    }

    /// Appends the words of `text`, which is valid UTF-8, to `folded`, each followed by a space.
    ///
    /// - Parameter onWord: Called with each word that has other characters than those of ASCII, folded and as written.
    package func append(
        _ text: UnsafeBufferPointer<UInt8>, to folded: inout [UInt8],
        onWord: (_ word: UnsafeBufferPointer<UInt8>, _ written: UnsafeBufferPointer<UInt8>) -> Void = { _, _ in }
    ) {
        folded.reserveCapacity(folded.count + text.count + 1)
        withRun { run in
            // Most words are ASCII: they are copied. ASCII characters that aren't part of words separate all others.
            var position = 0
            while position < text.count {
                let start = position
                var isASCII = true
                while position < text.count {
                    let byte = text[position]
                    if byte >= 0x80 { isASCII = false } else if Self.isWordByte[Int(byte)] == 0 { break }
                    position += 1
                }
                if isASCII, position > start {
                    for byte in text[start..<min(position, start + Self.wordBytesMax)] {
                        folded.append(Self.isWordByte[Int(byte)])
                    }
                    folded.append(0x20)
                } else if position > start {
                    let piece = UnsafeBufferPointer(rebasing: text[start..<position])
                    run.read(piece) { word, range in
                        folded.append(contentsOf: word)
                        folded.append(0x20)
                        onWord(word, UnsafeBufferPointer(rebasing: piece[range]))
                        return true
                    }
                }
                position += 1
            }
        }
    }

    /// Returns text whose Hangul letters are composed to syllables, which `forEachWord` expects.
    package static func composed(_ text: String) -> String {
        // The first byte of these letters, which other characters have too.
        let isDecomposed =
            text.utf8.contains(0xE1) && text.unicodeScalars.contains { (0x1100...0x11FF).contains($0.value) }
        return isDecomposed ? text.precomposedStringWithCanonicalMapping : text
    }

    /// Whether a folded word is of a script that is split into pairs.
    package static func isOfRun(_ word: some StringProtocol) -> Bool {
        word.unicodeScalars.first.map(CharacterFolds.isPaired) ?? false
    }

    /// Does the same for a word in UTF-8.
    package static func isOfRun(_ word: UnsafeBufferPointer<UInt8>) -> Bool {
        // Characters of these scripts have three bytes at least.
        guard let first = word.first, first >= 0xE0 else { return false }
        return Unicode.Scalar(scalar(word, 0).0).map(CharacterFolds.isPaired) ?? false
    }

    /// Whether a folded word is one character of a script that is split into pairs.
    package static func isOneCharacterOfRun(_ word: String) -> Bool {
        let scalars = word.unicodeScalars
        guard let first = scalars.first else { return false }
        return CharacterFolds.isPaired(first) && scalars.dropFirst().allSatisfy(CharacterFolds.isMark)
    }

    /// Reads the words of a text.
    private struct Run {
        var folds: CharacterFolds
        /// The word that is being read. In a run of paired characters, the last one or two of them.
        private var word: [UInt8] = []
        private var wordStart = 0
        /// Where the last character of a paired run begins in `word` and in the text.
        private var last = (offset: 0, start: 0)
        private var isPaired = false

        init(folds: CharacterFolds) {
            self.folds = folds
        }

        mutating func read(
            _ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>, Range<Int>) -> Bool
        ) {
            reset()
            var position = 0
            while position < text.count {
                let byte = text[position]
                if byte < 0x80 {
                    if WordFolding.isWordByte[Int(byte)] != 0 {
                        if isPaired, !end(at: position, body) { return }
                        begin(at: position)
                        if word.count < WordFolding.wordBytesMax { word.append(WordFolding.isWordByte[Int(byte)]) }
                    } else if !end(at: position, body) {
                        return
                    }
                    position += 1
                    continue
                }
                let (scalar, length) = WordFolding.scalar(text, position)
                if !add(scalar, at: position, body) { return }
                position += length
            }
            _ = end(at: text.count, body)
        }

        private mutating func reset() {
            word.removeAll(keepingCapacity: true)
            isPaired = false
        }

        private mutating func begin(at position: Int) {
            if word.isEmpty { wordStart = position }
        }

        private mutating func add(
            _ scalar: UInt32, at position: Int, _ body: (UnsafeBufferPointer<UInt8>, Range<Int>) -> Bool
        ) -> Bool {
            let fold = folds.fold(of: scalar)
            switch fold.kind {
            case .unknown, .separator: return end(at: position, body)
            case .ignored: return true
            case .mark:
                if !word.isEmpty { append(fold, scalar) }
                return true
            case .word:
                if isPaired, !end(at: position, body) { return false }
                begin(at: position)
                append(fold, scalar)
                return true
            case .paired:
                if !isPaired, !end(at: position, body) { return false }
                if isPaired, last.offset > 0 {
                    if !report(until: position, body) { return false }
                    dropFirstOfPair()
                }
                (isPaired, last) = (true, (word.count, position))
                begin(at: position)
                append(fold, scalar)
                return true
            }
        }

        private mutating func append(_ fold: CharacterFolds.Fold, _ scalar: UInt32) {
            guard word.count - (isPaired ? last.offset : 0) < WordFolding.wordBytesMax else { return }
            if fold.count == 255 { return word.append(contentsOf: folds.longFolds[scalar] ?? []) }
            var bytes = fold.bytes
            for _ in 0..<fold.count {
                word.append(UInt8(truncatingIfNeeded: bytes))
                bytes >>= 8
            }
        }

        private mutating func dropFirstOfPair() {
            word.removeFirst(last.offset)
            wordStart = last.start
        }

        private func report(until position: Int, _ body: (UnsafeBufferPointer<UInt8>, Range<Int>) -> Bool) -> Bool {
            word.withUnsafeBufferPointer { body($0, wordStart..<position) }
        }

        /// Ends the word or the run at `position`.
        private mutating func end(
            at position: Int, _ body: (UnsafeBufferPointer<UInt8>, Range<Int>) -> Bool
        ) -> Bool {
            guard !word.isEmpty else { return true }
            defer { reset() }
            if isPaired, last.offset > 0 {
                if !report(until: position, body) { return false }
                dropFirstOfPair()
            }
            return report(until: position, body)
        }
    }

    /// The lower-case byte of each ASCII letter and digit; 0 for other characters.
    private static let isWordByte: [UInt8] = (0..<128).map { (byte: UInt8) in
        switch byte {
        case 0x30...0x39, 0x61...0x7A: byte
        case 0x41...0x5A: byte | 0x20
        default: 0
        }
    }

    /// Decodes the character at `position` of valid UTF-8.
    private static func scalar(_ text: UnsafeBufferPointer<UInt8>, _ position: Int) -> (UInt32, length: Int) {
        func next(_ offset: Int) -> UInt32 {
            position + offset < text.count ? UInt32(text[position + offset] & 0x3F) : 0
        }
        let first = UInt32(text[position])
        if first < 0xE0 { return ((first & 0x1F) << 6 | next(1), 2) }
        if first < 0xF0 { return ((first & 0x0F) << 12 | next(1) << 6 | next(2), 3) }
        return (min((first & 0x07) << 18 | next(1) << 12 | next(2) << 6 | next(3), 0x10FFFF), 4)
    }
}
