package import WebArchive

/// Some of the captures of a URL, in the order of time.
package struct CaptureList: Sendable, Encodable {
    /// Earliest first; empty when the URL was not captured.
    package let captures: [CaptureSummary]
    /// How many captures there are, and how many of them are earlier than those listed.
    package let total: Int
    package let position: Int
    /// The capture closest to the moment that was asked for, where one was: the one that replay shows. An answer to a
    /// request of another method only where there is nothing else.
    package let closest: CaptureSummary?

    /// Which captures are wanted.
    package struct Request: Sendable, Hashable {
        package enum Part: Sendable, Hashable {
            /// The earliest.
            case first
            /// Those around the one that is closest to a moment; the latest when `nil`.
            case around(CaptureTimestamp?)
            /// The latest of those before a moment.
            case before(CaptureTimestamp)
            /// The earliest of those after a moment.
            case after(CaptureTimestamp)
        }

        package var url: String
        package var part: Part
        package var limit: Int

        package init(url: String, part: Part = .first, limit: Int) {
            (self.url, self.part, self.limit) = (url, part, limit)
        }
    }
}

extension Resolver {
    /// Lists captures of a URL in archives that are replayed as one. Those whose files are away are passed over.
    ///
    /// - Parameter isWanted: As for `closestCapture(_:in:isWanted:)`.
    /// - Throws: When the files of all of them are away, why that of the first is.
    package func captures(
        _ request: CaptureList.Request, in place: Replayable, isWanted: @escaping () -> Bool = { true }
    ) throws -> CaptureList {
        try StoreError.refusingDamage {
            let indexes = try readable(place.archives)
            let check = CancellationCheck(isWanted)
            var wanted: CaptureTimestamp?
            if case .around(let time) = request.part { wanted = time }
            let lookup = CaptureLookup(ArchiveStore.CaptureRequest(url: request.url, time: wanted), check)
            func summary(_ entry: CDXJEntry, _ archive: Archive) -> CaptureSummary {
                var summary = CaptureSummary(
                    url: entry.url, request: entry.requestURL == entry.url ? nil : entry.requestURL,
                    timestamp: entry.timestamp, status: entry.status, mime: entry.mime)
                if case .collection = place { summary.archiveID = archive.id }
                return summary
            }
            var closest: CaptureSummary?
            let span: CaptureWindow.Span
            switch request.part {
            case .first: span = .first
            case .before(let moment): span = .before(moment)
            case .after(let moment): span = .after(moment)
            case .around:
                let found = try Self.closest(lookup, among: indexes)
                closest = found.map { summary($0.entry, $0.index.archive) }
                span = .around(found?.entry.captureTime ?? wanted)
            }
            var window = CaptureWindow(span, limit: request.limit)
            for (number, index) in indexes.enumerated() {
                try index.wacz.addCaptures(
                    matching: lookup.matcher, of: number, to: &window, assumesSorted: index.assumesSorted, check)
            }
            let (position, items) = window.items()
            // Only other request methods were captured.
            if case .around = request.part, closest == nil {
                closest = Self.best(of: items.map { (indexes[$0.archive], $0.entry) }, for: lookup)
                    .map { summary($0.entry, $0.index.archive) }
            }
            return CaptureList(
                captures: items.map { summary($0.entry, indexes[$0.archive].archive) }, total: window.total,
                position: position, closest: closest)
        }
    }
}
