/// Finds the URLs that a document may load: in HTML, CSS, scripts and JSON.
///
/// What a script puts together can't be found. What looks like a URL but isn't one does no harm: only captured URLs count.
package struct ResourceLinks {
    /// A reference as written, with character references and escapes undone.
    package struct Link: Sendable, Hashable {
        package let text: String
        /// Whether the document says that it loads this URL. Otherwise it's a text in a script that may be one.
        package let isCertain: Bool
    }

    /// The `href` of the `base` element.
    package private(set) var base: String?
    /// The links, in the document's order, each once.
    package private(set) var links: [Link] = []
    private var known: Set<String> = []

    private static let linksMax = 20_000
    private static let linkBytesMax = 4096

    package init() {}

    /// Finds the links of an HTML document.
    package mutating func readHTML(_ bytes: [UInt8]) {
        var tokenizer = Tokenizer(keepsAttributes: true)
        var position = 0
        var rawText: [UInt8] = []
        while let token = tokenizer.next(bytes, &position) {
            switch token {
            case .startTag: add(tokenizer.tag.attributes, of: tokenizer.tag.name)
            case .text(let range) where tokenizer.isInRawText: rawText += bytes[range]
            case .endTag where !rawText.isEmpty:
                readScript(rawText)
                readCSS(rawText)
                rawText = []
            case .text, .character, .endTag: break
            }
        }
    }

    /// Finds the links of a style sheet: `url(…)` and `@import "…"`. CSS Values 4 §4.5.
    package mutating func readCSS(_ bytes: [UInt8]) {
        var rest = bytes[...]
        var ends = NextByte(UInt8(ascii: ")"), in: bytes)
        while let found = rest.firstRange(ofBytes: Array("url(".utf8)) {
            rest = rest[found.upperBound...]
            guard let end = ends.position(from: rest.startIndex) else { break }
            if end - rest.startIndex <= Self.linkBytesMax { add(Self.unquoted(rest[..<end]), isCertain: true) }
        }
        rest = bytes[...]
        var quotes: [UInt8: NextByte] = [0x22: NextByte(0x22, in: bytes), 0x27: NextByte(0x27, in: bytes)]
        while let found = rest.firstRange(ofBytes: Array("@import".utf8)) {
            rest = rest[found.upperBound...].drop { $0.isHTMLSpace }
            guard let quote = rest.first, let start = rest.indices.first,
                let end = quotes[quote]?.position(from: start + 1)
            else { continue }
            guard end - start <= Self.linkBytesMax else { continue }
            add(String(decoding: bytes[(start + 1)..<end], as: UTF8.self), isCertain: true)
        }
    }

    /// Finds a byte, again and again from later positions, and reads the whole text only once.
    private struct NextByte {
        private let byte: UInt8
        private let bytes: [UInt8]
        private var found: Int? = -1

        init(_ byte: UInt8, in bytes: [UInt8]) { (self.byte, self.bytes) = (byte, bytes) }

        mutating func position(from start: Int) -> Int? {
            if let last = found, last < start { found = bytes[start...].firstIndex(of: byte) }
            return found
        }
    }

    /// Finds the texts in a script or in JSON that may be URLs.
    package mutating func readScript(_ bytes: [UInt8]) {
        var position = 0
        // Up to where each kind of quote was looked for. Before that, only escaped ones are left.
        var searched: [UInt8: Int] = [:]
        while position < bytes.count {
            let quote = bytes[position]
            position += 1
            guard quote == 0x22 || quote == 0x27 || quote == 0x60, position > searched[quote] ?? 0 else { continue }
            var text: [UInt8] = []
            var end = position
            while end < bytes.count, bytes[end] != quote, bytes[end] != 0x0A, text.count < Self.linkBytesMax {
                // `\\/` and `\\u0026` are common in JSON.
                if bytes[end] == UInt8(ascii: "\\") {
                    end += 1
                    if bytes[end...].starts(with: "u0026".utf8) {
                        end += 4; text.append(UInt8(ascii: "&"))
                    } else if end < bytes.count {
                        text.append(bytes[end])
                    }
                } else {
                    text.append(bytes[end])
                }
                end += 1
            }
            searched[quote] = end
            guard end < bytes.count, bytes[end] == quote else { continue }
            // An apostrophe in a text isn't a quote: what follows may begin before its end.
            if Self.mayBeURL(text) {
                add(String(decoding: text, as: UTF8.self), isCertain: false)
                position = end + 1
            }
        }
    }

    private mutating func add(_ attributes: [(name: String, value: String)], of element: HTMLName) {
        for (name, value) in attributes {
            switch name {
            case "href" where element == Self.base: base = base ?? value
            case "href" where element == Self.anchor || element == Self.area: break
            case "action", "formaction", "cite", "id", "class", "alt", "title", "name", "content": break
            case "srcset", "imagesrcset":
                for candidate in value.split(separator: ",") {
                    if let url = candidate.split(whereSeparator: \.isWhitespace).first {
                        add(String(url), isCertain: true)
                    }
                }
            case "style": readCSS(Array(value.utf8))
            case "srcdoc": readHTML(Array(value.utf8))
            case "src", "href", "poster", "background", "data", "xlink:href", "icon", "manifest":
                add(value, isCertain: true)
            default:
                if Self.mayBeURL(Array(value.utf8)) { add(value, isCertain: false) }
                if name.hasPrefix("data-") || name.hasPrefix("on") { readScript(Array(value.utf8)) }
            }
        }
    }

    private mutating func add(_ text: String, isCertain: Bool) {
        let trimmed = String(text.prefix { $0 != "#" }.drop { $0.isWhitespace })
        guard !trimmed.isEmpty, trimmed.utf8.count <= Self.linkBytesMax, links.count < Self.linksMax,
            !["data:", "blob:", "javascript:", "about:", "mailto:"].contains(where: { trimmed.hasPrefix($0) }),
            known.insert(trimmed).inserted
        else { return }
        links.append(Link(text: trimmed, isCertain: isCertain))
    }

    /// Whether a text in a script looks like a URL: it has a slash or a dot within, and nothing that URLs don't have.
    private static func mayBeURL(_ text: [UInt8]) -> Bool {
        guard (3...linkBytesMax).contains(text.count) else { return false }
        guard text.contains(UInt8(ascii: "/")) || text.dropFirst().dropLast().contains(UInt8(ascii: ".")) else {
            return false
        }
        return text.allSatisfy { $0 > 0x20 && !"<>{}|\"^`\\".utf8.contains($0) && $0 != 0x7F }
    }

    private static func unquoted(_ text: ArraySlice<UInt8>) -> String {
        var slice = text
        while let first = slice.first, first.isHTMLSpace || first == 0x22 || first == 0x27 { slice.removeFirst() }
        while let last = slice.last, last.isHTMLSpace || last == 0x22 || last == 0x27 { slice.removeLast() }
        return String(decoding: slice, as: UTF8.self)
    }

    private static let (base, anchor, area) = (HTMLName("base"), HTMLName("a"), HTMLName("area"))
}
