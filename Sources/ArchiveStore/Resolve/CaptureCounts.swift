package import WebArchive

/// The number of captures of a URL in each period that has any.
package struct CaptureCounts: Sendable, Encodable {
    /// A period and its captures.
    package struct Count: Sendable, Hashable, Encodable {
        /// `2024-05-03`, `2024-05` or `2024`, in UTC.
        package let period: String
        package let captures: Int
    }

    /// The length of the periods.
    package let by: CaptureHistogram.Period
    /// The number of all captures of the URL, as in a list of captures.
    package let total: Int
    /// The periods in order.
    package let counts: [Count]
}

extension Resolver {
    /// Counts the captures of a URL in an archive or a collection by period, copies in several archives once. Skips members
    /// whose file is unavailable.
    ///
    /// - Parameter isWanted: See `closestCapture(_:in:isWanted:)`.
    /// - Throws: If all files are unavailable, the error of the first.
    package func captureCounts(
        of url: String, by period: CaptureHistogram.Period, in replayable: Replayable,
        isWanted: @escaping () -> Bool = { true }
    ) throws -> CaptureCounts {
        try StoreError.refusingDamage {
            let lookup = CaptureLookup(ArchiveStore.CaptureRequest(url: url, time: nil), CancellationCheck(isWanted))
            var histogram = CaptureHistogram()
            let indexes = try readable(replayable.archives, for: lookup.matcher)
            let distinct = indexes.count > 1 ? DistinctCaptures() : nil
            for index in indexes {
                try index.wacz.addCaptures(
                    matching: lookup.matcher, to: &histogram, except: distinct, lookup.check)
            }
            return CaptureCounts(
                by: period, total: histogram.total,
                counts: histogram.counts(by: period).map { .init(period: $0.period, captures: $0.captures) })
        }
    }
}
