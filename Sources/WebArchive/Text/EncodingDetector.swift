/// Finds the character encoding of a document as browsers do: the first of these that is there decides.
///
/// 1. a byte order mark
/// 2. the `charset` of `Content-Type`, if browsers know it
/// 3. in HTML, a `meta` element; in XML, the XML declaration, otherwise UTF-8
/// 4. in HTML, the XML declaration
/// 5. the `charset` that the crawler found: `WARC-Identified-Payload-Type`
/// 6. a guess
///
/// Source: WHATWG Encoding §6 and HTML §13.2.3.2, "Determining the character encoding", as Chromium and Firefox apply them:
/// they look for `meta` elements in the first 1024 bytes, and after these up to the end of the head. `www/replay/sw.js` has the
/// same rules for replay.
package struct EncodingDetector {
    /// How a document says what its encoding is.
    package enum Syntax: Sendable {
        case html, xml, text

        /// - Parameter type: The media type of a document that isn't plain text.
        init(ofType type: String?) {
            let mime = HTTPMessageHead.mime(ofType: type)
            self = mime?.hasSuffix("xml") == true ? .xml : .html
        }
    }

    /// What was read so far.
    private(set) var start: [UInt8] = []
    private let header: TextEncoding?
    private let identified: TextEncoding?
    private let syntax: Syntax
    private var metas = MetaScan()

    /// - Parameters:
    ///   - contentType: The `Content-Type` field.
    ///   - identifiedType: The `WARC-Identified-Payload-Type` field.
    package init(contentType: String?, identifiedType: String?, syntax: Syntax) {
        header = contentType.flatMap(Self.charset).flatMap { TextEncoding(label: $0) }
        identified = identifiedType.flatMap(Self.charset).flatMap { TextEncoding(label: $0) }
        self.syntax = syntax
    }

    /// Reads the next piece of the document, and returns the encoding as soon as it's certain.
    package mutating func read(_ piece: [UInt8]) -> TextEncoding? {
        start += piece
        if start.count >= Self.markBytesMax, let known = Self.byteOrderMark(start) ?? header { return known }
        if syntax == .html { metas.read(piece) }
        guard start.count >= Self.declarationBytes, syntax != .html || metas.isDone else { return nil }
        return declared ?? (start.count >= Self.guessBytes ? guess : nil)
    }

    /// Returns the encoding of a document that has ended.
    package func finish() -> TextEncoding { Self.byteOrderMark(start) ?? header ?? declared ?? guess }

    /// The number of bytes of the byte order mark, which isn't part of the text.
    var markLength: Int {
        guard let mark = Self.byteOrderMark(start) else { return 0 }
        return mark == .utf8 ? 3 : 2
    }

    /// The encoding that the document itself or the crawler names.
    private var declared: TextEncoding? {
        switch syntax {
        case .html: Self.utf16Declaration(start) ?? metas.encoding ?? Self.xmlDeclaration(start) ?? identified
        case .xml: Self.utf16Declaration(start) ?? Self.xmlDeclaration(start) ?? .utf8
        case .text: identified
        }
    }

    private var guess: TextEncoding {
        let evidence = UTF8Evidence(start)
        return evidence.isConvincing || evidence.isASCII ? .utf8 : TextEncodingGuess.encoding(of: start)
    }

    // MARK: The places

    private static func byteOrderMark(_ start: [UInt8]) -> TextEncoding? {
        if start.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
        if start.starts(with: [0xFF, 0xFE]) { return .utf16LE }
        if start.starts(with: [0xFE, 0xFF]) { return .utf16BE }
        return nil
    }

    /// Returns the first `charset` parameter of a media type. RFC 9110 §8.3.2. Some servers left out the semicolon.
    private static func charset(of type: String) -> String? {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var rest = type.drop(while: isSpace).drop { !" \t;,".contains($0) }
        while true {
            rest = rest.drop { isSpace($0) || $0 == ";" }
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            guard let next = rest.first else { return nil }
            guard next == "=" else { continue }
            rest = rest.dropFirst().drop(while: isSpace)
            let isQuoted = rest.first == "\""
            let value = isQuoted ? rest.dropFirst().prefix { $0 != "\"" } : rest.prefix { $0 != ";" }
            if name.lowercased() == "charset" { return String(value) }
            rest = rest.dropFirst(value.count + (isQuoted ? 2 : 0)).drop { $0 != ";" }
        }
    }

    /// Returns UTF-16 if the document begins with `<?x` in it.
    private static func utf16Declaration(_ start: [UInt8]) -> TextEncoding? {
        if start.starts(with: [0x3C, 0, 0x3F, 0, 0x78, 0]) { return .utf16LE }
        if start.starts(with: [0, 0x3C, 0, 0x3F, 0, 0x78]) { return .utf16BE }
        return nil
    }

    /// Returns the encoding of an XML declaration. WHATWG HTML §13.2.3.2, "get an XML encoding".
    private static func xmlDeclaration(_ start: [UInt8]) -> TextEncoding? {
        guard start.starts(with: "<?xml".utf8) else { return nil }
        let declaration = start.prefix(declarationBytes).prefix { $0 != UInt8(ascii: ">") }
        guard let name = declaration.firstRange(ofBytes: Array("encoding".utf8)) else { return nil }
        let value = declaration[name.upperBound...].drop { $0 <= 0x20 }
        guard value.first == UInt8(ascii: "=") else { return nil }
        let quoted = value.dropFirst().drop { $0 <= 0x20 }
        guard let quote = quoted.first, quote == 0x22 || quote == 0x27,
            let end = quoted.dropFirst().firstIndex(of: quote)
        else { return nil }
        return TextEncoding(label: String(decoding: quoted[..<end].dropFirst(), as: UTF8.self))?.inASCII
    }

    private static let markBytesMax = 3
    /// The number of bytes in which declarations are looked for.
    static let declarationBytes = 1024
    /// The number of bytes from which an encoding is guessed.
    private static let guessBytes = 32 << 10
}

