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

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        code = try container.decode(VerificationCode.self, forKey: .code)
        contents = try container.decode(VerificationCode.self, forKey: .contents)
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
    /// The version of replayhost that verified.
    package let version: String?

    init(_ checked: CheckedArchive, after previous: VerificationReport?) {
        (result, signature) = (checked.result, checked.signature)
        self.previous = previous?.summary
        // To the second, as in the JSON.
        let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        summary = VerificationSummary(
            code: VerificationCode(contents: result.contents, signature: signature?.code), contents: result.contents,
            signer: signature?.signer?.name, verifiedAt: now)
        let known = Set(previous?.result.findings.map(\.code) ?? [])
        version = ArchiveStore.version
        newFindings = previous == nil ? [] : Set(result.findings.map(\.code)).subtracting(known).sorted()
    }

    /// Whether the verification before had another result.
    package var hasChanged: Bool { previous.map { $0.code != summary.code || !newFindings.isEmpty } ?? false }
}
