/// The name of an element or attribute, in lower case. Only its first 16 bytes count: no standard name is longer.
struct HTMLName: Hashable {
    private var (first, second): (UInt64, UInt64) = (0, 0)
    private(set) var count = 0

    init() {}

    init(_ text: some StringProtocol) {
        for byte in text.utf8 { append(byte) }
    }

    mutating func append(_ byte: UInt8) {
        if count < 8 {
            first |= UInt64(byte.asciiLowercased) << (8 * count)
        } else if count < 16 {
            second |= UInt64(byte.asciiLowercased) << (8 * (count - 8))
        }
        count = min(count + 1, 16)
    }

    subscript(_ index: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: index < 8 ? first >> (8 * index) : second >> (8 * (index - 8)))
    }
}

/// The attributes of a tag that decide what is shown.
struct Tag {
    static let valueMax = 4096
    static let keptValueMax = 256 << 10
    /// The number of attributes to keep of a tag, and of the bytes of their values.
    static let attributesMax = 1000
    static let attributeBytesMax = 1 << 20

    var name = HTMLName()
    var isSelfClosing = false
    var isHidden = false
    /// Whether its role is that of a landmark besides the main content.
    var isBesideContent = false
    var language: [UInt8] = []
    /// All attributes, if the tokenizer keeps them: names in lower case, values with character references undone.
    var attributes: [(name: String, value: String)] = []
    fileprivate var attributeBytes = 0
}

/// Cuts an HTML document into tags and text. WHATWG HTML §13.2.5.
struct Tokenizer {
    enum Token {
        /// A range of the bytes that were passed.
        case text(Range<Int>)
        /// A character reference, in UTF-8.
        case character([UInt8])
        /// `tag` has what it is.
        case startTag
        case endTag
    }

    private enum State {
        case data, tagOpen, endTagOpen, tagName, beforeAttribute, attributeName, afterAttributeName, beforeValue
        case doubleQuoted, singleQuoted, unquoted, selfClosing
        case declaration, comment, bogusComment
        case reference
        /// `script`, `style` and other elements whose content isn't HTML; `title` and `textarea`, which have references only.
        case raw, rawTagOpen, rawEndTag
    }

    private(set) var tag = Tag()
    private var state = State.data
    private var isEndTag = false
    private var attribute = HTMLName()
    private var value: [UInt8] = []
    private var reference: [UInt8] = []
    private var dashes = 0
    /// The element whose end tag ends raw content; empty outside of raw content.
    private var rawName = HTMLName()
    private var hasReferences = false
    private var rawCandidate: [UInt8] = []
    private let keepsAttributes: Bool
    private var attributeName: [UInt8] = []
    /// What turned out to be text although it began like something else; handed out first.
    private var pending: [UInt8]?

    init(keepsAttributes: Bool = false) {
        self.keepsAttributes = keepsAttributes
    }

    /// Whether the current text is the content of a script or style sheet.
    var isInRawText: Bool { rawName.count > 0 }

    /// Whether a tag has begun, but not ended.
    var isInTag: Bool {
        switch state {
        case .tagOpen, .endTagOpen, .tagName, .beforeAttribute, .attributeName, .afterAttributeName, .beforeValue,
            .doubleQuoted, .singleQuoted, .unquoted, .selfClosing:
            true
        default: false
        }
    }

    /// The next token, or `nil` when `bytes` is used up.
    mutating func next(_ bytes: [UInt8], _ position: inout Int) -> Token? {
        while true {
            if let text = pending { pending = nil; return .character(text) }
            guard position < bytes.count else { return nil }
            if let token = step(bytes, &position) { return token }
        }
    }

    /// Text that is left at the end of the document.
    mutating func finish() -> [UInt8]? {
        defer { self = Tokenizer(keepsAttributes: keepsAttributes) }
        switch state {
        case .reference: return HTMLReference.text(reference)
        case .tagOpen: return [0x3C]
        default: return nil
        }
    }

