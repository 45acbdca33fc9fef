import Foundation

/// Columns of text, as wide as their widest cell, or as narrow as a terminal needs them.
struct Table {
    private let header: [String]
    private let leftOut: [String]
    private let cut: [String]
    private var rows: [[String]] = []

    private static let gap = 2
    /// A cell is not cut to fewer columns than this.
    private static let cutWidthMin = 12

    /// - Parameters:
    ///   - leftOut: The columns that can be missed in a narrow terminal, those that can be missed best first.
    ///   - cut: The columns whose cells may be cut there, before any is left out.
    init(_ header: [String], leftOut: [String] = [], cut: [String] = []) {
        (self.header, self.leftOut, self.cut) = (header, leftOut, cut)
    }

    mutating func add(_ row: [String]) {
        rows.append(row)
    }

    /// - Parameter room: The width of the terminal; `nil` where it has none.
    func lines(within room: Int? = Terminal.outputColumns) -> [String] {
        let all = [header] + rows
        var widths = header.indices.map { column in all.map { Self.width($0[column]) }.max() ?? 0 }
        var columns = Array(header.indices)
        if let room { fit(&columns, &widths, in: room) }
        return all.map { row in
            columns.map { column in
                let cell = Self.shortened(row[column], to: widths[column])
                return cell + String(repeating: " ", count: widths[column] - Self.width(cell))
            }.joined(separator: String(repeating: " ", count: Self.gap)).trimmingCharacters(in: .whitespaces)
        }
    }

    /// Cuts, then leaves out, until all fits. What can neither be cut nor missed is wider than the terminal then.
    private func fit(_ columns: inout [Int], _ widths: inout [Int], in room: Int) {
        let cut = header.indices.filter { self.cut.contains(header[$0]) }
        var leftOut = self.leftOut.compactMap { header.firstIndex(of: $0) }[...]
        while true {
            let excess = columns.reduce(-Self.gap) { $0 + widths[$1] + Self.gap } - room
            guard excess > 0 else { return }
            let reserves = cut.map { column in
                let least = max(Self.cutWidthMin, Self.width(header[column]))
                return (column: column, spare: columns.contains(column) ? max(0, widths[column] - least) : 0)
            }
            if reserves.reduce(0, { $0 + $1.spare }) >= excess || leftOut.isEmpty {
                var left = excess
                for (column, spare) in reserves {
                    widths[column] -= min(left, spare)
                    left -= min(left, spare)
                }
                return
            }
            columns.removeAll { $0 == leftOut.first }
            leftOut.removeFirst()
        }
    }

    private static func shortened(_ text: String, to room: Int) -> String {
        guard width(text) > room else { return text }
        var shown = text
        while width(shown) > room - 1 { shown.removeLast() }
        return shown + "…"
    }

    /// Columns that a terminal needs: East Asian wide characters take two.
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
