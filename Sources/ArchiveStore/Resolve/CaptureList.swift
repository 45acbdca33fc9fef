package import WebArchive

/// Captures of a URL, in chronological order.
package struct CaptureList: Sendable, Encodable {
    /// Earliest first; empty if the URL wasn't captured.
    package let captures: [CaptureSummary]
    /// The number of all captures of the URL.
    package let total: Int
    /// The number of captures before the first one listed.
    package let position: Int
    /// The capture closest to the requested time, which replay shows. A capture of another request method only if there
    /// is nothing else.
    package let closest: CaptureSummary?

    /// The captures to list.
    package struct Request: Sendable, Hashable {
        package enum Part: Sendable, Hashable {
            /// The earliest captures.
            case first
            /// The captures around the one closest to a time; `nil` for the latest.
            case around(CaptureTimestamp?)
            /// The latest captures before a time.
            case before(CaptureTimestamp)
            /// The earliest captures after a time.
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
    /// Lists captures of a URL in an archive or a collection. Of copies in several archives, lists the best; see
    /// `CopyOrder`. Skips members whose file is unavailable.
    ///
    /// - Parameter isWanted: See `closestCapture(_:in:isWanted:)`.
    /// - Throws: If all files are unavailable, the error of the first.
    package func captures(
        _ request: CaptureList.Request, in replayable: Replayable, isWanted: @escaping () -> Bool = { true }
    ) throws -> CaptureList {
        try StoreError.refusingDamage {
            let check = CancellationCheck(isWanted)
            var wanted: CaptureTimestamp?
            if case .around(let time) = request.part { wanted = time }
            let lookup = CaptureLookup(ArchiveStore.CaptureRequest(url: request.url, time: wanted), check)
            let indexes = try readable(replayable.archives, for: lookup.matcher)
            func summary(_ entry: CDXJEntry, _ archive: Archive) -> CaptureSummary {
                var summary = CaptureSummary(entry, in: archive)
                if case .archive = replayable { summary.archiveID = nil }
                return summary
            }
            var closest: CaptureSummary?
            let span: CaptureWindow.Span
            switch request.part {
            case .first: span = .first
            case .before(let moment): span = .before(moment)
            case .after(let moment): span = .after(moment)
            case .around:
                for index in indexes {
                    try index.wacz.prepareTimes(matching: lookup.matcher, check)
                }
                let found = try closestCopy(lookup, in: indexes.map(\.archive))
                closest = found.map { summary($0.entry, $0.index.archive) }
                closest?.trust = try found.flatMap { try trust(in: $0, collection: replayable.archives, check) }
                span = .around(found?.entry.captureTime ?? wanted)
            }
            var window = CaptureWindow(span, limit: request.limit)
            let distinct = indexes.count > 1 ? DistinctCaptures() : nil
            for (number, index) in indexes.enumerated() {
                try index.wacz.addCaptures(
                    matching: lookup.matcher, of: number, to: &window, except: distinct, check)
            }
            let (position, items) = window.items()
            // Only captures of other request methods.
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
