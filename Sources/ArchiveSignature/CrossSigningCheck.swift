#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Checks the cross-signed certificate for the signer's key. "WACZ Signing and Verification" 0.1.0, "Verification", step 10.
struct CrossSigningCheck {
    private static let member = "crossSignedCert"

    private(set) var problems = SignatureProblems()
    private(set) var chain: [ChainCertificate] = []

    /// - Parameter pem: `crossSignedCert`. authsign writes one certificate, without the authority's.
    init(pem: String) {
        chain = CertificateChain(pem: pem, member: Self.member, problems: &problems)?.certificates ?? []
    }

    /// - Parameters:
    ///   - leaf: The first certificate of the signer.
    ///   - time: The time of the signature.
    mutating func check(for leaf: ChainCertificate, domain: String, roots: TrustRoots, at time: Date) {
        guard let certificate = chain.first(where: { $0.publicKeyInfo == leaf.publicKeyInfo }) else {
            if !chain.isEmpty { add(.invalid, "cross-key", "The cross-signed certificate is for another key.") }
            return
        }
        // authsign writes no alternative names. The domain is the common name then. RFC 6125 §6.4.4.
        let names = certificate.names == nil ? certificate.commonName.map { [$0] } ?? [] : certificate.domains
        if !names.contains(where: { DomainName.covers($0, domain) }) {
            add(
                .invalid, "cross-domain",
                "The cross-signed certificate is for “\(certificate.name)”, not for the domain.")
        }
        if !certificate.isForServers || !certificate.allowsSignatures {
            add(.invalid, "cross-usage", "The cross-signed certificate isn't for signatures of a domain.")
        }
        if !certificate.isValid(at: time) {
            let validity = "The cross-signed certificate is valid from \(certificate.validity)"
            add(.untrusted, "cross-expired", "\(validity), not when the archive was signed.")
        }
        let problem = CertificatePath.problem(
            of: certificate, intermediates: chain, roots: roots, purpose: .server, at: time)
        if let problem { add(.untrusted, "cross-untrusted", problem) }
    }

    private mutating func add(_ effect: SignatureProblems.Effect, _ code: String, _ what: String) {
        problems.add(effect, code, what, at: Self.member, .signer)
    }
}
