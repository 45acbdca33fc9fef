extension CaptureTimestamp {
    /// The form of `Memento-Datetime` and of links to mementos: `Tue, 02 Jan 2024 03:04:05 GMT`. RFC 9110 §5.6.7.
    public var httpDate: String {
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let dayMilliseconds: Int64 = 86_400_000
        let (quotient, remainder) = millisecondsSince1970.quotientAndRemainder(dividingBy: dayMilliseconds)
        let dayNumber = Int(remainder < 0 ? quotient - 1 : quotient)
        let weekday = days[((dayNumber % 7) + 7) % 7]
        let digits = Array(digits14)
        func part(_ range: Range<Int>) -> String { String(digits[range]) }
        let month = Int(part(4..<6)).map { months[$0 - 1] } ?? ""
        return
            "\(weekday), \(part(6..<8)) \(month) \(part(0..<4)) \(part(8..<10)):\(part(10..<12)):\(part(12..<14)) GMT"
    }
}
