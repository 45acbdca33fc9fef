/// Reads the text of an HTML document as a browser shows it: title, headings and body, without scripts, styles, templates and
/// hidden elements.
///
/// The document is read once from start to end and no tree is built: time is linear, and memory is bounded, whatever the document
/// nests or leaves open. Source: WHATWG HTML §13.2.5, Tokenization. An end tag closes the innermost open element of its name.
package struct HTMLTextReader {
    /// Where in the document a piece of text is.
    package enum Part: Sendable, Hashable {
        case title
        /// What names other text: `h1` to `h6`, terms of description lists, captions and legends.
        case heading
        case body
        /// Navigation, and headers, footers and sidebars of the page. Headings in the page's header are `heading`.
        case besideContent
    }

    /// The `lang` attribute of the `html` element.
    package private(set) var language: String?

    private let sink: (Part, [UInt8]) throws -> Void
    private var tokenizer = Tokenizer()
    private var elements = OpenElements()
    private var text = TextLines()
    /// What `title` contains, until it ends.
    private var hasTitle = false
    /// Whether nothing follows the last link yet.
    private var isAfterLink = false

    /// - Parameter sink: Receives lines of text in UTF-8, in the document's order. White space is collapsed, and lines end where
    ///   the browser starts a new one; a line longer than 64 KiB comes in several pieces.
    package init(sink: @escaping (Part, [UInt8]) throws -> Void) {
        self.sink = sink
    }

    /// Reads the next part of the document.
    ///
    /// - Parameter bytes: UTF-8, cut anywhere.
    package mutating func read(_ bytes: [UInt8]) throws {
        var position = 0
        while let token = tokenizer.next(bytes, &position) {
            switch token {
            case .text(let range): try show(bytes[range])
            case .character(let scalars): try show(scalars[...])
            case .startTag: try startTag(tokenizer.tag)
            case .endTag: try endTag(tokenizer.tag.name)
            }
        }
    }

    /// Writes what is left at the end of the document.
    package mutating func finish() throws {
        if let rest = tokenizer.finish() { try show(rest[...]) }
        try endLine()
    }

    private var part: Part {
        if elements.isInTitle { return .title }
        if elements.isInHeading, !elements.isBesideContent { return .heading }
        return elements.isBesideContent || elements.isInPageHeader ? .besideContent : .body
    }

    private mutating func show(_ bytes: ArraySlice<UInt8>) throws {
        guard !elements.isHidden else { return }
        isAfterLink = false
        text.append(bytes, keepsSpaces: elements.isPreformatted)
        if text.isLong { try write(text.takeWords()) }
    }

    private mutating func endLine() throws { try write(text.takeLine()) }

    private mutating func write(_ line: [UInt8]) throws {
        if !line.isEmpty { try sink(part, line) }
    }

    private mutating func startTag(_ tag: Tag) throws {
        let element = HTMLElement(tag.name)
        if element == .html, language == nil, !tag.language.isEmpty {
            language = String(decoding: tag.language, as: UTF8.self)
        }
        if element.breaksLine { try endLine() }
        // Style sheets set the links of a menu apart, so one that begins right after another is another word.
        if element == .cell || isAfterLink && tag.name == Self.link { text.append([0x20], keepsSpaces: false) }
        // A browser shows one title; one inside of SVG is a tooltip.
        var isHidden = tag.isHidden || element.isNeverShown
        if element == .title {
            isHidden = isHidden || hasTitle || elements.isInForeignContent
            hasTitle = hasTitle || !elements.isInForeignContent
        }
        guard !element.isVoid, !(tag.isSelfClosing && elements.isInForeignContent) else { return }
        elements.open(tag.name, element, isHidden: isHidden, isBesideContent: tag.isBesideContent)
    }

    private mutating func endTag(_ name: HTMLName) throws {
        let element = HTMLElement(name)
        if element.breaksLine { try endLine() }
        if name == Self.link { isAfterLink = true }
        elements.close(name)
    }

    private static let link = HTMLName("a")
}

/// The kinds of elements that make a difference to text.
enum HTMLElement {
    case html, title, heading, preformatted, foreign, cell
    /// `main` and `article`. Their headers and footers are content.
    case content
    /// A block beside the content, wherever it is: `nav`, `aside`.
    case besideContent
    /// Blocks beside the content, if they are the page's and not an article's: `header`, `footer`.
    case header, footer
    /// Names other text, and is closed by the next of its kind: `dt`.
    case term
    /// Starts and ends a line.
    case block
    /// Is closed by the next of its kind: `p`, `li`, `dt`, `dd`, `option`, `tr`.
    case item
    case lineBreak
    /// Has no content.
    case void
    /// Its content isn't shown, or isn't HTML.
    case neverShown
    case inline

    init(_ name: HTMLName) {
        self = Self.byName[name] ?? .inline
    }

    private static let byName: [HTMLName: HTMLElement] = {
        let names: [(HTMLElement, String)] = [
            (.html, "html"), (.title, "title"), (.heading, "h1 h2 h3 h4 h5 h6 caption figcaption legend summary"),
            (.term, "dt"),
            (.preformatted, "pre textarea listing"),
            (.foreign, "svg math"), (.cell, "td th"), (.item, "p li dd option tr"), (.lineBreak, "br hr"),
            (.void, "area base col embed img input link meta param source track wbr keygen frame"),
            (.neverShown, "script style template noscript iframe noembed noframes object video audio canvas datalist"),
            (
                .block,
                """
                address blockquote body center details dialog dir div dl fieldset figure form hgroup menu ol optgroup \
                section select table tbody tfoot thead ul
                """
            ),
            (.content, "main article"), (.besideContent, "nav aside search"), (.header, "header"), (.footer, "footer"),
        ]
        return Dictionary(
            names.flatMap { element, names in names.split(separator: " ").map { (HTMLName($0), element) } },
            uniquingKeysWith: { $1 })
    }()

