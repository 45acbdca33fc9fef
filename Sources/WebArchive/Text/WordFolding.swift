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

    private enum Kind: UInt8 {
        case unknown, separator, ignored
        /// Belongs to the character before it.
        case mark
        case word
        /// Belongs to a script that is split into pairs.
        case paired
    }

    /// How a character folds.
    private struct Fold {
        var kind = Kind.unknown
        /// The number of bytes; 255 if there are more than 8.
        var count: UInt8 = 0
        var bytes: UInt64 = 0
    }

    /// Folds of characters.
    private struct Table: Sendable {
        /// In blocks of 256.
        var blocks: [[Fold]] = Array(repeating: [], count: 0x1100)
        var longFolds: [UInt32: [UInt8]] = [:]
        /// The number of characters.
        var count = 0
    }

    /// What values before have cached, so that a search doesn't begin with nothing.
    private static let known = Mutex(Table())
    private var table: Table

    /// The word that is being read.
    private var word: [UInt8] = []
    private var wordStart = 0
    /// The character before the last one of a paired run.
    private var previous: [UInt8] = []
    private var previousStart = 0
    private var isPaired = false

    package init() {
        table = Self.known.withLock { $0 }
    }

    deinit {
        let table = table
        Self.known.withLock { if table.count > $0.count { $0 = table } }
    }

    /// Calls `body` with each word and the range of `text` that it was read from.
    ///
    /// - Parameter text: Valid UTF-8.
    /// - Parameter body: Returns whether to continue. The word is valid during the call.
    package func forEachWord(
        in text: UnsafeBufferPointer<UInt8>, _ body: (_ word: ArraySlice<UInt8>, _ range: Range<Int>) -> Bool
    ) {
        reset()
        var position = 0
        while position < text.count {
            let byte = text[position]
            if byte < 0x80 {
                if Self.isWordByte[Int(byte)] != 0 {
                    if isPaired, !end(at: position, body) { return }
                    begin(at: position)
                    if word.count < Self.wordBytesMax { word.append(Self.isWordByte[Int(byte)]) }
                } else if !end(at: position, body) {
                    return
                }
                position += 1
                continue
            }
            let (scalar, length) = Self.scalar(text, position)
            if !add(scalar, at: position, body) { return }
            position += length
        }
        _ = end(at: text.count, body)
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
    package func append(_ text: UnsafeBufferPointer<UInt8>, to folded: inout [UInt8]) {
        folded.reserveCapacity(folded.count + text.count + 1)
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
                forEachWord(in: UnsafeBufferPointer(rebasing: text[start..<position])) { word, _ in
                    folded.append(contentsOf: word)
                    folded.append(0x20)
                    return true
                }
            }
            position += 1
        }
    }

    /// Returns text whose Hangul letters are composed to syllables, which `forEachWord` expects.
    package static func composed(_ text: String) -> String {
        let isDecomposed = text.unicodeScalars.contains { (0x1100...0x11FF).contains($0.value) }
        return isDecomposed ? text.precomposedStringWithCanonicalMapping : text
    }

    /// Whether a folded word is one character of a script that is split into pairs.
    package static func isOneCharacterOfRun(_ word: String) -> Bool {
        let scalars = word.unicodeScalars
        return scalars.first.map(isPaired) == true && scalars.dropFirst().allSatisfy(isMark)
    }

    private func reset() {
        word.removeAll(keepingCapacity: true)
        previous.removeAll(keepingCapacity: true)
        isPaired = false
    }

    private func begin(at position: Int) {
        if word.isEmpty { wordStart = position }
    }

    private func add(
        _ scalar: UInt32, at position: Int, _ body: (ArraySlice<UInt8>, Range<Int>) -> Bool
    ) -> Bool {
        let fold = fold(of: scalar)
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
            isPaired = true
            if !previous.isEmpty, !body((previous + word)[...], previousStart..<position) { return false }
            swap(&previous, &word)
            previousStart = wordStart
            word.removeAll(keepingCapacity: true)
            wordStart = position
            append(fold, scalar)
            return true
        }
    }

    private func append(_ fold: Fold, _ scalar: UInt32) {
        guard word.count < Self.wordBytesMax else { return }
        if fold.count == 255 { return word.append(contentsOf: table.longFolds[scalar] ?? []) }
        for index in 0..<Int(fold.count) { word.append(UInt8(truncatingIfNeeded: fold.bytes >> (8 * index))) }
    }

    /// Ends the word or the run at `position`.
    private func end(at position: Int, _ body: (ArraySlice<UInt8>, Range<Int>) -> Bool) -> Bool {
        guard !word.isEmpty else { return true }
        defer { reset() }
        if isPaired, !previous.isEmpty, !body((previous + word)[...], previousStart..<position) { return false }
        return body(word[...], wordStart..<position)
    }

    private func fold(of scalar: UInt32) -> Fold {
        let block = Int(scalar >> 8)
        if table.blocks[block].isEmpty { table.blocks[block] = Array(repeating: Fold(), count: 256) }
        let known = table.blocks[block][Int(scalar & 0xFF)]
        if known.kind != .unknown { return known }
        let made = makeFold(of: scalar)
        table.blocks[block][Int(scalar & 0xFF)] = made
        table.count += 1
        return made
    }

    private func makeFold(of value: UInt32) -> Fold {
        guard let scalar = Unicode.Scalar(value) else { return Fold(kind: .separator) }
        if scalar.properties.generalCategory == .format {
            // A zero width space separates words; other format characters are invisible.
            return Fold(kind: value == 0x200B ? .separator : .ignored)
        }
        if (0xAC00...0xD7A3).contains(value) { return fold(kind: .paired, Array(String(scalar).utf8), scalar) }
        var (kind, bytes) = (Kind.separator, [UInt8]())
        for part in String(scalar).decomposedStringWithCompatibilityMapping.unicodeScalars {
            let isMark = Self.isMark(part)
            if isMark && Self.isDropped(part) {
                if kind == .separator { kind = .ignored }
                continue
            }
            guard isMark || Self.isWord(part) else { continue }
            let own: Kind = isMark ? .mark : Self.isPaired(part) ? .paired : .word
            if [.separator, .ignored].contains(kind) || kind == .mark && own != .mark { kind = own }
            bytes +=
                (Self.replacements[part]
                ?? part.properties.lowercaseMapping.unicodeScalars.filter { !Self.isDropped($0) }
                .reduce(into: "") { $0.unicodeScalars.append($1) }).utf8
        }
        if value == 0x0640 { kind = .ignored }
        return fold(kind: kind, kind == .ignored ? [] : bytes, scalar)
    }

    private func fold(kind: Kind, _ bytes: [UInt8], _ scalar: Unicode.Scalar) -> Fold {
        guard bytes.count <= 8 else {
            table.longFolds[scalar.value] = bytes
            return Fold(kind: kind, count: 255)
        }
        let packed = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Fold(kind: kind, count: UInt8(bytes.count), bytes: packed)
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            true
        default: false
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Whether a mark is one of Latin, Greek, Cyrillic, Arabic or Hebrew, or of any script.
    private static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0300...0x036F, 0x0483...0x0489, 0x0591...0x05C7, 0x0610...0x061A, 0x064B...0x065F, 0x0670,
            0x06D6...0x06ED, 0x08D3...0x08FF, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0x2DE0...0x2DFF,
            0xFE00...0xFE0F, 0xFE20...0xFE2F, 0xE0100...0xE01EF:
            isMark(scalar)
        default: false
        }
    }

    private static func isPaired(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E00...0x0EFF, 0x1100...0x11FF, 0x1780...0x17FF, 0x3005...0x3007, 0x3031...0x3035, 0x303B,
            0x3041...0x30FF, 0x3130...0x318F, 0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA960...0xA97F,
            0xAC00...0xD7FF, 0xF900...0xFAFF, 0x1B000...0x1B16F, 0x20000...0x3FFFF:
            // Digits of these scripts are words.
            scalar.properties.generalCategory != .decimalNumber
        default: false
        }
    }

    /// Letters without a decomposition that are often written with other letters.
    private static let replacements: [Unicode.Scalar: String] = [
        "ß": "ss", "ẞ": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ø": "o", "Ø": "o", "ł": "l", "Ł": "l",
        "đ": "d", "Đ": "d", "ð": "d", "Ð": "d", "ħ": "h", "Ħ": "h", "ı": "i", "þ": "th", "Þ": "th", "ς": "σ",
    ]

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
