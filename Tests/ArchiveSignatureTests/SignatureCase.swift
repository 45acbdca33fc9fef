import ArchiveSignature
import Foundation
import Testing

/// A right or wrong signature, and the result that the specifications require.
struct SignatureCase: Sendable, CustomTestStringConvertible {
    let name: String
    let digest: SignedDigest
    let outcome: SignatureReport.Outcome
    /// The codes of the findings, without `signature-`.
    var codes: Set<String> = []
    /// The parts for which OpenSSL has another result, with the reason.
    var differences: [Part: String] = [:]

    /// What OpenSSL checks with one command.
    enum Part: String, Sendable, CaseIterable {
        case certificate, signature, stamp
    }

    var testDescription: String { name }

    init(
        _ name: String, _ digest: SignedDigest, _ outcome: SignatureReport.Outcome, _ codes: Set<String> = [],
        differences: [Part: String] = [:], _ change: (inout SignedDigest) -> Void = { _ in }
    ) {
        self.name = name
        var digest = digest
        change(&digest)
        self.digest = digest
        self.outcome = outcome
        self.codes = codes
        self.differences = differences
    }

    private static let p256 = SignedDigest(signer: "p256")

    static let all = right + certificates + signatures + stamps + crossSigned

    static let right = [
        SignatureCase("P-256", p256, .valid),
        SignatureCase("P-384", SignedDigest(signer: "p384"), .valid),
        SignatureCase("RSA with 2,048 bits", SignedDigest(signer: "rsa"), .valid),
        SignatureCase("RSA with 8,192 bits", SignedDigest(signer: "rsa8192"), .valid),
        SignatureCase("wildcard", SignedDigest(signer: "wildcard"), .valid) { $0["domain"] = "www.archive.example" },
        SignatureCase("domain in capitals", p256, .valid) { $0["domain"] = "Archive.EXAMPLE" },
        SignatureCase("certificate expired since", SignedDigest(signer: "soon-expired"), .valid),
        SignatureCase("created nine minutes before", p256, .valid) { $0["created"] = created(minutes: -9) },
        SignatureCase("chain in the wrong order", p256, .valid, ["chain-order"]) {
            $0["domainCert"] = $0.certificates("domainCert").reversed().joined()
        },
        SignatureCase("text around the certificates", p256, .valid) {
            $0["domainCert"] = "subject: me\r\n" + $0["domainCert"].replacingOccurrences(of: "\n", with: "\r\n") + "end"
        },
        SignatureCase("certificates only in the stamp", p256, .valid) { $0.members["timestampCert"] = nil },
        SignatureCase("unknown member", p256, .valid, ["unknown-member"]) { $0["note"] = "x" },
    ]

    static let certificates = [
        SignatureCase("expired before", SignedDigest(signer: "expired"), .invalid, ["certificate-expired"]),
        SignatureCase("not yet valid", SignedDigest(signer: "not-yet-valid"), .invalid, ["certificate-expired"]),
        SignatureCase("for clients", SignedDigest(signer: "client"), .invalid, ["certificate-usage"]),
        SignatureCase("other domain", p256, .invalid, ["domain-differs"]) { $0["domain"] = "other.example" },
        SignatureCase("wildcard for its own level", SignedDigest(signer: "wildcard"), .invalid, ["domain-differs"]),
        SignatureCase("wildcard for two levels", SignedDigest(signer: "wildcard"), .invalid, ["domain-differs"]) {
            $0["domain"] = "a.b.archive.example"
        },
        SignatureCase(
            "only a common name", SignedDigest(signer: "only-common-name"), .invalid, ["domain-differs"],
            differences: [.certificate: "OpenSSL accepts a common name if there are no alternative names"]),
        SignatureCase("self-signed", SignedDigest(signer: "self-signed"), .untrusted, ["untrusted"]),
        SignatureCase("intermediate missing", p256, .untrusted, ["untrusted"]) {
            $0["domainCert"] = $0.certificates("domainCert")[0]
        },
        SignatureCase("issued by a signer", SignedDigest(signer: "below-signer"), .untrusted, ["untrusted"]),
        SignatureCase("issuer expired before", SignedDigest(signer: "below-old"), .untrusted, ["untrusted"]),
        SignatureCase("issuer for other domains", SignedDigest(signer: "below-narrow"), .untrusted, ["untrusted"]),
        SignatureCase("path too long for its issuer", SignedDigest(signer: "below-flat"), .untrusted, ["untrusted"]),
        SignatureCase(
            "P-521", SignedDigest(signer: "p521"), .unreadable, ["key-unreadable"],
            differences: [.signature: "we support P-256, P-384 and RSA"]),
        SignatureCase(
            "RSA with 16,384 bits", SignedDigest(signer: "rsa16384"), .unreadable,
            ["certificate-unreadable", "too-large"],
            differences: [.certificate: "we support up to 8,192 bits", .signature: "we support up to 8,192 bits"]),
    ]