/// Looks for the `meta` element with the encoding: in the first 1024 bytes, then up to the end of the head.
private struct MetaScan {
    private var tokenizer = Tokenizer(keepsAttributes: true)
    private var bytesRead = 0
    private var isInHead = true
    private(set) var encoding: TextEncoding?
    private(set) var isDone = false

    mutating func read(_ piece: [UInt8]) {
        let count = max(0, EncodingDetector.declarationBytes - bytesRead)
        scan(Array(piece.prefix(count)))
        // A tag that begins in the first bytes is read to its end.
        if bytesRead >= EncodingDetector.declarationBytes, !isInHead, !tokenizer.isInTag { isDone = true }
        scan(Array(piece.dropFirst(count)))
        if bytesRead >= Self.bytesMax { isDone = true }
    }

    private mutating func scan(_ bytes: [UInt8]) {
        var position = 0
        let isLate = bytesRead >= EncodingDetector.declarationBytes
        while !isDone, let token = tokenizer.next(bytes, &position) {
            switch token {
            case .startTag:
                if tokenizer.tag.name == Self.meta { encoding = Self.encoding(of: tokenizer.tag.attributes) }
                isInHead = isInHead && Self.headElements.contains(tokenizer.tag.name)
            case .endTag: isInHead = isInHead && !Self.ends.contains(tokenizer.tag.name)
            case .text(let range):
                isInHead = isInHead && (tokenizer.isInRawText || bytes[range].allSatisfy(\.isHTMLSpace))
            case .character: isInHead = isInHead && tokenizer.isInRawText
            }
            isDone = encoding != nil || isLate && !isInHead
        }
        bytesRead += bytes.count
    }

    /// Returns the encoding that a `meta` element names. WHATWG HTML §4.2.5.4 and §13.2.6.4.4.
    private static func encoding(of attributes: [(name: String, value: String)]) -> TextEncoding? {
        // The first of two attributes with the same name counts.
        func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
        if let known = value("charset").flatMap({ TextEncoding(label: $0) }) { return known.inASCII }
        guard value("http-equiv")?.lowercased() == "content-type", let content = value("content") else { return nil }
        return charset(in: Array(content.utf8)).flatMap { TextEncoding(label: $0) }?.inASCII
    }

    /// WHATWG HTML §2.6.5, "extracting a character encoding from a meta element".
    private static func charset(in content: [UInt8]) -> String? {
        let lower = content.map(\.asciiLowercased)
        var rest = lower[...]
        while let found = rest.firstRange(ofBytes: Array("charset".utf8)) {
            rest = rest[found.upperBound...].drop(while: \.isHTMLSpace)
            guard rest.first == UInt8(ascii: "=") else { continue }
            let value = rest.dropFirst().drop(while: \.isHTMLSpace)
            guard let quote = value.first, quote == 0x22 || quote == 0x27 else {
                return String(decoding: value.prefix { !$0.isHTMLSpace && $0 != UInt8(ascii: ";") }, as: UTF8.self)
            }
            guard let end = value.dropFirst().firstIndex(of: quote) else { return nil }
            return String(decoding: value[..<end].dropFirst(), as: UTF8.self)
        }
        return nil
    }

    private static let meta = HTMLName("meta")
    /// The elements that can be in a head. WHATWG HTML §13.2.6.4.4. A template ends the search.
    private static let headElements = Set(
        "html head base basefont bgsound link meta noframes noscript script style title".split(separator: " ")
            .map { HTMLName($0) })
    private static let ends = Set(["head", "body", "html", "br"].map { HTMLName($0) })
    /// Browsers have no limit.
    private static let bytesMax = 1 << 20
}

extension TextEncoding {
    /// The encoding meant by a declaration that can be read as ASCII. WHATWG HTML §13.2.3.2.
    fileprivate var inASCII: TextEncoding {
        switch self {
        case .utf16LE, .utf16BE: .utf8
        case .userDefined: .windows1252
        default: self
        }
    }
}
