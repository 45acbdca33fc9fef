/// How well a capture of a URL answers the question for that URL at a moment. The smallest answers best.
///
/// One rule for replay, Memento, the API, `get` and index queries with `closest`: the capture closest in time, without
/// a time the latest; of two that are equally close the later; of several at one moment the one whose URL is spelled as
/// it was asked for. Where these are equal too, the order of the index decides.
package struct CaptureRank: Sendable, Comparable {
    /// Milliseconds to the moment, or to the end of time.
    let distance: UInt64
    /// 0 to 3, for captures that are equally close.
    let preference: UInt64

    init(_ time: CaptureTimestamp, isSpelledAsAsked: Bool, for wanted: CaptureTimestamp?) {
        distance = wanted.map { UInt64($0.distance(to: time)) } ?? UInt64(Self.endOfTime - time.millisecondsSince1970)
        preference = (wanted.map { time > $0 } ?? true ? 0 : 2) + (isSpelledAsAsked ? 0 : 1)
    }

    /// Milliseconds since 1970 of the last moment that a timestamp can name, the end of the year 9999.
    private static let endOfTime: Int64 = 253_402_300_799_999

    package static func < (left: CaptureRank, right: CaptureRank) -> Bool {
        (left.distance, left.preference) < (right.distance, right.preference)
    }
}

/// The best of the captures seen so far.
struct ClosestCapture {
    private let matcher: CaptureMatcher
    private let wanted: CaptureTimestamp?
    private var rank: CaptureRank?
    private(set) var entry: CDXJEntry?

    init(_ matcher: CaptureMatcher, to wanted: CaptureTimestamp?) {
        self.matcher = matcher
        self.wanted = wanted
    }

    /// Whether a capture of that moment can be better, whatever its URL.
    func mayTake(_ moment: CaptureTimestamp) -> Bool {
        rank.map { CaptureRank(moment, isSpelledAsAsked: true, for: wanted) < $0 } ?? true
    }

    /// Takes an entry if it is better and answers the condition.
    mutating func take(_ entry: CDXJEntry, where condition: (CDXJEntry) -> Bool) {
        guard let other = matcher.rank(of: entry, for: wanted), rank.map({ other < $0 }) ?? true else { return }
        guard matcher.isReplayable(entry), condition(entry) else { return }
        (self.entry, rank) = (entry, other)
    }
}
