import ArchiveSignature
import ArchiveStore
import CommandSupport
import WebArchive

/// Describes a verification for the terminal.
enum VerdictText {
    /// Returns the verdict, the evidence and the findings, one line each.
    static func lines(_ report: VerificationReport, of name: String) -> [String] {
        let result = report.result
        let findings = result.findings.filter { $0.severity > .notice }
        return ["\(name): \(verdict(result))"] + (evidence(result) + signature(report)).map { "  \($0)" }
            + findings.map { "  \(FindingText.line($0))" }
    }

    /// Returns the verdict in one line.
    static func verdict(_ result: Verification) -> String {
        switch result.outcome {
        case .verified: return "verified: everything that a digest protects agrees"
        case .incomplete: return "incomplete: nothing disagrees, but not everything could be checked"
        case .failed:
            let errors = result.findings.count { $0.severity == .error }
            return "failed: \(Terminal.count(errors, "issue", "issues")) of severity error"
        }
    }

    /// Describes who signed, when, and what that proves.
    private static func signature(_ report: VerificationReport) -> [String] {
        guard let signature = report.signature else {
            return ["not signed: nothing shows who made this file"]
        }
        let domain = signature.signer?.domain
        let signer = domain ?? "an anonymous key"
        let isOfThisFile = !report.result.findings.contains { $0.code == "signature-other-file" }
        let key = signature.signer?.keySHA256.map { "key: SHA-256 \($0)" }
        let when = signature.timeStamp.flatMap { stamp in
            stamp.time.map {
                "time stamp: \($0) by \(stamp.authority ?? "an unknown authority"), \(stamp.outcome.rawValue)"
            }
        }
        let claimed = signature.created.map { "created, as the signer says: \($0)" }
        let certificate = signature.signer?.chain.first.map {
            "certificate: \($0.subject), issued by \($0.issuer), valid \($0.notBefore) to \($0.notAfter)"
        }
        return ["signature: \(isOfThisFile ? meaning(signature.outcome, signer, domain != nil) : "of another file")"]
            + [key, certificate, when ?? claimed].compactMap { $0 }.map { "  \($0)" }
    }

    private static func meaning(_ outcome: SignatureReport.Outcome, _ signer: String, _ isDomain: Bool) -> String {
        switch outcome {
        case .unsigned: "none"
        case .valid where isDomain: "valid, by \(signer)"
        case .valid: "valid, by \(signer); compare its fingerprint with one that you know, since anyone can make a key"
        case .untrusted: "claims to be by \(signer), which isn't proven"
        case .invalid: "invalid; it proves nothing"
        case .unreadable: "can't be checked"
        }
    }

    private static func evidence(_ result: Verification) -> [String] {
        [
            tally(result.files, "files match their hashes in datapackage.json", "without a hash"),
            result.uncheckedFiles == 0
                ? nil
                : "\(Terminal.count(result.uncheckedFiles, "listed file is", "listed files are")) missing, or can't be checked",
            result.dataPackage.checked == 0
                ? "no hash protects datapackage.json"
                : tally(result.dataPackage, "datapackage.json matches its hash", ""),
            tally(result.records, "WARC records match their digests", "without a digest"),
            tally(result.captures, "captures in the index are the records they name", "captures not in the index"),
            tally(result.revisits, "revisits have their payload", ""),
            tally(result.pages, "listed pages were captured", ""),
        ].compactMap { $0 }
    }

    private static func tally(_ tally: Verification.Tally, _ what: String, _ without: String) -> String? {
        guard tally.checked + tally.without > 0 else { return nil }
        let rest = tally.without > 0 ? ", \(tally.without) \(without)" : ""
        return "\(tally.checked - tally.failed) of \(tally.checked) \(what)\(rest)"
    }
}
