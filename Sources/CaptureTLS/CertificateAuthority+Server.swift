import ArchiveStore
import Crypto
import Foundation
import SwiftASN1
import X509

extension CertificateAuthority {
    /// Apple accepts at most 398 days: https://support.apple.com/en-us/103769.
    static let serverDays = 397
    /// A certificate that ends sooner is made again.
    static let serverDaysLeftMin = 30
    private static let rootDaysLeftMin = 90

    /// Returns the certificate for the names that the root permits: the one on disk if it still fits, otherwise a new one.
    func identity(for names: ServerNames, now: Date) throws -> TLSIdentity {
        let wanted = alternativeNames(of: names)
        if let kept = stored(), isUsable(kept, for: wanted, now: now) { return kept }
        let made = try makeServer(names, wanted, now: now)
        // The key first: a certificate without its key is made again.
        try TLSFile.write(try made.key.serializeAsPEM().pemString + "\n", to: serverKeyPath)
        try TLSFile.write(try made.chain[0].pem(), to: serverCertificatePath)
        return made
    }

    /// Whether the certificate has exactly these names, is signed by this root and lasts long enough.
    func isUsable(_ identity: TLSIdentity, for names: ServerNames, now: Date) -> Bool {
        isUsable(identity, for: alternativeNames(of: names), now: now)
    }

    /// What a person should know about the root and its names.
    func warnings(for names: ServerNames, now: Date) -> [CertificateWarning] {
        var warnings = names.invalid.map {
            CertificateWarning(
                "“\($0)” can't be in a certificate: it isn't a host name, or it is a single word that could be a top-level domain",
                hint: "use a name with a dot, such as NAME.local")
        }
        let omitted = names.dnsNames.filter { !permitted.permits($0) }
        if !omitted.isEmpty {
            warnings.append(
                CertificateWarning(
                    "the root doesn't permit \(omitted.joined(separator: ", ")), so clients can't connect by this name",
                    hint: "to make a new root with it, stop the server, delete the folder \(folder), start the server, "
                        + "and connect each client again"))
        }
        let addresses = names.addresses.filter { !permitted.permits($0) }.map(\.description)
        if !addresses.isEmpty {
            warnings.append(
                CertificateWarning(
                    "the certificate is for private IP addresses only, not for \(addresses.joined(separator: ", "))",
                    hint: "to connect by a public address, use a certificate of your own: server.ssl.cert_file"))
        }
        return warnings + rootWarnings(now: now)
    }

    private func rootWarnings(now: Date) -> [CertificateWarning] {
        var warnings: [CertificateWarning] = []
        if !isForServersOnly {
            warnings.append(
                CertificateWarning(
                    "the root certificate is of an older version: with its key, if stolen, e-mail can be signed",
                    hint: "to make one for servers only, stop the server, delete the folder \(folder), start it again, "
                        + "and connect each client again"))
        }
        if certificate.notValidAfter < now.addingTimeInterval(Double(Self.rootDaysLeftMin) * 86_400) {
            warnings.append(
                CertificateWarning(
                    "the root certificate expires on \(Self.dayText(certificate.notValidAfter))",
                    hint:
                        "before that, delete the folder \(folder), start the server again, and connect each client again"
                ))
        }
        if keyWasReadable {
            warnings.append(
                CertificateWarning(
                    "other users of this computer could read the root's key, \(Self.keyPath(folder)), until now",
                    hint: "if you don't trust them, delete the folder \(folder), start the server again, "
                        + "and connect each client again"))
        }
        return warnings
    }

    /// Whether the root vouches for servers only, and not for e-mail or programs. RFC 5280 §4.2.1.12.
    private var isForServersOnly: Bool {
        guard let usage = try? certificate.extensions.extendedKeyUsage else { return false }
        return Array(usage) == [.serverAuth]
    }

    private var serverCertificatePath: String { "\(folder)/server.crt" }
    private var serverKeyPath: String { "\(folder)/server.key" }

    private func alternativeNames(of names: ServerNames) -> [GeneralName] {
        names.dnsNames.filter(permitted.permits).map { .dnsName($0) }
            + names.addresses.filter(permitted.permits).map { .ipAddress(.init(contentBytes: $0.bytes[...])) }
    }

    /// The certificate on disk; `nil` if it can't be read: it can be made again at any time.
    private func stored() -> TLSIdentity? {
        guard let text = try? TLSFile.text(at: serverCertificatePath),
            let chain = try? TLSFile.certificates(of: text, at: serverCertificatePath),
            let keyText = try? TLSFile.text(at: serverKeyPath),
            let key = try? TLSFile.key(of: keyText, at: serverKeyPath),
            key.publicKey == chain[0].publicKey
        else { return nil }
        return TLSIdentity(chain: Array(chain.prefix(1)), key: key)
    }

    private func isUsable(_ identity: TLSIdentity, for wanted: [GeneralName], now: Date) -> Bool {
        let server = identity.chain[0]
        guard let names = try? server.extensions.subjectAlternativeNames, Array(names) == wanted else { return false }
        guard certificate.publicKey.isValidSignature(server.signature, for: server) else { return false }
        guard server.issuer == certificate.subject, server.notValidBefore <= now else { return false }
        // At the end of the root's life, no certificate lasts longer than the root.
        let end = now.addingTimeInterval(Double(Self.serverDaysLeftMin) * 86_400)
        return server.notValidAfter >= min(end, certificate.notValidAfter) && server.notValidAfter > now
    }

    private func makeServer(_ names: ServerNames, _ wanted: [GeneralName], now: Date) throws -> TLSIdentity {
        let key = P256.Signing.PrivateKey()
        let publicKey = Certificate.PublicKey(key.publicKey)
        let start = max(Self.startTime(now), certificate.notValidBefore)
        let end = min(start.addingTimeInterval(Double(Self.serverDays) * 86_400 - 1), certificate.notValidAfter)
        let rootIdentifier = try certificate.extensions.subjectKeyIdentifier
        let made = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: publicKey, notValidBefore: start, notValidAfter: end,
            issuer: certificate.subject, subject: try DistinguishedName { CommonName(Self.commonName(names)) },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(wanted)
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(keyIdentifier: rootIdentifier?.keyIdentifier)
            },
            issuerPrivateKey: .init(self.key))
        return TLSIdentity(chain: [made], key: .init(key))
    }
}
