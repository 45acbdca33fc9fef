import CommandSupport
import WebArchive

/// Formats findings for the terminal.
enum FindingText {
    /// Returns a finding as one line, or as more if it's wider than the terminal: a text of the archive then can't begin one.
    static func lines(_ finding: Finding, indentation: String = "") -> [String] {
        let text = Terminal.safe(
            "\(finding.severity.rawValue): \(finding.what) \(finding.consequence) (\(finding.location))")
        let lines = Terminal.wrapped(text, within: (Terminal.outputColumns ?? .max) - indentation.count - 2)
        return lines.enumerated().map { "\(indentation)\($0 == 0 ? "" : "  ")\($1)" }
    }
}
