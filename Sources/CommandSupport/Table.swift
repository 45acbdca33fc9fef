import Foundation

/// A table of text, which truncates cells and hides columns to fit a narrow terminal.
package struct Table {
    private let header: [String]
    private let hideable: [String]
    private let truncatable: [String]
    private var rows: [[String]] = []

    private static let gap = 2
    private static let truncatedWidthMin = 12

    /// - Parameters:
    ///   - hideable: The columns to hide if the table is too wide, in this order.
    ///   - truncatable: The columns to truncate before any is hidden.
    package init(_ header: [String], hideable: [String] = [], truncatable: [String] = []) {
        (self.header, self.hideable, self.truncatable) = (header, hideable, truncatable)
    }

    package mutating func add(_ row: [String]) {
        rows.append(row)
    }

    /// - Parameter room: The width of the terminal; `nil` for no limit.
    package func lines(within room: Int? = Terminal.outputColumns) -> [String] {
        let all = [header] + rows
        var widths = header.indices.map { column in all.map { Self.width($0[column]) }.max() ?? 0 }
        var columns = Array(header.indices)
        if let room { fit(&columns, &widths, in: room) }
        return all.map { row in
            columns.map { column in
                let cell = Self.truncated(row[column], to: widths[column])
                return cell + String(repeating: " ", count: widths[column] - Self.width(cell))
            }.joined(separator: String(repeating: " ", count: Self.gap)).trimmingCharacters(in: .whitespaces)
        }
    }

    /// Truncates cells, then hides columns, until the table fits or nothing more can be hidden.
    private func fit(_ columns: inout [Int], _ widths: inout [Int], in room: Int) {
        let truncatable = header.indices.filter { self.truncatable.contains(header[$0]) }
        var hideable = self.hideable.compactMap { header.firstIndex(of: $0) }[...]
        while true {
            let excess = columns.reduce(-Self.gap) { $0 + widths[$1] + Self.gap } - room
            guard excess > 0 else { return }
            let reserves = truncatable.map { column in
                let least = max(Self.truncatedWidthMin, Self.width(header[column]))
                return (column: column, spare: columns.contains(column) ? max(0, widths[column] - least) : 0)
            }
            if reserves.reduce(0, { $0 + $1.spare }) >= excess || hideable.isEmpty {
                var left = excess
                for (column, spare) in reserves {
                    widths[column] -= min(left, spare)
                    left -= min(left, spare)
                }
                return
            }
            columns.removeAll { $0 == hideable.first }
            hideable.removeFirst()
        }
    }

    private static func truncated(_ text: String, to room: Int) -> String {
        guard width(text) > room else { return text }
        var shown = text
        while width(shown) > room - 1 { shown.removeLast() }
        return shown + "…"
    }

    /// The width of text on a terminal. East Asian wide characters take two columns.
    private static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { sum, scalar in
            switch scalar.value {
            case 0x0300...0x036F, 0x200B...0x200F: sum
            case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
                0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
                sum + 2
            default: sum + 1
            }
        }
    }
}
