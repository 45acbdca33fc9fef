/// How well a capture fits the requested URL and time. The smallest rank is best.
///
/// Replay, Memento, the API, `get` and index queries with `closest` use the same rule: the capture closest in time, or
/// the latest without a time; the later of two equally close; at the same time, the one with the requested spelling of
/// the URL, else with that spelling apart from the fragment; and otherwise the first one in the index.
package struct CaptureRank: Sendable, Comparable {
    /// The milliseconds to the requested time, or to the latest possible time.
    package let distance: UInt64
    /// The preference among equally close captures, 0 to 5.
    let preference: UInt64

    /// How the URL of a capture is spelled.
    enum Spelling: UInt64 {
        case asRequested, asRequestedWithoutFragment, other
    }

    init(_ time: CaptureTimestamp, _ spelling: Spelling, for wanted: CaptureTimestamp?) {
        distance = Self.distance(to: time, from: wanted)
        preference = (wanted.map { time > $0 } ?? true ? 0 : 3) + spelling.rawValue
    }

    /// Returns the distance of a time.
    package static func distance(to time: CaptureTimestamp, from wanted: CaptureTimestamp?) -> UInt64 {
        wanted.map { UInt64($0.distance(to: time)) } ?? UInt64(endOfTime - time.millisecondsSince1970)
    }

    /// The latest possible timestamp in milliseconds since 1970: the end of the year 9999.
    private static let endOfTime: Int64 = 253_402_300_799_999

    package static func < (left: CaptureRank, right: CaptureRank) -> Bool {
        (left.distance, left.preference) < (right.distance, right.preference)
    }
}

/// The best capture so far.
struct ClosestCapture {
    private let matcher: CaptureMatcher
    private let wanted: CaptureTimestamp?
    private var rank: CaptureRank?
    private(set) var entry: CDXJEntry?

    init(_ matcher: CaptureMatcher, to wanted: CaptureTimestamp?) {
        self.matcher = matcher
        self.wanted = wanted
    }

    /// Returns whether a capture of that time can be better, with any spelling of the URL.
    func mayBeBetter(_ moment: CaptureTimestamp) -> Bool {
        rank.map { CaptureRank(moment, .asRequested, for: wanted) < $0 } ?? true
    }

    /// Keeps an entry if it's better and satisfies the condition.
    mutating func take(_ entry: CDXJEntry, where condition: (CDXJEntry) -> Bool) {
        guard let other = matcher.rank(of: entry, for: wanted), rank.map({ other < $0 }) ?? true else { return }
        guard matcher.isReplayable(entry), condition(entry) else { return }
        (self.entry, rank) = (entry, other)
    }
}
