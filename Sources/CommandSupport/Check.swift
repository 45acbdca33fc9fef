import Foundation

/// The result of one check of `doctor`.
package struct Check: Encodable {
    package enum Verdict: String, Encodable {
        case good, warning, bad
    }
    package let name: String
    package let verdict: Verdict
    package let what: String
    package let hint: String?

    package init(name: String, verdict: Verdict, what: String, hint: String? = nil) {
        (self.name, self.verdict, self.what, self.hint) = (name, verdict, what, hint)
    }

    /// Writes the check to standard output.
    package func write(asJSON: Bool) {
        if asJSON { return Terminal.writeJSON(self) }
        let label = ["good": "ok", "warning": "note", "bad": "error"][verdict.rawValue] ?? ""
        Terminal.writeRow("\(label.padding(toLength: 5, withPad: " ", startingAt: 0)) \(name): \(Terminal.safe(what))")
        if let hint { Terminal.write("      hint: \(hint)") }
    }
}
