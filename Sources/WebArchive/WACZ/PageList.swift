/// A page of a WACZ: a capture that is listed as a starting point.
///
/// Source: WACZ 1.1.1 §5.2.3 `pages.jsonl`. Only `url` is always present.
public struct Page: Sendable, Hashable {
    /// The page list that contains a page.
    public enum List: String, Sendable, Hashable, Codable {
        /// `pages/pages.jsonl`, usually the seeds of a crawl.
        case pages
        /// `pages/extraPages.jsonl`, other pages found by the crawl.
        case extraPages
    }

    /// The URL of the page, as written.
    public let url: String
    /// The time of the capture; `nil` if it's missing or invalid.
    public let captureTime: CaptureTimestamp?
    /// The time of the capture as RFC 3339.
    public var timestamp: String? { captureTime?.rfc3339 }
    /// The title of the page.
    public let title: String?
    /// The ID of the page, which is unique in the list.
    public let id: String?
    /// The size of the page's extracted text in UTF-8 bytes; `nil` if it has none.
    public let textLength: Int?
    /// The page's extracted text; `nil` unless the reader keeps it.
    public let text: String?
    /// The size of the page and the resources that it loaded, in bytes.
    public let size: UInt64?
    /// The media type of the page.
    public let mime: String?
    /// The HTTP status of the page.
    public let status: Int?
    /// How far Browsertrix loaded the page, from 0 (failed) to 4; `nil` if it's missing.
    public let loadState: Int?
    /// The number of links from the seed to this page.
    public let depth: Int?
    /// The URL of the page's icon.
    public let favIconURL: String?
    /// Whether the page is a seed of the crawl.
    public let isSeed: Bool
    /// The list that contains the page.
    public let list: List
}

extension Page {
    /// Creates a page of which no more is known.
    package init(url: String, captureTime: CaptureTimestamp?, title: String? = nil, id: String? = nil) {
        self.init(
            url: url, captureTime: captureTime, title: title, id: id, textLength: nil, text: nil, size: nil, mime: nil,
            status: nil, loadState: nil, depth: nil, favIconURL: nil,
            isSeed: false, list: .pages
        )
    }

    /// Parses a line; `nil` for the header line, which has a `format` and no `url`.
    ///
    /// - Throws: `JSONProblem`, also for a URL that is longer than those that can be looked up.
    init?(line: [UInt8], list: List, keepsText: Bool = false, limits: Limits) throws(JSONProblem) {
        var texts: [String: String] = [:]
        var (textLength, text): (Int?, String?)
        var isSeed = false
        var scanner = JSONScanner(line, depthMax: limits.jsonDepthMax)
        scanner.skipByteOrderMark()
        try scanner.object { (scanner, key) throws(JSONProblem) in
            switch key {
            case "text":
                var probe = scanner
                if let length = try? probe.stringByteCount() {
                    textLength = length
                    if keepsText { text = try scanner.text(bytesMax: limits.pageLineBytesMax) } else { scanner = probe }
                } else {
                    try scanner.skipValue()
                }
            case "seed", "isSeed": isSeed = try scanner.value() == .bool(true)
            case "url", "favIconUrl", "favIconURL": texts[key] = try scanner.text(bytesMax: limits.urlBytesMax + 4)
            case "title": texts[key] = try scanner.text(bytesMax: limits.titleBytesMax)
            case "ts", "id", "size", "mime", "status", "loadState", "depth", "format":
                texts[key] = try scanner.text(bytesMax: limits.tokenBytesMax)
            default: try scanner.skipValue()
            }
        }
        try scanner.expectEnd()
        guard let url = texts["url"], !url.isEmpty else {
            guard texts["format"] != nil else { throw scanner.problem("the page has no URL") }
            return nil
        }
        guard url.utf8.count <= limits.urlBytesMax else {
            throw JSONProblem(offset: 0, what: "its URL is too long", isTooLong: true)
        }
        let icon = texts["favIconUrl"] ?? texts["favIconURL"]
        self.init(
            url: url, captureTime: texts["ts"].flatMap { CaptureTimestamp(pageTime: $0) }, title: texts["title"],
            id: texts["id"], textLength: textLength, text: text, size: texts["size"].flatMap { UInt64($0) },
            mime: texts["mime"], status: texts["status"].flatMap { Int($0) },
            loadState: texts["loadState"].flatMap { Int($0) }, depth: texts["depth"].flatMap { Int($0) },
            favIconURL: icon.flatMap { $0.utf8.count <= limits.urlBytesMax ? $0 : nil }, isSeed: isSeed, list: list)
    }
}

