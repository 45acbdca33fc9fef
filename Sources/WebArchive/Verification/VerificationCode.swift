/// What a verification found, in one code.
///
/// The app, the command line and the API all show this code or its words. `docs/verify.md` explains each.
package enum VerificationCode: String, Sendable, Hashable, Codable, CaseIterable {
    /// All hashes agree, and a domain signed them, as its certificate and its time stamp prove.
    case signed
    /// All hashes agree, and a key signed them that anybody can have made.
    case signedAnonymously = "signed-anonymously"
    /// All hashes agree, and all files with captures have one.
    case hashesAgree = "hashes-agree"
    /// Nothing disagrees, but not everything could be checked.
    case partly
    /// Nothing disagrees, but the file has captures, indexes or pages that the signature doesn't cover.
    case uncovered
    /// It isn't proven who signed, or when.
    case signerNotProven = "signer-not-proven"
    /// The files that have a hash match it, but records don't match the digests written in them.
    case recordsDiffer = "records-differ"
    /// Nothing disagrees, but the ZIP is made in a way that can be an attack.
    case suspicious
    /// No file is known to be changed, but something can't be shown, or was lost before.
    case unreplayable
    /// The signature is of other contents, is wrong or can't be read.
    case invalidSignature = "invalid-signature"
    /// Something was damaged or changed after the archive was packed.
    case damaged
    /// The file was replaced or changed since it was read last.
    case changed
    /// The file wasn't verified yet.
    case notVerified = "not-verified"
}

extension VerificationCode {
    /// Decides what the contents show, without the signature.
    package init(contents result: Verification) {
        let findings = result.findings.filter { !$0.code.hasPrefix("signature-") }
        let errors = findings.filter { $0.severity == .error }
        let isComplete =
            result.warcFiles.checked > 0 && result.warcFiles.without == 0 && result.uncheckedFiles == 0
            && result.revisits.failed == 0 && !findings.contains { $0.code == "hash-weak" }
        self =
            if errors.contains(where: { Self.damageCodes.contains($0.code) }) {
                .damaged
            } else if !errors.isEmpty {
                .unreplayable
            } else if findings.contains(where: { Self.suspiciousCodes.contains($0.code) }) {
                .suspicious
            } else if result.records.failed > 0 {
                .recordsDiffer
            } else if findings.contains(where: { $0.code == "content-uncovered" }) {
                .uncovered
            } else {
                isComplete ? .hashesAgree : .partly
            }
    }

    /// Decides what contents and signature show together.
    ///
    /// - Parameters:
    ///   - contents: What the contents show.
    ///   - signature: What the signature shows: `signed`, `signedAnonymously`, `signerNotProven` or `invalidSignature`;
    ///     `nil` if the file isn't signed.
    package init(contents: VerificationCode, signature: VerificationCode?) {
        guard let signature else {
            self = contents
            return
        }
        // A signature adds something only if everything that it's about agrees. It never hides what is wrong.
        self = contents == .hashesAgree || signature.rank > contents.rank ? signature : contents
    }

    /// Returns what is known of something that consists of several parts: the worst of what is known of each.
    package static func worst(of codes: [VerificationCode]) -> VerificationCode? { codes.max { $0.rank < $1.rank } }

    /// The place among the results of a verification, from the best to the worst.
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// The codes of errors that show a change after the archive was packed.
    private static let damageCodes: Set = [
        "archive-unreadable", "block-digest", "crc-differs", "entry-damaged", "file-hash", "package-hash",
        "payload-digest", "resource-hash", "resource-missing",
    ]
    /// The codes of findings about a ZIP in which other programs may see other files.
    private static let suspiciousCodes: Set = ["zip-duplicate-name", "zip-readers-disagree", "zip-unsafe-name"]

    /// Whether something was damaged or changed, or can't be shown.
    package var isFailure: Bool {
        switch self {
        case .unreplayable, .invalidSignature, .damaged, .changed: true
        case .signed, .signedAnonymously, .hashesAgree, .partly, .uncovered, .signerNotProven, .recordsDiffer,
            .suspicious, .notVerified:
            false
        }
    }

    /// All codes in the order of trust, the best result first. What wasn't verified isn't known to be bad: it comes right after
    /// what agrees.
    package static let byTrust: [VerificationCode] = {
        let results = allCases.filter { $0 != .notVerified }
        return results.filter { $0.rank <= Self.hashesAgree.rank } + [.notVerified]
            + results.filter { $0.rank > Self.hashesAgree.rank }
    }()

    /// A word or two, for narrow lists.
    package var shortWords: String {
        switch self {
        case .signed: "signed"
        case .signedAnonymously: "unknown key"
        case .hashesAgree: "hashes agree"
        case .partly: "partly"
        case .uncovered: "uncovered"
        case .signerNotProven: "not proven"
        case .recordsDiffer: "differs"
        case .suspicious: "suspicious"
        case .unreplayable: "incomplete"
        case .invalidSignature: "invalid"
        case .damaged: "damaged"
        case .changed: "changed"
        case .notVerified: "not verified"
        }
    }

    /// The text for a person.
    ///
    /// - Parameter signer: The domain that signed.
    package func words(signer: String?) -> String {
        switch self {
        case .signed: "Signed by \(signer ?? "a domain")"
        case .signedAnonymously: "Signed, unknown key"
        case .hashesAgree: "Hashes agree"
        case .partly: "Partly checked"
        case .uncovered: "Has content that the signature doesn't cover"
        case .signerNotProven: "Signer not proven"
        case .recordsDiffer: "Records differ"
        case .suspicious: "May be an attack"
        case .unreplayable: "Can't show everything"
        case .invalidSignature: "Invalid signature"
        case .damaged: "Damaged or changed"
        case .changed: "Changed since it was checked"
        case .notVerified: "Not verified"
        }
    }
}
