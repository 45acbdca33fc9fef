import WebArchive

extension Resolver {
    /// Explains why a URL can't be shown, and finds what can be opened instead.
    ///
    /// Nothing is fetched. The work is bounded: indexes are searched, and `Explainer` and `CrawlEvidence` limit the
    /// number of archives, captures and records that are read.
    ///
    /// - Parameters:
    ///   - replayable: Where the URL should be; `nil` for the archive with the closest capture, or else the library.
    ///   - libraryTime: How long to search the other archives of the library.
    ///   - isWanted: See `closestCapture(_:in:isWanted:)`.
    /// - Throws: `WebArchiveError` `cancelled`; `StoreError` for an archive that can't be opened.
    package func explain(
        _ request: ArchiveStore.CaptureRequest, in replayable: Replayable?, libraryTime: Duration = .seconds(2),
        isWanted: @escaping () -> Bool = { true }
    ) throws -> Explanation {
        try StoreError.refusingDamage {
            var explainer = try Explainer(self, request, in: replayable, CancellationCheck(isWanted))
            let search = LibrarySearch(self, request.time, timeMax: libraryTime, isWanted: isWanted)
            return try explainer.run(search)
        }
    }
}

/// Explains why one URL can't be shown in an archive, in a collection or in the library.
struct Explainer {
    let resolver: Resolver
    let request: ArchiveStore.CaptureRequest
    /// The archives to search, without those whose files are unavailable.
    let indexes: [IndexedArchive]
    let check: CancellationCheck
    private var result: Explanation

    /// The maximum number of captures of a URL to try if the closest one can't be read.
    private static let attemptsMax = 5
    private static let offersMax = 5
    /// The maximum number of archives of the library to search at once.
    static let archivesMax = 100
    /// How many archives are searched that have nothing of the domain. Their pages may link to the URL.
    private static let otherArchivesMax = 10
    /// The maximum number of captures of a site to count.
    static let siteCapturesMax = 5000

    init(
        _ resolver: Resolver, _ request: ArchiveStore.CaptureRequest, in replayable: Replayable?,
        _ check: CancellationCheck
    ) throws {
        (self.resolver, self.request, self.check) = (resolver, request, check)
        if replayable == nil,
            let owner = try resolver.closestCopyInLibrary(CaptureLookup(request, check))
        {
            indexes = [owner.index]
            result = Explanation(url: request.url, time: request.time, replayable: .archive(owner.index.archive))
            return
        }
        let archives = try replayable?.archives ?? Self.likelyArchives(for: request.url, resolver)
        let states = archives.map { ($0, $0.availability(in: resolver.layout)) }
        indexes = try resolver.readable(states.filter { $0.1 == .available }.map(\.0))
        result = Explanation(url: request.url, time: request.time, replayable: replayable)
        let unavailable = states.filter { $0.1 != .available }.map {
            Explanation.UnavailableArchives.File(archive: $0.0.id.text, title: $0.0.title, availability: $0.1)
        }
        if !unavailable.isEmpty {
            result.reasons.append(.unavailable(Explanation.UnavailableArchives(archives: unavailable)))
        }
    }

    /// Returns the archives of the library that say most about a URL: those with captures of its host, then of the domains
    /// above it, then the newest.
    private static func likelyArchives(for url: String, _ resolver: Resolver) throws -> [Archive] {
        var keys: [String] = []
        for hash in CaptureHashes.ofDomains(of: url) where keys.count < archivesMax {
            let more = try resolver.store.filters.libraryArchives(mayHave: [hash]).map(\.key)
            keys += Array(more.lazy.filter { [keys] in !keys.contains($0) }.prefix(archivesMax - keys.count))
        }
        let newest = try resolver.catalog.newestArchives(archivesMax).filter { !keys.contains($0.key) }
        return try resolver.catalog.archives(keys: keys)
            + newest.prefix(min(otherArchivesMax, archivesMax - keys.count))
    }

    mutating func run(_ library: LibrarySearch) throws -> Explanation {
        let missing = try followCaptures(library)
        let url = missing ?? request.url
        if case .captured = result.reasons.last { return finished() }
        if url != request.url { result.missing = url }
        if let replayable = result.replayable {
            let (found, offers) = try library.archives(with: url, besides: replayable.archives)
            found.map { result.reasons.append(.otherArchive($0)) }
            result.offers += offers
        }
        if missing != nil { try explainAbsence(of: url) }
        result.closest = try closest(to: url)
        return finished()
    }

