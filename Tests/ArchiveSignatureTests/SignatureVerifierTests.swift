import ArchiveSignature
import Crypto
import Foundation
import TestSupport
import Testing
import WebArchive

struct SignatureVerifierTests {
    @Test(arguments: SignatureCase.all)
    func outcomeFollowsTheSpecifications(_ signature: SignatureCase) {
        let report = signature.digest.verify()
        #expect(report.outcome == signature.outcome, "\(report.findings)")
        #expect(
            Set(report.findings.map(\.code)) == Set(signature.codes.map { "signature-\($0)" }), "\(report.findings)")
        #expect(report.signer?.domain == signature.digest["domain"])
    }

    @Test func messagesAreThoseRecorded() throws {
        let texts = SignatureCase.all.map { signature in
            let report = signature.digest.verify()
            let findings = report.findings.map { "    \($0.severity) \($0.code): \($0.what) \($0.consequence)" }
            return (["\(signature.name): \(report.outcome.rawValue)"] + findings).joined(separator: "\n")
        }
        let golden = Checkout.path("Tests/ArchiveSignatureTests/Golden/findings.txt")
        let difference = try Golden.difference(texts.joined(separator: "\n") + "\n", file: golden)
        #expect(difference == nil)
    }

    @Test func stampFromTheFutureIsInvalid() {
        let before = SignedDigest.later.addingTimeInterval(-86_400 - 700)
        let report = SignedDigest(signer: "p256").verify(now: before)
        #expect(report.outcome == .invalid)
        #expect(report.findings.map(\.code) == ["signature-stamp-future"])
        // The clock of this computer may be late.
        #expect(SignedDigest(signer: "p256").verify(now: before.addingTimeInterval(200)).outcome == .valid)
    }

    @Test func unsignedPackagesHaveNoFindings() {
        for text in ["{}", #"{"path": "datapackage.json", "hash": "sha256:00"}"#, #"{"signedData": null}"#] {
            let report = SignatureVerifier(trust: .empty).verify(Array(text.utf8))
            #expect(report.outcome == .unsigned && report.findings.isEmpty && report.signer == nil, "\(text)")
        }
    }

    @Test func anonymousSignatureIsRawOrDER() throws {
        for key in ["p256", "p384"] {
            var digest = SignedDigest(anonymous: key)
            #expect(digest.verify(trust: .empty).outcome == .valid)
            let der = try #require(Data(base64Encoded: digest["signature"]))
            let raw =
                key == "p256"
                ? try P256.Signing.ECDSASignature(derRepresentation: der).rawRepresentation
                : try P384.Signing.ECDSASignature(derRepresentation: der).rawRepresentation
            digest["signature"] = raw.base64EncodedString()
            let report = digest.verify(trust: .empty)
            #expect(report.outcome == .valid && report.findings.isEmpty)
            let info = try #require(Data(base64Encoded: digest["publicKey"]))
            #expect(report.signer?.keySHA256 == SHA256.hash(data: info).map { String(format: "%02x", $0) }.joined())
            for byte in [0, raw.count - 1] {
                var changed = digest
                changed.flipBit(of: "signature", at: byte)
                #expect(changed.verify().findings.map(\.code) == ["signature-mismatch"])
            }
        }
    }

    /// Nothing signs the domain that the file names.
    @Test(arguments: [
        ("p256", "Archive.EXAMPLE", "archive.example"), ("wildcard", "www.archive.example", "*.archive.example"),
        ("wildcard", "other.archive.example", "*.archive.example"), ("p256", "other.example", nil),
    ])
    func signerIsWhomTheCertificateNames(signer: String, domain: String, certified: String?) {
        var digest = SignedDigest(signer: signer)
        digest["domain"] = domain
        let found = digest.verify().signer
        #expect(found?.certified == certified)
        #expect(found?.name == certified ?? domain)
    }

    @Test func anonymousKeyMustBeECDSA() {
        let report = SignedDigest(anonymous: "rsa").verify()
        #expect(report.outcome == .unreadable)
        #expect(report.findings.map(\.code) == ["signature-key-unreadable"])
    }

    @Test func everyProblemIsReported() {
        var digest = SignedDigest(signer: "expired", stamp: "stamps/expired")
        digest["domain"] = "other.example"
        digest.packageHash = "sha256:00"
        let report = digest.verify()
        #expect(report.outcome == .invalid)
        let codes = Set(report.findings.map(\.code))
        #expect(
            codes.isSuperset(
                of: [
                    "hash-differs", "domain-differs", "certificate-expired", "stamp-expired", "stamp-mismatch",
                ].map { "signature-\($0)" }), "\(codes)")
        for finding in report.findings {
            #expect(finding.what.hasSuffix(".") && finding.consequence.hasSuffix("."))
            #expect(finding.location.hasPrefix("datapackage-digest.json "))
        }
    }

    @Test func certificateInTheRootsIsTrusted() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            (SignedDigest.part("self-signed.pem") + SignedDigest.part("roots/test.pem")).utf8, to: "r")
        #expect(SignedDigest(signer: "self-signed").verify(trust: try TrustRoots(pemFile: file)).outcome == .valid)
    }

    @Test func filesWithoutRootsAreRefusedWithAMessage() throws {
        let folder = try TemporaryFolder()
        for (name, bytes) in [("empty", ""), ("text", "no PEM"), ("half", "-----BEGIN CERTIFICATE-----\nAAAA\n")] {
            let file = try folder.write(bytes.utf8, to: name)
            let error = #expect(throws: WebArchiveError.self) { try TrustRoots(pemFile: file) }
            #expect(error?.code == .unsupported)
        }
        let error = #expect(throws: WebArchiveError.self) { try TrustRoots(pemFile: folder.path("missing")) }
        #expect(error?.code == .io)
    }

    @Test func systemHasRoots() {
        let roots = TrustRoots.system()
        #expect(roots.isEmpty == (roots.file == nil))
    }
}
