/// Some neighbours among the captures of a URL, in the order of time, chosen in one pass over all of them.
///
/// Memory is that of the captures that are kept, however many there are.
package struct CaptureWindow: Sendable {
    /// Which captures are wanted.
    package enum Span: Sendable, Hashable {
        /// The earliest.
        case first
        /// Those around a moment; the latest without one.
        case around(CaptureTimestamp?)
        /// The latest of those before a moment.
        case before(CaptureTimestamp)
        /// The earliest of those after a moment.
        case after(CaptureTimestamp)
    }

    /// A capture and the place of its archive among those that are asked.
    package struct Item: Sendable {
        package let entry: CDXJEntry
        package let archive: Int
        let time: CaptureTimestamp
        /// In which captures of one moment were added.
        let order: Int
    }

    /// All captures, also those outside of the window.
    package private(set) var total = 0
    private let span: Span
    private let limit: Int
    private var earlierCount = 0
    private var earlier: Side
    private var later: Side

    /// - Parameter limit: Captures in the window. Those of one moment stay together, up to `Limits.momentCapturesMax`.
    package init(_ span: Span, limit: Int, limits: Limits = .standard) {
        self.span = span
        self.limit = limit
        let most = limits.momentCapturesMax
        switch span {
        case .first, .after: (earlier, later) = (Side(0, .latest, most), Side(limit, .earliest, most))
        case .before: (earlier, later) = (Side(limit, .latest, most), Side(0, .earliest, most))
        case .around: (earlier, later) = (Side(limit, .latest, most), Side(limit, .earliest, most))
        }
    }

    /// Counts a capture, and keeps it when it may be in the window.
    ///
    /// - Parameter entry: Called only then; the capture is left out when it is `nil`.
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

    /// The window, earliest first, and how many captures are before it.
    package mutating func items() -> (position: Int, items: [Item]) {
        var (before, after) = (earlier.cut(to: limit), later.cut(to: limit))
        if case .around = span {
            // As many on both sides as there are; the moment itself is with those after it.
            let half = limit / 2
            let afterCount = min(after.count, max(limit - half, limit - before.count))
            after = later.cut(to: afterCount)
            before = earlier.cut(to: max(0, limit - after.count))
        }
        return (earlierCount - before.count, Array(before.reversed()) + after)
    }

    /// The captures on one side of a moment that are closest to it.
    private struct Side: Sendable {
        enum Kept: Sendable { case earliest, latest }

        private let limit: Int
        private let kept: Kept
        private let momentMax: Int
        private var items: [Item] = []
        /// Nothing beyond it can be among those kept.
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

        /// The first `count`, closest first, and what is of the same moment as the last of them.
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
    /// Adds every capture of a URL to a window, those of other request methods included.
    ///
    /// - Parameter archive: The place of this archive among those that are asked.
    /// - Throws: `io`, `cancelled`; `tooLarge` when an index is an attack.
    package func addCaptures(
        matching matcher: CaptureMatcher, of archive: Int, to window: inout CaptureWindow, assumesSorted: Bool,
        _ check: CancellationCheck
    ) throws(WebArchiveError) {
        let search = CaptureSearch(
            wacz: self, matcher: matcher, includesMethods: true, assumesSorted: assumesSorted, check: check)
        window = try search.gather(into: window) { found, line in
            add(line, matcher, archive, to: &found)
        } entry: { found, entry in
            guard let time = entry.captureTime, matcher.accepts(entry) else { return }
            found.add(at: time, archive: archive) { entry }
        }
    }

    /// The JSON of a line is read only where it matters.
    private func add(_ line: CDXJLine, _ matcher: CaptureMatcher, _ archive: Int, to window: inout CaptureWindow) {
        guard let time = line.captureTime else { return }
        if matcher.hasKey(line.urlKey) {
            window.add(at: time, archive: archive) { CDXJEntry.parsed(line.bytes, limits: limits) }
        } else if let entry = CDXJEntry.parsed(line.bytes, limits: limits), matcher.accepts(entry) {
            window.add(at: time, archive: archive) { entry }
        }
    }
}