    private func finished() -> Explanation {
        var result = result
        if result.reasons.contains(where: { $0.code == .captured }) {
            result.reasons.removeAll { $0.code == .unavailable }
        }
        let order = Dictionary(uniqueKeysWithValues: zip(Explanation.Code.allCases, 0...))
        // Sorting is stable.
        result.reasons.sort { (order[$0.code] ?? 0) < (order[$1.code] ?? 0) }
        result.offers.sort { (order[$0.why] ?? 0) < (order[$1.why] ?? 0) }
        return result
    }

    private mutating func offer(_ found: Resolver.Found?, _ why: Explanation.Code) {
        guard let found else { return }
        let capture = CaptureSummary(found.entry, in: found.index.archive)
        guard !result.offers.contains(where: { $0.capture == capture }) else { return }
        result.offers.append(Explanation.Offer(capture: capture, why: why))
    }

    func lookup(_ url: String, at time: CaptureTimestamp? = nil) -> CaptureLookup {
        CaptureLookup(ArchiveStore.CaptureRequest(url: url, time: time ?? request.time), check)
    }

    // MARK: Captures of the URL

    /// Follows the captures of the URL as replay does.
    ///
    /// - Returns: The URL without a capture, which can be the target of a redirect; `nil` if there's none.
    private mutating func followCaptures(_ library: LibrarySearch) throws -> String? {
        var chain = RedirectChain(request)
        while let step = chain.next {
            let capture: OpenCapture?
            do {
                capture = try resolver.openCapture(
                    step.request, in: indexes.map(\.archive), allowsFuzzyMatch: !chain.redirects.isEmpty,
                    skipsRedirects: step.skipsRedirects)
            } catch {
                try explain(error, opening: step.request, after: chain, library)
                return nil
            }
            guard let capture else {
                guard !chain.redirects.isEmpty else { return step.request.url }
                return try lose(chain, target: step.request.url)
            }
            if capture.isSubstitute, let closest = try closest(step.request) {
                _ = try explainIncomplete(closest, library)
            }
            chain.add(capture)
            if capture.redirectTarget == nil {
                try explain(capture.summary, status: capture.status, step.request)
                return nil
            }
        }
        return try lose(chain, target: chain.last?.redirectTarget ?? request.url)
    }

    /// Explains a capture that can be opened and isn't a redirect.
    private mutating func explain(
        _ capture: CaptureSummary, status: Int?, _ wanted: ArchiveStore.CaptureRequest
    ) throws {
        guard (status ?? 0) >= 400 else {
            result.reasons.append(.captured(capture))
            result.offers = [Explanation.Offer(capture: capture, why: .captured)]
            return
        }
        result.reasons.append(.errorPage(capture))
        offer(try closestPage(wanted), .errorPage)
    }

    /// Explains redirects that don't lead to a capture.
    ///
    /// - Parameter itself: The capture of the target, if all of them redirect to themselves.
    /// - Returns: The target if it wasn't captured.
    private mutating func lose(
        _ chain: RedirectChain, itself: CaptureSummary? = nil, target: String
    ) throws -> String? {
        let redirects = chain.redirects.map(\.summary) + [itself].compactMap { $0 }
        let endless = itself != nil || chain.isEndless
        result.reasons.append(
            .redirectLost(Explanation.LostRedirect(redirects: redirects, target: target, endless: endless)))
        offer(try closestPage(request) { !$0.isRedirect }, .redirectLost)
        return endless ? nil : target
    }

    /// Explains why a capture can't be opened.
    private mutating func explain(
        _ error: any Error, opening wanted: ArchiveStore.CaptureRequest, after chain: RedirectChain,
        _ library: LibrarySearch
    ) throws {
        guard let found = try closest(wanted) else { throw error }
        let capture = CaptureSummary(found.entry, in: found.index.archive)
        let problem: String
        switch error {
        case let error as StoreError where error.code == .redirectsToItself:
            _ = try lose(chain, itself: capture, target: wanted.url)
            return
        case let error as StoreError where error.code == .payloadMissing:
            guard try explainIncomplete(found, library) else {
                problem = error.what
                break
            }
            let missing = try missingRequirements(of: found.index)
            guard case .incomplete(let evidence) = result.reasons.last, evidence.archives.isEmpty, !missing.isEmpty
            else { return try offerReadable(wanted, .incomplete) }
            result.reasons.removeLast()
            result.reasons.append(.requires(Explanation.MissingRequirements(capture: capture, requires: missing)))
            return try offerReadable(wanted, .requires)
        case let error as WebArchiveError where ![.io, .cancelled, .noSpace].contains(error.code):
            problem = error.problem
        default: throw error
        }
        result.reasons.append(
            .unreadable(
                Explanation.UnreadableCapture(
                    capture: capture, problem: problem, file: found.entry.filename, offset: found.entry.offset)))
        try offerReadable(wanted, .unreadable)
    }

