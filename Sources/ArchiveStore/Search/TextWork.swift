import WebArchive

/// Adds the pages of one archive to the search index. Can be stopped, and continued by another process.
struct TextWork {
    let store: ArchiveStore
    let archive: Archive
    private let folding = WordFolding()

    /// How the work ended.
    enum End {
        case done
        /// The archive was removed meanwhile.
        case removed
    }

    init(store: ArchiveStore, archive: Archive) {
        (self.store, self.archive) = (store, archive)
    }

    /// Reads all pages.
    ///
    /// - Parameter step: Called after each page with the bytes of page lists or index that were read; throws to stop.
    func run(step: (_ done: UInt64, _ total: UInt64) throws -> Void) throws -> End {
        let indexed = try StoreError.refusingDamage { try store.openArchives.lookups(archive) }
        let reader = try StoreError.refusingDamage { try PageTextReader(store: store, archive: archive) }
        var progress = try store.search.begin(key: archive.key)
        guard !progress.isComplete else { return .done }
        progress.source = archive.summary.pageCount > 0 ? .listed : .detected
        var pages: any PageSource =
            progress.source == .listed ? ListedPages(indexed.wacz) : DetectedPages(store, archive, indexed)
        var batch: [IndexedPage] = []
        var batchBytes = 0
        var saving: LowPriority.Running<Bool>?
        // If the work stops, the batch that is being saved stays.
        defer { saving?.wait() }
        while let page = try StoreError.refusingDamage({ try pages.next() }) {
            try step(pages.bytesRead, pages.bytesTotal)
            guard page.position >= progress.position else { continue }
            let content = try StoreError.refusingDamage { try reader.read(page) }
            progress.position = page.position + 1
            if let reason = content.missing {
                progress.reasons[reason, default: 0] += 1
            } else {
                progress.withText += 1
            }
            batch.append(try IndexedPage(page, content, folding))
            batchBytes += content.parts.reduce(500) { $0 + $1.count }
            guard batchBytes >= Self.batchBytesMax else { continue }
            guard try saving?.result() ?? true else { return .removed }
            saving = try LowPriority.start { [store, batch, progress] in
                try store.search.save(batch, progress)
            }
            (batch, batchBytes) = ([], 0)
        }
        guard try saving?.result() ?? true else { return .removed }
        progress.isComplete = true
        let isSaved = try store.search.save(batch, progress)
        try store.search.database.releaseMemory()
        return isSaved ? .done : .removed
    }

    /// Larger transactions are hardly faster, and a stop loses more.
    private static let batchBytesMax = 2 << 20
}

/// The pages of an archive, one by one.
protocol PageSource {
    var bytesRead: UInt64 { get }
    var bytesTotal: UInt64 { get }
    mutating func next() throws -> SourcePage?
}

/// The pages that the archive lists.
struct ListedPages: PageSource {
    private let reader: PageReader
    private var position = 0
    let bytesTotal: UInt64

    init(_ wacz: WACZFile) {
        reader = wacz.makePageReader(keepsText: true)
        bytesTotal = wacz.pageEntries.uncompressedSize
    }

    var bytesRead: UInt64 { min(reader.bytesRead, bytesTotal) }

    mutating func next() throws -> SourcePage? {
        while let page = try reader.next() {
            // Like in the catalog.
            guard page.url.utf8.count <= ExaminedArchive.urlBytesMax else { continue }
            defer { position += 1 }
            return SourcePage(
                position: position, url: page.url, timestamp: page.captureTime?.digits14 ?? "", title: page.title,
                text: page.text)
        }
        return nil
    }
}

/// The pages of an archive without page lists: HTML documents and PDFs among its captures.
///
/// If the crawler wrote a record about each page (`urn:pageinfo:URL`, Browsertrix), those. Otherwise all documents with
/// status 200 that weren't loaded into another page, as far as the records tell.
struct DetectedPages: PageSource {
    private let store: ArchiveStore
    private let archive: Archive
    private let indexed: IndexedArchive
    private let reader: CaptureReader
    private let pageRecords: CaptureCursor?
    private var position = 0
    let bytesTotal: UInt64

    init(_ store: ArchiveStore, _ archive: Archive, _ indexed: IndexedArchive) {
        (self.store, self.archive, self.indexed) = (store, archive, indexed)
        reader = indexed.wacz.makeCaptureReader()
        let query = CaptureQuery(url: DetectedPage.recordPrefix, matchType: .prefix)
        let probe = indexed.wacz.captures(matching: query, assumesSorted: indexed.assumesSorted)
        let hasPageRecords = (try? probe.next()) != nil
        pageRecords =
            hasPageRecords ? indexed.wacz.captures(matching: query, assumesSorted: indexed.assumesSorted) : nil
        let read = indexed.wacz.indexEntries.isEmpty ? indexed.wacz.warcEntries : indexed.wacz.indexEntries
        bytesTotal = read.uncompressedSize
    }

    var bytesRead: UInt64 { min(reader.bytesRead, bytesTotal) }

    mutating func next() throws -> SourcePage? {
        if let pageRecords {
            while let entry = try pageRecords.next() {
                let url = String(entry.url.dropFirst(DetectedPage.recordPrefix.count))
                if entry.url.hasPrefix(DetectedPage.recordPrefix), let page = page(url, entry) { return page }
            }
            return nil
        }
        while let (entry, _) = try reader.next() {
            guard DetectedPage.isDocument(entry), !isPartOfPage(entry) else { continue }
            if let page = page(entry.url, entry) { return page }
        }
        return nil
    }

    private mutating func page(_ url: String, _ entry: CDXJEntry) -> SourcePage? {
        guard url.utf8.count <= ExaminedArchive.urlBytesMax else { return nil }
        defer { position += 1 }
        return SourcePage(
            position: position, url: url, timestamp: entry.captureTime?.digits14 ?? "", title: nil, text: nil)
    }

    /// Whether the document was loaded into another page. A damaged record is listed.
    private func isPartOfPage(_ entry: CDXJEntry) -> Bool {
        guard let record = try? indexed.wacz.record(of: entry) else { return false }
        return DetectedPage.isPart(
            resourceType: record.headers["WARC-Resource-Type"], destination: destination(after: record, entry))
    }

    /// Returns `Sec-Fetch-Dest` of the request that follows a record.
    private func destination(after record: WARCRecord, _ entry: CDXJEntry) -> String? {
        guard let range = entry.range, let warc = indexed.wacz.warcEntry(named: entry.filename),
            let next = try? WARCReader(entry: warc, of: indexed.wacz.directory).record(
                at: range.upperBound, length: nil),
            next.type == "request", next.headers["WARC-Concurrent-To"] == record.headers["WARC-Record-ID"]
        else { return nil }
        return try? next.openHTTPMessage().head.fields["Sec-Fetch-Dest"]
    }
}
