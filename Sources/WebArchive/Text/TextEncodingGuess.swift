/// How well bytes fit UTF-8.
struct UTF8Evidence {
    private var sequences = 0
    private var errors = 0

    init(_ bytes: [UInt8]) {
        var position = 0
        while position < bytes.count {
            let first = bytes[position]
            let length =
                first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0
            // A sequence that ends after the last byte doesn't count.
            guard length == 0 || position + length <= bytes.count else { return }
            if length > 1 || length == 0 {
                let isValid = length > 0 && bytes[(position + 1)..<(position + length)].allSatisfy { $0 & 0xC0 == 0x80 }
                if isValid { sequences += 1 } else { errors += 1 }
                position += isValid ? length : 1
            } else {
                position += 1
            }
        }
    }

    var isASCII: Bool { sequences == 0 && errors == 0 }
    /// Whether there are many more valid sequences than errors. Other encodings hardly ever look so.
    var isConvincing: Bool { sequences > 4 * errors && !isASCII }
}

/// Guesses an encoding from the frequency of bytes.
enum TextEncodingGuess {
    /// Whether most letters are outside ASCII, which text in a Latin encoding never has.
    static func isHardlyLatin(_ bytes: [UInt8]) -> Bool {
        let text = withoutMarkup(bytes)
        let high = text.count { $0 >= 0x80 }
        return high * 2 > text.count { $0 >= 0x80 || $0.isASCIILetter } && high > 8
    }

    static func encoding(of bytes: [UInt8]) -> TextEncoding {
        let text = withoutMarkup(bytes)
        let label = multibyte(text) ?? (isHardlyLatin(bytes) ? cyrillic(text) : "windows-1252")
        return TextEncoding(label: label) ?? .windows1252
    }

    /// Returns the label of an encoding of East Asia if nearly all bytes outside ASCII form its pairs.
    private static func multibyte(_ text: [UInt8]) -> String? {
        let (shiftJIS, kana) = pairs(text, isLead: { (0x81...0x9F).contains($0) || (0xE0...0xFC).contains($0) }) {
            ((0x40...0x7E).contains($1) || (0x80...0xFC).contains($1), $0 == 0x82 && $1 >= 0x9F || $0 == 0x83)
        }
        if shiftJIS > 0.97, kana > 0.15 { return "shift_jis" }
        let (euc, japanese) = pairs(text, isLead: { (0xA1...0xFE).contains($0) }) {
            ((0xA1...0xFE).contains($1), $0 == 0xA4 || $0 == 0xA5)
        }
        if euc > 0.97 {
            if japanese > 0.15 { return "euc-jp" }
            let (_, hangul) = pairs(text, isLead: { (0xA1...0xFE).contains($0) }) {
                ((0xA1...0xFE).contains($1), (0xB0...0xC8).contains($0))
            }
            return hangul > 0.85 ? "euc-kr" : "gb18030"
        }
        let (big5, common) = pairs(text, isLead: { (0xA1...0xF9).contains($0) }) {
            ((0x40...0x7E).contains($1) || (0xA1...0xFE).contains($1), (0xA1...0xC6).contains($0))
        }
        if big5 > 0.97, common > 0.7 { return "big5" }
        let (gbk, _) = pairs(text, isLead: { (0x81...0xFE).contains($0) }) { ($1 >= 0x40 && $1 != 0x7F, false) }
        return gbk > 0.99 ? "gb18030" : nil
    }

    /// Returns the share of pairs that are valid, and the share of those that are typical.
    private static func pairs(
        _ text: [UInt8], isLead: (UInt8) -> Bool, check: (UInt8, UInt8) -> (isValid: Bool, isTypical: Bool)
    ) -> (valid: Double, typical: Double) {
        var (valid, typical, all, position) = (0.0, 0.0, 0.0, 0)
        while position + 1 < text.count {
            let byte = text[position]
            guard byte >= 0x80 else {
                position += 1
                continue
            }
            all += 1
            let result = isLead(byte) ? check(byte, text[position + 1]) : (isValid: false, isTypical: false)
            if result.isValid {
                valid += 1
                if result.isTypical { typical += 1 }
            }
            position += result.isValid ? 2 : 1
        }
        return all < 8 ? (0, 0) : (valid / all, typical / max(valid, 1))
    }

    /// Returns the label of a Cyrillic encoding. Most letters are lower case; each encoding has those in another place.
    private static func cyrillic(_ text: [UInt8]) -> String {
        let windows = text.count { (0xE0...0xFF).contains($0) }
        let koi8 = text.count { (0xC0...0xDF).contains($0) }
        let dos = text.count { (0xA0...0xAF).contains($0) || (0x80...0x9F).contains($0) }
        if dos > windows, dos > koi8 { return "ibm866" }
        return koi8 > windows ? "koi8-r" : "windows-1251"
    }

    private static func withoutMarkup(_ bytes: [UInt8]) -> [UInt8] {
        var isInTag = false
        return bytes.filter { byte in
            if byte == 0x3C { isInTag = true }
            defer { if byte == 0x3E { isInTag = false } }
            return !isInTag && byte != 0x3E
        }
    }
}