    private func closest(_ wanted: ArchiveStore.CaptureRequest) throws -> Resolver.Found? {
        try Resolver.closest(lookup(wanted.url, at: wanted.time), among: indexes)
    }

    /// Explains a capture whose content is stored with another one, and looks for that in the library.
    ///
    /// - Returns: `false` if nothing is missing.
    private mutating func explainIncomplete(_ found: Resolver.Found, _ library: LibrarySearch) throws -> Bool {
        let own: RecordContent
        do throws(WebArchiveError) {
            own = try found.index.wacz.content(of: found.entry, check)
        } catch {
            guard ![.io, .cancelled].contains(error.code) else { throw error }
            return false
        }
        guard own.record.isRevisit || own.isNotModified else { return false }
        let archives = indexes.map(\.archive)
        var repeated = resolver.revisitResolver(archives, check)
        guard try repeated.payload(of: own, found.entry, in: found.index) == nil else { return false }
        result.reasons.append(
            .incomplete(
                Explanation.IncompleteCapture(
                    capture: CaptureSummary(found.entry, in: found.index.archive),
                    missing: MissingPayload(of: own, found.entry),
                    archives: try library.holders(of: own, found.entry, in: found.index, besides: archives))))
        return true
    }

    private func missingRequirements(
        of index: IndexedArchive
    ) throws -> [Explanation.MissingRequirements.Requirement] {
        try resolver.requirements(of: index.archive, index.wacz.dataPackage)
            .filter { $0.archive.map { $0.availability(in: resolver.layout) } != .available }
            .prefix(Self.offersMax)
            .map { .init(filename: $0.requirement.filename, sha256: $0.requirement.sha256) }
    }

    /// Offers the closest other capture of the URL that can be read.
    private mutating func offerReadable(_ wanted: ArchiveStore.CaptureRequest, _ why: Explanation.Code) throws {
        var tried: [CDXJEntry] = []
        for _ in 0..<Self.attemptsMax {
            let next = try closestPage(wanted) { !tried.contains($0) }
            guard let next else { return }
            let request = ArchiveStore.CaptureRequest(url: next.entry.url, time: next.entry.captureTime)
            do {
                let capture = try resolver.openCapture(request, in: indexes.map(\.archive), allowsFuzzyMatch: false)
                if let capture, (capture.status ?? 200) < 300 {
                    offer((next.index, capture.entry), why)
                    return
                }
            } catch let error as WebArchiveError where error.code == .cancelled {
                throw error
            } catch {
                // This one can't be read either.
            }
            tried.append(next.entry)
        }
    }

    /// Returns the closest capture that isn't an error page.
    private func closestPage(
        _ wanted: ArchiveStore.CaptureRequest, where condition: (CDXJEntry) -> Bool = { _ in true }
    ) throws -> Resolver.Found? {
        try Resolver.closest(lookup(wanted.url, at: wanted.time), among: indexes) { !$1.isErrorPage && condition($1) }
    }

    // MARK: A URL without captures

    private mutating func explainAbsence(of url: String) throws {
        try findForms(of: url)
        try findQueries(of: url)
        try findMethods(of: url)
        var crawl = CrawlEvidence(url, check)
        for index in indexes { try crawl.read(index, resolver.catalog) }
        crawl.failure.map { result.reasons.append(.crawlFailed($0)) }
        if let pages = crawl.linkingPages { result.reasons.append(.linkedFrom(pages)) }
        let isExplained = result.reasons.contains { $0.code != .redirectLost }
        guard !isExplained else { return }
        let site = try capturedSite(of: url)
        result.reasons.append(site.urls == 0 ? .siteNotCaptured(site) : .never(site))
    }

    /// Looks for captures of the same page under another host name, port or file name.
    private mutating func findForms(of url: String) throws {
        var urls: [String] = []
        for form in URLForms.all(of: url) {
            let found = try Resolver.closest(lookup(form), among: indexes) { !$1.isErrorPage }
            guard let found, !urls.contains(found.entry.url) else { continue }
            urls.append(found.entry.url)
            offer(found, .otherForm)
        }
        if !urls.isEmpty { result.reasons.append(.otherForm(Explanation.OtherForms(urls: urls))) }
    }

    /// Looks for captures with another query: the fuzzy match, and those with the longest common start.
    private mutating func findQueries(of url: String) throws {
        let queries = try OtherQueries(url, self)
        guard let evidence = queries.evidence else { return }
        result.reasons.append(.otherQuery(evidence))
        for found in queries.best.prefix(Self.offersMax) { offer(found, .otherQuery) }
    }

