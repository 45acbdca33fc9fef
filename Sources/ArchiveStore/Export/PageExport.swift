import Foundation
import WebArchive

extension Exporter {
    /// Finds a page, with the captures that its replay needs.
    ///
    /// - Throws: `StoreError` `notFound` if the page wasn't captured.
    package func page(_ request: ArchiveStore.CaptureRequest, of archive: Archive) throws -> PageExport {
        try StoreError.refusingDamage {
            var needs = PageNeeds(resolver, archive, request.time) { [progress] count in try progress(UInt64(count), 0)
            }
            guard let page = try needs.collect(request.url) else {
                throw StoreError(
                    .notFound, "\(request.url) isn't in \"\(archive.title)\"",
                    hint: "choose one of the URLs of this archive")
            }
            let title = try needs.title ?? listedTitle(of: page, in: archive)
            return PageExport(exporter: self, archive: archive, page: page, title: title, needs: needs)
        }
    }

    /// Returns the title that the page list has for a capture; `nil` if it has none. Those of other captures aren't used.
    private func listedTitle(of page: CDXJEntry, in archive: Archive) throws -> String? {
        let listed = try store.pages(of: archive, PageListRequest(query: page.url, limit: 100)).pages
        return try listed.first { listed in
            guard listed.url == page.url, listed.title?.isEmpty == false else { return false }
            let request = ArchiveStore.CaptureRequest(
                url: listed.url, time: listed.timestamp.flatMap { CaptureTimestamp(digits: $0) })
            return try resolver.closestCapture(request, in: [archive])?.entry == page
        }?.title
    }
}

/// A page to write, with the captures that its replay needs, as an archive of its own.
package struct PageExport {
    fileprivate let exporter: Exporter
    fileprivate let archive: Archive
    fileprivate let page: CDXJEntry
    fileprivate let title: String?
    fileprivate let needs: PageNeeds

    /// The name for the file: the title of the capture, else its URL without the scheme.
    package var fileName: String {
        let name = title ?? page.url.split(separator: "://", maxSplits: 1).last.map(String.init) ?? page.url
        return FileNames.safe(name) + ".wacz"
    }

    /// Writes the page.
    package func write(to target: Exporter.Target) throws -> Exporter.Result {
        try StoreError.refusingDamage {
            let writer = try target.wacz()
            try writer.addRecords(needs.captures, name: "data.warc.gz") { try exporter.progress(0, 0) }
            try writer.addPage(url: page.url, time: page.captureTime, title: title, text: needs.text)
            var description = PackageDescription()
            description.title = title ?? page.url
            description.description = "One page from \"\(archive.title)\"."
            description.software = ArchiveStore.software
            description.mainPage = .init(url: page.url, time: page.captureTime)
            description.sources = [Exporter.source(archive)]
            let written = try writer.finish(description)
            return Exporter.Result(
                page: .init(page), captureCount: written.captureCount, pageCount: written.pageCount,
                missing: needs.missing, findings: written.findings)
        }
    }
}

/// Finds the captures that a page needs: in the crawler's record about the page, in its HTML, style sheets and scripts, and
/// among the records that follow it whose request names it as their referrer.
private struct PageNeeds {
    /// The captures, the page first.
    private(set) var captures: [CopiedCapture] = []
    /// Certain URLs that aren't captured.
    private(set) var missing: [String] = []
    private(set) var title: String?
    private(set) var text: String?

    private let store: ArchiveStore
    private let resolver: Resolver
    private let archive: Archive
    private var time: CaptureTimestamp?
    private var limit: ExportLimit
    private let progress: (Int) throws -> Void
    private var known: Set<String> = []
    private var asked: Set<String> = []
    private var documents: ArraySlice<Document> = []
    /// The URLs of the page and of what it loads, which later requests may name as their referrer.
    private var referrers: Set<String> = []

    /// A document to read, which isn't open: there may be thousands.
    private struct Document {
        let request: ArchiveStore.CaptureRequest
        /// The URLs that relative references may mean.
        let bases: [String]
    }

    private static let capturesMax = 20_000
    private static let documentBytesMax = 16 << 20
    private static let noteBytesMax = 4 << 20

    init(
        _ resolver: Resolver, _ archive: Archive, _ time: CaptureTimestamp?, progress: @escaping (Int) throws -> Void
    ) {
        (self.resolver, self.archive, self.time, self.progress) = (resolver, archive, time, progress)
        (store, limit) = (resolver.store, ExportLimit(archive))
    }

    /// Collects the captures of a page.
    ///
    /// - Returns: The index entry of the page; `nil` if it isn't captured.
    mutating func collect(_ url: String) throws -> CDXJEntry? {
        guard let page = try add(url, isCertain: true, isPage: true) else { return nil }
        time = page.time
        let entry = page.entry
        try readText(page)
        try addNotes(about: entry.url)
        try addReferred(from: entry)
        while let document = documents.popFirst() { try read(document) }
        return entry
    }

    /// Adds the capture of a URL, and where it leads. Returns the last one; `nil` if it isn't captured.
    @discardableResult
    private mutating func add(
        _ url: String, isCertain: Bool, isPage: Bool = false, base: String? = nil
    ) throws -> OpenCapture? {
        var chain = RedirectChain(ArchiveStore.CaptureRequest(url: url, time: time))
        while let step = chain.next {
            guard captures.count < Self.capturesMax, step.skipsRedirects || asked.insert(step.request.url).inserted
            else { return chain.last }
            guard let capture = try open(step, isCertain: isCertain) else {
                if isCertain, chain.last == nil, !isPage { missing.append(url) }
                return chain.last
            }
            // A document that a script names is usually a link.
            let media = MediaClass(mime: capture.mime)
            guard isCertain || media != .html && media != .pdf else { return nil }
            try keep(capture)
            chain.add(capture)
        }
        if let last = chain.last { noteDocument(last, page: base) }
        return chain.last
    }

