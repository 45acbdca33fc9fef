package import WebArchive

extension ArchiveStore {
    /// A URL at a moment, to be looked up.
    package struct CaptureRequest: Sendable, Hashable {
        /// As captured; methods other than `GET` are named in it, see `IndexedRequest`.
        package var url: String
        /// The moment wanted; the latest capture when `nil`.
        package var time: CaptureTimestamp?

        package init(url: String, time: CaptureTimestamp?) {
            self.url = url
            self.time = time
        }
    }
}

extension Resolver {
    /// The index line of the capture that is closest in time, and the archive that has it; see `CaptureRank`.
    ///
    /// Of several archives those whose files are away are passed over.
    ///
    /// - Parameter isWanted: Whether to go on; asked once per archive and now and then in a long search.
    /// - Returns: `nil` when none of the archives has the URL.
    /// - Throws: `WebArchiveError` `cancelled` when the capture isn't wanted any more.
    package func closestCapture(
        _ request: ArchiveStore.CaptureRequest, in archives: [Archive], isWanted: @escaping () -> Bool = { true }
    ) throws -> (archive: Archive, entry: CDXJEntry)? {
        let lookup = CaptureLookup(request, CancellationCheck(isWanted))
        return try Self.closest(lookup, among: readable(archives)).map { ($0.index.archive, $0.entry) }
    }

    /// The archives whose files are at hand, opened; when none is, the reason why the first is not.
    func readable(_ archives: [Archive]) throws -> [IndexedArchive] {
        var opened: [IndexedArchive] = []
        var reason: (any Error)?
        for archive in archives {
            // A file that was deleted stays readable as long as it is open.
            if archives.count > 1, archive.availability(in: layout) != .available {
                openArchives.forget(key: archive.key)
            }
            do {
                opened.append(try openArchives.lookups(archive))
            } catch let error where archive.availability(in: layout) != .available {
                reason = reason ?? error
            }
        }
        if opened.isEmpty, let reason { throw reason }
        return opened
    }

    static func closest(
        _ lookup: CaptureLookup, among indexes: [IndexedArchive],
        where condition: (IndexedArchive, CDXJEntry) -> Bool = { _, _ in true }
    ) throws -> (index: IndexedArchive, entry: CDXJEntry)? {
        let offers = try indexes.compactMap { index in
            try index.closestCapture(lookup) { condition(index, $0) }.map { (index, $0) }
        }
        return best(of: offers, for: lookup)
    }

    /// Of what each archive offers, that which answers best; of equals the first.
    static func best(
        of offers: [(index: IndexedArchive, entry: CDXJEntry)], for lookup: CaptureLookup
    ) -> (index: IndexedArchive, entry: CDXJEntry)? {
        let ranked = offers.compactMap { offer in
            lookup.matcher.rank(of: offer.entry, for: lookup.request.time).map { (offer, $0) }
        }
        return ranked.min { $0.1 < $1.1 }?.0
    }

    /// Opens the capture that is closest in time and can answer, in an archive or in several that are replayed as one.
    ///
    /// Passed over for the next closest one: a redirect from a URL to itself (as index keys tell `http` and `https` apart no more
    /// than they do), and a revisit whose payload is nowhere. When nothing else is there, the reason is thrown.
    ///
    /// - Returns: `nil` when neither the URL was captured nor, by the rules for URLs that differ in what does not matter, another
    ///   one that can stand in for it; `OpenCapture.entry` says which one it is.
    /// - Throws: `StoreError` `payloadMissing` or `redirectsToItself`; `WebArchiveError` for a damaged record.
    /// - Parameter allowsFuzzyMatch: Whether a capture of another URL may stand in.
    /// - Parameter isWanted: As for `closestCapture(_:in:isWanted:)`.
    package func openCapture(
        _ request: ArchiveStore.CaptureRequest, in archives: [Archive], allowsFuzzyMatch: Bool,
        isWanted: @escaping () -> Bool = { true }
    ) throws -> OpenCapture? {
        let lookup = CaptureLookup(request, CancellationCheck(isWanted))
        let indexes = try readable(archives)
        guard let first = try Self.closest(lookup, among: indexes) else {
            // The same file with another cache buster.
            guard allowsFuzzyMatch, let match = FuzzyMatch(request.url) else { return nil }
            let offers = try indexes.compactMap { index in
                try index.fuzzyCapture(matching: match, lookup).map { (index, $0) }
            }
            guard let other = Self.best(of: offers, for: lookup) else { return nil }
            return try open(other.entry, in: other.index, collection: indexes, lookup.check)
        }
        return try openFirstThatAnswers(from: first, lookup, indexes)
    }

