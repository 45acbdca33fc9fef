import ArchiveStore
import CommandSupport
import WebArchive

/// Counts the results of several verifications, for the line at the end.
struct VerificationTally {
    /// The number of archives whose file can't be found or has changed.
    var unavailable = 0
    /// The number of archives that couldn't be verified.
    var unverified = 0
    private var outcomes: [Verification.Outcome: Int] = [:]

    mutating func add(_ report: VerificationReport) { outcomes[report.summary.outcome, default: 0] += 1 }

    /// Returns the line.
    var text: String {
        let total = outcomes.values.reduce(unavailable + unverified, +)
        guard total > 0 else { return "No archives yet. Add one with `replayhost import FILE.wacz`." }
        let parts = [
            (outcomes[.verified, default: 0], "verified"), (outcomes[.incomplete, default: 0], "incomplete"),
            (outcomes[.failed, default: 0], "failed"), (unverified, "couldn't be verified"),
            (unavailable, "unavailable"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return "\(Terminal.count(total, "archive", "archives")): \(parts.joined(separator: ", "))"
    }
}