    private func open(_ step: RedirectChain.Step, isCertain: Bool) throws -> OpenCapture? {
        do {
            return try resolver.openCapture(
                step.request, in: [archive], allowsFuzzyMatch: isCertain, skipsRedirects: step.skipsRedirects)
        } catch let error as StoreError where [.payloadMissing, .redirectsToItself].contains(error.code) {
            return nil
        } catch let error as WebArchiveError where error.code != .io && error.code != .cancelled {
            return nil
        }
    }

    /// Keeps a capture, and for a revisit the one with its payload.
    private mutating func keep(_ capture: OpenCapture) throws {
        try progress(captures.count)
        try limit.add(ExportLimit.captureBytes.addingSaturated(capture.body.content.record.contentLength))
        try keep(capture.entry, of: capture.archive)
        guard let payload = capture.payloadCapture, let other = try store.catalog.archive(id: payload.archiveID) else {
            return
        }
        let request = ArchiveStore.CaptureRequest(url: payload.url, time: CaptureTimestamp(digits: payload.timestamp))
        let lookup = CaptureLookup(request)
        let found = try store.openArchives.lookups(other, resolver.allowances).closestCapture(lookup) {
            !$0.isRevisit && $0.timestamp == payload.timestamp
        }
        if let found { try keep(found, of: other) }
    }

    private mutating func keep(_ entry: CDXJEntry, of archive: Archive) throws {
        guard known.insert("\(archive.key) \(entry.filename) \(entry.offset)").inserted else { return }
        captures.append(CopiedCapture(entry, of: try store.openArchives.lookups(archive, resolver.allowances).wacz))
        referrers.insert(String(entry.url.prefix { $0 != "#" }))
    }

    // Documents ---------------------------------------------------------------------------------------------------

    private mutating func noteDocument(_ capture: OpenCapture, page: String?) {
        let media = MediaClass(mime: capture.mime)
        let isSVG = capture.mime == "image/svg+xml"
        guard isSVG || [.html, .style, .script, .json, .text].contains(media) else { return }
        let bases = media == .script || media == .json ? [page, capture.entry.url] : [capture.entry.url]
        let request = ArchiveStore.CaptureRequest(url: capture.entry.url, time: capture.time)
        documents.append(Document(request: request, bases: bases.compactMap { $0 }))
    }

    private mutating func read(_ document: Document) throws {
        guard let capture = try open(.init(request: document.request, skipsRedirects: true), isCertain: false),
            let bytes = try? capture.body.open(decoded: true).read(
                upTo: Self.documentBytesMax)
        else { return }
        resolver.allowances[archive].charge(parsed: UInt64(bytes.count))
        var links = ResourceLinks()
        switch MediaClass(mime: capture.mime) {
        case .style: links.readCSS(bytes)
        case .script, .json: links.readScript(bytes)
        default: links.readHTML(capture.document.utf8(bytes))
        }
        let own = links.base.flatMap { URLReference.resolve($0, against: document.bases[0]) }
        for link in links.links {
            for base in own.map({ [$0] }) ?? document.bases {
                guard let url = URLReference.resolve(link.text, against: base), url.hasPrefix("http") else { continue }
                try add(url, isCertain: link.isCertain && base == document.bases.last ?? base, base: base)
            }
        }
    }

    private mutating func readText(_ page: OpenCapture) throws {
        guard let mime = page.mime, DocumentText.htmlTypes.contains(mime) else { return }
        let collected = TitleAndText()
        var document = page.document
        try? document.readHTML { collected.add($0, $1) }
        (title, text) = (collected.title, collected.text)
    }

    private final class TitleAndText {
        private(set) var title: String?
        private(set) var text = ""

        func add(_ part: HTMLTextReader.Part, _ line: [UInt8]) {
            let line = String(decoding: line, as: UTF8.self)
            if part == .title { title = title ?? line } else if text.utf8.count < 4 << 20 { text += line + "\n" }
        }
    }

    // What the crawler wrote --------------------------------------------------------------------------------------

    /// Adds the crawler's records about the page, and the URLs that it loaded. Browsertrix: `urn:pageinfo:URL`.
    private mutating func addNotes(about url: String) throws {
        for prefix in [PageTextReader.textPrefix, "urn:thumbnail:", "urn:view:"] {
            if let note = try exactly(prefix + url) { try keep(note) }
        }
        guard let info = try exactly(DetectedPage.recordPrefix + url) else { return }
        try keep(info)
        guard let bytes = try? info.body.open(decoded: true).read(upTo: Self.noteBytesMax),
            let decoded = try? JSONDecoder().decode(CrawlEvidence.PageInfo.self, from: Data(bytes))
        else { return }
        for loaded in decoded.urls.keys.sorted() { try add(loaded, isCertain: true, base: url) }
    }

    private func exactly(_ url: String) throws -> OpenCapture? {
        let step = RedirectChain.Step(request: .init(url: url, time: time), skipsRedirects: false)
        guard let capture = try open(step, isCertain: false), capture.entry.url == url else { return nil }
        return capture
    }

    /// Adds captures whose request names the page, or what it loads, as its referrer. They're stored soon after the page.
    private mutating func addReferred(from entry: CDXJEntry) throws {
        let indexed = try store.openArchives.lookups(archive, resolver.allowances)
        let page = entry.url
        let referred = try indexed.wacz.urlsReferred(after: entry, limits: .init()) { referrer, isDocument in
            !isDocument && (referrer == page || referrers.contains(referrer))
        }
        for url in referred { try add(url, isCertain: true, base: page) }
    }
}
