import WebArchive

/// Why a page has no text in the search index. Its title and URL are there anyway.
package enum MissingText: String, Sendable, Hashable, Codable, CaseIterable {
    /// The page list names a page that wasn't captured.
    case notCaptured
    /// The record is damaged, or its content is in an archive that isn't in the library.
    case unreadable
    /// The page is an image, a video or another type without text.
    case otherType
    /// The document has no text.
    case empty
    /// The document is larger than the limit.
    case tooLarge
    /// The archive was imported with `--no-text`.
    case off
    /// `pdftotext` isn't installed.
    case noPDFReader
    /// No sandbox for `pdftotext` works.
    case noPDFSandbox
    /// The PDF is encrypted.
    case encryptedPDF
    /// The PDF is damaged, or needs too much time or memory.
    case unreadablePDF
}

/// A page, as its archive lists it or as it was detected.
struct SourcePage {
    let position: Int
    let url: String
    /// 14 digits; empty if unknown.
    var timestamp: String
    let title: String?
    /// The text in the page list.
    let text: String?
}

/// A part of a page's text. A page with much text has several.
struct TextPart {
    /// What is displayed in larger letters, one line for each heading.
    var headings: [UInt8] = []
    /// Lines of UTF-8.
    var body: [UInt8] = []

    var count: Int { headings.count + body.count }

    /// The size after which the next part begins.
    static let bytesMax = 1 << 20
}

/// What was read from a page's capture.
struct PageContent {
    var title: String?
    var language = ""
    var type = "html"
    var parts: [TextPart] = []
    var missing: MissingText?
}

/// Reads the text of pages: from the page list, else from a text record, else from the archived HTML or PDF.
struct PageTextReader {
    let store: ArchiveStore
    let archive: Archive
    /// Whether the archive has records of extracted text, `urn:text:URL`, as Browsertrix writes them.
    private let hasTextRecords: Bool

    init(store: ArchiveStore, archive: Archive) throws {
        (self.store, self.archive) = (store, archive)
        let indexed = try store.openArchives.lookups(archive)
        let query = CaptureQuery(url: Self.textPrefix, matchType: .prefix)
        hasTextRecords = try indexed.wacz.captures(matching: query, assumesSorted: indexed.assumesSorted).next() != nil
    }

    /// Returns the text of a page. Errors in the archive are the reason why there is none.
    ///
    /// - Throws: `WebArchiveError` `io`; `StoreError` if the archive's file is unavailable.
    func read(_ page: SourcePage) throws -> PageContent {
        guard archive.entry.indexesText else { return PageContent(missing: .off) }
        if let text = page.text, !text.isEmpty {
            var content = PageContent()
            var lines = TextCollector()
            lines.add(text.utf8)
            content.parts = lines.finish()
            return content
        }
        do {
            if hasTextRecords, let text = try textRecord(of: page) { return text }
            return try readCapture(of: page)
        } catch let error as WebArchiveError where error.code != .io {
            return PageContent(missing: error.code == .tooLarge ? .tooLarge : .unreadable)
        } catch let error as StoreError where [.payloadMissing, .redirectsToItself].contains(error.code) {
            return PageContent(missing: .unreadable)
        }
    }

    private func textRecord(of page: SourcePage) throws -> PageContent? {
        guard let capture = try capture(of: Self.textPrefix + page.url, at: page.timestamp) else { return nil }
        var lines = TextCollector()
        try DocumentText(capture.body.content).readPlainText { lines.add($0) }
        let parts = lines.finish()
        return parts.isEmpty ? nil : PageContent(parts: parts)
    }

    private func readCapture(of page: SourcePage) throws -> PageContent {
        guard let capture = try capture(of: page.url, at: page.timestamp) else {
            return PageContent(missing: .notCaptured)
        }
        var document = DocumentText(capture.body.content)
        var lines = TextCollector()
        let mime = capture.mime ?? ""
        if DocumentText.htmlTypes.contains(mime) {
            // The closure escapes; `lines` must not.
            let collected = Collected()
            try document.readHTML { collected.lines.add($0, $1) }
            var content = PageContent(title: collected.lines.title, language: document.language ?? "")
            content.parts = collected.lines.finish()
            if content.parts.isEmpty { content.missing = .empty }
            return content
        }
        if mime == "application/pdf" { return try PDFText(store).read(document) }
        guard mime == "text/plain" else { return PageContent(type: "other", missing: .otherType) }
        try document.readPlainText { lines.add($0) }
        let parts = lines.finish()
        return PageContent(type: "text", parts: parts, missing: parts.isEmpty ? .empty : nil)
    }

    private func capture(of url: String, at timestamp: String) throws -> OpenCapture? {
        let request = ArchiveStore.CaptureRequest(url: url, time: CaptureTimestamp(digits: timestamp))
        return try store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false)
    }

    private final class Collected { var lines = TextCollector() }

    static let textPrefix = "urn:text:"
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
                (titleBytes.isEmpty ? [] : [0x20]) + line.prefix(max(0, Self.titleBytesMax - titleBytes.count))
            return
        }
        // Headings are also part of the text, so that phrases and snippets are complete.
        if place == .heading, part.headings.count < Self.headingsBytesMax { part.headings += line + [0x0A] }
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
        full.append(part)
        part = TextPart(body: rest)
    }

    mutating func finish() -> [TextPart] {
        let isBlank = part.headings.isEmpty && part.body.allSatisfy { $0 <= 0x20 }
        return isBlank ? full : full + [part]
    }

    /// A longer title is cut here.
    private static let titleBytesMax = 4 << 20
    private static let headingsBytesMax = 256 << 10
    private static let wordBytesMax = 4096
}
