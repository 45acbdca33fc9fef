import ArchiveSignature
import Foundation
import TestSupport
import WebArchive

/// A `datapackage-digest.json` to verify, made from the parts in `Fixtures/signatures`.
struct SignedDigest: Sendable {
    /// The hash outside of the signature.
    var packageHash: String?
    /// The members of `signedData`.
    var members: [String: String]

    /// The time of all signatures.
    static let signedAt = part("signed-at.txt").trimmingCharacters(in: .newlines)

    /// A time at which the certificate `soon-expired` has expired since.
    static let later = CaptureTimestamp(rfc3339: signedAt)?.date.addingTimeInterval(86_400) ?? .now

    static let roots = try? TrustRoots(pemFile: Checkout.fixture("signatures/roots/test.pem"))

    /// Returns the text of a file, or an empty one if it's missing, which no verification accepts.
    static func part(_ name: String) -> String {
        (try? String(contentsOfFile: Checkout.fixture("signatures/\(name)"), encoding: .utf8)) ?? ""
    }

    /// A signature of a domain with its time stamp, as authsign writes it.
    init(signer: String, stamp: String? = nil, stamper: String = "stamper") {
        packageHash = Self.part("hash.txt")
        members = [
            "hash": Self.part("hash.txt"), "created": Self.signedAt, "software": "authsigner 0.5.0", "version": "0.1.0",
            "signature": Self.part("\(signer).sig"), "domain": "archive.example",
            "domainCert": Self.part("\(signer).pem"),
            "timeSignature": Self.part("\(stamp ?? signer).tsr"), "timestampCert": Self.part("\(stamper).pem"),
        ]
    }

    /// An anonymous signature, as ArchiveWeb.page writes it, except that it's in DER.
    init(anonymous signer: String) {
        packageHash = Self.part("hash.txt")
        members = [
            "hash": Self.part("hash.txt"), "created": Self.signedAt, "software": "Webrecorder ArchiveWeb.page 0.10.0",
            "signature": Self.part("\(signer).sig"), "publicKey": Self.part("\(signer).pub"),
        ]
    }

    subscript(member: String) -> String {
        get { members[member] ?? "" }
        set { members[member] = newValue }
    }

    /// Flips the lowest bit of a byte of a member in base64.
    mutating func flipBit(of member: String, at byte: Int) {
        guard var data = Data(base64Encoded: self[member]), byte < data.count else { return members[member] = nil }
        data[data.startIndex + byte] ^= 1
        self[member] = data.base64EncodedString()
    }

    /// The certificates of a member in PEM.
    func certificates(_ member: String) -> [String] {
        let end = "-----END CERTIFICATE-----\n"
        return self[member].components(separatedBy: end).dropLast().map { $0 + end }
    }

    var file: [UInt8] {
        var object: [String: Any] = ["path": "datapackage.json", "signedData": members]
        object["hash"] = packageHash
        return (try? JSONSerialization.data(withJSONObject: object)).map { [UInt8]($0) } ?? []
    }

    func verify(trust: TrustRoots? = roots, now: Date = later) -> SignatureReport {
        SignatureVerifier(trust: trust ?? .empty, now: now).verify(file)
    }
}
