/// Writes log lines to standard error, without the control characters that archived URLs may contain.
package struct ErrorLines: TextOutputStream {
    package init() {}

    /// - Parameter line: One line with its line end.
    package mutating func write(_ line: String) {
        Terminal.writeError(line.last == "\n" ? String(line.dropLast()) : line)
    }
}
