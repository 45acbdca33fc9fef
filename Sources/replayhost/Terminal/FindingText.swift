import CommandSupport
import WebArchive

/// Formats findings for the terminal.
enum FindingText {
    /// Returns a finding, broken between words to fit the terminal. All lines but the first are indented by two more spaces.
    static func lines(_ finding: Finding, indentation: String = "") -> [String] {
        let text = "\(finding.what) \(finding.consequence) (\(finding.location))"
        return Terminal.wrapped(
            Terminal.safe(text), after: "\(indentation)\(finding.severity.rawValue): ",
            indentation: indentation.count + 2)
    }
}
