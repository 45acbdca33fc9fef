import SwiftASN1
import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Searches for a path from a certificate to a trusted root. RFC 5280 §6, with its state as of a given time.
///
/// Policies and revocation aren't checked: an archive must be verifiable offline, and years later.
/// swift-certificates has a verifier too, but no public way to check expiry at another time than now.
struct CertificatePath {
    /// What the certificates are used for. RFC 5280 §4.2.1.12.
    enum Purpose {
        case server, timeStamping

        var usage: ExtendedKeyUsage.Usage {
            switch self {
            case .server: .serverAuth
            case .timeStamping: .timeStamping
            }
        }
    }

    /// Critical extensions that are checked, or that OpenSSL ignores too unless policies are required.
    private static let knownExtensions: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage, .X509ExtensionID.extendedKeyUsage,
        .X509ExtensionID.subjectAlternativeName, .X509ExtensionID.nameConstraints,
        [2, 5, 29, 32], [2, 5, 29, 36], [2, 5, 29, 54],  // certificate policies, their constraints, inhibit any-policy
    ]

    private let roots: TrustRoots
    private let intermediates: [ChainCertificate]
    private let purpose: Purpose
    private let time: Date
    private var checks = 0
    private var reason: (depth: Int, text: String)?

    /// Searches for a path.
    ///
    /// - Parameters:
    ///   - intermediates: Certificates that may be on the path, in any order.
    ///   - time: The time at which all certificates of the path must be valid.
    /// - Returns: `nil` if there is a path, or the reason why there is none: a sentence.
    static func problem(
        of leaf: ChainCertificate, intermediates: [ChainCertificate], roots: TrustRoots, purpose: Purpose, at time: Date
    ) -> String? {
        var search = CertificatePath(roots: roots, intermediates: intermediates, purpose: purpose, time: time)
        if let critical = unknownCriticalExtension(of: leaf) {
            return "The certificate of “\(leaf.name)” has the critical extension \(critical), which isn't supported."
        }
        if search.reachesRoot([leaf]) { return nil }
        return search.reason?.text ?? "The certificate of “\(leaf.name)” doesn't lead to a trusted root."
    }

    private init(roots: TrustRoots, intermediates: [ChainCertificate], purpose: Purpose, time: Date) {
        self.roots = roots
        self.intermediates = intermediates
        self.purpose = purpose
        self.time = time
    }

    /// Returns whether a path that starts with these certificates reaches a root. Tries roots first.
    private mutating func reachesRoot(_ path: [ChainCertificate]) -> Bool {
        guard let tip = path.last else { return false }
        if roots.contains(tip, for: purpose) { return true }
        guard path.count < SignatureLimits.pathLengthMax else {
            return fail(
                path, "More than \(SignatureLimits.pathLengthMax) certificates are needed for a path to a root.")
        }
        guard tip.certificate.signatureAlgorithm != .sha1WithRSAEncryption else {
            return fail(path, "The certificate of “\(tip.name)” is signed with SHA-1, which is no longer safe.")
        }
        let issuer = tip.certificate.issuer
        let candidates =
            roots.certificates(of: issuer).map { ($0, true) }
            + intermediates.filter { $0.certificate.subject == issuer }.map { ($0, false) }
        for (candidate, isRoot) in candidates {
            guard !path.contains(where: { $0.isSameAuthority(as: candidate) }) else { continue }
            checks += 1
            guard checks <= SignatureLimits.pathChecksMax else {
                return fail(path, "More than \(SignatureLimits.pathChecksMax) certificates have the same names.")
            }
            guard candidate.certificate.publicKey.isValidSignature(tip.certificate.signature, for: tip.certificate)
            else {
                _ = fail(path, "The certificate of “\(tip.name)” isn't signed by the key of “\(candidate.name)”.")
                continue
            }
            if let problem = problem(ofIssuer: candidate, isRoot: isRoot, below: path) {
                _ = fail(path + [candidate], problem)
            } else if isRoot || reachesRoot(path + [candidate]) {
                return true
            }
        }
        guard tip.certificate.subject != issuer else { return fail(path, "“\(tip.name)” isn't a trusted root.") }
        return fail(path, "“\(tip.issuerName)”, which issued the certificate of “\(tip.name)”, isn't trusted.")
    }

    /// Keeps the reason of the longest path that failed.
    private mutating func fail(_ path: [ChainCertificate], _ text: String) -> Bool {
        if path.count > reason?.depth ?? 0 { reason = (path.count, text) }
        return false
    }

    /// Returns why a certificate can't be the issuer of those before it; `nil` if it can.
    private func problem(ofIssuer issuer: ChainCertificate, isRoot: Bool, below path: [ChainCertificate]) -> String? {
        let certificate = "The certificate of “\(issuer.name)”"
        guard issuer.isValid(at: time) else {
            return "\(certificate) was valid from \(issuer.validity), not when the archive was signed."
        }
        if let critical = Self.unknownCriticalExtension(of: issuer) {
            return "\(certificate) has the critical extension \(critical), which isn't supported."
        }
        // Version 1 has no extensions. Only a trusted root may have it.
        let isOldRoot = isRoot && issuer.certificate.version == .v1
        guard issuer.isAuthority || isOldRoot else { return "\(certificate) isn't that of a certificate authority." }
        // The certificates between this and the first, without those that an authority issued to itself.
        let below = path.dropFirst().filter { $0.certificate.subject != $0.certificate.issuer }.count
        if case .isCertificateAuthority(let maxPathLength) = issuer.basicConstraints, let maxPathLength,
            maxPathLength < below
        {
            return "\(certificate) allows \(maxPathLength) authorities below it, and \(below) are used."
        }
        if let usage = issuer.keyUsage, !usage.keyCertSign { return "\(certificate) can't be used to sign others." }
        if let usages = issuer.extendedKeyUsage, !usages.contains(purpose.usage), !usages.contains(.any) {
            return "\(certificate) can't be used for this purpose."
        }
        return NameConstraintCheck.problem(of: issuer, below: path)
    }

    private static func unknownCriticalExtension(of certificate: ChainCertificate) -> String? {
        certificate.certificate.extensions.first { $0.critical && !knownExtensions.contains($0.oid) }
            .map { String(describing: $0.oid) }
    }
}

extension ChainCertificate {
    /// Whether both certificates are of the same subject and key, so that a path can't run in circles. RFC 4158 §5.2.
    fileprivate func isSameAuthority(as other: ChainCertificate) -> Bool {
        publicKeyInfo == other.publicKeyInfo && certificate.subject == other.certificate.subject
    }
}
