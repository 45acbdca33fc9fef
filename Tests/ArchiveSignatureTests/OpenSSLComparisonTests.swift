import ArchiveSignature
import Foundation
import TestSupport
import Testing
import WebArchive

/// The `openssl` program, version 3; `nil` if it isn't installed.
let openSSL: String? = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"].first {
    FileManager.default.isExecutableFile(atPath: $0)
}

/// Compares our results with OpenSSL's, for each part of each signature. `Golden/openssl.tsv` has them side by side.
@Suite(.enabled(if: openSSL != nil, "openssl isn't installed"))
struct OpenSSLComparisonTests {
    /// The codes of findings that are about the certificate alone.
    private static let certificateCodes: Set = [
        "untrusted", "certificate-expired", "certificate-usage", "certificate-unreadable", "domain-differs",
    ]
    /// The codes of findings that are about the signature alone.
    private static let signatureCodes: Set = ["mismatch", "key-unreadable", "too-large", "certificate-unreadable"]

    @Test func partsHaveTheResultsOfOpenSSL() async throws {
        var lines = ["case\tpart\tours\topenssl\twhy they differ"]
        for signature in SignatureCase.all {
            let report = signature.digest.verify()
            let folder = try TemporaryFolder()
            try Self.write(signature.digest, report, to: folder)
            for part in SignatureCase.Part.allCases {
                guard let theirs = try await Self.openSSLAccepts(part, of: signature.digest, report, in: folder) else {
                    continue
                }
                let ours = Self.weAccept(part, report)
                let difference = signature.differences[part]
                #expect(
                    (ours == theirs) == (difference == nil),
                    "\(signature.name), \(part): ours \(ours), OpenSSL \(theirs)")
                let results = [ours, theirs].map { $0 ? "valid" : "refused" }
                lines.append(([signature.name, part.rawValue] + results + [difference ?? "-"]).joined(separator: "\t"))
            }
        }
        let golden = Checkout.path("Tests/ArchiveSignatureTests/Golden/openssl.tsv")
        let difference = try Golden.difference(lines.joined(separator: "\n") + "\n", file: golden)
        #expect(difference == nil)
    }

    /// freetsa.org has stamped with P-384, SHA-512 and a certificate named by SHA-512 since February 2026.
    @Test func stampsWithSHA512AreValid() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.sha512.utf8, to: "ca.cnf")
        try folder.write("01".utf8, to: "tsserial")
        try folder.write(SignedDigest.part("p256.sig").utf8, to: "signature.txt")
        let root = SignedDigest(signer: "p256").certificates("timestampCert")[1]
        try folder.write(root.utf8, to: "root.pem")
        let key = Checkout.fixture("signatures/keys/stamp-root.key")
        for line in [
            "req -x509 -config ca.cnf -newkey ec -pkeyopt ec_paramgen_curve:P-384 -nodes -keyout key.pem -out stamper.pem "
                + "-CA root.pem -CAkey \(key) -sha512 -days 2",
            "ts -query -data signature.txt -sha512 -cert -out query",
            "ts -reply -config ca.cnf -queryfile query -signer stamper.pem -inkey key.pem -out stamp.tsr",
            "ts -verify -data signature.txt -in stamp.tsr -CAfile root.pem",
        ] {
            let arguments = line.split(separator: " ").map(String.init)
            #expect(try await Self.accepts(arguments, in: folder), "\(line)")
        }
        var digest = SignedDigest(anonymous: "p256")
        digest["timeSignature"] = try Data(contentsOf: URL(fileURLWithPath: folder.path("stamp.tsr")))
            .base64EncodedString()
        let report = digest.verify(now: .now)
        #expect(report.findings == [] && report.timeStamp?.outcome == .valid)
        digest.flipBit(of: "timeSignature", at: (Data(base64Encoded: digest["timeSignature"])?.count ?? 0) - 1)
        #expect(digest.verify(now: .now).timeStamp?.outcome == .invalid)
    }

    /// The configuration of an authority that uses SHA-512 for everything.
    private static let sha512 = """
        [req]
        distinguished_name = dn
        prompt = no
        x509_extensions = stamping
        [dn]
        CN = Test SHA-512 stamper
        [stamping]
        basicConstraints = CA:false
        keyUsage = critical,digitalSignature,nonRepudiation
        extendedKeyUsage = critical,timeStamping
        [tsa]
        default_tsa = stamp
        [stamp]
        serial = tsserial
        signer_digest = sha512
        default_policy = 1.3.6.1.4.1.55555.1
        digests = sha512
        ess_cert_id_alg = sha512
        tsa_name = yes

        """

    private static func weAccept(_ part: SignatureCase.Part, _ report: SignatureReport) -> Bool {
        let codes = Set(report.findings.map { String($0.code.dropFirst("signature-".count)) })
        return switch part {
        case .certificate: codes.isDisjoint(with: certificateCodes)
        case .signature: codes.isDisjoint(with: signatureCodes)
        case .stamp: report.timeStamp?.outcome == .valid
        }
    }

    /// Writes what the commands read. `openssl verify` needs the signer's certificate in a file of its own.
    private static func write(_ digest: SignedDigest, _ report: SignatureReport, to folder: TemporaryFolder) throws {
        let pem = digest["domainCert"].replacingOccurrences(of: "\r\n", with: "\n")
        var plain = digest
        plain["domainCert"] = pem
        // The first certificate, except if the order is wrong.
        let isReversed = report.findings.contains {
            $0.code == "signature-chain-order" && $0.location.hasSuffix("domainCert")
        }
        let certificates = plain.certificates("domainCert")
        let leaf = isReversed ? certificates.last : certificates.first
        try folder.write((leaf ?? "").utf8, to: "leaf.pem")
        try folder.write(pem.utf8, to: "chain.pem")
        try folder.write(digest["hash"].utf8, to: "hash.txt")
        try folder.write(digest["signature"].utf8, to: "signature.txt")
        try folder.write(Data(base64Encoded: digest["signature"]) ?? Data(), to: "signature.der")
        if let stamp = digest.members["timeSignature"] {
            try folder.write(Data(base64Encoded: stamp) ?? Data(), to: "stamp.tsr")
        }
        if let stamper = digest.members["timestampCert"] { try folder.write(stamper.utf8, to: "stamper.pem") }
    }

    /// - Returns: `nil` if there is no such part.
    private static func openSSLAccepts(
        _ part: SignatureCase.Part, of digest: SignedDigest, _ report: SignatureReport, in folder: TemporaryFolder
    ) async throws -> Bool? {
        let seconds = CaptureTimestamp(rfc3339: SignedDigest.signedAt).map { $0.millisecondsSince1970 / 1000 } ?? 0
        let trust = [
            "-CAfile", Checkout.fixture("signatures/roots/test.pem"), "-attime",
            "\(seconds)",
        ]
        switch part {
        case .certificate:
            let domain = ["-purpose", "sslserver", "-verify_hostname", digest["domain"]]
            return try await accepts(["verify"] + trust + domain + ["-untrusted", "chain.pem", "leaf.pem"], in: folder)
        case .signature:
            let key = try await run(
                try #require(openSSL), ["x509", "-in", "leaf.pem", "-noout", "-pubkey"], folder: folder.path)
            try folder.write(key.output.utf8, to: "key.pem")
            let files = ["-verify", "key.pem", "-signature", "signature.der", "hash.txt"]
            return try await accepts(["dgst", "-sha256"] + files, in: folder)
        case .stamp:
            guard digest.members["timeSignature"] != nil else { return nil }
            let untrusted = digest.members["timestampCert"] == nil ? [] : ["-untrusted", "stamper.pem"]
            let files = ["-verify", "-in", "stamp.tsr", "-data", "signature.txt"]
            return try await accepts(["ts"] + files + trust + untrusted, in: folder)
        }
    }

    private static func accepts(_ arguments: [String], in folder: TemporaryFolder) async throws -> Bool {
        try await run(try #require(openSSL), arguments, folder: folder.path).code == 0
    }
}
