/// One page of a WACZ: something a person went to, as opposed to what it loaded.
///
/// Source: WACZ 1.1.1 §5.2.3 `pages.jsonl`. Only `url` is sure to be there.
public struct Page: Sendable, Hashable {
    /// Which list a page is in.
    public enum List: String, Sendable, Hashable, Codable {
        /// `pages/pages.jsonl`: the pages that were asked for.
        case pages
        /// `pages/extraPages.jsonl`: pages found on the way.
        case extraPages
    }

    /// URL, as written.
    public let url: String
    /// When it was captured; `nil` when absent or unreadable.
    public let captureTime: CaptureTimestamp?
    /// The same, as RFC 3339.
    public var timestamp: String? { captureTime?.rfc3339 }
    /// Title.
    public let title: String?
    /// Identifier, unique in the list.
    public let id: String?
    /// Bytes of the page's extracted text, in UTF-8; `nil` when there is none. The text itself is not kept.
    public let textLength: Int?
    /// Bytes that the page and what it loaded took.
    public let size: UInt64?
    /// Media type.
    public let mime: String?
    /// HTTP status.
    public let status: Int?
    /// Links between the start page and this one.
    public let depth: Int?
    /// URL of its icon.
    public let favIconURL: String?
    /// Whether the crawl started here.
    public let isSeed: Bool
    /// The list it is in.
    public let list: List
}

extension Page {
    /// A page of a layout before 1.0.
    init(url: String, time: String?, title: String?, id: String?) {
        self.init(
            url: url, captureTime: time.flatMap { CaptureTimestamp(pageTime: $0) }, title: title, id: id,
            textLength: nil, size: nil, mime: nil, status: nil, depth: nil, favIconURL: nil, isSeed: false, list: .pages
        )
    }

    /// Parses one line; `nil` for the header line, which has a `format` and no `url`.
    init?(line: [UInt8], list: List, limits: Limits) throws(JSONProblem) {
        var texts: [String: String] = [:]
        var textLength: Int?
        var isSeed = false
        var scanner = JSONScanner(line, depthMax: limits.jsonDepthMax)
        scanner.skipByteOrderMark()
        try scanner.object { (scanner, key) throws(JSONProblem) in
            switch key {
            case "text":
                var probe = scanner
                if let length = try? probe.stringByteCount() {
                    textLength = length
                    scanner = probe
                } else {
                    try scanner.skipValue()
                }
            case "seed", "isSeed": isSeed = try scanner.value() == .bool(true)
            case "url", "ts", "title", "id", "size", "mime", "status", "depth", "favIconUrl", "favIconURL", "format":
                texts[key] = try scanner.text(bytesMax: limits.textBytesMax)
            default: try scanner.skipValue()
            }
        }
        try scanner.expectEnd()
        guard let url = texts["url"], !url.isEmpty else {
            guard texts["format"] != nil else { throw scanner.problem("a page has no url") }
            return nil
        }
        self.init(
            url: url, captureTime: texts["ts"].flatMap { CaptureTimestamp(pageTime: $0) }, title: texts["title"],
            id: texts["id"], textLength: textLength, size: texts["size"].flatMap { UInt64($0) }, mime: texts["mime"],
            status: texts["status"].flatMap { Int($0) }, depth: texts["depth"].flatMap { Int($0) },
            favIconURL: texts["favIconUrl"] ?? texts["favIconURL"], isSeed: isSeed, list: list)
    }
}

/// Reads the page lists of a WACZ from the first line to the last, past bad lines, with flat memory.
public final class PageReader {
    /// What is wrong in the part that was read.
    public var findings: [Finding] { log.findings }
    /// Bytes read of the page lists, as they lie in the package's entries.
    public private(set) var bytesRead: UInt64 = 0
    private let wacz: WACZFile
    private var log: FindingLog
    /// The page list of a layout before 1.0.
    private let legacyEntry: ZIPEntry?
    private var pending: ArraySlice<ZIPEntry>
    private var current: (lines: LineReader, entry: ZIPEntry)?
    private var legacy = LegacyDescription()
    private var bytesOfFinishedLists: UInt64 = 0

    init(_ wacz: WACZFile) {
        self.wacz = wacz
        log = FindingLog(perCodeMax: wacz.limits.findingsPerCodeMax)
        legacyEntry = wacz.pageEntries.isEmpty && wacz.dataPackage?.listsLegacyPages == true ? wacz.legacyEntry : nil
        pending = legacyEntry.map { [$0] } ?? wacz.pageEntries[...]
    }

    /// The next page, or `nil` at the end. Lines that cannot be used become findings.
    ///
    /// - Throws: `tooLarge` when a list is an attack, `io` when the file cannot be read.
    public func next() throws(WebArchiveError) -> Page? {
        while true {
            if let (lines, entry) = current {
                do throws(WebArchiveError) {
                    if let page = try next(in: lines, entry) { return page }
                } catch let error where error.isDamage {
                    note("The rest of a page list cannot be read: \(error.problem).", "pages-damaged", entry.name)
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
                note("A page is too long to be read.", "page-line-too-long", location)
                continue
            }
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
            do throws(JSONProblem) {
                if let page = try Page(line: bytes, list: list, limits: wacz.limits) { return page }
            } catch {
                note("A page cannot be read: byte \(error.offset): \(error.what).", "page-bad-line", location)
            }
        }
        return nil
    }

    private func nextLegacy(in lines: LineReader) throws(WebArchiveError) -> Page? {
        while let line = try lines.next() {
            bytesRead = lines.offset
            if let page = legacy.add(line.bytes ?? []) { return page }
        }
        return legacy.takePage()
    }

    private func note(_ what: String, _ code: String, _ location: String) {
        log.add(
            .warning, code, what, at: location,
            consequence: "The page is not listed; what was captured of it can still be opened by its URL.")
    }
}
