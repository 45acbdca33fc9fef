import WebArchive

/// Why a page has no text, or not all of its text, in the search index. Its title and URL are there anyway.
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
    /// The texts of the archive reached the limit for a file of its size; see `PageTextLimits`.
    case archiveLimit
    /// Only the start of the page's text is indexed: its text or what the archive may have reached a limit, or the rest
    /// is damaged.
    case rest
}

extension MissingText {
    /// The reason for an error while a record is read.
    fileprivate init(_ error: WebArchiveError) {
        switch error.code {
        case .tooLarge: self = .tooLarge
        case .tooCostly: self = .archiveLimit
        default: self = .unreadable
        }
    }
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

    var request: ArchiveStore.CaptureRequest { .init(url: url, time: CaptureTimestamp(digits: timestamp)) }
}

/// A part of a page's text. A page with much text has several.
struct TextPart {
    /// What is displayed in larger letters, one line for each heading.
    var headings: [UInt8] = []
    /// Lines of UTF-8.
    var body: [UInt8] = []
    /// The lines of the body that are beside the page's content, such as menus, in order.
    var beside: [Range<Int>] = []

    var count: Int { headings.count + body.count }

    /// Whether there is no content, so that nothing is beside it.
    var isAllBeside: Bool {
        var position = 0
        for range in beside {
            if body[position..<range.lowerBound].contains(where: { $0 > 0x20 }) { return false }
            position = range.upperBound
        }
        return body[position...].allSatisfy { $0 <= 0x20 }
    }

    /// The size after which the next part begins.
    static let bytesMax = 1 << 20
}

/// What was read from a page's capture.
struct PageContent {
    var title: String?
    var language = ""
    var type = "html"
    var missing: MissingText?
    /// A large record that was read for this page, or that the text of an earlier page was read from.
    var record: RecordPlace?
}

/// Identifies a record among all that the pages of an archive need.
struct RecordPlace: Hashable {
    /// The archive that has the record.
    let archive: ArchiveID
    let file: String
    let offset: UInt64
    /// The media type as which it is read: a revisit can have another.
    let type: String
}

/// What the text of one archive may cost, so that a small file can't fill the disk or keep the processor busy.
///
/// Real archives stay far below: their texts are smaller than their files, and their documents compress 3 to 20 times.
struct PageTextLimits {
    /// The maximum size of what is added to the index, in bytes of words and compressed texts.
    var indexed: UInt64
    /// The maximum memory for reading a PDF, in bytes.
    var pdfMemory: UInt64
    /// The size of what is added after which URLs and titles aren't added either.
    var listed: UInt64 { indexed.addingSaturated(max(indexed / 4, 4 << 20)) }

    /// - Parameter size: The size of the archive's file.
    init(archiveSize size: UInt64) {
        indexed = size.multipliedSaturated(by: 16).addingSaturated(16 << 20)
        pdfMemory = size.multipliedSaturated(by: 32).addingSaturated(64 << 20)
    }

    /// The maximum size of a page's text.
    static let pageBytesMax = 64 << 20
    /// What opening a record counts as, in bytes read.
    static let recordBytes: UInt64 = 8 << 10
    /// What a line of HTML text counts as besides its bytes, in bytes read.
    static let lineBytes: UInt64 = 32
    /// What a second of processor time for a PDF counts as, in bytes read. Real PDFs take less than a second per MB.
    static let bytesPerPDFSecond: UInt64 = 16 << 20
    /// The size of a decoded document from which it is read only once for all pages that show it.
    static let largeRecordBytes: UInt64 = 64 << 10
    /// The maximum size of a title in bytes.
    static let titleBytesMax = 1 << 20
}

/// Reads the text of pages: from the page list, else from a text record, else from the archived HTML or PDF.
final class PageTextReader {
    /// Receives a part of a page's text, with what is known of the page so far. Returns whether to continue.
    typealias Sink = (PageContent, TextPart) throws -> Bool

    let store: ArchiveStore
    let archive: Archive
    private let limits: PageTextLimits
    private let resolver: Resolver
    private let allowance: Allowance
    /// Whether the archive has records of extracted text, `urn:text:URL`, as Browsertrix writes them.
    private let hasTextRecords: Bool
    private let repeatedLines = RepeatedLines()

    /// - Parameter allowances: Charged with what is read, beside what it takes to decompress it.
    init(store: ArchiveStore, archive: Archive, limits: PageTextLimits, _ allowances: Allowances) throws {
        (self.store, self.archive, self.limits) = (store, archive, limits)
        (resolver, allowance) = (Resolver(store: store, allowances: allowances), allowances[archive])
        let indexed = try store.openArchives.lookups(archive, allowances)
        let query = CaptureQuery(url: Self.textPrefix, matchType: .prefix)
        hasTextRecords = try indexed.wacz.captures(matching: query).next() != nil
    }

    /// Whether no more records are read.
    var isAtLimit: Bool { allowance.isUsedUp }

    /// Counts the opening of a record.
    func countRecord() { allowance.charge(parsed: PageTextLimits.recordBytes) }

    /// Reads the text of a page. Errors in the archive are the reason why there is none.
    ///
    /// - Parameters:
    ///   - key: Of the page's URL.
    ///   - known: The records whose text isn't needed again. If the page shows one of them, it is returned.
    ///   - sink: Receives the parts of the text.
    /// - Throws: What `sink` throws; `WebArchiveError` `io`; `StoreError` if the archive's file is unavailable.
    func read(_ page: SourcePage, key: String, known: (RecordPlace) -> Bool, sink: Sink) throws -> PageContent {
        guard archive.entry.indexesText else { return PageContent(missing: .off) }
        guard page.text != nil || !isAtLimit else { return PageContent(missing: .archiveLimit) }
        repeatedLines.begin(key)
        return try withoutActuallyEscaping(sink) { sink in
            try read(page, known, PageTextParts(repeatedLines, sink))
        }
    }

