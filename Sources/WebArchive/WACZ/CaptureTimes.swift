/// The times of all captures of a URL in one archive. With them, most of its index lines needn't be read again.
struct CaptureTimes: Sendable {
    /// In order, at least one.
    let all: [CaptureTimestamp]
    /// The size in memory.
    var byteCount: Int { all.count * MemoryLayout<CaptureTimestamp>.stride }

    /// The number of captures of a URL for which times are kept. With fewer, reading them again is as fast.
    static let kept = 1000...1_000_000

    /// Returns `nil` if it isn't worth keeping that many times.
    init?(_ times: [CaptureTimestamp]) {
        guard Self.kept.contains(times.count) else { return nil }
        all = times.sorted()
    }

    /// Returns the positions of the captures closest to a position, at least `reach` on each side, if there are as many.
    /// Captures of one time stay together.
    func positions(around center: Int, reach: Int) -> Range<Int> {
        let (low, high) = (max(0, center - reach), min(all.count, center + reach))
        guard low < high else { return low..<low }
        return all.partition { $0 >= all[low] }..<all.partition { $0 > all[high - 1] }
    }
}

extension WACZFile {
    /// The times of a URL's captures while they're collected.
    private struct Collected {
        var times: [CaptureTimestamp] = []
        /// Whether the times of index lines sort like their timestamps. Shorter timestamps may not.
        var areComplete = true

        mutating func add(_ time: CaptureTimestamp) {
            if times.count <= CaptureTimes.kept.upperBound { times.append(time) }
        }
    }

    /// Returns the times of a URL's captures, including those of other request methods. The first call for a URL reads
    /// all of its index lines.
    ///
    /// - Returns: `nil` if the URL has few captures, or so many that they aren't kept, and if the index can't be searched.
    func captureTimes(
        matching matcher: CaptureMatcher, _ check: CancellationCheck
    ) throws(WebArchiveError) -> CaptureTimes? {
        guard try searchable() != nil else { return nil }
        if let known = captureIndex.times(of: matcher.url) { return known }
        let search = CaptureSearch(wacz: self, matcher: matcher, includesMethods: true, check: check)
        let collected = try search.gather(into: Collected()) { found, line in
            guard let time = line.captureTime, matches(line, matcher) else { return }
            found.add(time)
            if line.sortKey.count - line.urlKey.count < 15 { found.areComplete = false }
        } entry: { found, _ in
            found.areComplete = false
        }
        guard collected.areComplete, let times = CaptureTimes(collected.times) else { return nil }
        captureIndex.keep(times, of: matcher.url)
        return times
    }

    /// Makes further lookups of a URL fast if it has many captures.
    ///
    /// - Throws: `io`, `cancelled`; `tooLarge` if an index exceeds its limits.
    package func prepareTimes(
        matching matcher: CaptureMatcher, _ check: CancellationCheck
    ) throws(WebArchiveError) {
        _ = try captureTimes(matching: matcher, check)
    }

    /// Charges the allowance with reading a URL's index lines once more, unless their times are known.
    ///
    /// - Throws: `tooCostly`.
    func chargeAnotherPass(matching matcher: CaptureMatcher) throws(WebArchiveError) {
        guard captureIndex.times(of: matcher.url) == nil else { return }
        try allowance.charge(parsed: Int(clamping: indexEntries.uncompressedSize), file: name)
    }

    /// Returns the closest capture if the times of the URL's captures are known and one close to the time is usable.
    func closestByTimes(
        _ search: CaptureSearch, at time: CaptureTimestamp?, where condition: (CDXJEntry) -> Bool
    ) throws(WebArchiveError) -> CDXJEntry? {
        guard try searchable() != nil,
            let known = captureIndex.times(of: search.matcher.url)
        else { return nil }
        let times = known.all
        let center = time.map { wanted in times.partition { $0 >= wanted } } ?? times.count
        let near = known.positions(around: center, reach: Self.closestReach)
        var search = search
        search.span = times[near.lowerBound]...times[near.upperBound - 1]
        guard let found = try closest(search, at: time, where: condition), let moment = found.captureTime else {
            return nil
        }
        // Captures further away could be closer only if the one that was found is beyond those that were read.
        guard let time else { return found }
        let distance = moment.distance(to: time)
        let isInside =
            (near.lowerBound == 0 || distance <= times[near.lowerBound].distance(to: time))
            && (near.upperBound == times.count || distance <= times[near.upperBound - 1].distance(to: time))
        return isInside ? found : nil
    }

    /// The number of captures on each side of a time to read first.
    private static let closestReach = 64

    /// Returns whether a line in the ranges of a matcher is a capture of its URL.
    func matches(_ line: CDXJLine, _ matcher: CaptureMatcher) -> Bool {
        matcher.hasKey(line.urlKey)
            || CDXJEntry.parsed(line.bytes, limits: limits).map { matcher.accepts($0) } ?? false
    }
}
