import WebArchive

/// Adds the pages of one archive to the search index. Can be stopped, and continued by another process.
final class TextWork {
    let store: ArchiveStore
    let archive: Archive
    private let limits: PageTextLimits
    private let allowances: Allowances
    private let folding = WordFolding()
    private let spellings = KnownSpellings()
    /// What large records contain, so that they are read once for all pages that show them.
    private var knownRecords: [RecordPlace: (content: PageContent, texts: [SearchDocument.Text])] = [:]

    /// How the work ended.
    enum End {
        case done
        /// The archive was removed meanwhile.
        case removed
    }

    init(
        store: ArchiveStore, archive: Archive, limits: PageTextLimits? = nil, allowances: Allowances = Allowances()
    ) {
        (self.store, self.archive, self.allowances) = (store, archive, allowances)
        self.limits = limits ?? PageTextLimits(archiveSize: archive.size)
    }

    /// Reads all pages.
    ///
    /// - Parameter step: Called after each page with the bytes of page lists or index that were read; throws to stop.
    func run(step: (_ done: UInt64, _ total: UInt64) throws -> Void) throws -> End {
        let indexed = try StoreError.refusingDamage { try store.openArchives.lookups(archive, allowances) }
        let reader = try StoreError.refusingDamage {
            try PageTextReader(store: store, archive: archive, limits: limits, allowances)
        }
        var saver = PageSaver(store.search, try store.search.begin(key: archive.key))
        guard !saver.progress.isComplete else { return .done }
        saver.progress.source = archive.summary.pageCount > 0 ? .listed : .detected
        var pages: any PageSource =
            saver.progress.source == .listed
            ? ListedPages(indexed.wacz) : DetectedPages(indexed.wacz, reader)
        // If the work stops, the batch that is being saved stays.
        defer { saver.wait() }
        while let page = try StoreError.refusingDamage({ try pages.next() }) {
            try step(pages.bytesRead, pages.bytesTotal)
            guard page.position >= saver.progress.position else { continue }
            guard try add(page, reader, &saver) else { return .removed }
        }
        saver.progress.isComplete = true
        let isSaved = try saver.save() && saver.finish()
        try store.search.database.releaseMemory()
        // What was read may not be what is to be shown now.
        guard try store.catalog.archive(key: archive.key)?.showsUncovered == archive.showsUncovered else {
            try store.search.forget(key: archive.key)
            return .removed
        }
        return isSaved ? .done : .removed
    }

    /// Reads a page and adds it.
    ///
    /// - Returns: `false` if the archive was removed meanwhile.
    private func add(_ page: SourcePage, _ reader: PageTextReader, _ saver: inout PageSaver) throws -> Bool {
        guard saver.size < limits.listed else {
            saver.progress.count(.archiveLimit, at: page.position)
            return true
        }
        let key = SURT.key(for: page.url)
        var texts: [SearchDocument.Text] = []
        var isRemoved = false
        func add(_ document: SearchDocument) throws -> Bool {
            let part = texts.count
            if let text = document.text { texts.append(text.withoutContent) }
            isRemoved = try !saver.add(
                IndexedPage(
                    position: page.position, part: part, timestamp: page.timestamp, url: page.url, key: key,
                    document: document))
            return !isRemoved
        }
        var content = try StoreError.refusingDamage {
            try reader.read(page, key: key, known: { knownRecords[$0] != nil }) { content, part in
                guard saver.size < limits.indexed else { return false }
                return try add(SearchDocument(page, key: key, content, SearchText(part), folding, spellings))
            }
        }
        if isRemoved { return false }
        if let record = content.record, let known = knownRecords[record] {
            content = known.content
            for text in known.texts where !isRemoved { _ = try add(SearchDocument(page, content, known: text)) }
        } else if let record = content.record, knownRecords.count < Self.knownRecordsMax {
            knownRecords[record] = (content, texts)
        }
        if texts.isEmpty { _ = try add(SearchDocument(page, key: key, content, nil, folding, spellings)) }
        if isRemoved { return false }
        saver.progress.count(content.missing, at: page.position)
        return true
    }

    private static let knownRecordsMax = 10_000
}

/// Saves pages in batches, on a thread of its own, while the next pages are read.
struct PageSaver {
    var progress: SearchIndex.Progress
    private let search: SearchIndex
    private var batch: [IndexedPage] = []
    private var batchBytes = 0
    private var saving: LowPriority.Running<UInt64?>?
    /// The size of the batch that is being saved.
    private var savingBytes = 0

    init(_ search: SearchIndex, _ progress: SearchIndex.Progress) {
        (self.search, self.progress) = (search, progress)
    }

    /// About what the archive adds to the index, in bytes, with what isn't saved yet.
    var size: UInt64 { progress.size + UInt64(savingBytes + batchBytes) }

