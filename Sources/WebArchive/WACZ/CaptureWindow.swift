/// A window of consecutive captures of a URL, selected in one pass.
///
/// Memory use depends only on the size of the window.
package struct CaptureWindow: Sendable {
    /// The captures to select.
    package enum Span: Sendable, Hashable {
        /// The earliest captures.
        case first
        /// The captures around a time, or the latest without one.
        case around(CaptureTimestamp?)
        /// The last captures before a time.
        case before(CaptureTimestamp)
        /// The first captures after a time.
        case after(CaptureTimestamp)
    }

    /// A capture, and the position of its archive in the search.
    package struct Item: Sendable {
        package let entry: CDXJEntry
        package let archive: Int
        let time: CaptureTimestamp
        /// The order in which captures of the same time were added.
        let order: Int
    }

    /// The number of all captures, including those outside the window.
    package private(set) var total = 0
    private let span: Span
    private let limit: Int
    private let momentMax: Int
    private var earlierCount = 0
    private var earlier: Side
    private var later: Side

    /// - Parameter limit: The size of the window. Captures of the same time stay together, up to
    ///   `Limits.momentCapturesMax`.
    package init(_ span: Span, limit: Int, limits: Limits = .standard) {
        self.span = span
        self.limit = limit
        let most = limits.momentCapturesMax
        momentMax = most
        switch span {
        case .first, .after: (earlier, later) = (Side(0, .latest, most), Side(limit, .earliest, most))
        case .before: (earlier, later) = (Side(limit, .latest, most), Side(0, .earliest, most))
        case .around: (earlier, later) = (Side(limit, .latest, most), Side(limit, .earliest, most))
        }
    }

    /// Counts the captures of an archive that can't be in the window, without adding them.
    ///
    /// - Parameter known: The times of all captures of the URL in the archive.
    /// - Returns: The span of the captures that still have to be added; `nil` if there are none.
    mutating func skip(_ known: CaptureTimes) -> ClosedRange<CaptureTimestamp>? {
        let times = known.all
        let center =
            switch span {
            case .first: 0
            case .around(let moment): moment.map { moment in times.partition { $0 >= moment } } ?? times.count
            case .before(let moment): times.partition { $0 >= moment }
            case .after(let moment): times.partition { $0 > moment }
            }
        let near = known.positions(around: center, reach: limit + momentMax + 1)
        total += times.count - near.count
        earlierCount += near.lowerBound
        return near.isEmpty ? nil : times[near.lowerBound]...times[near.upperBound - 1]
    }

    /// Counts a capture, and keeps it if it may be in the window.
    ///
    /// - Parameter entry: Called only if the capture is kept; returns `nil` to omit it.
    mutating func add(at time: CaptureTimestamp, archive: Int, entry: () -> CDXJEntry?) {
        total += 1
        let isEarlier =
            switch span {
            case .first: false
            case .around(let moment): moment.map { time < $0 } ?? true
            case .before(let moment): time < moment
            case .after(let moment): time <= moment
            }
        if isEarlier { earlierCount += 1 }
        guard isEarlier ? earlier.wants(time) : later.wants(time), let entry = entry() else { return }
        let item = Item(entry: entry, archive: archive, time: time, order: total)
        if isEarlier { earlier.add(item) } else { later.add(item) }
    }

    /// Returns the window, earliest first, and the number of captures before it.
    package mutating func items() -> (position: Int, items: [Item]) {
        var (before, after) = (earlier.cut(to: limit), later.cut(to: limit))
        if case .around = span {
            // Takes as many captures on each side as possible. The time itself counts as after.
            let half = limit / 2
            let afterCount = min(after.count, max(limit - half, limit - before.count))
            after = later.cut(to: afterCount)
            before = earlier.cut(to: max(0, limit - after.count))
        }
        return (earlierCount - before.count, Array(before.reversed()) + after)
    }

    /// The closest captures on one side of a time.
    private struct Side: Sendable {
        enum Kept: Sendable { case earliest, latest }

        private let limit: Int
        private let kept: Kept
        private let momentMax: Int
        private var items: [Item] = []
        /// Captures beyond this time aren't among the closest.
        private var bound: CaptureTimestamp?
        private var takesBound = true

        private static let slack = 1024

        init(_ limit: Int, _ kept: Kept, _ momentMax: Int) {
            (self.limit, self.kept, self.momentMax) = (limit, kept, momentMax)
        }

        func wants(_ time: CaptureTimestamp) -> Bool {
            guard limit > 0 else { return false }
            guard let bound else { return true }
            return time == bound ? takesBound : isCloser(time, bound)
        }

        mutating func add(_ item: Item) {
            items.append(item)
            guard items.count >= limit + momentMax + Self.slack else { return }
            items = cut(to: limit)
            guard let last = items.last else { return }
            (bound, takesBound) = (last.time, items.count < limit + momentMax)
        }

        /// Returns the closest `count` captures, and those of the same time as the last of them.
        func cut(to count: Int) -> [Item] {
            guard count > 0 else { return [] }
            let ordered = items.sorted { one, other in
                if one.time != other.time { return isCloser(one.time, other.time) }
                return (kept == .earliest) == (one.order < other.order)
            }
            guard ordered.count > count else { return ordered }
            let last = ordered[count - 1].time
            let end = ordered[count...].prefix(momentMax).firstIndex { $0.time != last }
            return Array(ordered[..<(end ?? min(ordered.count, count + momentMax))])
        }

        private func isCloser(_ one: CaptureTimestamp, _ other: CaptureTimestamp) -> Bool {
            kept == .earliest ? one < other : one > other
        }
    }
}

