import WebArchive

/// Collects what is wrong with a part of a signature, and the outcome that follows from it.
struct SignatureProblems {
    /// The effect of a problem on the outcome.
    enum Effect {
        case note, untrusted, unreadable, invalid
    }

    /// What a problem means for the archive.
    enum Consequence: String {
        case none = "It doesn't affect the result."
        case content = "The archive may have been changed since it was signed."
        case signer = "It isn't proven who signed the archive."
        case time = "It isn't proven when the archive was signed."
        case unchecked = "The signature can't be checked."
    }

    /// The number of findings to keep.
    static let findingsMax = 50
    /// The number of bytes of a text from a file, and of a sentence with several of them, above which it's shortened.
    static let textMax = 200
    static let sentenceMax = 1500

    private(set) var outcome = SignatureReport.Outcome.valid
    private(set) var findings: [Finding] = []

    /// Adds a problem.
    ///
    /// - Parameters:
    ///   - code: A stable code without the prefix `signature-`.
    ///   - member: The member of `signedData` that is wrong.
    mutating func add(
        _ effect: Effect, _ code: String, _ what: String, at member: String, _ consequence: Consequence
    ) {
        lower(to: effect)
        guard findings.count < Self.findingsMax else { return }
        let severity: Finding.Severity =
            switch effect {
            case .note: .notice
            case .untrusted: .warning
            case .unreadable, .invalid: .error
            }
        findings.append(
            Finding(
                severity: severity, code: "signature-\(code)", what: Self.bounded(what, max: Self.sentenceMax),
                location: "\(SignatureVerifier.file) \(member)", consequence: consequence.rawValue))
    }

    /// Adds the problems of another part, and its effect on the outcome.
    mutating func add(_ part: SignatureProblems) {
        findings += part.findings.prefix(max(0, Self.findingsMax - findings.count))
        switch part.outcome {
        case .untrusted: lower(to: .untrusted)
        case .unreadable: lower(to: .unreadable)
        case .invalid, .otherFile: lower(to: .invalid)
        case .valid, .unsigned: break
        }
    }

    /// Adds the findings of another part as notices, without its effect on the outcome.
    mutating func add(notesOf part: SignatureProblems) {
        for finding in part.findings.prefix(max(0, Self.findingsMax - findings.count)) {
            findings.append(
                Finding(
                    severity: .notice, code: finding.code, what: finding.what, location: finding.location,
                    consequence: Consequence.none.rawValue))
        }
    }

    /// Shortens a text from a file, which can be arbitrarily long.
    static func bounded(_ text: String) -> String { bounded(text, max: textMax) }

    private static func bounded(_ text: String, max: Int) -> String {
        text.utf8.count > max ? text.prefix(max / 2) + "…" : text
    }

    /// A proof that something is wrong counts more than a part that can't be read, and this more than a lack of trust.
    private mutating func lower(to effect: Effect) {
        switch (outcome, effect) {
        case (_, .note), (.invalid, _): break
        case (_, .invalid): outcome = .invalid
        case (.unreadable, _): break
        case (_, .unreadable): outcome = .unreadable
        default: outcome = .untrusted
        }
    }
}
