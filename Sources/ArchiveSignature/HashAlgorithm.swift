import Crypto
import SwiftASN1
import X509

/// A hash algorithm of signatures and time stamps. RFC 5754 §2.
enum HashAlgorithm: Sendable {
    /// Only for the name of a certificate in a time stamp (RFC 2634 §5.4), never for a signature.
    case sha1
    case sha256, sha384, sha512

    /// `nil` if the algorithm isn't supported, or isn't safe for signatures.
    init?(_ identifier: ASN1ObjectIdentifier) {
        switch identifier {
        case [2, 16, 840, 1, 101, 3, 4, 2, 1]: self = .sha256
        case [2, 16, 840, 1, 101, 3, 4, 2, 2]: self = .sha384
        case [2, 16, 840, 1, 101, 3, 4, 2, 3]: self = .sha512
        default: return nil
        }
    }

    func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        let bytes = Array(bytes)
        return switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: bytes))
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha384: Array(SHA384.hash(data: bytes))
        case .sha512: Array(SHA512.hash(data: bytes))
        }
    }
}

extension Certificate.SignatureAlgorithm {
    /// Returns the algorithm of a CMS signature; `nil` if it isn't supported. RFC 5754 §3, RFC 8017 §A.2.4.
    ///
    /// - Parameter hash: The signer's digest algorithm, which counts if the identifier only names the kind of key.
    static func cms(_ identifier: ASN1ObjectIdentifier, hash: HashAlgorithm) -> Self? {
        switch identifier {
        case [1, 2, 840, 113549, 1, 1, 1]: rsa(hash)
        case [1, 2, 840, 113549, 1, 1, 11]: .sha256WithRSAEncryption
        case [1, 2, 840, 113549, 1, 1, 12]: .sha384WithRSAEncryption
        case [1, 2, 840, 113549, 1, 1, 13]: .sha512WithRSAEncryption
        case [1, 2, 840, 10045, 4, 3, 2]: .ecdsaWithSHA256
        case [1, 2, 840, 10045, 4, 3, 3]: .ecdsaWithSHA384
        case [1, 2, 840, 10045, 4, 3, 4]: .ecdsaWithSHA512
        default: nil
        }
    }

    private static func rsa(_ hash: HashAlgorithm) -> Self? {
        switch hash {
        case .sha1: nil
        case .sha256: .sha256WithRSAEncryption
        case .sha384: .sha384WithRSAEncryption
        case .sha512: .sha512WithRSAEncryption
        }
    }
}
