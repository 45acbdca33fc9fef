import WebArchive

/// Searches the other archives of the library for a URL, one after the other.
struct LibrarySearch {
    let resolver: Resolver
    private let time: CaptureTimestamp?
    private let end: ContinuousClock.Instant
    private let isWanted: () -> Bool

    /// The maximum number of archives that are listed.
    private static let listedMax = 10

    /// - Parameters:
    ///   - time: The time asked for.
    ///   - timeMax: How long to search.
    init(_ resolver: Resolver, _ time: CaptureTimestamp?, timeMax: Duration, isWanted: @escaping () -> Bool) {
        (self.resolver, self.time, self.isWanted) = (resolver, time, isWanted)
        end = ContinuousClock.now + timeMax
    }

    /// Returns the archives with captures of the URL that aren't error pages, and the closest capture of each.
    ///
    /// Searches the archives with the nearest times first. Of equal captures, lists those of the best copies first; see `CopyOrder`. An
    /// archive that can't be read is skipped.
    ///
    /// - Returns: No evidence if there are none.
    func archives(
        with url: String, besides own: [Archive]
    ) throws -> (evidence: Explanation.OtherArchives?, offers: [Explanation.Offer]) {
        let keys = Set(own.map(\.key))
        let end = end
        let isWanted = isWanted
        let check = CancellationCheck { isWanted() && ContinuousClock.now < end }
        let lookup = CaptureLookup(ArchiveStore.CaptureRequest(url: url, time: time), check)
        let others = try resolver.store.filters.libraryArchives(mayHave: lookup.matcher.hashes)
            .filter { !keys.contains($0.key) }
        var nearest = NearestArchives(others, to: time, catalog: resolver.catalog)
        var searched = 0
        var found: [Resolver.Found] = []
        while searched < Explainer.archivesMax, let (archive, _) = try nearest.next() {
            guard archive.availability(in: resolver.layout) == .available else { continue }
            do {
                let index = try resolver.openArchives.lookups(archive, resolver.allowances)
                let entry = try index.closestCapture(lookup) { !$0.isErrorPage }
                searched += 1
                if let entry { found.append((index, entry)) }
            } catch let error as WebArchiveError where error.code == .cancelled {
                guard isWanted() else { throw error }
                break
            } catch {
                // Damaged, or removed meanwhile.
            }
        }
        guard !found.isEmpty else { return (nil, []) }
        let listed = ranked(found, for: lookup).prefix(Self.listedMax)
        let evidence = Explanation.OtherArchives(
            archives: try listed.map { try match($0, lookup.matcher) }, total: found.count,
            skipped: others.count - searched)
        let offers = listed.map {
            Explanation.Offer(capture: CaptureSummary($0.entry, in: $0.index.archive), why: .otherArchive)
        }
        return (evidence, offers)
    }

    /// Returns archives with which a capture without payload would be complete in a collection; see `PayloadSearch`.
    func holders(
        of own: RecordContent, _ entry: CDXJEntry, in index: IndexedArchive, besides collection: [Archive]
    ) throws -> [PayloadHolder] {
        let (end, isWanted) = (end, isWanted)
        let check = CancellationCheck { isWanted() && ContinuousClock.now < end }
        return try PayloadSearch(resolver, check).holders(of: own, entry, in: index, besides: collection)
    }

    private func ranked(_ found: [Resolver.Found], for lookup: CaptureLookup) -> [Resolver.Found] {
        found.compactMap { one in
            lookup.matcher.rank(of: one.entry, for: lookup.request.time)
                .map { (one, $0, CopyOrder(one.index.archive, in: resolver.layout)) }
        }.sorted { ($0.1, $0.2) < ($1.1, $1.2) }.map(\.0)
    }

    private func match(
        _ found: Resolver.Found, _ matcher: CaptureMatcher
    ) throws -> Explanation.OtherArchives.Match {
        let tally = try found.index.wacz.tally(of: matcher, CancellationCheck(isWanted)) { !$0.isErrorPage }
        func year(_ time: CaptureTimestamp?) -> Int { time.flatMap { Int($0.digits14.prefix(4)) } ?? 0 }
        return Explanation.OtherArchives.Match(
            archive: found.index.archive.id.text, title: found.index.archive.title, captures: tally.count,
            firstYear: year(tally.first), lastYear: year(tally.last))
    }
}
