import Foundation
import WebArchive

/// What a crawler noted about a URL that it didn't capture: that it failed, and which pages use it.
///
/// Source: `urn:pageinfo:` records of Browsertrix, one for each page, with the status of each URL that the page loaded;
/// `loadState` and `status` in page lists.
struct CrawlEvidence {
    private let url: String
    private let matcher: CaptureMatcher
    private let check: CancellationCheck
    private(set) var failure: Explanation.FailedLoad?
    private var pages: [Explanation.LinkingPages.Page] = []
    private var pageCount = 0
    private var recordsLeft = Self.recordsMax
    private var recordBytesLeft = Self.allRecordBytesMax
    private var known: Set<RecordKey> = []
    private var urlsLeft = Self.urlsMax
    private var pageListBytesLeft = Self.pageListBytesMax

    /// The maximum number of `urn:pageinfo:` records to read, those of pages of the same site first.
    private static let recordsMax = 64
    private static let recordBytesMax = 1 << 20
    private static let allRecordBytesMax = 4 << 20

    /// A record, which an index can name many times.
    private struct RecordKey: Hashable {
        let archive: String
        let file: String
        let offset: UInt64
    }
    /// The maximum number of URLs to compare.
    private static let urlsMax = 20_000
    private static let pagesMax = 5
    private static let pageListBytesMax: UInt64 = 16 << 20

    /// The pages that use the URL without having failed to load it; `nil` if there are none.
    var linkingPages: Explanation.LinkingPages? {
        pages.isEmpty ? nil : Explanation.LinkingPages(pages: pages, total: pageCount)
    }

    init(_ url: String, _ check: CancellationCheck) {
        (self.url, self.check) = (url, check)
        matcher = CaptureMatcher(url: url)
    }

    mutating func read(_ index: IndexedArchive, _ catalog: Catalog) throws {
        guard CapturedURL.Parts(url) != nil else { return }
        try readPageInfo(index)
        if failure == nil { try readPageLists(index, catalog) }
    }

    // MARK: Page information

    /// The parts of a page's information that matter here.
    struct PageInfo: Decodable {
        struct Load: Decodable {
            let status: Int?
            let type: String?
            let error: String?

            private enum CodingKeys: String, CodingKey {
                case status, type, error
            }

            init(from decoder: any Decoder) throws {
                // Ignores values of other types.
                let container = try? decoder.container(keyedBy: CodingKeys.self)
                status = try? container?.decodeIfPresent(Int.self, forKey: .status)
                type = try? container?.decodeIfPresent(String.self, forKey: .type)
                error = try? container?.decodeIfPresent(String.self, forKey: .error)
            }

            var hasFailed: Bool { error?.isEmpty == false || status == 0 || (status ?? 0) >= 400 }
        }

        let urls: [String: Load]
    }

    private mutating func readPageInfo(_ index: IndexedArchive) throws {
        let own = CaptureLookup(ArchiveStore.CaptureRequest(url: DetectedPage.recordPrefix + url, time: nil), check)
        var entries = try index.closestCapture(own).map { [$0] } ?? []
        let host = CapturedURL.host(of: url) ?? ""
        for start in ["https://\(host)", "http://\(host)", ""] {
            let query = CaptureQuery(url: DetectedPage.recordPrefix + start, matchType: .prefix)
            for entry in try index.wacz.firstCaptures(matching: query, limit: recordsLeft, check)
            where entry.url.hasPrefix(DetectedPage.recordPrefix) && !entries.contains(entry) {
                entries.append(entry)
            }
        }
        for entry in entries where recordsLeft > 0 && urlsLeft > 0 && recordBytesLeft > 0 {
            let key = RecordKey(archive: index.archive.key, file: entry.filename, offset: entry.offset)
            guard known.insert(key).inserted else { continue }
            recordsLeft -= 1
            try check.now()
            if let info = try pageInfo(entry, index) { add(info, entry, index.archive) }
        }
    }

    /// Returns the information of a record; `nil` if it's damaged, too large or not of this form.
    private mutating func pageInfo(_ entry: CDXJEntry, _ index: IndexedArchive) throws -> PageInfo? {
        let bytes: [UInt8]
        do {
            let body = CaptureBody(content: try index.wacz.content(of: entry, check))
            bytes = try body.open(decoded: true).read(upTo: Self.recordBytesMax)
        } catch {
            guard error.code != .cancelled, error.code != .io else { throw error }
            return nil
        }
        recordBytesLeft -= bytes.count
        return try? JSONDecoder().decode(PageInfo.self, from: Data(bytes))
    }

    private mutating func add(_ info: PageInfo, _ entry: CDXJEntry, _ archive: Archive) {
        let page = String(entry.url.dropFirst(DetectedPage.recordPrefix.count))
        urlsLeft -= info.urls.count
        guard let load = info.urls[url] ?? info.urls.first(where: { matcher.matches($0.key) })?.value else { return }
        if load.hasFailed {
            failure =
                failure
                ?? Explanation.FailedLoad(
                    archive: archive.id.text, page: page, timestamp: entry.timestamp,
                    status: load.status == 0 ? nil : load.status, error: load.error)
        } else if !matcher.matches(page) {
            pageCount += 1
            guard pages.count < Self.pagesMax else { return }
            pages.append(
                .init(archive: archive.id.text, url: page, timestamp: entry.timestamp, type: load.type))
        }
    }

    // MARK: Page lists

    private mutating func readPageLists(_ index: IndexedArchive, _ catalog: Catalog) throws {
        let listed = try catalog.pages(key: index.archive.key, PageListRequest(query: url, limit: Self.pagesMax)).pages
        guard listed.contains(where: { matcher.matches($0.url) }) else { return }
        let reader = index.wacz.makePageReader()
        while reader.bytesRead < pageListBytesLeft, let page = try reader.next() {
            guard matcher.matches(page.url), page.loadState == 0 || page.status == 0 || (page.status ?? 0) >= 400 else {
                continue
            }
            failure = Explanation.FailedLoad(
                archive: index.archive.id.text, page: page.url, timestamp: page.captureTime?.digits14,
                status: page.status == 0 ? nil : page.status, error: nil)
            break
        }
        pageListBytesLeft -= min(reader.bytesRead, pageListBytesLeft)
    }
}