    private mutating func step(_ bytes: [UInt8], _ position: inout Int) -> Token? {
        switch state {
        case .data:
            let start = position
            while position < bytes.count, bytes[position] != 0x3C, bytes[position] != 0x26 { position += 1 }
            if position > start { return .text(start..<position) }
            beginMarkup(bytes[position], tagState: .tagOpen)
            position += 1
        case .raw:
            let start = position
            while position < bytes.count, bytes[position] != 0x3C, !(hasReferences && bytes[position] == 0x26) {
                position += 1
            }
            if position > start { return .text(start..<position) }
            beginMarkup(bytes[position], tagState: .rawTagOpen)
            position += 1
        case .reference: endReference(bytes, &position)
        case .comment: skipComment(bytes, &position)
        case .bogusComment:
            while position < bytes.count, bytes[position] != 0x3E { position += 1 }
            if position < bytes.count { position += 1; state = .data }
        default:
            let byte = bytes[position]
            position += 1
            return markup(byte, &position)
        }
        return nil
    }

    private mutating func beginMarkup(_ byte: UInt8, tagState: State) {
        if byte == 0x3C {
            state = tagState
        } else {
            reference.removeAll(keepingCapacity: true)
            state = .reference
        }
    }

    private mutating func endReference(_ bytes: [UInt8], _ position: inout Int) {
        while position < bytes.count, reference.count < HTMLReference.nameMax {
            let byte = bytes[position]
            guard byte.isASCIILetter || byte.isASCIIDigit || (byte == 0x23 && reference.isEmpty) else { break }
            reference.append(byte)
            position += 1
        }
        guard position < bytes.count else { return }
        if bytes[position] == 0x3B, HTMLReference.isKnown(reference) { position += 1 }
        pending = HTMLReference.text(reference)
        state = rawName.count == 0 ? .data : .raw
    }

