package import WebArchive

/// The result of verifying the signature of a WACZ. "WACZ Signing and Verification" 0.1.0.
///
/// Times are texts as in RFC 3339, in UTC, and hashes are SHA-256 in hexadecimal digits.
package struct SignatureReport: Sendable, Hashable, Codable {
    /// The result of a check.
    package enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
        /// There is no signature.
        case unsigned = "none"
        /// Everything agrees. For a domain, its certificate and time stamp lead to trusted roots.
        case valid
        /// Everything agrees, but it isn't proven who signed, or when.
        case untrusted
        /// Something doesn't agree: the signature proves nothing.
        case invalid
        /// The signature is of another file, and proves nothing about this one.
        case otherFile = "other-file"
        /// The signature can't be checked: it's damaged, or in a form that isn't supported.
        case unreadable
    }

    /// The signer, as claimed by the signature. The outcome says whether this is proven.
    package struct Signer: Sendable, Hashable, Codable {
        /// The domain that the file names, which the signature doesn't cover; `nil` for an anonymous key.
        package let domain: String?
        /// The names for which the certificate is, if the domain is one of them: anyone can write any of them into the file.
        package let certified: String?
        /// The SHA-256 of the public key, as its DER-encoded SubjectPublicKeyInfo; `nil` if it can't be read.
        package let keySHA256: String?
        /// The certificates of the domain, the signer's first; empty for an anonymous key.
        package let chain: [CertificateSummary]

        /// Who signed, for people: the names in the certificate; `nil` for an anonymous key.
        package var name: String? { certified ?? domain }
    }

    /// The time stamp of the signature. RFC 3161.
    package struct TimeStamp: Sendable, Hashable, Codable {
        /// The result for the time stamp alone.
        package let outcome: Outcome
        /// The time; `nil` if it can't be read.
        package let time: String?
        /// The name of the time stamping authority; `nil` if its certificate can't be read.
        package let authority: String?
        /// The certificates of the authority, its own first.
        package let chain: [CertificateSummary]
    }

    /// A second certificate for the signer's key, from another authority.
    package struct CrossSigning: Sendable, Hashable, Codable {
        /// The result for this certificate alone.
        package let outcome: Outcome
        /// The certificates, the signer's first.
        package let chain: [CertificateSummary]
    }

    /// The result for the signature.
    package private(set) var outcome: Outcome
    /// The signer; `nil` if there is no signature.
    package let signer: Signer?
    /// The hash of `datapackage.json` that was signed, for example `sha256:3dd0…`. Compare it with the file's hash.
    package let hash: String?
    /// The time of the signature as claimed by the signer, as written.
    package let created: String?
    /// The software that made the signature, as written.
    package let software: String?
    /// The time stamp; `nil` if there is none.
    package let timeStamp: TimeStamp?
    /// The cross-signed certificate; `nil` if there is none.
    package let crossSigning: CrossSigning?
    /// What was found, in the order of the checks.
    package let findings: [Finding]
}

extension SignatureReport {
    /// What the signature shows; `nil` if there is none.
    package var code: VerificationCode? {
        switch outcome {
        case .unsigned: nil
        case .valid: signer?.domain == nil ? .signedAnonymously : .signed
        case .untrusted: .signerNotProven
        case .invalid, .otherFile, .unreadable: .invalidSignature
        }
    }

    /// Returns the report for a file whose `datapackage.json` isn't the one that was signed.
    package var ofOtherFile: SignatureReport {
        var report = self
        if outcome == .valid || outcome == .untrusted { report.outcome = .otherFile }
        return report
    }
}

/// What a report says about a certificate. RFC 5280 §4.1.
package struct CertificateSummary: Sendable, Hashable, Codable {
    /// The subject's distinguished name, for example `CN=example.org`.
    package let subject: String
    /// The issuer's distinguished name.
    package let issuer: String
    /// The start of the validity period.
    package let notBefore: String
    /// The end of the validity period.
    package let notAfter: String
    /// The serial number, in hexadecimal digits.
    package let serial: String
    /// The SHA-256 of the certificate.
    package let sha256: String
}
