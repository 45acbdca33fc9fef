import Crypto
import SwiftASN1
import WebArchive
import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A certificate with the extensions that are checked. RFC 5280 §4.
struct ChainCertificate: Sendable, Hashable {
    /// The encoded certificate.
    let der: [UInt8]
    let certificate: Certificate
    /// The bytes of the SubjectPublicKeyInfo. RFC 5280 §4.1.2.7.
    let publicKeyInfo: [UInt8]
    let basicConstraints: BasicConstraints?
    let keyUsage: KeyUsage?
    let extendedKeyUsage: ExtendedKeyUsage?
    let nameConstraints: NameConstraints?
    /// The subject alternative names; `nil` if the extension is missing.
    let names: [GeneralName]?
    /// The subject key identifier.
    let keyIdentifier: ArraySlice<UInt8>?

    /// Reads a certificate.
    ///
    /// - Throws: `UnreadableData` if it's too large, damaged, or has a key that isn't supported.
    init(der: [UInt8]) throws(UnreadableData) {
        guard der.count <= SignatureLimits.certificateBytesMax else {
            throw UnreadableData(
                what: "it has \(der.count) bytes, \(SignatureLimits.certificateBytesMax) are allowed")
        }
        do {
            let root = try DER.parse(der)
            let keyInfo = try Self.publicKeyInfo(root)
            try Self.checkSize(ofKey: keyInfo)
            let certificate = try Certificate(derEncoded: root)
            let extensions = certificate.extensions
            basicConstraints = try extensions.basicConstraints
            keyUsage = try extensions.keyUsage
            extendedKeyUsage = try extensions.extendedKeyUsage
            nameConstraints = try extensions.nameConstraints
            names = try extensions.subjectAlternativeNames.map { Array($0) }
            keyIdentifier = try extensions.subjectKeyIdentifier?.keyIdentifier
            self.der = der
            self.certificate = certificate
            publicKeyInfo = Array(keyInfo.encodedBytes)
        } catch let error as UnreadableData {
            throw error
        } catch {
            throw UnreadableData(describing: error)
        }
    }

    static func == (left: ChainCertificate, right: ChainCertificate) -> Bool { left.der == right.der }

    func hash(into hasher: inout Hasher) { hasher.combine(der) }

    var isAuthority: Bool {
        if case .isCertificateAuthority = basicConstraints { true } else { false }
    }

    /// Whether the key can sign data. RFC 5280 §4.2.1.3.
    var allowsSignatures: Bool { keyUsage.map { $0.digitalSignature || $0.nonRepudiation } ?? true }

    /// Whether the certificate can be that of a server. RFC 5280 §4.2.1.12.
    var isForServers: Bool { extendedKeyUsage.map { $0.contains(.serverAuth) || $0.contains(.any) } ?? true }

    /// The DNS names among the subject alternative names.
    var domains: [String] {
        (names ?? []).compactMap { if case .dnsName(let name) = $0 { name } else { nil } }
    }

