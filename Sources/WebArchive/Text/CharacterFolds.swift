import Foundation

/// How characters fold; computed when one is seen first.
struct CharacterFolds: Sendable {
    enum Kind: UInt8 {
        case unknown, separator, ignored
        /// Belongs to the character before it.
        case mark
        case word
        /// Belongs to a script that is split into pairs.
        case paired
    }

    /// How a character folds.
    struct Fold {
        var kind = Kind.unknown
        /// The number of bytes; 255 if there are more than 8.
        var count: UInt8 = 0
        var bytes: UInt64 = 0
    }

    /// For each block of 256 characters, where its folds begin; -1 if none is known.
    private var starts: [Int32]
    private var folds: [Fold] = []
    /// Folds of more than 8 bytes.
    private(set) var longFolds: [UInt32: [UInt8]] = [:]
    /// The number of known characters.
    private(set) var count = 0

    init() {
        starts = Array(repeating: -1, count: 0x1100)
    }

    /// Takes the place of a value that is moved; knows no characters, and can't learn any.
    static let none = CharacterFolds(starts: [])

    private init(starts: [Int32]) {
        self.starts = starts
    }

    mutating func fold(of scalar: UInt32) -> Fold {
        let start = starts[Int(scalar >> 8)]
        if start >= 0 {
            let known = folds[Int(start) + Int(scalar & 0xFF)]
            if known.kind != .unknown { return known }
        }
        return add(scalar)
    }

    private mutating func add(_ scalar: UInt32) -> Fold {
        let block = Int(scalar >> 8)
        if starts[block] < 0 {
            starts[block] = Int32(folds.count)
            folds += Array(repeating: Fold(), count: 256)
        }
        let (kind, bytes) = Self.makeFold(of: scalar)
        var fold = Fold(kind: kind)
        if bytes.count > 8 {
            longFolds[scalar] = bytes
            fold.count = 255
        } else {
            fold.bytes = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
            fold.count = UInt8(bytes.count)
        }
        folds[Int(starts[block]) + Int(scalar & 0xFF)] = fold
        count += 1
        return fold
    }

    private static func makeFold(of value: UInt32) -> (kind: Kind, bytes: [UInt8]) {
        guard let scalar = Unicode.Scalar(value) else { return (.separator, []) }
        if scalar.properties.generalCategory == .format {
            // A zero width space separates words; other format characters are invisible.
            return (value == 0x200B ? .separator : .ignored, [])
        }
        if (0xAC00...0xD7A3).contains(value) { return (.paired, Array(String(scalar).utf8)) }
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
        return (kind, kind == .ignored ? [] : bytes)
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .privateUse:
            true
        default: false
        }
    }

    static func isMark(_ scalar: Unicode.Scalar) -> Bool {
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

    static func isPaired(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Digits of these scripts are words.
        case 0x0E50...0x0E59, 0x0ED0...0x0ED9, 0x17E0...0x17E9: false
        case 0x0E00...0x0EFF, 0x1100...0x11FF, 0x1780...0x17FF, 0x3005...0x3007, 0x3031...0x3035, 0x303B,
            0x3041...0x30FF, 0x3130...0x318F, 0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA960...0xA97F,
            0xAC00...0xD7FF, 0xF900...0xFAFF, 0x1B000...0x1B16F, 0x20000...0x3FFFF:
            true
        default: false
        }
    }

    /// Letters without a decomposition that are often written with other letters.
    private static let replacements: [Unicode.Scalar: String] = [
        "ß": "ss", "ẞ": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ø": "o", "Ø": "o", "ł": "l", "Ł": "l",
        "đ": "d", "Đ": "d", "ð": "d", "Ð": "d", "ħ": "h", "Ħ": "h", "ı": "i", "þ": "th", "Þ": "th", "ς": "σ",
    ]
}
