#if canImport(Glibc)
import Glibc
#endif

/// A character encoding, by the name that iconv has for it. WHATWG Encoding §4.2.
struct TextEncoding: Sendable, Hashable {
    let name: String

    static let utf8 = TextEncoding(name: "UTF-8")
    static let windows1252 = TextEncoding(name: "CP1252")

    private init(name: String) {
        self.name = name
    }

    /// Finds an encoding by a label; `nil` for an unknown one.
    init?(label: some StringProtocol) {
        let label = label.trimmingSpacesAndQuotes.lowercased()
        if let name = Self.namesByLabel[label] {
            self.name = name
        } else if label.hasPrefix("windows-125"), label.utf8.count == 12 {
            name = "CP" + label.dropFirst(8)
        } else if label.hasPrefix("iso-8859-") || label.hasPrefix("iso8859-") {
            name = "ISO-8859-" + label.drop { $0 != "-" }.dropFirst(label.hasPrefix("iso-") ? 6 : 1)
        } else {
            return nil
        }
    }

    /// Chooses the encoding of HTML or plain text.
    ///
    /// Servers often declare a default that isn't true. What the bytes show counts more: a byte order mark, valid UTF-8,
    /// and bytes that don't fit the declared encoding.
    ///
    /// - Parameters:
    ///   - start: The first bytes of the text.
    ///   - contentType: The `Content-Type` field.
    init(start: [UInt8], contentType: String?) {
        if let mark = Self.byteOrderMark(start) {
            self = mark
            return
        }
        let header = contentType.flatMap(Self.charset).flatMap { TextEncoding(label: $0) }
        let meta = Self.metaCharset(start).flatMap { TextEncoding(label: $0) }
        // A page that could be read as ASCII up to its `meta` element isn't UTF-16.
        let declared = [header, meta].compactMap { $0 }.filter { !$0.name.hasPrefix("UTF-16") || $0 == header }
        let evidence = UTF8Evidence(start)
        if evidence.isConvincing {
            self = .utf8
            return
        }
        if evidence.isASCII {
            self = declared.first ?? .utf8
            return
        }
        let plausible = declared.filter { encoding in
            encoding != .utf8 && !(encoding.isLatin && TextEncodingGuess.isHardlyLatin(start))
        }
        self = plausible.first { !$0.isLatin } ?? plausible.first ?? TextEncodingGuess.encoding(of: start)
    }

    /// Whether it is what servers declare by default.
    private var isLatin: Bool { self == .windows1252 }

    private static func byteOrderMark(_ start: [UInt8]) -> TextEncoding? {
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
        if start.starts(with: [0xFF, 0xFE]) { return TextEncoding(name: "UTF-16LE") }
        if start.starts(with: [0xFE, 0xFF]) { return TextEncoding(name: "UTF-16BE") }
        return nil
    }

    /// Returns the `charset` parameter of a media type. RFC 9110 §8.3.2.
    private static func charset(of type: String) -> Substring? {
        for parameter in type.split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0].trimmingSpacesAndQuotes.lowercased() == "charset" { return parts[1] }
        }
        return nil
    }

    /// Returns the encoding that a `meta` element declares. WHATWG HTML §13.2.3.2.
    private static func metaCharset(_ start: [UInt8]) -> String? {
        let head = start.prefix(metaBytesMax).map(\.asciiLowercased)
        var rest = head[...]
        while let tag = rest.firstRange(ofBytes: Array("<meta".utf8)) {
            rest = rest[tag.upperBound...]
            let element = rest.prefix { $0 != UInt8(ascii: ">") }
            guard let charset = element.firstRange(ofBytes: Array("charset".utf8)) else { continue }
            let value = element[charset.upperBound...].drop(while: \.isHTMLSpace)
            guard value.first == UInt8(ascii: "=") else { continue }
            let label = value.dropFirst().drop { $0.isHTMLSpace || $0 == 0x22 || $0 == 0x27 }
            let isEnd = { (byte: UInt8) in
                byte.isHTMLSpace || byte == 0x22 || byte == 0x27 || byte == 0x3B || byte == 0x2F
            }
            return String(decoding: label.prefix { !isEnd($0) }, as: UTF8.self)
        }
        return nil
    }

    private static let metaBytesMax = 4096

    private static let namesByLabel: [String: String] = {
        let labels = [
            "UTF-8": "utf-8 utf8 unicode-1-1-utf-8 x-unicode20utf8",
            "CP1252":
                "iso-8859-1 latin1 l1 ascii us-ascii windows-1252 cp1252 x-cp1252 iso8859-1 ansi_x3.4-1968 iso_8859-1",
            "CP1254": "iso-8859-9 latin5 l5 windows-1254", "CP874": "windows-874 tis-620 iso-8859-11 dos-874",
            "CP932": "shift_jis shift-jis sjis x-sjis ms_kanji windows-31j ms932 csshiftjis",
            "EUC-JP": "euc-jp x-euc-jp",
            "ISO-2022-JP": "iso-2022-jp csiso2022jp",
            "CP949": "euc-kr ks_c_5601-1987 korean ksc5601 ksc_5601 windows-949 cp949",
            "GB18030": "gb2312 gbk gb18030 gb_2312-80 chinese x-gbk csgb2312",
            "BIG5-HKSCS": "big5 big5-hkscs cn-big5 x-x-big5",
            "KOI8-R": "koi8-r koi8 koi koi8_r", "KOI8-U": "koi8-u koi8-ru", "CP866": "ibm866 866 cp866",
            "MACINTOSH": "macintosh mac x-mac-roman", "MAC-CYRILLIC": "x-mac-cyrillic x-mac-ukrainian",
            "UTF-16LE": "utf-16 utf-16le unicode ucs-2", "UTF-16BE": "utf-16be", "CP1251": "cp1251", "CP1250": "cp1250",
            "ISO-8859-2": "latin2 l2", "ISO-8859-15": "latin-9 l9",
        ]
        return Dictionary(
            labels.flatMap { name, labels in labels.split(separator: " ").map { (String($0), name) } },
            uniquingKeysWith: { $1 })
    }()
}

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

