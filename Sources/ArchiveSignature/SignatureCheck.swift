import WebArchive
import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One check of a signature: its input, and what was found so far.
struct SignatureCheck {
    /// The members of both formats. "WACZ Signing and Verification" 0.1.0, "Signature Data Format".
    private static let knownMembers: Set<String> = [
        "hash", "created", "software", "version", "signature", "publicKey", "domain", "domainCert", "timeSignature",
        "timestampCert", "crossSignedCert",
    ]

    private let texts: [String: String]
    private let trust: TrustRoots
    private let now: Date
    private var problems = SignatureProblems()

    init(texts: [String: String], trust: TrustRoots, now: Date) {
        self.texts = texts
        self.trust = trust
        self.now = now
    }

    /// Checks the form of `signedData`, and that it's about the same hash as the rest of the file.
    mutating func checkMembers(_ data: SignedData) {
        for name in data.otherMembers where Self.knownMembers.contains(name) {
            problems.add(.unreadable, "member-type", "“\(name)” isn't a text.", at: name, .unchecked)
        }
        let unknown = Set(texts.keys).union(data.otherMembers).subtracting(Self.knownMembers)
        if let name = unknown.min() {
            let others = unknown.count == 1 ? "" : " and \(unknown.count - 1) more"
            problems.add(
                .note, "unknown-member",
                "The specification has no member “\(SignatureProblems.bounded(name))”\(others).",
                at: "signedData", .none)
        }
        for name in ["hash", "signature"] where texts[name] == nil && !data.otherMembers.contains(name) {
            problems.add(.unreadable, "incomplete", "“\(name)” is missing.", at: name, .unchecked)
        }
        guard let signed = texts["hash"] else { return }
        // Compares bytes: texts that are equal for Swift can have different bytes.
        if !signed.utf8.elementsEqual((data.packageHash ?? "").utf8) {
            let other = data.packageHash.map { "“\(SignatureProblems.bounded($0))”" } ?? "missing"
            problems.add(
                .invalid, "hash-differs",
                "The signed hash is “\(SignatureProblems.bounded(signed))”, but the hash of the package is \(other).",
                at: "hash", .content)
        }
    }

    /// Checks the signature, its time stamp and its certificates.
    mutating func run() -> SignatureReport {
        let isOfDomain = texts["domain"] != nil || texts["domainCert"] != nil
        if isOfDomain, texts["publicKey"] != nil {
            problems.add(
                .invalid, "two-signers", "The signature has both an anonymous key and a domain.", at: "publicKey",
                .signer)
        }
        let signature = texts["signature"].flatMap { decodedSignature($0) }
        let stamp = texts["timeSignature"].map {
            TimeStampCheck(
                $0, certificates: texts["timestampCert"], signature: texts["signature"], roots: trust, now: now)
        }
        guard isOfDomain else {
            let signer = checkAnonymous(signature)
            if let stamp { add(stamp) }
            return SignatureReport(problems: problems, texts: texts, signer: signer, timeStamp: stamp?.report)
        }
        return checkDomain(signature, stamp)
    }

    private mutating func decodedSignature(_ text: String) -> [UInt8]? {
        guard let bytes = Data(base64Encoded: text), !bytes.isEmpty else {
            problems.add(.unreadable, "not-base64", "The signature isn't base64.", at: "signature", .unchecked)
            return nil
        }
        guard bytes.count <= SignatureLimits.keyBytesMax else {
            let what = "The signature has \(bytes.count) bytes, \(SignatureLimits.keyBytesMax) are allowed."
            problems.add(.unreadable, "too-large", what, at: "signature", .unchecked)
            return nil
        }
        return Array(bytes)
    }