extension WACZFile {
    /// Adds all captures of a URL to a window, including those of other request methods.
    ///
    /// - Parameters:
    ///   - archive: The position of this archive in the search.
    ///   - distinct: The captures of the archives before, whose copies are left out; `nil` for a single archive.
    /// - Throws: `io`, `cancelled`; `tooLarge` if an index exceeds its limits.
    package func addCaptures(
        matching matcher: CaptureMatcher, of archive: Int, to window: inout CaptureWindow,
        except distinct: DistinctCaptures? = nil, _ check: CancellationCheck
    ) throws(WebArchiveError) {
        var search = CaptureSearch(wacz: self, matcher: matcher, includesMethods: true, check: check)
        if let distinct {
            window = try search.gather(into: window) { found, line in
                guard let entry = CDXJEntry.parsed(line.bytes, limits: limits) else { return }
                add(entry, matcher, archive, to: &found, except: distinct)
            } entry: { found, entry in
                add(entry, matcher, archive, to: &found, except: distinct)
            }
            return
        }
        if let times = try captureTimes(matching: matcher, check) {
            guard let span = window.skip(times) else { return }
            search.span = span
        }
        window = try search.gather(into: window) { found, line in
            add(line, matcher, archive, to: &found)
        } entry: { found, entry in
            guard let time = entry.captureTime, matcher.accepts(entry) else { return }
            found.add(at: time, archive: archive) { entry }
        }
    }

    private func add(
        _ entry: CDXJEntry, _ matcher: CaptureMatcher, _ archive: Int, to window: inout CaptureWindow,
        except distinct: DistinctCaptures
    ) {
        guard let time = entry.captureTime, matcher.accepts(entry), distinct.insert(entry) else { return }
        window.add(at: time, archive: archive) { entry }
    }

    /// Adds a line. Parses its JSON only if it may be in the window.
    private func add(_ line: CDXJLine, _ matcher: CaptureMatcher, _ archive: Int, to window: inout CaptureWindow) {
        guard let time = line.captureTime else { return }
        if matcher.hasKey(line.urlKey) {
            window.add(at: time, archive: archive) { CDXJEntry.parsed(line.bytes, limits: limits) }
        } else if let entry = CDXJEntry.parsed(line.bytes, limits: limits), matcher.accepts(entry) {
            window.add(at: time, archive: archive) { entry }
        }
    }
}
