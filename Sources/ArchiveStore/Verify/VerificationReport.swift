package import ArchiveSignature
package import Foundation
package import WebArchive

/// The result of an archive's last verification, as the catalog has it.
package struct VerificationSummary: Sendable, Hashable {
    package let code: VerificationCode
    /// What the contents show, without the signature.
    package let contents: VerificationCode
    /// The domain that the signature names; `nil` for an anonymous key.
    package let signer: String?
    package let verifiedAt: Date
}

extension VerificationSummary: Codable {
    private enum CodingKeys: String, CodingKey {
        case code, contents, signer, verifiedAt
    }

    /// Also reads what versions up to 0.2.0 wrote.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let code = try container.decodeIfPresent(VerificationCode.self, forKey: .code) {
            self.code = code
            contents = try container.decode(VerificationCode.self, forKey: .contents)
        } else {
            (code, contents) = try EarlierSummary(from: decoder).codes
        }
        signer = try container.decodeIfPresent(String.self, forKey: .signer)
        guard let date = RFC3339.date(try container.decode(String.self, forKey: .verifiedAt)) else {
            throw DecodingError.dataCorruptedError(
                forKey: .verifiedAt, in: container, debugDescription: "no RFC 3339 time")
        }
        verifiedAt = date
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(contents, forKey: .contents)
        try container.encodeIfPresent(signer, forKey: .signer)
        try container.encode(RFC3339.text(of: verifiedAt), forKey: .verifiedAt)
    }
}

/// The result as versions up to 0.2.0 wrote it, in other words.
private struct EarlierSummary: Decodable {
    let outcome: String
    let contents: String
    /// `nil` in the first versions that verified.
    let state: String?
    let signature: SignatureReport.Outcome
    let signer: String?

    var codes: (code: VerificationCode, contents: VerificationCode) {
        let contents: VerificationCode =
            switch state ?? self.contents {
            case "undamaged", "verified": .hashesAgree
            case "digestsDiffer": .recordsDiffer
            case "suspicious": .suspicious
            case "unreplayable": .unreplayable
            case "damaged", "failed": .damaged
            default: .partly
            }
        // The signature of another file made the whole result fail, too.
        let isOfOther = outcome == "failed" && !contents.isFailure
        let signature: VerificationCode? =
            switch self.signature {
            case .valid where !isOfOther: signer == nil ? .signedAnonymously : .signed
            case .untrusted where !isOfOther: .signerNotProven
            case .unsigned: nil
            default: .invalidSignature
            }
        return (VerificationCode(contents: contents, signature: signature), contents)
    }
}

/// A verification of an archive. Its JSON is documented in `docs/json.md`.
package struct VerificationReport: Sendable, Hashable, Codable {
    package let summary: VerificationSummary
    /// What was read, and what was found.
    package let result: Verification
    /// The signature; `nil` if the file isn't signed.
    package let signature: SignatureReport?
    /// The verification before; `nil` for the first.
    package let previous: VerificationSummary?
    /// The codes of findings that the verification before didn't have.
    package let newFindings: [String]
    /// The version of replayhost that verified; `nil` if it was older than 0.2.0.
    package let version: String?

    init(_ checked: CheckedArchive, after previous: VerificationReport?) {
        (result, signature) = (checked.result, checked.signature)
        self.previous = previous?.summary
        // To the second, as in the JSON.
        let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        summary = VerificationSummary(
            code: VerificationCode(contents: result.contents, signature: signature?.code), contents: result.contents,
            signer: signature?.signer?.domain, verifiedAt: now)
        let known = Set(previous?.result.findings.map(\.code) ?? [])
        version = ArchiveStore.version
        newFindings = previous == nil ? [] : Set(result.findings.map(\.code)).subtracting(known).sorted()
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        summary = try container.decode(VerificationSummary.self, forKey: .summary)
        result = try container.decode(Verification.self, forKey: .result)
        let signature = try container.decodeIfPresent(SignatureReport.self, forKey: .signature)
        // Versions up to 0.2.0 told it only by the finding.
        let isOfOther = result.findings.contains { $0.code == "signature-other-file" }
        self.signature = isOfOther ? signature?.ofOtherFile : signature
        previous = try container.decodeIfPresent(VerificationSummary.self, forKey: .previous)
        newFindings = try container.decode([String].self, forKey: .newFindings)
        version = try container.decodeIfPresent(String.self, forKey: .version)
    }

    /// Whether the verification before had another result.
    package var hasChanged: Bool { previous.map { $0.code != summary.code || !newFindings.isEmpty } ?? false }
}
