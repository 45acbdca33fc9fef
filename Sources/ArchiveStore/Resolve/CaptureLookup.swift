package import WebArchive

extension ArchiveStore {
    /// A URL and a time to look up.
    package struct CaptureRequest: Sendable, Hashable {
        /// The URL as indexed, which includes a method other than `GET`; see `IndexedRequest`.
        package var url: String
        /// The requested time; `nil` for the latest capture.
        package var time: CaptureTimestamp?

        package init(url: String, time: CaptureTimestamp?) {
            self.url = url
            self.time = time
        }
    }
}

extension Resolver {
    /// Returns the index entry of the capture closest in time, with its archive; see `CaptureRank` and, for copies of one
    /// capture in several archives, `CopyOrder`.
    ///
    /// Of several archives, skips those whose file is unavailable.
    ///
    /// - Parameter isWanted: Called during the search; returns `false` to cancel.
    /// - Returns: `nil` if no archive has the URL.
    /// - Throws: `WebArchiveError` `cancelled`.
    package func closestCapture(
        _ request: ArchiveStore.CaptureRequest, in archives: [Archive], isWanted: @escaping () -> Bool = { true }
    ) throws -> (archive: Archive, entry: CDXJEntry)? {
        let lookup = CaptureLookup(request, CancellationCheck(isWanted))
        return try closestCopy(lookup, in: archives).map { ($0.index.archive, $0.entry) }
    }

    /// Returns the best copy of the capture closest in time.
    func closestCopy(_ lookup: CaptureLookup, in archives: [Archive]) throws -> Found? {
        try bestCopy(of: closestCopies(lookup, in: archives), lookup.check)
    }

    /// Returns the best copy of the capture closest in time in the library.
    func closestCopyInLibrary(_ lookup: CaptureLookup) throws -> Found? {
        let chosen = try store.filters.libraryArchives(mayHave: lookup.matcher.hashes)
        let nearest = NearestArchives(chosen, to: lookup.request.time, catalog: catalog)
        let (copies, isAnyOpen) = try closestCopies(lookup, among: nearest)
        if !isAnyOpen { try checkAvailability(ofAnyOf: catalog.archives(keys: chosen.map(\.key))) }
        return try bestCopy(of: copies, lookup.check)
    }

    /// Returns the first of several copies that is intact; if none is, the first.
    ///
    /// Reads a copy completely, unless nothing is wrong with its archive by its last verification, or there is no other.
    private func bestCopy(of copies: [Found], _ check: CancellationCheck) throws -> Found? {
        guard copies.count > 1 else { return copies.first }
        let intact = try copies.first { index, entry in
            if CopyOrder(index.archive, in: layout).isKnownToBeIntact { return true }
            do {
                return try index.wacz.content(of: entry, check).isIntact()
            } catch let error as WebArchiveError where ![.io, .cancelled].contains(error.code) {
                return false
            }
        }
        return intact ?? copies.first
    }

    /// Opens the archives whose files are available, those with the best copies first.
    ///
    /// - Parameter matcher: Leaves out archives that can't have captures of its URL; `nil` for none.
    /// - Throws: The first error if no file is available.
    func readable(_ archives: [Archive], for matcher: CaptureMatcher? = nil) throws -> [IndexedArchive] {
        let chosen = try store.filters.archives(archives, mayHave: matcher?.hashes)
        let indexes = try chosen.bestCopiesFirst(in: layout).compactMap {
            try opened($0, amongSeveral: archives.count > 1)
        }
        if indexes.isEmpty { try checkAvailability(ofAnyOf: archives) }
        return indexes
    }

    /// Opens an archive; `nil` if its file isn't available.
    func opened(_ archive: Archive, amongSeveral: Bool) throws -> IndexedArchive? {
        // An open file stays readable after it was deleted.
        if amongSeveral, archive.availability(in: layout) != .available { openArchives.forget(key: archive.key) }
        do {
            return try openArchives.lookups(archive, allowances)
        } catch  where archive.availability(in: layout) != .available {
            return nil
        }
    }

    /// Throws the error of opening the first of several archives if none of their files is available.
    private func checkAvailability(ofAnyOf archives: [Archive]) throws {
        guard let first = archives.bestCopiesFirst(in: layout).first,
            !archives.contains(where: { $0.availability(in: layout) == .available })
        else { return }
        _ = try openArchives.lookups(first, allowances)
    }

    /// A capture, and the archive that has it.
    typealias Found = (index: IndexedArchive, entry: CDXJEntry)

    static func closest(
        _ lookup: CaptureLookup, among indexes: [IndexedArchive],
        where condition: (IndexedArchive, CDXJEntry) -> Bool = { _, _ in true }
    ) throws -> Found? {
        let candidates: [Found] = try indexes.compactMap { index in
            try index.closestCapture(lookup) { condition(index, $0) }.map { (index, $0) }
        }
        return best(of: candidates, for: lookup)
    }

