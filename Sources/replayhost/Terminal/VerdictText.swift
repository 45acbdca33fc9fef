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
        return ["\(name): \(verdict(report))"] + (evidence(result) + signature(report)).map { "  \($0)" }
            + findings.flatMap { FindingText.lines($0, indentation: "  ") }
    }

    /// Returns the result, and what it says about the contents, in one line.
    static func verdict(_ report: VerificationReport) -> String {
        let errors = report.result.findings.filter { $0.severity == .error }
        let ofSignature = errors.count { $0.code.hasPrefix("signature-") }
        let count = Terminal.count(errors.count - ofSignature, "error", "errors")
        let contents =
            switch report.summary.contents {
            case .recordsDiffer: "the files that have a hash match it, but \(differing(report.result))"
            case .suspicious: "other programs may read this ZIP differently, or be harmed by it"
            case .uncovered where ofSignature == 0:
                "nothing that the signature covers disagrees with its hashes; some content isn't covered"
            case .unreplayable:
                "some captures can't be shown, or only in part: \(count)"
                    + (report.result.records.failed > 0 ? "; \(differing(report.result))" : "")
            case .damaged: "something in the file doesn't match its hash or is missing: \(count)"
            case .partly where report.result.revisits.failed > 0: incomplete(report.result.revisits.failed)
            case .partly: "nothing disagrees, but not everything could be checked"
            default: "everything that has a hash matches it"
            }
        let signature =
            ofSignature == 0 ? "" : "; \(Terminal.count(ofSignature, "error", "errors")) in the signature"
        return "\(words(report.summary)): \(contents)\(signature)"
    }

    /// Returns the words for the result.
    static func words(_ summary: VerificationSummary) -> String {
        summary.code.words(signer: summary.signer)
    }

    private static func incomplete(_ count: Int) -> String {
        let captures = count == 1 ? "1 capture is" : "\(count) captures are"
        return "nothing disagrees, but \(captures) incomplete without content that isn't in this archive"
    }

    private static func differing(_ result: Verification) -> String {
        let failed = result.records.failed
        return failed == 1
            ? "1 record doesn't match the digests written in it (changed, or computed wrongly)"
            : "\(failed) records don't match the digests written in them (changed, or computed wrongly)"
    }

    /// Describes who signed, when, and what that proves.
    private static func signature(_ report: VerificationReport) -> [String] {
        guard let signature = report.signature else {
            return ["not signed: nothing shows who made this file"]
        }
        let domain = signature.signer?.name
        let signer = domain ?? "an anonymous key"
        let key = signature.signer?.keySHA256.map { "key: SHA-256 \($0)" }
        let when = signature.timeStamp.flatMap { stamp in
            stamp.time.map {
                "time stamp: \($0) by \(stamp.authority ?? "an unknown authority"), \(stamp.outcome.rawValue)"
            }
        }
        let claimed = signature.created.map { "claimed time of signing: \($0), which nothing proves" }
        let certificate = signature.signer?.chain.first.map {
            "certificate: \($0.subject), issued by \($0.issuer), valid \($0.notBefore) to \($0.notAfter)"
        }
        return ["signature: \(meaning(signature.outcome, signer, domain != nil))"]
            + [key, certificate, when ?? claimed].compactMap { $0 }.map { "  \($0)" }
    }

    private static func meaning(_ outcome: SignatureReport.Outcome, _ signer: String, _ isDomain: Bool) -> String {
        switch outcome {
        case .unsigned: "none"
        case .valid where isDomain: "valid, by a key with a certificate for \(signer)"
        case .valid: "valid, by \(signer); compare its fingerprint with one that you know, since anyone can make a key"
        case .untrusted: "claims to be by \(signer), which isn't proven"
        case .invalid: "invalid; it proves nothing"
        case .otherFile: "by \(signer), of another file; it proves nothing about this one"
        case .unreadable: "can't be checked"
        }
    }

    private static func evidence(_ result: Verification) -> [String] {
        [
            tally(result.files, "hashed files match datapackage.json", "have no hash"),
            result.uncheckedFiles == 0
                ? nil
                : "\(Terminal.count(result.uncheckedFiles, "listed file is", "listed files are")) missing, or can't be checked",
            result.dataPackage.checked == 0
                ? "no hash protects datapackage.json"
                : result.dataPackage.failed == 0
                    ? "datapackage.json matches its hash" : "datapackage.json doesn't match its hash",
            tally(
                result.records, "WARC records match their digest", "have no digest",
                unreadable: result.unreadableRecords ?? 0),
        ].compactMap { $0 } + payloads(result.payloadDigests)
            + [
                tally(result.captures, "index lines lead to their record", "captures aren't listed"),
                tally(result.revisits, "revisits have their payload", ""),
                tally(result.pages, "listed pages are in the index", ""),
            ].compactMap { $0 }
    }

    /// Describes what payload digests were computed of, since writers differ in it.
    private static func payloads(_ digests: Verification.PayloadDigests?) -> [String] {
        guard let digests else { return [] }
        return [
            (digests.withTransferCoding, "with its transfer coding, as it was recorded"),
            (digests.withoutTransferCoding, "without its transfer coding"),
            (digests.decoded, "decoded, without transfer and content coding"),
        ].filter { $0.0 > 0 }.map {
            "  \(Terminal.count($0.0, "payload digest is", "payload digests are")) of the body \($0.1)"
        }
    }

    private static func tally(
        _ tally: Verification.Tally, _ what: String, _ without: String, unreadable: Int = 0
    ) -> String? {
        let total = tally.checked + unreadable
        guard total + tally.without > 0 else { return nil }
        let damaged = unreadable > 0 ? ", \(unreadable) unreadable" : ""
        let rest = tally.without > 0 ? ", \(tally.without) \(without)" : ""
        return "\(tally.checked - tally.failed) of \(total) \(what)\(damaged)\(rest)"
    }
}
