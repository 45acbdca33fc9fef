/// Standard error, for log lines: errors in them may name files and URLs of archives.
struct ErrorLines: TextOutputStream {
    /// - Parameter line: One line with its line end.
    mutating func write(_ line: String) {
        Terminal.writeError(line.last == "\n" ? String(line.dropLast()) : line)
    }
}