    /// Returns the closest capture, followed by its copies in other archives.
    private func closestCopies(
        _ lookup: CaptureLookup, in archives: [Archive],
        where condition: (IndexedArchive, CDXJEntry) -> Bool = { _, _ in true }
    ) throws -> [Found] {
        let chosen = try store.filters.archives(archives, mayHave: lookup.matcher.hashes)
        let nearest = NearestArchives(chosen, to: lookup.request.time, catalog: catalog)
        let (copies, isAnyOpen) = try closestCopies(
            lookup, among: nearest, amongSeveral: archives.count > 1, where: condition)
        if !isAnyOpen { try checkAvailability(ofAnyOf: archives) }
        return copies
    }

    /// Returns the closest capture, followed by its copies in other archives.
    ///
    /// Opens the archives with the nearest times first, until no other can have a closer capture.
    ///
    /// - Returns: Also whether an archive could be opened.
    private func closestCopies(
        _ lookup: CaptureLookup, among archives: NearestArchives, amongSeveral: Bool? = nil,
        where condition: (IndexedArchive, CDXJEntry) -> Bool = { _, _ in true }
    ) throws -> (copies: [Found], isAnyOpen: Bool) {
        var nearest = archives
        var candidates: [Found] = []
        var closest: CaptureRank?
        var isAnyOpen = false
        while let (archive, distance) = try nearest.next() {
            if let closest, closest.distance < distance { break }
            guard let index = try opened(archive, amongSeveral: amongSeveral ?? (archives.count > 1)) else { continue }
            isAnyOpen = true
            guard let entry = try index.closestCapture(lookup, where: { condition(index, $0) }),
                let rank = lookup.matcher.rank(of: entry, for: lookup.request.time)
            else { continue }
            candidates.append((index, entry))
            closest = min(closest ?? rank, rank)
        }
        candidates = candidates.map { ($0, CopyOrder($0.index.archive, in: layout)) }.sorted { $0.1 < $1.1 }.map(\.0)
        guard let best = Self.best(of: candidates, for: lookup) else { return ([], isAnyOpen) }
        let copies = candidates.filter {
            $0.index.archive.key != best.index.archive.key && $0.entry.copyIdentity == best.entry.copyIdentity
        }
        return ([best] + copies, isAnyOpen)
    }

    /// Returns the best candidate; of equal ones, the first.
    static func best(of candidates: [Found], for lookup: CaptureLookup) -> Found? {
        let ranked = candidates.compactMap { candidate in
            lookup.matcher.rank(of: candidate.entry, for: lookup.request.time).map { (candidate, $0) }
        }
        return ranked.min { $0.1 < $1.1 }?.0
    }

    /// Returns the capture that stands for a URL that wasn't captured; see `FuzzyMatch`.
    static func similarCapture<Source>(
        _ match: FuzzyMatch, _ lookup: CaptureLookup, among sources: [Source],
        opening open: (Source) throws -> IndexedArchive?
    ) throws -> Found? {
        var choice = FuzzyChoice(match, at: lookup.request.time)
        var source: IndexedArchive?
        for each in sources {
            if let index = try open(each), try index.wacz.choose(&choice, lookup.check) { source = index }
        }
        guard let source, let entry = choice.capture else { return nil }
        return (source, entry)
    }

    /// Opens the capture closest in time that can be shown.
    ///
    /// Of equal captures, opens the best copy; see `CopyOrder`. Skips redirects from a URL to itself (index keys don't
    /// distinguish `http` and `https`), and revisits whose payload is missing, except those that only say that nothing had
    /// changed. If there is no other capture, throws the reason.
    ///
    /// - Parameters:
    ///   - allowsFuzzyMatch: Whether a capture of a similar URL may be used; see `FuzzyMatch`.
    ///   - skipsRedirects: Whether captures that redirect are left out.
    ///   - isWanted: See `closestCapture(_:in:isWanted:)`.
    /// - Returns: `nil` if neither the URL nor a similar one was captured. `OpenCapture.entry` has the URL.
    /// - Throws: `StoreError` `payloadMissing` or `redirectsToItself`; `WebArchiveError` for a damaged record.
    package func openCapture(
        _ request: ArchiveStore.CaptureRequest, in archives: [Archive], allowsFuzzyMatch: Bool,
        skipsRedirects: Bool = false, isWanted: @escaping () -> Bool = { true }
    ) throws -> OpenCapture? {
        let lookup = CaptureLookup(request, CancellationCheck(isWanted))
        let copies = try closestCopies(lookup, in: archives) { !skipsRedirects || !$1.isRedirect }
        guard !copies.isEmpty else {
            guard allowsFuzzyMatch, !skipsRedirects, let match = FuzzyMatch(request.url) else { return nil }
            let chosen = try store.filters.archives(archives, mayHave: match.hashes).bestCopiesFirst(in: layout)
            let other = try Self.similarCapture(match, lookup, among: chosen) {
                try opened($0, amongSeveral: archives.count > 1)
            }
            guard let other else { return nil }
            var capture = try open(other.entry, in: other.index, collection: archives, lookup.check)
            capture.isSimilar = true
            return capture
        }
        return try openFirstThatAnswers(copies, lookup, skipsRedirects: skipsRedirects) { _ in archives }
    }