    private func read(
        _ page: SourcePage, _ known: (RecordPlace) -> Bool, _ parts: PageTextParts
    ) throws -> PageContent {
        var text = parts
        func ended(because reason: MissingText) -> PageContent {
            text.content.missing = text.hasParts ? .rest : reason
            return text.content
        }
        do {
            try readText(of: page, known, &text)
            return text.content
        } catch is TextLimitReached {
            return ended(because: .archiveLimit)
        } catch let error as WebArchiveError where error.code != .io {
            return ended(because: MissingText(error))
        } catch let error as StoreError where [.payloadMissing, .redirectsToItself].contains(error.code) {
            return ended(because: .unreadable)
        }
    }

    private func readText(
        of page: SourcePage, _ known: (RecordPlace) -> Bool, _ text: inout PageTextParts
    ) throws {
        if let listed = page.text, !listed.isEmpty {
            try text.add(listed.utf8)
            return try text.finish()
        }
        if hasTextRecords, let capture = try capture(.init(url: Self.textPrefix + page.url, time: page.request.time)) {
            try readPlainText(of: capture, &text)
            if text.hasParts { return }
        }
        try readCapture(of: page, known, &text)
    }

    private func readCapture(
        of page: SourcePage, _ known: (RecordPlace) -> Bool, _ text: inout PageTextParts
    ) throws {
        guard let capture = try shownCapture(page.request) else {
            text.content.missing = .notCaptured
            return
        }
        let mime = capture.mime ?? ""
        let place = RecordPlace(
            archive: capture.payloadCapture?.archiveID ?? archive.id, file: capture.body.content.record.file,
            offset: capture.body.content.record.offset, type: mime)
        text.content.record = place
        guard !known(place) else { return }
        let before = allowance.parsedBytesLeft
        defer {
            if before - allowance.parsedBytesLeft < PageTextLimits.largeRecordBytes { text.content.record = nil }
        }
        if DocumentText.htmlTypes.contains(mime) {
            try readHTML(of: capture, &text)
        } else if mime == "application/pdf" {
            text.content.type = "pdf"
            try readPDF(of: capture, &text)
        } else if mime == "text/plain" {
            text.content.type = "text"
            try readPlainText(of: capture, &text)
        } else {
            (text.content.type, text.content.missing) = ("other", .otherType)
        }
        if !text.hasParts, text.content.missing == nil { text.content.missing = .empty }
    }

    private func readHTML(of capture: OpenCapture, _ text: inout PageTextParts) throws {
        var document = capture.document
        // The closure escapes; `text` must not.
        let collected = Collected()
        try document.readHTML {
            collected.lines.append(($0, $1))
        } step: { _, language in
            let lines = collected.take()
            try text.add(lines, language)
            allowance.charge(parsed: UInt64(lines.count) * PageTextLimits.lineBytes)
        }
        try text.add(collected.take(), document.language)
        try text.finish()
    }

    private func readPlainText(of capture: OpenCapture, _ text: inout PageTextParts) throws {
        try capture.document.readPlainText { try text.add($0) }
        try text.finish()
    }

    private func readPDF(of capture: OpenCapture, _ text: inout PageTextParts) throws {
        let secondsLeft = allowance.parsedBytesLeft / PageTextLimits.bytesPerPDFSecond + 1
        let limits = PDFText.Limits(
            documentBytes: limits.indexed, processorSeconds: UInt32(clamping: secondsLeft), memory: limits.pdfMemory)
        try PDFText(store).read(capture.document, &text, limits: limits) {
            allowance.charge(parsed: UInt64($0 * Double(PageTextLimits.bytesPerPDFSecond)))
        }
    }

    private func capture(
        _ request: ArchiveStore.CaptureRequest, skipsRedirects: Bool = false
    ) throws -> OpenCapture? {
        let capture = try resolver.openCapture(
            request, in: [archive], allowsFuzzyMatch: false, skipsRedirects: skipsRedirects)
        if capture != nil { countRecord() }
        return capture
    }

    /// Returns the capture of a page, or of where it redirects as far as that was captured.
    private func shownCapture(_ request: ArchiveStore.CaptureRequest) throws -> OpenCapture? {
        var chain = RedirectChain(request)
        while let step = chain.next, let next = try capture(step.request, skipsRedirects: step.skipsRedirects) {
            chain.add(next)
        }
        return chain.last
    }

    /// Returns the document that a page redirects to; `nil` if it doesn't redirect, or not to a document that was captured.
    func destination(of url: String, at timestamp: String) throws -> CDXJEntry? {
        let request = ArchiveStore.CaptureRequest(url: url, time: CaptureTimestamp(digits: timestamp))
        do {
            guard !isAtLimit, let entry = try resolver.closestCapture(request, in: [archive])?.entry,
                entry.isRedirect
            else { return nil }
            let shown = try shownCapture(request)
            return shown.flatMap { DetectedPage.isDocument($0.entry) ? $0.entry : nil }
        } catch let error as WebArchiveError where error.code != .io {
            return nil
        } catch let error as StoreError where [.payloadMissing, .redirectsToItself].contains(error.code) {
            return nil
        }
    }

    private final class Collected {
        var lines: [(HTMLTextReader.Part, [UInt8])] = []

        func take() -> [(HTMLTextReader.Part, [UInt8])] {
            defer { lines.removeAll(keepingCapacity: true) }
            return lines
        }
    }

    static let textPrefix = "urn:text:"
}
