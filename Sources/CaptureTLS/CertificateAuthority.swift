import ArchiveStore
import Crypto
package import Foundation
import SwiftASN1
import X509

/// This installation's own root, and the certificates that it signs.
///
///     root.crt, root.key       made once, valid for 10 years; clients trust the root and recognize it by its fingerprint
///     server.crt, server.key   made again when names or IP addresses change, or before they end
package struct CertificateAuthority: Sendable {
    /// `STORE/capture/tls`.
    let folder: String
    let certificate: Certificate
    let key: P256.Signing.PrivateKey
    let permitted: PermittedNames
    /// The root's certificate in PEM format.
    package let pem: String
    /// SHA-256 of the root's certificate (DER), in lower-case hexadecimal.
    package let fingerprint: String
    /// Whether other users of this computer could read the root's key until now.
    let keyWasReadable: Bool

    /// The media type for `pem`, with which browsers and phones offer to install it.
    package static let mediaType = "application/x-x509-ca-cert"
    static let lifetimeYears = 10

    /// Opens the root in a folder, or makes one if the folder is empty or doesn't exist. The caller holds the lock of `capture.json`.
    ///
    /// - Parameter names: Host names that a new root permits.
    /// - Throws: `StoreError` if the root is damaged, incomplete or expired. It is never replaced, because clients trust it.
    package init(folder: String, names: ServerNames, now: Date) throws {
        if try !Folder.isFolder(folder) || Folder.names(in: folder).isEmpty {
            try Self.make(in: folder, names: names, now: now)
        }
        Folder.makePrivate(folder)
        self.folder = folder
        do {
            (certificate, key) = try Self.read(folder)
            guard let permitted = try PermittedNames(certificate) else { throw Self.damaged(folder) }
            self.permitted = permitted
        } catch let error as StoreError {
            throw StoreError(error.code, error.what, place: error.place, hint: Self.remedy(folder))
        } catch {
            throw Self.damaged(folder)
        }
        try Self.checkTimes(of: certificate, at: Self.certificatePath(folder), now: now)
        keyWasReadable = Folder.makePrivate(Self.keyPath(folder))
        pem = try certificate.pem()
        fingerprint = SHA256.hash(data: try certificate.derBytes()).map { Self.hex($0) }.joined()
    }

    static func certificatePath(_ folder: String) -> String { "\(folder)/root.crt" }
    static func keyPath(_ folder: String) -> String { "\(folder)/root.key" }

    /// How to start again.
    static func remedy(_ folder: String) -> String {
        "restore root.crt and root.key from a backup; or delete the folder \(folder) to make a new root at the next start, "
            + "and then connect each client again"
    }

    private static func damaged(_ folder: String) -> StoreError {
        StoreError(
            .documentDamaged, "this isn't a root certificate that replayhost-capture made",
            place: certificatePath(folder),
            hint: remedy(folder))
    }

    private static func read(_ folder: String) throws -> (Certificate, P256.Signing.PrivateKey) {
        let (certificatePath, keyPath) = (certificatePath(folder), keyPath(folder))
        for path in [certificatePath, keyPath] where !Folder.exists(path) {
            throw StoreError(.notFound, "this file of the root is missing", place: path)
        }
        let certificate = try TLSFile.certificates(of: try TLSFile.text(at: certificatePath), at: certificatePath)[0]
        let text = try TLSFile.text(at: keyPath)
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: text) else {
            throw StoreError(.documentDamaged, "the root's private key can't be read", place: keyPath)
        }
        guard Certificate.PublicKey(key.publicKey) == certificate.publicKey else {
            throw StoreError(.documentDamaged, "this private key doesn't belong to root.crt", place: keyPath)
        }
        guard case .isCertificateAuthority? = try certificate.extensions.basicConstraints,
            certificate.publicKey.isValidSignature(certificate.signature, for: certificate)
        else { throw damaged(folder) }
        return (certificate, key)
    }

    private static func checkTimes(of certificate: Certificate, at path: String, now: Date) throws(StoreError) {
        guard now < certificate.notValidAfter else {
            throw StoreError(
                .notPossible, "the root certificate has expired on \(dayText(certificate.notValidAfter))", place: path,
                hint:
                    "delete the folder \((path as NSString).deletingLastPathComponent) to make a new root at the next start, "
                    + "and then connect each client again")
        }
        guard now >= certificate.notValidBefore else {
            throw StoreError(
                .notPossible,
                "the root certificate is valid from \(dayText(certificate.notValidBefore)), but this computer's clock shows "
                    + dayText(now), place: path, hint: "set the clock")
        }
    }

    /// Makes a root in a new folder, which is then renamed, so that there is never a certificate without its key.
    private static func make(in folder: String, names: ServerNames, now: Date) throws {
        let temporary = folder + ".new"
        if Folder.exists(temporary) { try FileManager.default.removeItem(atPath: temporary) }
        try Folder.create(temporary)
        let key = P256.Signing.PrivateKey()
        try TLSFile.write(key.pemRepresentation + "\n", to: keyPath(temporary))
        let certificate = try makeCertificate(key, names: names, now: now)
        try TLSFile.write(try certificate.pem(), to: certificatePath(temporary))
        // The folder is private before anything is in it, and a rename replaces only an empty folder.
        try Folder.move(temporary, to: folder)
    }

    private static func makeCertificate(
        _ key: P256.Signing.PrivateKey, names: ServerNames, now: Date
    ) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key.publicKey)
        let start = startTime(now)
        let end = calendar.date(byAdding: .year, value: lifetimeYears, to: start) ?? start
        let random = (0..<4).map { _ in hex(UInt8.random(in: 0...255)) }.joined()
        let name = try DistinguishedName {
            OrganizationName("replayhost")
            CommonName(commonName(names, after: " (\(random))"))
        }
        return try Certificate(
            version: .v3, serialNumber: .init(), publicKey: publicKey, notValidBefore: start, notValidAfter: end,
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                try ExtendedKeyUsage([.serverAuth])
                Critical(PermittedNames(names).constraints)
                SubjectKeyIdentifier(hash: publicKey)
            },
            issuerPrivateKey: .init(key))
    }

    /// "replayhost on HOSTNAME", at most 64 characters with what follows. RFC 5280 Appendix A.1, ub-common-name.
    static func commonName(_ names: ServerNames, after suffix: String = "") -> String {
        let host = names.hostName.isEmpty ? "this computer" : names.hostName
        return String("replayhost on \(host)".prefix(64 - suffix.count)) + suffix
    }

    /// An hour ago, for clients whose clocks are late; full seconds, as in certificates.
    static func startTime(_ now: Date) -> Date {
        Date(timeIntervalSince1970: (now.timeIntervalSince1970 - 3600).rounded(.down))
    }

    static func dayText(_ date: Date) -> String {
        let parts = calendar.dateComponents([.year, .month, .day], from: date)
        return [parts.year ?? 0, parts.month ?? 0, parts.day ?? 0].map { $0 < 10 ? "0\($0)" : "\($0)" }
            .joined(separator: "-")
    }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private static let calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}