    static let signatures = [
        SignatureCase("one bit of the signature", p256, .invalid, ["mismatch", "stamp-mismatch"]) {
            $0.flipBit(of: "signature", at: 40)
        },
        SignatureCase("signature by another key", p256, .invalid, ["mismatch", "stamp-mismatch"]) {
            $0["signature"] = SignedDigest.part("wildcard.sig")
        },
        SignatureCase("certificate of another key", p256, .invalid, ["mismatch"]) {
            $0["domainCert"] = SignedDigest.part("soon-expired.pem")
        },
        SignatureCase("other hash", p256, .invalid, ["mismatch"]) {
            $0["hash"] = "sha256:" + String(repeating: "0", count: 64)
            $0.packageHash = $0["hash"]
        },
        SignatureCase("other hash of the package", p256, .invalid, ["hash-differs"]) {
            $0.packageHash = "sha256:" + String(repeating: "0", count: 64)
        },
        SignatureCase("no hash of the package", p256, .invalid, ["hash-differs"]) { $0.packageHash = nil },
        SignatureCase("anonymous and of a domain", p256, .invalid, ["two-signers"]) {
            $0["publicKey"] = SignedDigest.part("p256.pub")
        },
    ]

    static let stamps = [
        SignatureCase("stamp made by openssl cms", stamp("cms"), .valid),
        SignatureCase(
            "stamper named by its key", stamp("key-identifier"), .valid,
            differences: [.stamp: "OpenSSL reads time stamps as PKCS #7, which can't name a key"]),
        SignatureCase("stamper with RSA and SHA-512", stamp("rsa"), .valid, ["chain-order"]),
        SignatureCase("stamp without certificates", stamp("no-certificates"), .valid),
        SignatureCase("created eleven minutes before", p256, .invalid, ["created-differs"]) {
            $0["created"] = created(minutes: -11)
        },
        SignatureCase("stamp removed", p256, .untrusted, ["time-missing"]) { $0.members["timeSignature"] = nil },
        SignatureCase("stamp of another signature", p256, .invalid, ["stamp-mismatch"]) {
            $0["timeSignature"] = SignedDigest.part("wildcard.tsr")
        },
        SignatureCase(
            "unknown authority", SignedDigest(signer: "p256", stamp: "stamps/unknown", stamper: "other-stamper"),
            .untrusted, ["stamp-untrusted"]),
        SignatureCase("stamper without usage", stamp("no-usage"), .invalid, ["stamp-usage", "chain-order"]),
        SignatureCase(
            "stamper with a usage that isn't critical", stamp("usage-not-critical"), .invalid,
            ["stamp-usage", "chain-order"]),
        SignatureCase("stamper expired before", stamp("expired"), .invalid, ["stamp-expired", "chain-order"]),
        SignatureCase(
            "two signers of the stamp", stamp("two-signers"), .invalid, ["stamp-signers"]),
        SignatureCase(
            "stamp that doesn't name its certificate", stamp("no-certificate-named"), .invalid, ["stamp-attributes"]),
        SignatureCase("stamp without attributes", stamp("no-attributes"), .invalid, ["stamp-attributes"]),
        SignatureCase("time changed after stamping", stamp("changed"), .invalid, ["stamp-changed"]),
        SignatureCase("name of another stamper", stamp("other-name"), .invalid, ["stamp-name", "chain-order"]),
        SignatureCase("refused", stamp("refused"), .invalid, ["stamp-refused"]),
        SignatureCase("no token", stamp("no-token"), .unreadable, ["stamp-unreadable"]),
        SignatureCase("one bit of the stamp's signature", p256, .invalid, ["stamp-forged"]) {
            let count = Data(base64Encoded: $0["timeSignature"])?.count ?? 0
            $0.flipBit(of: "timeSignature", at: count - 1)
        },
        SignatureCase(
            "certificate of the stamp missing", stamp("no-certificates"), .unreadable, ["stamp-certificate-missing"]
        ) {
            $0["timestampCert"] = SignedDigest.part("other-stamper.pem")
        },
    ]

    static let crossSigned = [
        SignatureCase(
            "cross-signed certificate trusted", SignedDigest(signer: "self-signed"), .valid,
            ["untrusted", "cross-used"]
        ) { $0["crossSignedCert"] = SignedDigest.part("cross.pem") },
        SignatureCase("cross-signed certificate unknown", p256, .valid, ["cross-untrusted"]) {
            $0["crossSignedCert"] = SignedDigest.part("cross-unknown.pem")
        },
        SignatureCase("cross-signed certificate for another key", p256, .invalid, ["cross-key"]) {
            $0["crossSignedCert"] = SignedDigest.part("cross.pem")
        },
        SignatureCase(
            "cross-signed certificate for another domain", SignedDigest(signer: "self-signed"), .invalid,
            ["untrusted", "cross-domain"]
        ) { $0["crossSignedCert"] = SignedDigest.part("cross-other.pem") },
    ]

    private static func stamp(_ name: String) -> SignedDigest { SignedDigest(signer: "p256", stamp: "stamps/\(name)") }

    private static func created(minutes: Double) -> String {
        let date = SignedDigest.later.addingTimeInterval(-86_400 + minutes * 60)
        return date.formatted(.iso8601)
    }
}
