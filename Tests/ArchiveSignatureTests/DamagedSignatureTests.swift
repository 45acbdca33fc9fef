import ArchiveSignature
import Foundation
import TestSupport
import Testing

/// Flips a bit of each byte.
///
/// OpenSSL 3.0 accepts and refuses the same time stamps, except that it reads the certificates in the stamp even if
/// `timestampCert` has them, and ignores the name of the signature algorithm.
struct DamagedSignatureTests {
    /// Returns the positions of bytes in a member that can be changed, and the signature is valid still.
    private static func unprotectedBytes(of member: String, in digest: SignedDigest) throws -> [Int] {
        let count = try #require(Data(base64Encoded: digest[member])).count
        return (0..<count).filter { position in
            var damaged = digest
            damaged.flipBit(of: member, at: position)
            return damaged.verify().outcome == .valid
        }
    }

    @Test func everyByteOfTheSignatureCounts() throws {
        #expect(try Self.unprotectedBytes(of: "signature", in: SignedDigest(signer: "p256")).isEmpty)
        #expect(try Self.unprotectedBytes(of: "signature", in: SignedDigest(anonymous: "p384")).isEmpty)
        #expect(try Self.unprotectedBytes(of: "publicKey", in: SignedDigest(anonymous: "p384")).isEmpty)
    }

    @Test(arguments: [0, 1])
    func everyByteOfTheCertificatesCounts(position: Int) throws {
        let digest = SignedDigest(signer: "p256")
        var certificates = digest.certificates("domainCert")
        let pem = certificates[position]
        let lines = pem.split(separator: "\n").dropFirst().dropLast().joined()
        let der = try #require(Data(base64Encoded: lines))
        for byte in 0..<der.count {
            var copy = [UInt8](der)
            copy[byte] ^= 1
            certificates[position] = HostileCertificate.pem(copy)
            var damaged = digest
            damaged["domainCert"] = certificates.joined()
            #expect(damaged.verify().outcome != .valid, "byte \(byte)")
        }
    }

    /// What isn't signed: the version numbers, and the certificates, which are in `timestampCert` too.
    @Test func everySignedByteOfTheStampCounts() throws {
        let digest = SignedDigest(signer: "p256")
        let unprotected = try Self.unprotectedBytes(of: "timeSignature", in: digest)
        let stamp = [UInt8](try #require(Data(base64Encoded: digest["timeSignature"])))
        if let file = ProcessInfo.processInfo.environment["UNPROTECTED_BYTES"] {
            try Data(unprotected.map { "\($0)\n" }.joined().utf8).write(to: URL(fileURLWithPath: file))
        }
        let certificates = digest.certificates("timestampCert").compactMap {
            Data(base64Encoded: $0.split(separator: "\n").dropFirst().dropLast().joined())
        }
        let copies = certificates.compactMap { stamp.firstRange(of: [UInt8]($0)) }
        #expect(!copies.isEmpty)
        let others = unprotected.filter { byte in !copies.contains { $0.contains(byte) } }
        #expect(others.count <= 20, "\(others)")
    }
}
