/// Converts between HTTP dates (IMF-fixdate) and seconds since 1970. RFC 9110 §5.6.7.
package enum HTTPDate {
    /// Returns the date as IMF-fixdate, for example `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func text(ofSeconds seconds: Int) -> String {
        let (number, second) = seconds.floored(by: 86_400)
        let date = CalendarDay(number: number)
        let weekday = weekdays[(number + 4).floored(by: 7).remainder]
        let clock = [second / 3600, second / 60 % 60, second % 60].map { $0.padded(2) }.joined(separator: ":")
        return "\(weekday), \(date.day.padded(2)) \(months[date.month - 1]) \(date.year.padded(4)) \(clock) GMT"
    }

    /// Parses any of the three formats that recipients must accept; `nil` for anything else.
    package static func seconds(of text: String) -> Int? {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" }).map(String.init)
        switch words.count {
        case 6 where words[5] == "GMT":  // IMF-fixdate, or RFC 850 with a year of two digits
            return seconds(day: words[1], month: words[2], year: words[3], clock: words[4])
        case 5:  // asctime
            return seconds(day: words[2], month: words[1], year: words[4], clock: words[3])
        default:
            return nil
        }
    }

    private static func seconds(day: String, month: String, year: String, clock: String) -> Int? {
        guard let day = number(day), let month = months.firstIndex(of: month), var full = number(year) else {
            return nil
        }
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0)) }
        guard parts.count == 3, let hour = parts[0], let minute = parts[1], let second = parts[2] else { return nil }
        guard (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second) else { return nil }
        if year.count == 2 { full += full < 70 ? 2000 : 1900 }
        guard (1...9999).contains(full), let date = CalendarDay(year: full, month: month + 1, day: day) else {
            return nil
        }
        return date.number * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Parses digits only, as `Int` would accept a sign.
    private static func number(_ text: String) -> Int? {
        text.utf8.allSatisfy(\.isASCIIDigit) ? Int(text) : nil
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

extension CaptureTimestamp {
    /// The time as in `Memento-Datetime`: `Tue, 02 Jan 2024 03:04:05 GMT`. RFC 9110 §5.6.7.
    public var httpDate: String { HTTPDate.text(ofSeconds: Int(millisecondsSince1970.floored(by: 1000).quotient)) }
}