extension StringProtocol {
    fileprivate var trimmingSpacesAndQuotes: String {
        let isEdge = { (character: Character) in " \t\r\n\"'".contains(character) }
        return String(String(drop(while: isEdge).reversed()).drop(while: isEdge).reversed())
    }
}

/// Converts text to UTF-8, piece by piece. Bytes that can't be converted become U+FFFD.
final class TextConverter {
    private let encoding: TextEncoding
    private var rest: [UInt8] = []
    #if canImport(Glibc)
    private var descriptor: iconv_t?
    #endif

    init(_ encoding: TextEncoding) {
        self.encoding = encoding
        #if canImport(Glibc)
        if encoding != .utf8, let opened = iconv_open("UTF-8", encoding.name), Int(bitPattern: opened) != -1 {
            descriptor = opened
        }
        #endif
    }

    deinit {
        #if canImport(Glibc)
        if let descriptor { iconv_close(descriptor) }
        #endif
    }

    /// Returns the next piece as UTF-8. An incomplete character at its end belongs to the next piece.
    func convert(_ bytes: [UInt8]) -> [UInt8] {
        let input = rest + bytes
        rest = []
        #if canImport(Glibc)
        if let descriptor { return convert(input, descriptor) }
        #endif
        let end = Self.completeUTF8(input)
        rest = Array(input[end...])
        return Array(String(decoding: input[..<end], as: UTF8.self).utf8)
    }

    /// Returns what is left at the end.
    func finish() -> [UInt8] { rest.isEmpty ? [] : Array("\u{FFFD}".utf8) }

    #if canImport(Glibc)
    private func convert(_ input: [UInt8], _ descriptor: iconv_t) -> [UInt8] {
        var (input, output) = (input, [UInt8]())
        let capacity = input.count * 4 + 16
        let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: capacity)
        defer { buffer.deallocate() }
        let count = input.count
        let consumed = input.withUnsafeMutableBytes { bytes -> Int in
            var source = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var left = count
            while left > 0 {
                var (target, room): (UnsafeMutablePointer<CChar>?, Int) = (buffer, capacity)
                let result = iconv(descriptor, &source, &left, &target, &room)
                let failure = errno
                output.append(contentsOf: UnsafeRawBufferPointer(start: buffer, count: capacity - room))
                guard result == -1 else { break }
                guard failure == EILSEQ || (failure == EINVAL && left > Self.characterBytesMax) else { break }
                output += "\u{FFFD}".utf8
                source = source?.advanced(by: 1)
                left -= 1
            }
            return count - left
        }
        rest = Array(input[consumed...])
        return output
    }

    private static let characterBytesMax = 8
    #endif

    /// Returns the end of the last complete sequence.
    private static func completeUTF8(_ bytes: [UInt8]) -> Int {
        for back in 1...3 where bytes.count >= back {
            let byte = bytes[bytes.count - back]
            if byte & 0xC0 == 0x80 { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > back ? bytes.count - back : bytes.count
        }
        return bytes.count
    }
}