/// Reads the page lists of a WACZ in constant memory, skipping invalid lines.
public final class PageReader {
    /// The findings in the part read so far.
    public var findings: [Finding] { log.findings }
    /// The number of bytes read from the page lists.
    public private(set) var bytesRead: UInt64 = 0
    private let wacz: WACZFile
    private let keepsText: Bool
    private var log: FindingLog
    /// The page list of a layout before 1.0.
    private let legacyEntry: ZIPEntry?
    private var pending: ArraySlice<ZIPEntry>
    private var current: (lines: LineReader, entry: ZIPEntry)?
    private var legacy = LegacyDescription()
    private var bytesOfFinishedLists: UInt64 = 0

    init(_ wacz: WACZFile, keepsText: Bool) {
        (self.wacz, self.keepsText) = (wacz, keepsText)
        log = FindingLog(perCodeMax: wacz.limits.findingsPerCodeMax)
        legacyEntry = wacz.pageEntries.isEmpty && wacz.dataPackage?.listsLegacyPages == true ? wacz.legacyEntry : nil
        pending = legacyEntry.map { [$0] } ?? wacz.pageEntries[...]
    }

    /// Returns the next page, or `nil` at the end. Invalid lines become findings.
    ///
    /// - Throws: `tooLarge` if a list exceeds its limits; `io` if the file can't be read.
    public func next() throws(WebArchiveError) -> Page? {
        while true {
            if let (lines, entry) = current {
                do throws(WebArchiveError) {
                    if let page = try next(in: lines, entry) { return page }
                } catch let error where error.isDamage {
                    note("The rest of a page list can't be read: \(error.problem).", "pages-damaged", entry.name)
                }
                bytesOfFinishedLists += entry.uncompressedSize
                bytesRead = bytesOfFinishedLists
                current = nil
            }
            guard let entry = pending.popFirst() else { return nil }
            let lines = LineReader(
                try wacz.textStream(of: entry), lineBytesMax: wacz.limits.pageLineBytesMax,
                skippedLineBytesMax: wacz.limits.skippedLineBytesMax)
            current = (lines, entry)
        }
    }

    private func next(in lines: LineReader, _ entry: ZIPEntry) throws(WebArchiveError) -> Page? {
        if legacyEntry != nil { return try nextLegacy(in: lines) }
        let list: Page.List = entry.name.lowercased().contains("extra") ? .extraPages : .pages
        while let line = try lines.next() {
            bytesRead = bytesOfFinishedLists + lines.offset
            let location = "\(entry.name) line \(line.number)"
            guard let bytes = line.bytes else {
                note("A line of the page list is too long.", "page-line-too-long", location)
                continue
            }
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
            do throws(JSONProblem) {
                if let page = try Page(line: bytes, list: list, keepsText: keepsText, limits: wacz.limits) {
                    return page
                }
            } catch {
                guard !error.isTooLong else {
                    note("A page's URL is too long.", "url-too-long", location)
                    continue
                }
                note(
                    "A line of the page list can't be read: byte \(error.offset): \(error.what).", "page-bad-line",
                    location)
            }
        }
        return nil
    }

    private func nextLegacy(in lines: LineReader) throws(WebArchiveError) -> Page? {
        while let line = try lines.next() {
            bytesRead = lines.offset
            guard let page = legacy.add(line.bytes ?? []) else { continue }
            if page.url.utf8.count <= wacz.limits.urlBytesMax { return page }
            note("A page's URL is too long.", "url-too-long", "\(legacyEntry?.name ?? "") line \(line.number)")
        }
        return legacy.takePage().flatMap { $0.url.utf8.count <= wacz.limits.urlBytesMax ? $0 : nil }
    }

    private func note(_ what: String, _ code: String, _ location: String) {
        log.add(
            .warning, code, what, at: location,
            consequence: "The page isn't listed, but you can still open it by its URL.")
    }
}