    var isVoid: Bool { self == .void || self == .lineBreak }
    var isNeverShown: Bool { self == .neverShown }
    var breaksLine: Bool {
        switch self {
        case .html, .title, .heading, .term, .preformatted, .block, .item, .lineBreak, .content, .besideContent,
            .header,
            .footer:
            true
        case .foreign, .cell, .void, .neverShown, .inline: false
        }
    }
}

/// The elements that are open, and what follows from them for text.
struct OpenElements {
    private struct Element {
        let name: HTMLName
        let kind: HTMLElement
        let isHidden: Bool
        let isBesideContent: Bool
        let isPageHeader: Bool
    }

    /// Deeper elements are counted, not kept: their text is shown as their last known ancestor's is.
    private static let depthMax = 4096

    private var stack: [Element] = []
    private var counts: [HTMLName: Int] = [:]
    private var overflow = 0
    private var (hidden, headings, titles, preformatted, foreign) = (0, 0, 0, 0, 0)
    private var (contents, besideContent, pageHeaders) = (0, 0, 0)

    var isHidden: Bool { hidden > 0 }
    var isInHeading: Bool { headings > 0 }
    var isInTitle: Bool { titles > 0 }
    var isPreformatted: Bool { preformatted > 0 }
    var isInForeignContent: Bool { foreign > 0 }
    /// Whether this is navigation, a sidebar, or the page's footer.
    var isBesideContent: Bool { besideContent > 0 }
    var isInPageHeader: Bool { pageHeaders > 0 }

    /// - Parameter isBesideContent: Whether the element's role says so.
    mutating func open(_ name: HTMLName, _ kind: HTMLElement, isHidden: Bool, isBesideContent: Bool) {
        closeItem(before: name, kind)
        guard stack.count < Self.depthMax else { return overflow += 1 }
        // WHATWG HTML §4.3.8, §4.3.9: a header or footer is its article's, else the page's.
        let isBeside = isBesideContent && kind != .header || kind == .besideContent || kind == .footer && contents == 0
        stack.append(
            Element(
                name: name, kind: kind, isHidden: isHidden, isBesideContent: isBeside,
                isPageHeader: kind == .header && contents == 0))
        counts[name, default: 0] += 1
        count(stack[stack.count - 1], by: 1)
    }

    /// Closes the innermost open element of the name, and what is open inside of it. Each element is closed once: linear time.
    mutating func close(_ name: HTMLName) {
        guard counts[name, default: 0] > 0 else { return }
        overflow = 0
        while let last = stack.popLast() {
            counts[last.name, default: 1] -= 1
            count(last, by: -1)
            if last.name == name { return }
        }
    }

    /// WHATWG HTML §13.1.2.4, Optional tags.
    private mutating func closeItem(before name: HTMLName, _ kind: HTMLElement) {
        guard let last = stack.last, [.item, .term, .cell].contains(last.kind) else { return }
        let isParagraph = last.name == HTMLName("p")
        let ends =
            switch kind {
            case .item, .term: isParagraph || last.name == name || (last.name[0] == 0x64 && name[0] == 0x64)
            case .cell: last.kind == .cell
            case .block, .heading, .preformatted, .content, .besideContent, .header, .footer: isParagraph
            default: false
            }
        if ends { close(last.name) }
    }

    private mutating func count(_ element: Element, by step: Int) {
        if element.isHidden { hidden += step }
        if element.isBesideContent { besideContent += step }
        if element.isPageHeader { pageHeaders += step }
        switch element.kind {
        case .heading, .term: headings += step
        case .title: titles += step
        case .preformatted: preformatted += step
        case .foreign: foreign += step
        case .content: contents += step
        default: break
        }
    }
}

/// The line of text that is being read, its white space collapsed as CSS does (`white-space: normal`).
struct TextLines {
    private static let lineMax = 1 << 16
    private var line: [UInt8] = []
    private var endsInSpace = true

    var isLong: Bool { line.count >= Self.lineMax }

    mutating func append(_ bytes: ArraySlice<UInt8>, keepsSpaces: Bool) {
        line.reserveCapacity(line.count + bytes.count)
        for byte in bytes {
            if byte.isHTMLSpace {
                if keepsSpaces, byte == 0x0A {
                    line.append(0x0A); endsInSpace = true
                } else if !endsInSpace {
                    line.append(0x20); endsInSpace = true
                }
            } else {
                line.append(byte)
                endsInSpace = false
            }
        }
    }

    mutating func takeLine() -> [UInt8] {
        while let last = line.last, last.isHTMLSpace { line.removeLast() }
        defer { line.removeAll(keepingCapacity: true); endsInSpace = true }
        return line
    }

    /// All but the word that is being read, unless that is all there is: then what is there, up to a character's end.
    mutating func takeWords() -> [UInt8] {
        var end = line.lastIndex(where: \.isHTMLSpace) ?? 0
        if end == 0 {
            end = line.count
            while end > 0, line[end - 1] & 0xC0 == 0x80 { end -= 1 }
            if end > 0, line[end - 1] >= 0xC0 { end -= 1 }
        }
        defer { line.removeFirst(min(end + (end < line.count && line[end].isHTMLSpace ? 1 : 0), line.count)) }
        return Array(line[..<end])
    }
}

extension UInt8 {
    /// WHATWG Infra §4.6: ASCII whitespace.
    var isHTMLSpace: Bool { self == 0x20 || self == 0x0A || self == 0x09 || self == 0x0D || self == 0x0C }
}