    /// Opens the very capture that an index line names.
    ///
    /// - Parameter collection: What is replayed as one with the archive: a revisit's payload may be in any of it.
    /// - Throws: `StoreError` `payloadMissing`; `WebArchiveError` for a damaged record, and when `check` says so.
    private func open(
        _ entry: CDXJEntry, in index: IndexedArchive, collection: [IndexedArchive], _ check: CancellationCheck
    ) throws -> OpenCapture {
        let own = try index.wacz.content(of: entry, check)
        guard own.record.isRevisit else {
            return OpenCapture(archive: index.archive, entry: entry, own: own, payload: own, payloadCapture: nil)
        }
        let (payload, place) = try revisitPayload(of: own.record, entry, in: index, collection: collection, check)
        return OpenCapture(archive: index.archive, entry: entry, own: own, payload: payload, payloadCapture: place)
    }

    /// After a capture that cannot answer, those are left out that the index shows to be of its kind.
    private func openFirstThatAnswers(
        from first: (index: IndexedArchive, entry: CDXJEntry), _ lookup: CaptureLookup, _ indexes: [IndexedArchive]
    ) throws -> OpenCapture {
        var (passesRedirects, passesRevisits) = (false, false)
        var tried: [(archive: String, entry: CDXJEntry)] = []
        var candidate: (index: IndexedArchive, entry: CDXJEntry)? = first
        var missing: (any Error)?
        while let (index, entry) = candidate, tried.count < Self.attemptsMax {
            do {
                let capture = try open(entry, in: index, collection: indexes, lookup.check)
                if !Self.isLoop(capture, for: lookup.request.url) { return capture }
                passesRedirects = true
            } catch let error as StoreError where error.code == .payloadMissing {
                missing = missing ?? error
                passesRevisits = true
            }
            tried.append((index.archive.key, entry))
            candidate = try Self.closest(lookup, among: indexes) { index, other in
                !tried.contains { $0.archive == index.archive.key && $0.entry == other }
                    && !(passesRevisits && other.isRevisit)
                    && !(passesRedirects && (300...399).contains(other.status ?? 0))
            }
        }
        throw missing
            ?? StoreError(
                .redirectsToItself, "the captures of this address only redirect to the address itself",
                place: lookup.request.url)
    }

    /// Whether following the capture would lead to a request for the same URL, and so to the same capture.
    private static func isLoop(_ capture: OpenCapture, for url: String) -> Bool {
        guard let target = capture.redirectTarget, SURT.matches(target, url) else { return false }
        // From `http` to `https`: the next request is another one.
        return capture.entry.url != url || target == url
    }

    private static let attemptsMax = 8
}

/// A request with what every archive needs to look it up, computed once. Belongs to one thread.
struct CaptureLookup {
    let request: ArchiveStore.CaptureRequest
    let matcher: CaptureMatcher
    let check: CancellationCheck

    init(_ request: ArchiveStore.CaptureRequest, _ check: CancellationCheck = CancellationCheck()) {
        self.request = request
        self.check = check
        matcher = CaptureMatcher(url: request.url)
    }
}

extension IndexedArchive {
    func closestCapture(
        _ lookup: CaptureLookup, where condition: (CDXJEntry) -> Bool = { _ in true }
    ) throws -> CDXJEntry? {
        try wacz.closestCapture(
            matching: lookup.matcher, at: lookup.request.time, assumesSorted: assumesSorted, lookup.check,
            where: condition)
    }

    func fuzzyCapture(matching match: FuzzyMatch, _ lookup: CaptureLookup) throws -> CDXJEntry? {
        try wacz.fuzzyCapture(matching: match, at: lookup.request.time, assumesSorted: assumesSorted, lookup.check)
    }
}
