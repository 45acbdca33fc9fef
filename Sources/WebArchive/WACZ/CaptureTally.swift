/// The captures of one URL that satisfy a condition: their number, and the times of the first and the last.
package struct CaptureTally: Sendable, Hashable {
    package private(set) var count = 0
    package private(set) var first: CaptureTimestamp?
    package private(set) var last: CaptureTimestamp?

    package init() {}

    mutating func add(_ time: CaptureTimestamp) {
        count += 1
        first = min(first ?? time, time)
        last = max(last ?? time, time)
    }
}

extension WACZFile {
    /// Counts the captures of a URL, without those of other request methods.
    ///
    /// - Throws: `io`, `cancelled`; `tooLarge` if an index exceeds its limits.
    package func tally(
        of matcher: CaptureMatcher, _ check: CancellationCheck,
        where condition: (CDXJEntry) -> Bool
    ) throws(WebArchiveError) -> CaptureTally {
        func add(_ entry: CDXJEntry?, to tally: inout CaptureTally) {
            guard let entry, let time = entry.captureTime, matcher.isReplayable(entry), condition(entry) else { return }
            tally.add(time)
        }
        let search = CaptureSearch(wacz: self, matcher: matcher, includesMethods: false, check: check)
        return try search.gather(into: CaptureTally()) { tally, line in
            add(CDXJEntry.parsed(line.bytes, limits: limits), to: &tally)
        } entry: { tally, entry in
            add(entry, to: &tally)
        }
    }
}
