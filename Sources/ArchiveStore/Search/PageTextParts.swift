import WebArchive

/// A limit was reached; the rest of a text isn't read.
struct TextLimitReached: Error {}

/// Passes the parts of a page's text on as soon as they are complete, up to the limit of a page.
struct PageTextParts {
    var content = PageContent()
    /// Whether any part was passed on.
    private(set) var hasParts = false
    private var lines = TextCollector()
    private var size = 0
    private let repeatedLines: RepeatedLines
    private let sink: PageTextReader.Sink

    init(_ repeatedLines: RepeatedLines, _ sink: @escaping PageTextReader.Sink) {
        (self.repeatedLines, self.sink) = (repeatedLines, sink)
    }

    /// Adds a piece of text, which may end within a character.
    ///
    /// - Throws: `TextLimitReached` after the last part that is passed on; what the sink throws.
    mutating func add(_ bytes: some Collection<UInt8>) throws {
        lines.add(bytes)
        try pass(lines.takeFull())
    }

    /// Adds lines of HTML text.
    mutating func add(_ pieces: [(HTMLTextReader.Part, [UInt8])], _ language: String?) throws {
        for (place, line) in pieces { lines.add(place, line) }
        content.language = language ?? ""
        try pass(lines.takeFull())
    }

    /// Passes the last part on.
    mutating func finish() throws {
        content.title = lines.title
        try pass(lines.finish())
    }

    private mutating func pass(_ parts: [TextPart]) throws {
        if !parts.isEmpty { content.title = lines.title }
        for var part in parts {
            repeatedLines.mark(&part)
            guard size + part.count <= PageTextLimits.pageBytesMax else { throw TextLimitReached() }
            guard try sink(content, part) else { throw TextLimitReached() }
            size += part.count
            hasParts = true
        }
    }
}

/// Collects the text of a page into parts.
struct TextCollector {
    private var titleBytes: [UInt8] = []
    private var part = TextPart()
    private var full: [TextPart] = []

    /// The title; `nil` if there is none.
    var title: String? { titleBytes.isEmpty ? nil : String(decoding: titleBytes, as: UTF8.self) }

    /// Adds a line of HTML text.
    mutating func add(_ place: HTMLTextReader.Part, _ line: [UInt8]) {
        if place == .title {
            // A long title comes in several pieces.
            titleBytes +=
                (titleBytes.isEmpty ? [] : [0x20])
                + line.prefix(max(0, PageTextLimits.titleBytesMax - titleBytes.count))
            return
        }
        // Headings are also part of the text, so that phrases and snippets are complete.
        if place == .heading, part.headings.count < Self.headingsBytesMax { part.headings += line + [0x0A] }
        if place == .besideContent {
            part.beside.join(part.body.count..<part.body.count + line.count + 1)
        }
        add(line + [0x0A])
    }

    /// Adds a piece of text, which may end within a character.
    mutating func add(_ bytes: some Collection<UInt8>) {
        part.body.append(contentsOf: bytes)
        while part.body.count >= TextPart.bytesMax { endPart() }
    }

    /// Ends the part after a word, or after a character.
    private mutating func endPart() {
        let tail = part.body[..<TextPart.bytesMax].suffix(Self.wordBytesMax)
        var end = tail.lastIndex { $0 <= 0x20 }.map { $0 + 1 } ?? TextPart.bytesMax
        while end > TextPart.bytesMax - 4, part.body.indices.contains(end), part.body[end] & 0xC0 == 0x80 { end -= 1 }
        let rest = Array(part.body[end...])
        part.body.removeSubrange(end...)
        let beside = part.beside
        part.beside = beside.map { $0.clamped(to: 0..<end) }.filter { !$0.isEmpty }
        full.append(part)
        part = TextPart(
            body: rest,
            beside: beside.filter { $0.upperBound > end }.map { max(0, $0.lowerBound - end)..<$0.upperBound - end })
    }

    /// Returns the parts that are complete.
    mutating func takeFull() -> [TextPart] {
        defer { full = [] }
        return full
    }

    /// Returns the parts that weren't taken yet.
    mutating func finish() -> [TextPart] {
        let isBlank = part.headings.isEmpty && part.body.allSatisfy { $0 <= 0x20 }
        defer { part = TextPart() }
        return isBlank ? takeFull() : takeFull() + [part]
    }

    private static let headingsBytesMax = 256 << 10
    private static let wordBytesMax = 4096
}

extension [Range<Int>] {
    /// Appends a range that doesn't start before the last one. Ranges that touch or overlap become one.
    mutating func join(_ range: Range<Int>) {
        if let last, range.lowerBound <= last.upperBound {
            self[count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
        } else {
            append(range)
        }
    }
}