    private mutating func skipComment(_ bytes: [UInt8], _ position: inout Int) {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case 0x2D: dashes += 1
            case 0x3E where dashes >= 2: return state = .data
            case 0x21 where dashes >= 2: break
            default: dashes = 0
            }
        }
    }

    private mutating func markup(_ byte: UInt8, _ position: inout Int) -> Token? {
        switch state {
        case .tagOpen:
            if byte.isASCIILetter { return beginTag(byte, isEnd: false) }
            switch byte {
            case 0x2F: state = .endTagOpen
            case 0x21: (state, dashes) = (.declaration, 0)
            case 0x3F: state = .bogusComment
            default: again(asText: [0x3C], &position)
            }
        case .endTagOpen:
            if byte.isASCIILetter { return beginTag(byte, isEnd: true) }
            state = byte == 0x3E ? .data : .bogusComment
        case .declaration:
            if byte == 0x2D {
                dashes += 1
                // `<!-->` is a whole comment.
                if dashes == 2 { state = .comment }
            } else {
                state = .bogusComment
                position -= 1
            }
        case .rawTagOpen:
            rawCandidate.removeAll(keepingCapacity: true)
            if byte == 0x2F { state = .rawEndTag } else { again(asText: [0x3C], &position) }
        case .rawEndTag: return rawEndTag(byte, &position)
        default: return attributes(byte, &position)
        }
        return nil
    }

    /// What was read is text after all; the last byte is read once more.
    private mutating func again(asText text: [UInt8], _ position: inout Int) {
        pending = text
        state = rawName.count == 0 ? .data : .raw
        position -= 1
    }

    private mutating func beginTag(_ byte: UInt8, isEnd: Bool) -> Token? {
        tag = Tag()
        tag.name.append(byte)
        attribute = HTMLName()
        value.removeAll(keepingCapacity: true)
        (isEndTag, state) = (isEnd, .tagName)
        return nil
    }

    private mutating func rawEndTag(_ byte: UInt8, _ position: inout Int) -> Token? {
        if rawCandidate.count == rawName.count {
            guard byte.isHTMLSpace || byte == 0x2F || byte == 0x3E else {
                again(asText: [0x3C, 0x2F] + rawCandidate, &position)
                return nil
            }
            tag = Tag()
            tag.name = rawName
            rawName = HTMLName()
            (isEndTag, state) = (true, .beforeAttribute)
            position -= 1
            return nil
        }
        if byte.asciiLowercased == rawName[rawCandidate.count] {
            rawCandidate.append(byte)
        } else {
            again(asText: [0x3C, 0x2F] + rawCandidate, &position)
        }
        return nil
    }

    private mutating func attributes(_ byte: UInt8, _ position: inout Int) -> Token? {
        let isSpace = byte.isHTMLSpace
        switch (state, byte) {
        case (.doubleQuoted, 0x22), (.singleQuoted, 0x27): endAttribute(); state = .beforeAttribute
        case (.doubleQuoted, _), (.singleQuoted, _): appendValue(byte)
        case (_, 0x3E): endAttribute(); return endOfTag()
        case (.beforeValue, _) where isSpace: break
        case (.beforeValue, 0x22): state = .doubleQuoted
        case (.beforeValue, 0x27): state = .singleQuoted
        case (.beforeValue, _): state = .unquoted; appendValue(byte)
        case (.unquoted, _): if isSpace { endAttribute(); state = .beforeAttribute } else { appendValue(byte) }
        case (_, 0x2F): endAttribute(); tag.isSelfClosing = true; state = .selfClosing
        case (.tagName, _):
            if isSpace { state = .beforeAttribute } else { tag.name.append(byte) }
        case (.attributeName, 0x3D), (.afterAttributeName, 0x3D): state = .beforeValue
        case (.attributeName, _) where isSpace: state = .afterAttributeName
        case (_, _) where isSpace: break
        default:
            if state != .attributeName { endAttribute(); tag.isSelfClosing = false; state = .attributeName }
            attribute.append(byte)
            if keepsAttributes, attributeName.count < Tag.valueMax { attributeName.append(byte.asciiLowercased) }
        }
        return nil
    }

    private mutating func appendValue(_ byte: UInt8) {
        if value.count < (keepsAttributes ? Tag.keptValueMax : Tag.valueMax) { value.append(byte) }
    }

    private mutating func endAttribute() {
        guard attribute.count > 0 else { return value.removeAll(keepingCapacity: true) }
        if keepsAttributes, tag.attributes.count < Tag.attributesMax, tag.attributeBytes < Tag.attributeBytesMax {
            tag.attributeBytes += value.count
            tag.attributes.append((String(decoding: attributeName, as: UTF8.self), HTMLReference.undone(in: value)))
        }
        attributeName.removeAll(keepingCapacity: true)
        switch attribute {
        case Self.hidden: tag.isHidden = tag.isHidden || value.map(\.asciiLowercased) != Self.untilFound
        case Self.style: tag.isHidden = tag.isHidden || Self.hides(value)
        case Self.lang: if tag.language.isEmpty { tag.language = value }
        case Self.role: tag.isBesideContent = tag.isBesideContent || Self.rolesBesideContent.contains(value)
        default: break
        }
        attribute = HTMLName()
        value.removeAll(keepingCapacity: true)
    }

    private static let (hidden, style, lang, role) = (
        HTMLName("hidden"), HTMLName("style"), HTMLName("lang"), HTMLName("role")
    )
    /// WAI-ARIA 1.2 §5.3.4, Landmark Roles.
    private static let rolesBesideContent: Set<[UInt8]> = Set(
        ["navigation", "banner", "contentinfo", "complementary", "search"].map { Array($0.utf8) })
    private static let untilFound = Array("until-found".utf8)

    private static func hides(_ style: [UInt8]) -> Bool {
        let text = String(decoding: style.filter { !$0.isHTMLSpace }.map(\.asciiLowercased), as: UTF8.self)
        return text.split(separator: ";").contains { $0.hasPrefix("display:none") || $0.hasPrefix("visibility:hidden") }
    }

    private mutating func endOfTag() -> Token {
        state = .data
        guard !isEndTag else { return .endTag }
        if let kind = Self.rawElements[tag.name] {
            (rawName, hasReferences, state) = (tag.name, kind, .raw)
        }
        return .startTag
    }

    /// With whether they have character references. WHATWG HTML §13.2.6.2.
    private static let rawElements: [HTMLName: Bool] = {
        let names = ["script", "style", "xmp", "iframe", "noembed", "noframes", "noscript", "plaintext"]
        var elements = Dictionary(uniqueKeysWithValues: names.map { (HTMLName($0), false) })
        elements[HTMLName("title")] = true
        elements[HTMLName("textarea")] = true
        return elements
    }()
}