    /// Adds a part of a page. If the work stops before `progress` has the page, it is added again.
    ///
    /// - Returns: `false` if the archive was removed meanwhile.
    mutating func add(_ page: IndexedPage) throws -> Bool {
        batch.append(page)
        batchBytes += page.size
        return batchBytes < Self.batchBytesMax ? true : try save()
    }

    /// Begins to save what was added.
    ///
    /// - Returns: `false` if the archive was removed meanwhile.
    mutating func save() throws -> Bool {
        guard try finish() else { return false }
        saving = try LowPriority.start { [search, batch, progress] in try search.save(batch, progress) }
        (savingBytes, batch, batchBytes) = (batchBytes, [], 0)
        return true
    }

    /// Waits until everything is saved that `save` has begun to save.
    ///
    /// - Returns: `false` if the archive was removed meanwhile.
    mutating func finish() throws -> Bool {
        guard let saving else { return true }
        guard let size = try saving.result() else { return false }
        (progress.size, self.saving, savingBytes) = (size, nil, 0)
        return true
    }

    func wait() { saving?.wait() }

    /// Larger transactions need more memory, and a stop loses more. Smaller ones write each word more often.
    private static let batchBytesMax = 4 << 20
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
/// For each WARC file in which the crawler wrote a record about each page (`urn:pageinfo:URL`, Browsertrix), those; of pages
/// that redirect, the documents to which they lead. For the others, all documents with status 200 that weren't loaded into
/// another page, as far as the records tell.
struct DetectedPages: PageSource {
    private let wacz: WACZFile
    private let reader: CaptureReader
    private let texts: PageTextReader
    private var pageRecords: CaptureCursor?
    /// The WARC files that have records about pages.
    private var recordedFiles: Set<String> = []
    private var position = 0
    let bytesTotal: UInt64

    /// - Parameter texts: Counts the records that are opened to tell pages from what they loaded.
    init(_ wacz: WACZFile, _ texts: PageTextReader) {
        (self.wacz, self.texts) = (wacz, texts)
        reader = wacz.makeCaptureReader()
        let query = CaptureQuery(url: DetectedPage.recordPrefix, matchType: .prefix)
        let probe = wacz.captures(matching: query)
        let hasPageRecords = (try? probe.next()) != nil
        pageRecords = hasPageRecords ? wacz.captures(matching: query) : nil
        let read = wacz.indexEntries.isEmpty ? wacz.warcEntries : wacz.indexEntries
        bytesTotal = read.uncompressedSize
    }

    var bytesRead: UInt64 { min(reader.bytesRead, bytesTotal) }

    mutating func next() throws -> SourcePage? {
        while let entry = try pageRecords?.next() {
            guard entry.url.hasPrefix(DetectedPage.recordPrefix) else { continue }
            recordedFiles.insert(entry.filename)
            if let page = try recordedPage(entry) { return page }
        }
        pageRecords = nil
        while let (entry, _) = try reader.next() {
            guard !recordedFiles.contains(entry.filename), DetectedPage.isDocument(entry), !isPartOfPage(entry) else {
                continue
            }
            if let page = page(entry.url, entry) { return page }
        }
        return nil
    }

    /// Returns the page that a crawler wrote a record about, or the document to which it redirects.
    private mutating func recordedPage(_ entry: CDXJEntry) throws -> SourcePage? {
        let url = String(entry.url.dropFirst(DetectedPage.recordPrefix.count))
        if let end = try texts.destination(of: url, at: entry.timestamp) { return page(end.url, end) }
        return page(url, entry)
    }

    private mutating func page(_ url: String, _ entry: CDXJEntry) -> SourcePage? {
        guard url.utf8.count <= ExaminedArchive.urlBytesMax else { return nil }
        defer { position += 1 }
        return SourcePage(
            position: position, url: url, timestamp: entry.captureTime?.digits14 ?? "", title: nil, text: nil)
    }

    /// Whether the document was loaded into another page. A damaged record is listed, and one beyond the limit.
    private func isPartOfPage(_ entry: CDXJEntry) -> Bool {
        guard !texts.isAtLimit else { return false }
        texts.countRecord()
        guard let record = try? wacz.record(of: entry) else { return false }
        return DetectedPage.isPart(
            resourceType: record.headers["WARC-Resource-Type"], destination: destination(after: record, entry))
    }

    /// Returns `Sec-Fetch-Dest` of the request that follows a record.
    private func destination(after record: WARCRecord, _ entry: CDXJEntry) -> String? {
        guard let range = entry.range, let warc = wacz.warcEntry(named: entry.filename),
            let next = try? WARCReader(entry: warc, of: wacz.directory, record.allowance)
                .record(at: range.upperBound, length: nil),
            next.type == "request", next.headers["WARC-Concurrent-To"] == record.headers["WARC-Record-ID"]
        else { return nil }
        return try? next.openHTTPMessage().head.fields["Sec-Fetch-Dest"]
    }
}
