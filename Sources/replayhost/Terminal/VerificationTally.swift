import ArchiveStore
import CommandSupport
import WebArchive

/// Counts the results of several verifications, for the line at the end.
struct VerificationTally {
    /// The number of archives whose file can't be found.
    var unavailable = 0
    /// The number of archives that couldn't be verified.
    var unverified = 0
    /// Whether the archives of a collection were verified together.
    var hasCollection = false
    private var counts: [VerificationCode: Int] = [:]

    mutating func add(_ code: VerificationCode) { counts[code, default: 0] += 1 }

    /// Returns the line.
    var text: String {
        let total = counts.values.reduce(unavailable + unverified, +)
        guard total > 0 else { return "No archives yet. Add one with `replayhost import FILE.wacz`." }
        let results = VerificationCode.allCases.map { (counts[$0, default: 0], "with “\($0.words(signer: nil))”") }
        let parts = (results + [(unverified, "couldn't be verified"), (unavailable, "unavailable")])
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return "\(Terminal.count(total, "archive", "archives")): \(parts.joined(separator: ", "))"
    }
}
