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

    /// The SHA-256 of roots that `system()` adds for time stamps: Root CA of freetsa.org, until 2041.
    ///
    /// Systems have roots for web servers, which this authority isn't. "WACZ Signing and Verification" 0.1.0 names it, and
    /// authsign trusts it. Its certificate is part of these time stamps.
    private static let stampRoots: Set = ["a6379e7cecc05faa3cbf076013d745e327bbbaa38c0b9af22469d4701d18aabc"]

    /// The file that they were read from; `nil` if there is none.
    package let file: String?
    private let bySubject: [DistinguishedName: [ChainCertificate]]
    /// The SHA-256 of further roots, which are only for time stamps.
    private var stampRoots: Set<String> = []

    /// No roots. Every signature of a domain is untrusted.
    package static let empty = TrustRoots(file: nil, certificates: [])

    /// Returns the system's roots, or none if the system has no such file. For time stamps, freetsa.org is trusted too.
    package static func system() -> TrustRoots {
        var roots = TrustRoots.empty
        for file in systemFiles where roots.isEmpty { roots = (try? TrustRoots(pemFile: file)) ?? .empty }
        roots.stampRoots = stampRoots
        return roots
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

    func contains(_ certificate: ChainCertificate, for purpose: CertificatePath.Purpose) -> Bool {
        certificates(of: certificate.certificate.subject).contains(certificate)
            || purpose == .timeStamping && !stampRoots.isEmpty && stampRoots.contains(sha256Text(of: certificate.der))
    }

    func certificates(of subject: DistinguishedName) -> [ChainCertificate] { bySubject[subject] ?? [] }
}
