/// Writes log lines to standard error, without the control characters that archived URLs may contain.
struct ErrorLines: TextOutputStream {
    /// - Parameter line: One line with its line end.
    mutating func write(_ line: String) {
        Terminal.writeError(line.last == "\n" ? String(line.dropLast()) : line)
    }
}
