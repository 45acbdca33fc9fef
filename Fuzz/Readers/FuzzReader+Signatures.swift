import ArchiveSignature
import Foundation
import WebArchive

extension FuzzReader {
    private static let roots = TrustRoots.system()
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// The input is `datapackage-digest.json`. If it doesn't begin as JSON, it becomes the key, the certificate or the time
    /// stamp of a signature, so that damage isn't only to its base64.
    static func readSignature(_ bytes: [UInt8]) throws {
        if bytes.first == UInt8(ascii: "{") { return try verify(bytes) }
        let base64 = Data(bytes).base64EncodedString()
        let pem = #"-----BEGIN CERTIFICATE-----\n\#(base64)\n-----END CERTIFICATE-----\n"#
        let common = #""hash":"sha256:00","signature":"MAYCAQECAQE=","created":"2026-11-23T14:00:00Z""#
        for members in [
            #""publicKey":"\#(base64)""#,
            #""domain":"archive.example","domainCert":"\#(pem)","crossSignedCert":"\#(pem)""#,
            #""publicKey":"\#(base64)","timeSignature":"\#(base64)""#,
        ] {
            try verify(Array(#"{"hash":"sha256:00","signedData":{\#(common),\#(members)}}"#.utf8))
        }
    }

    private static func verify(_ file: [UInt8]) throws {
        let report = SignatureVerifier(trust: roots, now: now).verify(file)
        switch report.outcome {
        case .unsigned: try require(report.findings.isEmpty && report.signer == nil, "unsigned, but not empty")
        case .valid: try require(report.findings.allSatisfy { $0.severity < .error }, "valid in spite of an error")
        case .untrusted, .invalid, .otherFile, .unreadable:
            try require(!report.findings.isEmpty, "no reason is given")
        }
        try require(
            report.findings.allSatisfy { $0.code.hasPrefix("signature-") && $0.what.utf8.count < 4000 },
            "a finding has the wrong form")
        let copy = try JSONDecoder().decode(SignatureReport.self, from: try JSONEncoder().encode(report))
        try require(copy == report, "the report changes as JSON")
    }
}
