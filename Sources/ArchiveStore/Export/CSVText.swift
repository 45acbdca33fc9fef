/// Writes CSV.
package enum CSVText {
    /// Returns a line (RFC 4180 §2).
    ///
    /// Spreadsheets take a text that begins with one of `=+-@`, also in full width, or with a tab or line end for a formula,
    /// which can send data to a website. An apostrophe before it makes it a text. Some programs end a file at NUL.
    package static func line(_ cells: [String?]) -> String {
        cells.map { cell in
            guard var text = cell?.replacing("\0", with: "\u{FFFD}"), let first = text.unicodeScalars.first else {
                return ""
            }
            if "=+-@＝＋－＠\t\r\n".unicodeScalars.contains(first) { text = "'" + text }
            guard text.unicodeScalars.contains(where: { "\",\r\n".unicodeScalars.contains($0) }) else { return text }
            return "\"\(text.replacing("\"", with: "\"\""))\""
        }.joined(separator: ",") + "\r\n"
    }
}
