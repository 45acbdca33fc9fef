package import WebArchive
import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The certificates that signatures and time stamps must lead to.
package struct TrustRoots: Sendable {
    /// Where systems keep their certificates in one file.
    static let systemFiles = [
        "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch
        "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora, RHEL
        "/etc/ssl/ca-bundle.pem",  // openSUSE
        "/etc/ssl/cert.pem",  // macOS, Alpine
    ]

    /// The file that they were read from; `nil` if there is none.
    package let file: String?
    private let bySubject: [DistinguishedName: [ChainCertificate]]

    /// No roots. Every signature of a domain is untrusted.
    package static let empty = TrustRoots(file: nil, certificates: [])

    /// Returns the system's roots, or none if the system has no such file.
    package static func system() -> TrustRoots {
        for file in systemFiles {
            if let roots = try? TrustRoots(pemFile: file) { return roots }
        }
        return .empty
    }

    /// Reads roots from a PEM file. Certificates with unsupported keys are left out.
    ///
    /// - Throws: `WebArchiveError` with the code `io`, `tooLarge`, or `unsupported` if the file has no certificate.
    package init(pemFile: String) throws(WebArchiveError) {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: pemFile))
        } catch {
            throw WebArchiveError(code: .io, problem: "can't read the certificates", file: pemFile)
        }
        guard data.count <= SignatureLimits.rootsBytesMax else {
            throw WebArchiveError(
                code: .tooLarge,
                problem: "the file has \(data.count) bytes, \(SignatureLimits.rootsBytesMax) are allowed", file: pemFile
            )
        }
        do throws(UnreadableData) {
            try self.init(file: pemFile, pem: String(decoding: data, as: UTF8.self))
        } catch {
            throw WebArchiveError(
                code: .unsupported, problem: "the certificates can't be read: \(error.what)", file: pemFile,
                hint: "use a file with certificates in PEM format")
        }
    }

    init(file: String?, pem: String) throws(UnreadableData) {
        let blocks = try CertificateChain.blocks(of: pem, max: SignatureLimits.rootsMax)
        let certificates = blocks.compactMap { try? ChainCertificate(der: $0) }
        guard !certificates.isEmpty else { throw UnreadableData(what: "none has a supported key") }
        self.init(file: file, certificates: certificates)
    }

    private init(file: String?, certificates: [ChainCertificate]) {
        self.file = file
        bySubject = Dictionary(grouping: certificates, by: \.certificate.subject)
    }

    /// Whether there are no roots.
    package var isEmpty: Bool { bySubject.isEmpty }

    func contains(_ certificate: ChainCertificate) -> Bool {
        certificates(of: certificate.certificate.subject).contains(certificate)
    }

    func certificates(of subject: DistinguishedName) -> [ChainCertificate] { bySubject[subject] ?? [] }
}
