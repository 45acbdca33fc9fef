import ArchiveStore
import Foundation
import X509

/// A certificate of the person's own, in two files: `server.ssl.cert_file` and `server.ssl.key_file`.
package struct CertificateFiles: Sendable, Hashable {
    /// A PEM file: the server's certificate, then those above it.
    package let certificatePath: String
    /// A PEM file without a password.
    package let keyPath: String

    package init(certificatePath: String, keyPath: String) {
        self.certificatePath = certificatePath
        self.keyPath = keyPath
    }

    static let warningDays = 14

    /// A text that changes when one of the files does.
    var stamp: String { [certificatePath, keyPath].map { StoreDocument.stamp(of: $0) ?? "" }.joined(separator: " ") }

    /// Reads and checks both files.
    ///
    /// - Throws: `StoreError` with what is wrong with which file, and what to do.
    func identity(now: Date) throws(StoreError) -> TLSIdentity {
        let chain = try TLSFile.certificates(of: try TLSFile.text(at: certificatePath), at: certificatePath)
        let key = try TLSFile.key(of: try TLSFile.text(at: keyPath), at: keyPath)
        guard chain[0].publicKey == key.publicKey else {
            let isOfOther = chain.dropFirst().contains { $0.publicKey == key.publicKey }
            throw StoreError(
                .notPossible, "this private key doesn't belong to the first certificate in \(certificatePath)",
                place: keyPath,
                hint: isOfOther
                    ? "put the server's certificate first, then those above it"
                    : "use the key that the certificate was made for")
        }
        guard now < chain[0].notValidAfter else {
            throw StoreError(
                .notPossible, "this certificate has expired on \(CertificateAuthority.dayText(chain[0].notValidAfter))",
                place: certificatePath, hint: "renew it")
        }
        guard now >= chain[0].notValidBefore else {
            throw StoreError(
                .notPossible,
                "this certificate is valid from \(CertificateAuthority.dayText(chain[0].notValidBefore)), "
                    + "but this computer's clock shows \(CertificateAuthority.dayText(now))",
                place: certificatePath, hint: "set the clock, or use a certificate that is valid now")
        }
        return TLSIdentity(chain: chain, key: key)
    }

    func warnings(about identity: TLSIdentity, now: Date) -> [CertificateWarning] {
        guard identity.endsAt < now.addingTimeInterval(Double(Self.warningDays) * 86_400) else { return [] }
        let day = CertificateAuthority.dayText(identity.endsAt)
        let what = identity.endsAt <= now ? "has expired on \(day)" : "expires on \(day)"
        return [CertificateWarning("\(certificatePath): this certificate \(what)", hint: "renew it")]
    }
}
