import Foundation

/// Sizes as text, with decimal units.
package enum ByteSize {
    /// Returns a size with two or three significant digits, for example `1.2 GB`.
    package static func text(_ bytes: UInt64) -> String {
        let (number, unit) = parts(bytes)
        return "\(number) \(unit)"
    }

    /// Returns the progress of a transfer, for example `345 of 435 MB`.
    package static func progress(_ done: UInt64, of total: UInt64) -> String {
        let ((number, unit), end) = (parts(done), parts(total))
        return "\(number)\(unit == end.unit ? "" : " \(unit)") of \(end.number) \(end.unit)"
    }

    private static func parts(_ bytes: UInt64) -> (number: String, unit: String) {
        let units = ["B", "kB", "MB", "GB", "TB"]
        var value = Double(bytes)
        var index = 0
        while value >= 999.5, index < units.count - 1 {
            value /= 1000
            index += 1
        }
        let number = index == 0 ? "\(bytes)" : String(format: value < 9.95 ? "%.1f" : "%.0f", value)
        return (number, units[index])
    }
}