    /// Steps 4 and 10 of "Domain-Name Identity + Timestamp Validation", and step 4 of "Anonymous Signature Validation".
    private mutating func check(_ signature: [UInt8]?, by key: SigningKey) {
        guard let signature, let hash = texts["hash"] else { return }
        if !key.isValid(signature, of: hash) {
            problems.add(
                .invalid, "mismatch", "The signature doesn't match the hash and the key.", at: "signature", .content)
        }
    }

    private mutating func checkAnonymous(_ signature: [UInt8]?) -> SignatureReport.Signer {
        var keySHA256: String?
        do throws(UnreadableData) {
            guard let text = texts["publicKey"] else { throw UnreadableData(what: "it is missing") }
            guard let der = Data(base64Encoded: text) else { throw UnreadableData(what: "it isn't base64") }
            keySHA256 = sha256Text(of: der)
            check(signature, by: try SigningKey(anonymous: Array(der)))
        } catch {
            problems.add(
                .unreadable, "key-unreadable", "The public key can't be read: \(error.what).", at: "publicKey",
                .unchecked)
        }
        return SignatureReport.Signer(domain: nil, certified: nil, keySHA256: keySHA256, chain: [])
    }

    private mutating func checkDomain(_ signature: [UInt8]?, _ stamp: TimeStampCheck?) -> SignatureReport {
        let domain = texts["domain"]
        if domain?.isEmpty ?? true {
            problems.add(.unreadable, "incomplete", "The domain is missing.", at: "domain", .unchecked)
        }
        if texts["domainCert"] == nil {
            problems.add(.unreadable, "incomplete", "The certificate is missing.", at: "domainCert", .unchecked)
        }
        let time = checkTime(stamp)
        var chain = texts["domainCert"].flatMap { CertificateChain(pem: $0, member: "domainCert", problems: &problems) }
        let leaf = chain.flatMap { Self.leaf(of: $0) }
        var cross: SignatureReport.CrossSigning?
        if let leaf {
            chain?.moveToFront(leaf, member: "domainCert", problems: &problems)
            checkKey(of: leaf, signature)
            checkCertificate(leaf, domain: domain ?? "", at: time)
            var trustOfDomain = SignatureProblems()
            checkTrust(of: leaf, chain, at: time, &trustOfDomain)
            cross = checkCross(leaf, domain: domain ?? "", at: time, trustOfDomain)
        }
        let signer = SignatureReport.Signer(
            domain: domain.map(SignatureProblems.bounded), certified: leaf?.names(covering: domain ?? ""),
            keySHA256: leaf.map { sha256Text(of: $0.publicKeyInfo) },
            chain: chain?.certificates.map(\.summary) ?? [])
        return SignatureReport(
            problems: problems, texts: texts, signer: signer, timeStamp: stamp?.report, crossSigning: cross)
    }

    /// Returns the signer's certificate: the first one (step 4), or the first one that isn't of an authority.
    private static func leaf(of chain: CertificateChain) -> ChainCertificate? {
        chain.certificates.first { !$0.isAuthority } ?? chain.certificates.first
    }

    /// Checks the time stamp and the claimed time. Returns the time of the signature.
    ///
    /// The specification requires a time stamp. Without one, nothing proves that the certificate was valid when it
    /// signed, so the signature is untrusted.
    private mutating func checkTime(_ stamp: TimeStampCheck?) -> CaptureTimestamp? {
        let created = texts["created"].flatMap { CaptureTimestamp(rfc3339: $0) }
        if created == nil {
            problems.add(
                .unreadable, "created-unreadable", "The claimed time is missing, or isn't a time.", at: "created", .time
            )
        }
        guard let stamp else {
            problems.add(
                .untrusted, "time-missing",
                "The signature has no time stamp. The certificates are checked for the time that the signer claims.",
                at: "timeSignature", .time)
            return created
        }
        add(stamp)
        if let created, let time = stamp.time,
            Double(created.distance(to: time)) > SignatureLimits.toleranceSeconds * 1000
        {
            problems.add(
                .invalid, "created-differs",
                "The claimed time, \(created), is more than 10 minutes away from the time stamp, \(time).",
                at: "created", .time)
        }
        return stamp.time ?? created
    }

