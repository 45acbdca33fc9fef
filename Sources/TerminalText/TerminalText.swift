/// Makes lines of texts that come from archives, websites and other computers, so that they can't mislead a person at a terminal.
package enum TerminalText {
    /// Returns text on one line, with spaces for characters that control a terminal or reorder text.
    package static func oneLine(_ text: String) -> String {
        guard !isPlain(text) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }

    /// Returns JSON on one line, with escapes for the characters that `oneLine` replaces. RFC 8259 §7.
    package static func json(_ text: String) -> String {
        guard !isPlain(text) else { return text }
        return text.unicodeScalars.reduce(into: "") { line, scalar in
            guard isControl(scalar) else { return line.unicodeScalars.append(scalar) }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                line += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
    }

    /// Returns a line with its indentation, and the rest as `safe` returns it.
    package static func line(_ text: String) -> String {
        let content = text.drop { $0 == " " }
        return text[..<content.startIndex].prefix(indentationMax) + safe(String(content))
    }

    /// No line of ours is indented more. A text from elsewhere can begin with spaces, too.
    private static let indentationMax = 16

    /// Returns a text from a file or a website as a part of a line: with one space in a row and four marks on a letter, so that it
    /// neither fills a row of the terminal with gaps nor draws over other rows.
    package static func safe(_ text: String) -> String {
        guard !isPlain(text, allowsGaps: false) else { return text }
        var part = String.UnicodeScalarView()
        var marks = 0
        for scalar in text.unicodeScalars {
            // An invisible mark would hide that a space is before it.
            if isMark(scalar), part.last != " " || !isBlank(scalar) {
                marks += 1
            } else if scalar.properties.generalCategory == .spaceSeparator || isControl(scalar) || isBlank(scalar) {
                if part.last != " " { part.append(" ") }
                marks = 0
                continue
            } else {
                marks = 0
            }
            if marks <= 4 { part.append(scalar) }
        }
        return String(part)
    }

    /// Whether a text has only printable ASCII characters.
    ///
    /// - Parameter allowsGaps: Whether two spaces in a row are plain, too.
    private static func isPlain(_ text: String, allowsGaps: Bool = true) -> Bool {
        var last: UInt8 = 0
        return text.utf8.allSatisfy { byte in
            defer { last = byte }
            return (0x20..<0x7F).contains(byte) && (allowsGaps || byte != 0x20 || last != 0x20)
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// Whether a scalar is drawn on the letter before it: a mark, or a Hangul vowel or final. The filler U+1160 isn't.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark: true
        default: scalar.value != 0x1160 && isHangulVowelOrFinal(scalar)
        }
    }

    /// Whether a scalar is the second or third letter of a Hangul syllable.
    package static func isHangulVowelOrFinal(_ scalar: Unicode.Scalar) -> Bool {
        [0x1160...0x11FF, 0xD7B0...0xD7FF].contains { $0.contains(scalar.value) }
    }

    /// Whether a letter or symbol is drawn as blank. The numbers are those of Braille, hieroglyphs and music.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isDefaultIgnorableCodePoint || [0x2800, 0x13441, 0x13442, 0x1D159].contains(scalar.value)
    }
}
