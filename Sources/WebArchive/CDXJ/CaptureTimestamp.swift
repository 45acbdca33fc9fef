#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The time of a capture, in UTC, to the millisecond.
///
/// Source: CDXJ 0.1.0, "Timestamp": 14 digits `YYYYMMDDhhmmss`; some writers add three digits of milliseconds.
public struct CaptureTimestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let millisecondsSince1970: Int64

    /// Creates a timestamp; `nil` outside the years 0001 to 9999.
    public init?(millisecondsSince1970: Int64) {
        guard (-62_135_596_800_000...253_402_300_799_999).contains(millisecondsSince1970) else { return nil }
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// Parses 4 to 17 digits. Missing parts get their earliest value: `2024` is 2024-01-01T00:00:00Z.
    public init?(digits text: some StringProtocol) {
        // Other modules call the generic function, so the loop isn't in it.
        let parsed = text.utf8.withContiguousStorageIfAvailable { CaptureTimestamp(digits: $0) }
        guard let timestamp = parsed ?? CaptureTimestamp(digits: String(text)) else { return nil }
        self = timestamp
    }

    private init?(digits text: UnsafeBufferPointer<UInt8>) {
        // Year to millisecond: the earliest value of each, overwritten as far as there are digits.
        var parts = (0, 1, 1, 0, 0, 0, 0)
        let count = text.count
        guard (4...17).contains(count) else { return nil }
        // Half of a two-digit part is ambiguous, so `20241` is read as `2024`.
        let used = count < 14 && !count.isMultiple(of: 2) ? count - 1 : count
        for (position, byte) in text.enumerated() {
            guard (0x30...0x39).contains(byte) else { return nil }
            guard position < used else { break }
            let digit = Int(byte) - 0x30
            switch position {
            case 0..<4: parts.0 = parts.0 * 10 + digit
            case 4: parts.1 = digit * 10
            case 5: parts.1 += digit
            case 6: parts.2 = digit * 10
            case 7: parts.2 += digit
            case 8..<10: parts.3 = parts.3 * 10 + digit
            case 10..<12: parts.4 = parts.4 * 10 + digit
            case 12..<14: parts.5 = parts.5 * 10 + digit
            case 14: parts.6 = digit * 100
            case 15: parts.6 += digit * 10
            default: parts.6 += digit
            }
        }
        self.init(
            year: parts.0, month: parts.1, day: parts.2, hour: parts.3, minute: parts.4, second: parts.5,
            millisecond: parts.6)
    }

    /// Parses 4 to 17 digits. Missing parts get their latest value: `2024` is 2024-12-31T23:59:59Z.
    ///
    /// Use it for a requested time, as pywb and the Wayback Machine do.
    public init?(endOf text: some StringProtocol) {
        guard let start = CaptureTimestamp(digits: text) else { return nil }
        let count = text.utf8.count
        let used = count < 14 && !count.isMultiple(of: 2) ? count - 1 : count
        let (year, month) = (start.parts.year, start.parts.month)
        let length: Int64
        switch used {
        case 4: length = (CalendarDay.count(inMonth: 2, of: year) == 29 ? 366 : 365) * 86_400
        case 6: length = Int64(CalendarDay.count(inMonth: month, of: year)) * 86_400
        case 8: length = 86_400
        case 10: length = 3600
        case 12: length = 60
        default: length = 1
        }
        self.init(millisecondsSince1970: start.millisecondsSince1970 + (length - 1) * 1000)
    }

    /// Parses an RFC 3339 date and time, as in `WARC-Date` and page lists.
    ///
    /// Accepts a space instead of `T`, a missing time zone (UTC), missing parts at the end, and any number of fraction digits.
    public init?(rfc3339 text: some StringProtocol) {
        var rest = Array(text.utf8)[...]
        func take(_ count: Int) -> Int? {
            let digits = rest.prefix(count)
            guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(count)
            return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        func skip(_ wanted: String) -> Bool {
            guard let byte = rest.first, wanted.utf8.contains(byte) else { return false }
            rest = rest.dropFirst()
            return true
        }
        guard let year = take(4) else { return nil }
        // WARC 1.1 §5.4: W3CDTF, of any precision.
        var month = rest.isEmpty ? 1 : skip("-") ? take(2) : nil
        var day = rest.isEmpty ? 1 : skip("-") ? take(2) : nil
        // ClueWeb09 has the day of the year instead of that of the month: `2008-10-294T05:21:46-0700`.
        if let first = day, let last = take(1), let january = CalendarDay(year: year, month: 1, day: 1) {
            let date = CalendarDay(number: january.number + first * 10 + last - 1)
            guard date.year == year, date.month == month else { return nil }
            (month, day) = (date.month, date.day)
        }
        guard let month, let day else { return nil }
        guard skip("Tt ") else {
            guard rest.isEmpty else { return nil }
            self.init(year: year, month: month, day: day, hour: 0, minute: 0, second: 0, millisecond: 0)
            return
        }
        guard let hour = take(2), skip(":"), let minute = take(2), let second = skip(":") ? take(2) : 0 else {
            return nil
        }
        var millisecond = 0
        if skip(".,") {
            let fraction = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(fraction.count)
            let padded = Array(fraction.prefix(3)) + [UInt8](repeating: 0x30, count: max(0, 3 - fraction.count))
            millisecond = padded.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        }
        var zoneMinutes = 0
        if !rest.isEmpty, !skip("Zz") {
            guard let sign = rest.first, skip("+-"), let hours = take(2) else { return nil }
            _ = skip(":")
            guard let minutes = take(2), hours < 24, minutes < 60 else { return nil }
            zoneMinutes = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
        }
        guard rest.isEmpty,
            let local = CaptureTimestamp(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second, millisecond: millisecond
            )
        else { return nil }
        self.init(millisecondsSince1970: local.millisecondsSince1970 - Int64(zoneMinutes) * 60_000)
    }

    /// Parses a time from a page list: RFC 3339, 14 or 17 digits, or milliseconds (13 digits) or seconds (9 or 10)
    /// since 1970.
    public init?(pageTime text: String) {
        let count = text.utf8.count
        if (9...13).contains(count), count != 12, let number = Int64(text) {
            self.init(millisecondsSince1970: count > 10 ? number : number * 1000)
            return
        }
        guard let value = CaptureTimestamp(digits: text) ?? CaptureTimestamp(rfc3339: text) else { return nil }
        self = value
    }

    private init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, millisecond: Int) {
        guard year >= 1, hour < 24, minute < 60, second <= 60,
            let date = CalendarDay(year: year, month: month, day: day)
        else { return nil }
        // POSIX time has no leap seconds, so second 60 counts as second 59.
        let seconds = (date.number * 24 + hour) * 3600 + minute * 60 + min(second, 59)
        self.init(millisecondsSince1970: Int64(seconds) * 1000 + Int64(millisecond))
    }

    /// The time as a date.
    public var date: Date { Date(timeIntervalSince1970: Double(millisecondsSince1970) / 1000) }

    /// The time as 14 digits, without milliseconds.
    public var digits14: String {
        let parts = self.parts
        return parts.year.padded(4) + parts.month.padded(2) + parts.day.padded(2)
            + parts.hour.padded(2) + parts.minute.padded(2) + parts.second.padded(2)
    }

    /// The time as RFC 3339 in UTC, with milliseconds only if they aren't zero: `2024-01-02T03:04:05Z`.
    public var rfc3339: String {
        let parts = self.parts
        let day = "\(parts.year.padded(4))-\(parts.month.padded(2))-\(parts.day.padded(2))"
        let time = "\(parts.hour.padded(2)):\(parts.minute.padded(2)):\(parts.second.padded(2))"
        return "\(day)T\(time)\(parts.millisecond == 0 ? "" : ".\(parts.millisecond.padded(3))")Z"
    }

    /// The same as `rfc3339`.
    public var description: String { rfc3339 }

    /// Returns whether the first time is earlier.
    public static func < (lhs: CaptureTimestamp, rhs: CaptureTimestamp) -> Bool {
        lhs.millisecondsSince1970 < rhs.millisecondsSince1970
    }

    /// Returns the milliseconds between two times, which are never negative.
    public func distance(to other: CaptureTimestamp) -> Int64 {
        abs(millisecondsSince1970 - other.millisecondsSince1970)
    }

    /// Returns whether this time is a better match than another one: closer to the wanted time, or equally close and
    /// later. Without a wanted time, the later one is better.
    public func isBetter(than other: CaptureTimestamp, for wanted: CaptureTimestamp?) -> Bool {
        guard let wanted else { return self > other }
        let (own, others) = (wanted.distance(to: self), wanted.distance(to: other))
        return own == others ? self > other : own < others
    }

    /// Returns the candidate closest in time, and the later one of two equally close. Returns `nil` if none has a time.
    public func closest<Candidates: Sequence>(
        in candidates: Candidates, at time: (Candidates.Element) -> CaptureTimestamp?
    ) -> Candidates.Element? {
        var best: (candidate: Candidates.Element, time: CaptureTimestamp)?
        for candidate in candidates {
            guard let moment = time(candidate) else { continue }
            if let kept = best, !moment.isBetter(than: kept.time, for: self) { continue }
            best = (candidate, moment)
        }
        return best?.candidate
    }
}

extension CaptureTimestamp {
    private var parts: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, millisecond: Int) {
        let (day, inDay) = millisecondsSince1970.floored(by: 86_400_000)
        let date = CalendarDay(number: Int(day))
        let seconds = Int(inDay / 1000)
        return (
            date.year, date.month, date.day, seconds / 3600, seconds / 60 % 60, seconds % 60, Int(inDay % 1000)
        )
    }
}