    /// Looks for captures of other request methods.
    private mutating func findMethods(of url: String) throws {
        let lookup = lookup(url)
        var window = CaptureWindow(.around(request.time), limit: Self.offersMax)
        let distinct = DistinctCaptures()
        for (number, index) in indexes.enumerated() {
            try index.wacz.addCaptures(
                matching: lookup.matcher, of: number, to: &window, except: distinct, check)
        }
        let captures = window.items().items.map { (index: indexes[$0.archive], entry: $0.entry) }
        guard let best = Resolver.best(of: captures, for: lookup) else { return }
        let methods = Set(captures.map { $0.entry.requestMethod }).sorted()
        result.reasons.append(.postOnly(Explanation.OtherMethods(methods: methods, total: window.total)))
        offer(best, .postOnly)
    }

    private func capturedSite(of url: String) throws -> Explanation.CapturedSite {
        guard let host = CapturedURL.host(of: url) else {
            return Explanation.CapturedSite(host: nil, urls: 0, more: false)
        }
        var keys: Set<String> = []
        var count = 0
        for index in indexes where count < Self.siteCapturesMax {
            let query = CaptureQuery(url: host, matchType: .host)
            let entries = try index.wacz.firstCaptures(matching: query, limit: Self.siteCapturesMax - count, check)
            count += entries.count
            keys.formUnion(entries.map(\.urlKey))
        }
        return Explanation.CapturedSite(host: host, urls: keys.count, more: count >= Self.siteCapturesMax)
    }

    /// Returns captures whose keys have the longest common start with that of the URL: pages, and files of its own kind.
    private func closest(to url: String) throws -> [CaptureSummary] {
        let key = SURT.key(for: url)
        let ending = CapturedURL.fileExtension(of: url)
        var entries: [CDXJEntry] = []
        // Captures that are equally close come in the order of the collection.
        let places = Dictionary(zip((result.replayable?.archives ?? []).map(\.key), 0...)) { first, _ in first }
        let ordered = indexes.sorted { places[$0.archive.key] ?? 0 < places[$1.archive.key] ?? 0 }
        for index in ordered {
            let next = try index.wacz.captures(nextTo: url, limit: Self.offersMax, check) { entry in
                guard !entry.isErrorPage else { return false }
                return entry.mayBePage || ending != nil && CapturedURL.fileExtension(of: entry.url) == ending
            }
            entries += next.filter { entry in !entries.contains { $0.urlKey == entry.urlKey } }
        }
        let ranked = entries.enumerated().sorted { one, other in
            let lengths = [one, other].map { $0.element.urlKey.commonPrefix(with: key) }
            return lengths[0] == lengths[1] ? one.offset < other.offset : lengths[0] > lengths[1]
        }
        var captures: [CaptureSummary] = []
        for (_, entry) in ranked.prefix(Self.offersMax * 4) where captures.count < Self.offersMax {
            let found = try Resolver.closest(lookup(entry.url), among: indexes) { !$1.isErrorPage }
            guard let found else { continue }
            let capture = CaptureSummary(found.entry, in: found.index.archive)
            if !captures.contains(capture) { captures.append(capture) }
        }
        return captures
    }
}

extension OpenCapture {
    fileprivate var summary: CaptureSummary { CaptureSummary(entry, in: archive) }
}

extension CaptureSummary {
    init(_ entry: CDXJEntry, in archive: Archive) {
        self.init(
            url: entry.url, request: entry.requestURL == entry.url ? nil : entry.requestURL,
            timestamp: entry.timestamp, status: entry.status, mime: entry.mime, archiveID: archive.id)
    }
}

extension CDXJEntry {
    /// Whether the site answered with an error.
    var isErrorPage: Bool { (status ?? 0) >= 400 }

    /// Whether the site answered with a redirect, or that nothing had changed, as far as the index says.
    var isRedirect: Bool { (300...399).contains(status ?? 0) }

    /// Whether the capture can be a page or a document, rather than a part of one. Revisits have no media type of their
    /// own, so their URL decides.
    fileprivate var mayBePage: Bool {
        switch mime {
        case "text/html", "application/xhtml+xml", "application/pdf", "text/plain": return true
        case nil, "warc/revisit", "unk":
            let ending = CapturedURL.fileExtension(of: url)
            return ending == nil || ["html", "htm", "xhtml", "php", "asp", "aspx", "jsp", "pdf"].contains(ending)
        default: return false
        }
    }

    /// The request method, also if only the key contains it.
    fileprivate var requestMethod: String {
        if let method { return method.uppercased() }
        for text in [url, urlKey] {
            guard let start = text.firstRange(of: "__wb_method=") else { continue }
            return text[start.upperBound...].prefix { $0.isLetter }.uppercased()
        }
        return "GET"
    }
}

extension String {
    /// Returns the number of bytes at the start that are equal.
    func commonPrefix(with other: String) -> Int {
        zip(utf8, other.utf8).prefix { $0 == $1 }.count
    }
}
