import Foundation

/// Columns of text, as wide as their widest cell.
struct Table {
    private let header: [String]
    private var rows: [[String]] = []

    init(_ header: [String]) {
        self.header = header
    }

    mutating func add(_ row: [String]) {
        rows.append(row)
    }

    func lines() -> [String] {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { Self.width($0[column]) }.max() ?? 0 }
        return all.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - Self.width($0)) }
                .joined(separator: "  ").trimmingCharacters(in: .whitespaces)
        }
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
