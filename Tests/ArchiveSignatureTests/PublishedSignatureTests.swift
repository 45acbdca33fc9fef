import ArchiveSignature
import Foundation
import TestSupport
import Testing
import WebArchive

/// The folder with published archives. If it isn't set, their tests are skipped.
let publishedArchives = ProcessInfo.processInfo.environment["REPLAYHOST_FIXTURES"]

/// A signed archive that others published, and the result that Python's `cryptography` 50 and OpenSSL 3.0 have for it.
struct PublishedSignature: Sendable, CustomTestStringConvertible {
    let file: String
    let outcome: SignatureReport.Outcome
    var domain: String?
    /// The codes of the findings, without `signature-`.
    var codes: [String] = []

    var testDescription: String { file }

    static let all = [
        // The packages of these have other faults: their signatures are valid.
        PublishedSignature(file: "ojauch__wacz/src/test/resources/invalid-checksum.wacz", outcome: .valid),
        PublishedSignature(file: "ojauch__wacz/src/test/resources/invalid-datapackage.wacz", outcome: .valid),
        PublishedSignature(file: "ojauch__wacz/src/test/resources/no-archives.wacz", outcome: .valid),
        PublishedSignature(file: "ojauch__wacz/src/test/resources/no-datapackage.wacz", outcome: .valid),
        PublishedSignature(file: "ojauch__wacz/src/test/resources/no-pages.wacz", outcome: .valid),
        PublishedSignature(file: "ojauch__wacz/src/test/resources/valid-example.wacz", outcome: .valid),
        PublishedSignature(file: "ojauch__waczlib/test_assets/invalid-pages.wacz", outcome: .valid),
        PublishedSignature(file: "webrecorder__wacz2car/fixtures/v1.example.wacz", outcome: .valid),
        PublishedSignature(
            file: "starlinglab__integrity-preprocessor/tests/assets/wacz/good/anon-sig.wacz", outcome: .valid),
        PublishedSignature(
            file: "starlinglab__integrity-preprocessor/tests/assets/wacz/bad/anon-sig.wacz", outcome: .invalid,
            codes: ["mismatch"]),
        PublishedSignature(
            file: "starlinglab__integrity-preprocessor/tests/assets/wacz/good/domain-sig.wacz", outcome: .valid,
            domain: "org1.authsign.stg.starlinglab.org"),
        PublishedSignature(
            file: "starlinglab__integrity-preprocessor/tests/assets/wacz/bad/domain-sig.wacz", outcome: .invalid,
            domain: "org1.authsign.stg.starlinglab.org", codes: ["mismatch", "stamp-mismatch"]),
        // The staging environment of Let's Encrypt isn't trusted.
        PublishedSignature(
            file: "webrecorder__py-wacz/tests/fixtures/valid_signed_example_1.wacz", outcome: .valid,
            domain: "btrix-sign-test.webrecorder.net"),
        PublishedSignature(
            file: "webrecorder__py-wacz/tests/fixtures/invalid_signed_example_1.wacz", outcome: .untrusted,
            domain: "btrix-sign-test.webrecorder.net", codes: ["untrusted"]),
    ]
}

@Suite(.enabled(if: publishedArchives != nil, "REPLAYHOST_FIXTURES is not set"))
struct PublishedSignatureTests {
    /// Returns `datapackage-digest.json` of a WACZ.
    static func digest(of file: String) throws -> [UInt8] {
        let directory = try ZIPDirectory(source: try FileByteSource(path: "\(try #require(publishedArchives))/\(file)"))
        return try directory.contents(
            of: try #require(directory.entry(named: "datapackage-digest.json")), limit: 1 << 20)
    }

    @Test(arguments: PublishedSignature.all)
    func outcomeIsThatOfOtherTools(_ published: PublishedSignature) throws {
        let roots = try TrustRoots(pemFile: Checkout.fixture("signatures/roots/published.pem"))
        let report = SignatureVerifier(trust: roots).verify(try Self.digest(of: published.file))
        #expect(report.outcome == published.outcome, "\(report.findings)")
        #expect(report.signer?.domain == published.domain)
        #expect(
            Set(report.findings.map(\.code)) == Set(published.codes.map { "signature-\($0)" }), "\(report.findings)")
        #expect(report.hash?.hasPrefix("sha256:") == true)
        if published.domain != nil {
            #expect(report.timeStamp?.authority == "www.freetsa.org")
            #expect(report.timeStamp?.chain.count == 2)
            #expect(report.signer?.chain.count == 3)
        }
    }

    @Test func noneOfThemIsTrustedWithoutRoots() throws {
        for published in PublishedSignature.all where published.domain != nil && published.outcome == .valid {
            let report = SignatureVerifier(trust: .empty).verify(try Self.digest(of: published.file))
            #expect(report.outcome == .untrusted)
            #expect(report.findings.map(\.code).contains("signature-no-roots"))
        }
    }

    /// The roots of web servers don't include freetsa.org.
    @Test(.enabled(if: !TrustRoots.system().isEmpty, "the system has no roots"))
    func freeTSAIsTrustedByDefault() throws {
        let file = "webrecorder__py-wacz/tests/fixtures/invalid_signed_example_1.wacz"
        #expect(SignatureVerifier(trust: .system()).verify(try Self.digest(of: file)).timeStamp?.outcome == .valid)
        let others = try TrustRoots(pemFile: Checkout.fixture("signatures/roots/test.pem"))
        #expect(SignatureVerifier(trust: others).verify(try Self.digest(of: file)).timeStamp?.outcome == .untrusted)
    }

    /// The hash is compared by the caller, so a package whose `datapackage.json` was changed has a valid signature.
    @Test func detailsAreThoseOfTheCertificates() throws {
        let file = "starlinglab__integrity-preprocessor/tests/assets/wacz/good/domain-sig.wacz"
        let roots = try TrustRoots(pemFile: Checkout.fixture("signatures/roots/published.pem"))
        let report = SignatureVerifier(trust: roots).verify(try Self.digest(of: file))
        let leaf = try #require(report.signer?.chain.first)
        #expect(leaf.subject == "CN=org1.authsign.stg.starlinglab.org")
        #expect(leaf.issuer == "CN=R3,O=Let\u{2019}s Encrypt,C=US" || leaf.issuer == "CN=R3,O=Let's Encrypt,C=US")
        #expect(leaf.notBefore == "2022-05-29T23:50:58Z" && leaf.notAfter == "2022-08-27T23:50:57Z")
        #expect(report.created == "2022-05-31T15:15:23Z")
        #expect(report.software == "authsigner 0.4.0")
        #expect(report.timeStamp?.time?.hasPrefix("2022-05-31T15:15:") == true)
        let copy = try JSONDecoder().decode(SignatureReport.self, from: try JSONEncoder().encode(report))
        #expect(copy == report)
    }
}
