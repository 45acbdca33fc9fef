import TerminalText

extension Terminal {
    /// Returns the number of columns that a text takes on a terminal.
    ///
    /// Source: UAX #11 (East Asian Width), and UTS #51 (emoji take two columns). Some terminals draw a sequence of emoji as
    /// one emoji, others draw each. This counts each, so that a text isn't wider than its place.
    package static func width(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        // A flag is two letters. U+FE0F makes an emoji of the letter before it.
        if (0x1F1E6...0x1F1FF).contains(scalar.value) || scalar.value == 0xFE0F { return 1 }
        if scalar.properties.isEmojiPresentation { return 2 }
        if TerminalText.isHangulVowelOrFinal(scalar) { return 0 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return scalar.value == 0xAD ? 1 : 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
            0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    /// Returns a text as `safe` does, without a leading space, so that values line up.
    package static func value(_ text: String) -> String { String(safe(text).trimmingPrefix(" ")) }

    /// Returns a title for a table, at most 40 columns wide.
    package static func title(_ text: String) -> String { truncated(value(text), to: 40) }

    /// Returns the start of a text that is too wide, with an ellipsis.
    package static func truncated(_ text: String, to room: Int) -> String {
        guard width(text) > room else { return text }
        var (shown, left) = ("", room - 1)
        for character in text {
            left -= width(String(character))
            guard left >= 0 else { break }
            shown.append(character)
        }
        return shown + "…"
    }
}
