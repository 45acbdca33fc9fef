import Foundation

/// A table of text, which shortens cells and hides columns to fit a narrow terminal.
package struct Table {
    private struct Cell {
        let text: String
        /// A form for narrow terminals.
        let short: String
    }

    private let header: [String]
    private let hideable: [String]
    private let truncatable: [String]
    private var rows: [[Cell]] = []

    private static let gap = 2
    /// The width to which cells are truncated before a column is hidden.
    private static let truncatedWidth = 16
    /// The width to which cells are truncated when all hideable columns are hidden.
    private static let truncatedWidthMin = 12

    /// - Parameters:
    ///   - hideable: The columns to hide if the table is too wide, in this order.
    ///   - truncatable: The columns to truncate before any is hidden.
    package init(_ header: [String], hideable: [String] = [], truncatable: [String] = []) {
        (self.header, self.hideable, self.truncatable) = (header, hideable, truncatable)
    }

    /// - Parameter short: Shorter forms of cells, by column. A table that is too wide has these.
    package mutating func add(_ row: [String], short: [String: String] = [:]) {
        rows.append(zip(header, row).map { Cell(text: Terminal.safe($1), short: Terminal.safe(short[$0] ?? $1)) })
    }

    /// Writes the table to standard output.
    package func write() { for line in lines() { Terminal.writeRow(line) } }

    /// - Parameter room: The width of the terminal; `nil` for no limit.
    package func lines(within room: Int? = Terminal.outputColumns) -> [String] {
        let all = [header] + rows.map { $0.map(\.text) }
        guard let room, Self.width(widths(all)) > room else { return Self.lines(all, widths(all)) }
        let short = [header] + rows.map { $0.map(\.short) }
        return Self.lines(short, fitted(widths(short), in: room))
    }

    /// The width of each column.
    private func widths(_ rows: [[String]]) -> [Int: Int] {
        Dictionary(
            uniqueKeysWithValues: header.indices.map { column in
                (column, rows.map { Terminal.width($0[column]) }.max() ?? 0)
            })
    }

    private static func width(_ widths: [Int: Int]) -> Int { widths.values.reduce(-gap) { $0 + $1 + gap } }

    private static func lines(_ rows: [[String]], _ widths: [Int: Int]) -> [String] {
        rows.map { row in
            widths.sorted { $0.key < $1.key }.map { column, width in
                let cell = Terminal.truncated(row[column], to: width)
                return cell + String(repeating: " ", count: width - Terminal.width(cell))
            }.joined(separator: String(repeating: " ", count: gap)).trimmingCharacters(in: .whitespaces)
        }
    }

    /// Truncates cells, hides columns, then truncates the rest, until the table fits or nothing more can be done.
    private func fitted(_ full: [Int: Int], in room: Int) -> [Int: Int] {
        var widths = full
        var hideable = self.hideable.compactMap { header.firstIndex(of: $0) }[...]
        let columns = truncatable.compactMap { header.firstIndex(of: $0) }
        while true {
            let cut = truncated(widths, columns, to: Self.truncatedWidth, in: room)
            if Self.width(cut) <= room { return cut }
            guard let next = hideable.popFirst() else { break }
            widths[next] = nil
        }
        let cut = truncated(widths, columns, to: Self.truncatedWidthMin, in: room)
        // What is left are long ids.
        return truncated(cut, Array(header.indices), to: Self.truncatedWidthMin, in: room)
    }

    /// Takes what a table is too wide from some columns, the widest first.
    private func truncated(_ full: [Int: Int], _ columns: [Int], to least: Int, in room: Int) -> [Int: Int] {
        var widths = full
        while Self.width(widths) > room {
            let spare = columns.filter { (widths[$0] ?? 0) > max(least, Terminal.width(header[$0])) }
            guard let widest = spare.max(by: { (widths[$0] ?? 0) < (widths[$1] ?? 0) }) else { break }
            widths[widest]? -= 1
        }
        return widths
    }
}
