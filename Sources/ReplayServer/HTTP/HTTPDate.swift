/// Dates in HTTP fields: whole seconds since 1970, written as IMF-fixdate. RFC 9110 §5.6.7.
package enum HTTPDate {
    /// For example `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func text(ofSeconds seconds: Int) -> String {
        let (days, second) = (seconds.flooredDivision(by: 86_400), seconds.flooredRemainder(by: 86_400))
        let (year, month, day) = civil(fromDays: days)
        let weekday = weekdays[(days + 4).flooredRemainder(by: 7)]
        let clock = "\(pad(second / 3600)):\(pad(second / 60 % 60)):\(pad(second % 60))"
        return "\(weekday), \(pad(day)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    /// Reads any of the three forms a recipient must accept; `nil` for anything else.
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
        guard (1...31).contains(day), (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else {
            return nil
        }
        if year.count == 2 { full += full < 70 ? 2000 : 1900 }
        guard (1...9999).contains(full) else { return nil }
        let days = days(year: full, month: month + 1, day: day)
        // A day that its month does not have comes out as one of the next month.
        guard civil(fromDays: days).day == day else { return nil }
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Digits only: `Int` would take a sign.
    private static func number(_ text: String) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    /// Days since 1970-01-01 of a date in the Gregorian calendar.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.flooredDivision(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(fromDays days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted.flooredDivision(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let civilMonth = month < 10 ? month + 3 : month - 9
        return (yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0), civilMonth, day)
    }

    private static func pad(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

extension Int {
    fileprivate func flooredDivision(by divisor: Int) -> Int {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }

    fileprivate func flooredRemainder(by divisor: Int) -> Int {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