    /// Opens the capture closest in time among archives and collections, each of which replays by itself.
    ///
    /// - Throws, returns: As `openCapture(_:in:allowsFuzzyMatch:isWanted:)`.
    package func openCapture(
        _ request: ArchiveStore.CaptureRequest, inAnyOf places: [Replayable]
    ) throws -> OpenCapture? {
        let lookup = CaptureLookup(request)
        var known: Set<String> = []
        let archives = places.flatMap(\.archives).filter { known.insert($0.key).inserted }
        let copies = try closestCopies(lookup, in: archives)
        guard !copies.isEmpty else { return nil }
        return try openFirstThatAnswers(copies, lookup) { index in
            let place = places.first { $0.archives.contains { $0.key == index.archive.key } }
            return place?.archives ?? [index.archive]
        }
    }

    /// Opens the capture of an index entry.
    ///
    /// - Parameter collection: The archives that replay together with this one and may have a revisit's payload.
    /// - Throws: `StoreError` `payloadMissing`; `WebArchiveError` for a damaged record, or `cancelled`.
    func open(
        _ entry: CDXJEntry, in index: IndexedArchive, collection: [Archive], _ check: CancellationCheck
    ) throws -> OpenCapture {
        let own = try index.wacz.content(of: entry, check)
        guard own.record.isRevisit || own.isNotModified else {
            return OpenCapture(entry, in: index, own: own, payload: own, payloadCapture: nil)
        }
        let payload = try repeatedPayload(of: own, entry, in: index, collection: collection, check)
        return OpenCapture(
            entry, in: index, own: own, payload: payload.content,
            payloadCapture: OpenCapture.PayloadCapture((payload.source, payload.entry)))
    }

    /// Opens the first usable capture. After a loop or a revisit without payload, skips all redirects or all revisits.
    ///
    /// - Parameters:
    ///   - first: The closest capture and its copies.
    ///   - collection: Returns the archives that replay together with one.
    private func openFirstThatAnswers(
        _ first: [Found], _ lookup: CaptureLookup, skipsRedirects: Bool = false,
        collection: (IndexedArchive) throws -> [Archive]
    ) throws -> OpenCapture {
        var (passesRedirects, passesRevisits) = (skipsRedirects, false)
        var tried: [(archive: String, entry: CDXJEntry)] = []
        var copies = first
        var missing: (any Error)?
        while !copies.isEmpty, tried.count < Self.attemptsMax {
            let (index, entry) = try bestCopy(of: copies, lookup.check) ?? copies[0]
            let together = try collection(index)
            tried += copies.map { ($0.index.archive.key, $0.entry) }
            do {
                var capture = try open(entry, in: index, collection: together, lookup.check)
                capture.isSubstitute = missing != nil
                if !Self.isLoop(capture, for: lookup.request.url) { return capture }
                passesRedirects = true
            } catch let error as StoreError where error.code == .payloadMissing {
                // What the server called unchanged is never a later state.
                if try index.wacz.content(of: entry, lookup.check).isNotModified { throw error }
                missing = missing ?? error
                passesRevisits = true
            }
            copies = try closestCopies(lookup, in: together) { index, other in
                !tried.contains { $0.archive == index.archive.key && $0.entry == other }
                    && !(passesRevisits && other.isRevisit)
                    && !(passesRedirects && other.isRedirect)
            }
        }
        throw missing
            ?? StoreError(
                .redirectsToItself, "all captures of this URL redirect to the URL itself", place: lookup.request.url)
    }

    /// Whether the capture redirects to itself.
    private static func isLoop(_ capture: OpenCapture, for url: String) -> Bool {
        guard let target = capture.redirectTarget, SURT.matches(target, url) else { return false }
        // A redirect from `http` to `https` requests another URL.
        return capture.entry.url != url || target == url
    }

    private static let attemptsMax = 8
}

/// A request with precomputed values for looking it up. For use on one thread.
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
        try wacz.closestCapture(matching: lookup.matcher, at: lookup.request.time, lookup.check, where: condition)
    }
}
