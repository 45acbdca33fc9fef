import Crypto
import Foundation

/// Writes DER, and certificates that no other tool would make. ITU-T X.690 §8.1.
enum DERText {
    static func node(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] { node(tag, content.flatMap { $0 }) }

    static func node(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 128 else { return [tag, UInt8(content.count)] + content }
        var digits: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            digits.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(digits.count)] + digits + content
    }

    static func sequence(_ content: [UInt8]...) -> [UInt8] { node(0x30, content.flatMap { $0 }) }

    /// Returns sequences inside of each other.
    static func nested(_ depth: Int) -> [UInt8] { (0..<depth).reduce([]) { inner, _ in node(0x30, inner) } }

    static let ecdsaWithSHA256 = sequence([0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02])

    static func name(_ text: String) -> [UInt8] {
        sequence(node(0x31, sequence([0x06, 0x03, 0x55, 0x04, 0x03], node(0x0C, Array(text.utf8)))))
    }

    static func names(_ count: Int) -> [[UInt8]] {
        (0..<count).map { node(0x82, Array("host-\($0).example".utf8)) }
    }

    /// Returns an extension with an identifier below 2.5.29.
    static func `extension`(_ last: UInt8, _ value: [UInt8]) -> [UInt8] {
        sequence([0x06, 0x03, 0x55, 0x1D, last], node(0x04, value))
    }

    static let authority = `extension`(19, sequence([0x01, 0x01, 0xFF]))

    /// An RSA key without a private key: its modulus is 2^bits - 1.
    static func rsaKey(bits: Int, exponent: [UInt8]) -> [UInt8] {
        let modulus = node(0x02, [0] + [UInt8](repeating: 0xFF, count: bits / 8))
        let algorithm = sequence([0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01], [0x05, 0x00])
        return sequence(algorithm, node(0x03, [0] + sequence(modulus, node(0x02, exponent))))
    }
}

/// A certificate made for a test, and its key.
struct HostileCertificate {
    var subject = "Hostile"
    var issuer = "Hostile"
    var publicKey: [UInt8]
    var extensions: [[UInt8]] = []

    /// Returns the certificate in PEM, signed by a key.
    func pem(signedBy key: P256.Signing.PrivateKey) throws -> String {
        let validity = DERText.sequence(
            DERText.node(0x17, Array("200101000000Z".utf8)), DERText.node(0x17, Array("490101000000Z".utf8)))
        let body = DERText.sequence(
            [0xA0, 0x03, 0x02, 0x01, 0x02], [0x02, 0x01, 0x01], DERText.ecdsaWithSHA256, DERText.name(issuer), validity,
            DERText.name(subject), publicKey, DERText.node(0xA3, DERText.sequence(extensions.flatMap { $0 })))
        let signature = try key.signature(for: Data(body)).derRepresentation
        let der = DERText.sequence(body, DERText.ecdsaWithSHA256, DERText.node(0x03, [0] + Array(signature)))
        return Self.pem(der)
    }

    static func pem(_ der: [UInt8]) -> String {
        "-----BEGIN CERTIFICATE-----\n\(Data(der).base64EncodedString(options: .lineLength64Characters))\n"
            + "-----END CERTIFICATE-----\n"
    }
}
