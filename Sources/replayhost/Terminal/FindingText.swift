import CommandSupport
import WebArchive

/// Formats findings for the terminal.
enum FindingText {
    static func line(_ finding: Finding) -> String {
        Terminal.safe("\(finding.severity.rawValue): \(finding.what) \(finding.consequence) (\(finding.location))")
    }
}