    private mutating func add(_ stamp: TimeStampCheck) {
        problems.add(stamp.problems)
    }

    private mutating func checkKey(of leaf: ChainCertificate, _ signature: [UInt8]?) {
        do throws(UnreadableData) {
            check(signature, by: try SigningKey(leaf.certificate.publicKey))
        } catch {
            problems.add(
                .unreadable, "key-unreadable", "The key of the certificate can't be used: \(error.what).",
                at: "domainCert", .unchecked)
        }
    }

    /// Step 5, and RFC 5280 §4.1.2.5, §4.2.1.3 and §4.2.1.12 for the certificate itself.
    private mutating func checkCertificate(_ leaf: ChainCertificate, domain: String, at time: CaptureTimestamp?) {
        if !domain.isEmpty, !leaf.domains.contains(where: { DomainName.covers($0, domain) }) {
            let domains = leaf.domains.prefix(3).map { "“\(SignatureProblems.bounded($0))”" }
            let what =
                domains.isEmpty
                ? "The certificate doesn't name a domain."
                : "The certificate is for \(domains.joined(separator: ", ")), not for “\(SignatureProblems.bounded(domain))”."
            problems.add(.invalid, "domain-differs", what, at: "domain", .signer)
        }
        if let time, !leaf.isValid(at: time.date) {
            problems.add(
                .invalid, "certificate-expired",
                "The certificate is valid from \(leaf.validity), but the archive was signed at \(time).",
                at: "domainCert",
                .signer)
        }
        if !leaf.isForServers || !leaf.allowsSignatures {
            problems.add(
                .invalid, "certificate-usage", "The certificate of “\(leaf.name)” isn't for signatures of a domain.",
                at: "domainCert", .signer)
        }
    }

    /// Step 8.
    private func checkTrust(
        of leaf: ChainCertificate, _ chain: CertificateChain?, at time: CaptureTimestamp?,
        _ problems: inout SignatureProblems
    ) {
        if trust.isEmpty {
            problems.add(
                .untrusted, "no-roots", "No trusted root certificates were found on this computer.", at: "domainCert",
                .signer)
            return
        }
        let problem = CertificatePath.problem(
            of: leaf, intermediates: chain?.certificates ?? [], roots: trust, purpose: .server, at: time?.date ?? now)
        if let problem { problems.add(.untrusted, "untrusted", problem, at: "domainCert", .signer) }
    }

    /// Step 10: a cross-signed certificate can replace one that isn't trusted.
    ///
    /// It must be for the same key, and for the domain: otherwise, anybody with a trusted certificate could use it for
    /// another domain. That it leads to no trusted root doesn't matter, as it's usually of a private authority.
    private mutating func checkCross(
        _ leaf: ChainCertificate, domain: String, at time: CaptureTimestamp?, _ trustOfDomain: SignatureProblems
    ) -> SignatureReport.CrossSigning? {
        guard let pem = texts["crossSignedCert"] else {
            problems.add(trustOfDomain)
            return nil
        }
        var cross = CrossSigningCheck(pem: pem)
        cross.check(for: leaf, domain: domain, roots: trust, at: time?.date ?? now)
        if cross.problems.outcome == .untrusted {
            problems.add(notesOf: cross.problems)
        } else {
            problems.add(cross.problems)
        }
        if trustOfDomain.outcome != .valid, cross.problems.outcome == .valid {
            problems.add(notesOf: trustOfDomain)
            problems.add(
                .note, "cross-used", "The cross-signed certificate is trusted, and replaces that of the domain.",
                at: "crossSignedCert", .none)
        } else {
            problems.add(trustOfDomain)
        }
        return SignatureReport.CrossSigning(
            outcome: cross.problems.outcome, chain: cross.chain.map(\.summary))
    }
}
