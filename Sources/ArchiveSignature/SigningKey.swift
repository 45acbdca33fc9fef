import Crypto
import SwiftASN1
import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A public key that signs archives: ECDSA with P-256 or P-384, or RSA. Hashes are SHA-256 with each of them.
enum SigningKey: Sendable {
    case p256(P256.Signing.PublicKey)
    case p384(P384.Signing.PublicKey)
    case rsa(Certificate.PublicKey)

    /// Reads the key of an anonymous signer: a SubjectPublicKeyInfo. RFC 5280 §4.1.2.7, RFC 5480 §2.
    ///
    /// ArchiveWeb.page and wabac.js use P-384 with SHA-256.
    init(anonymous der: [UInt8]) throws(UnreadableData) {
        guard der.count <= SignatureLimits.keyBytesMax else {
            throw UnreadableData(what: "it has \(der.count) bytes, \(SignatureLimits.keyBytesMax) are allowed")
        }
        do {
            self = try Self(Certificate.PublicKey(derEncoded: der))
        } catch let error as UnreadableData {
            throw error
        } catch {
            throw UnreadableData(describing: error)
        }
        if case .rsa = self { throw UnreadableData(what: "it is an RSA key, not ECDSA") }
    }

    /// - Throws: `UnreadableData` if the kind of key isn't supported.
    init(_ key: Certificate.PublicKey) throws(UnreadableData) {
        if let key = P256.Signing.PublicKey(key) {
            self = .p256(key)
        } else if let key = P384.Signing.PublicKey(key) {
            self = .p384(key)
        } else if key.description.hasPrefix("RSA") {
            self = .rsa(key)
        } else {
            throw UnreadableData(what: "its kind of key isn't supported")
        }
    }

    /// Returns whether a signature of the text is valid.
    ///
    /// - Parameter signature: For ECDSA, r and s with the length of the key (IEEE P1363), as browsers write them, or
    ///   their DER form (RFC 3279 §2.2.3), as authsign does.
    func isValid(_ signature: [UInt8], of text: String) -> Bool {
        let digest = SHA256.hash(data: Array(text.utf8))
        switch self {
        case .p256(let key):
            let raw = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            let der = try? P256.Signing.ECDSASignature(derRepresentation: signature)
            return [raw, der].contains { $0.map { key.isValidSignature($0, for: digest) } ?? false }
        case .p384(let key):
            let raw = try? P384.Signing.ECDSASignature(rawRepresentation: signature)
            let der = try? P384.Signing.ECDSASignature(derRepresentation: signature)
            return [raw, der].contains { $0.map { key.isValidSignature($0, for: digest) } ?? false }
        case .rsa(let key):
            return key.isValidSignature(
                signature, for: Array(text.utf8), signatureAlgorithm: .sha256WithRSAEncryption)
        }
    }
}