    /// Returns all names of the certificate as a text, the first three of many: `a.example, *.b.example`.
    ///
    /// - Returns: `nil` if none of them covers the domain.
    func names(covering domain: String) -> String? {
        guard domains.contains(where: { DomainName.covers($0, domain) }) else { return nil }
        var seen: Set<String> = []
        let names = domains.map { SignatureProblems.bounded($0.lowercased()) }.filter { seen.insert($0).inserted }
        let more = names.count - Self.namesMax
        return names.prefix(Self.namesMax).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    private static let namesMax = 3

    /// The first common name of the subject.
    var commonName: String? {
        for relative in certificate.subject {
            for attribute in relative where attribute.type == .RDNAttributeType.commonName {
                return String(describing: attribute.value)
            }
        }
        return nil
    }

    /// Returns whether a time is in the validity period. RFC 5280 §4.1.2.5.
    func isValid(at time: Date) -> Bool {
        certificate.notValidBefore <= time && time <= certificate.notValidAfter
    }

    /// The validity period, as text.
    var validity: String {
        "\(Self.text(of: certificate.notValidBefore)) to \(Self.text(of: certificate.notValidAfter))"
    }

    /// The subject's common name, or its distinguished name.
    var name: String { SignatureProblems.bounded(commonName ?? String(describing: certificate.subject)) }

    /// The issuer's distinguished name.
    var issuerName: String { SignatureProblems.bounded(String(describing: certificate.issuer)) }

    var summary: CertificateSummary {
        CertificateSummary(
            subject: SignatureProblems.bounded(String(describing: certificate.subject)), issuer: issuerName,
            notBefore: Self.text(of: certificate.notValidBefore), notAfter: Self.text(of: certificate.notValidAfter),
            serial: Array(certificate.serialNumber.bytes.prefix(64)).hexadecimal, sha256: sha256Text(of: der))
    }

    private static func text(of date: Date) -> String {
        let milliseconds = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded())
        return milliseconds.flatMap { CaptureTimestamp(millisecondsSince1970: $0) }?.rfc3339 ?? "unknown"
    }

    /// Returns the SubjectPublicKeyInfo of a certificate. RFC 5280 §4.1.
    private static func publicKeyInfo(_ root: ASN1Node) throws -> ASN1Node {
        let parts = try root.children(.sequence)
        guard parts.count == 3 else { throw UnreadableData(what: "its contents are incomplete") }
        // A signature has whole bytes: none of its last bits are unused. RFC 5280 §4.1.1.3.
        guard case .primitive(let signature) = parts[2].content, signature.first == 0 else {
            throw UnreadableData(what: "its signature has unused bits")
        }
        var fields = try parts[0].children(.sequence)
        // The version is optional.
        if fields.first?.identifier == ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific) {
            fields.removeFirst()
        }
        // Before it: serial number, signature algorithm, issuer, validity, subject.
        guard fields.count > 5 else { throw UnreadableData(what: "it has no public key") }
        // The algorithm is named twice, only once in the signed part. RFC 5280 §4.1.1.2.
        guard fields[1].encodedBytes == parts[1].encodedBytes else {
            throw UnreadableData(what: "it names two signature algorithms")
        }
        return fields[5]
    }

    /// Refuses large keys before they are read: checking a signature takes longer with the square of the size.
    private static func checkSize(ofKey keyInfo: ASN1Node) throws {
        guard keyInfo.encodedBytes.count <= SignatureLimits.keyBytesMax else {
            throw UnreadableData(what: "its key is too large: RSA keys of up to 8,192 bits are supported")
        }
    }
}

/// The reason why a part of a signature can't be read.
struct UnreadableData: Error, Sendable, Hashable {
    /// A clause that follows a colon, in lower case and without a full stop.
    let what: String

    init(what: String) { self.what = what }

    /// Describes an error of swift-asn1, swift-certificates or swift-crypto. Their texts are for developers.
    init(describing error: any Error) {
        what =
            switch error {
            case is ASN1Error: "its ASN.1 structure is damaged, or nested too deeply"
            case let error as CertificateError where error.code == .unsupportedPublicKeyAlgorithm:
                "its kind of key isn't supported"
            case is CryptoKitError: "its key is invalid, or too small"
            default: "its contents are invalid"
            }
    }
}

/// Returns the SHA-256 of `bytes` in hexadecimal digits.
func sha256Text(of bytes: some Sequence<UInt8>) -> String {
    Array(SHA256.hash(data: Array(bytes))).hexadecimal
}

extension ASN1Node {
    /// Returns the nodes in a constructed node.
    ///
    /// - Throws: `UnreadableData` if it's primitive, or has another tag.
    func children(_ tag: ASN1Identifier) throws(UnreadableData) -> [ASN1Node] {
        guard identifier == tag, case .constructed(let nodes) = content else {
            throw UnreadableData(what: "an ASN.1 structure is missing")
        }
        return Array(nodes)
    }
}
