import SwiftASN1
import WebArchive
import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Checks the time stamp of a signature. "WACZ Signing and Verification" 0.1.0, "Verification", steps 6, 7 and 9.
struct TimeStampCheck {
    private static let member = "timeSignature"

    private let roots: TrustRoots
    private(set) var problems = SignatureProblems()
    /// The time of the stamp; `nil` if it can't be read. It's proven only if there are no problems.
    private(set) var time: CaptureTimestamp?
    private var authority: ChainCertificate?
    private var chain: [ChainCertificate] = []

    /// - Parameters:
    ///   - timeSignature: A TimeStampResp in base64.
    ///   - certificates: `timestampCert`; can be missing if the token contains them.
    ///   - signature: The stamped text: `signature`, in base64; `nil` if it's missing.
    init(
        _ timeSignature: String, certificates: String?, signature: String?, roots: TrustRoots, now: Date
    ) {
        self.roots = roots
        guard let token = read(timeSignature) else { return }
        time = token.time
        if let signature { checkImprint(of: token, signature) }
        if token.time.date > now.addingTimeInterval(SignatureLimits.toleranceSeconds) {
            add(.invalid, "stamp-future", "The time stamp is from the future: \(token.time).")
        }
        guard token.signers.count == 1, let signer = token.signers.first else {
            let count = token.signers.isEmpty ? "no signature" : "more than one signature"
            add(.invalid, "stamp-signers", "The time stamp has \(count), but must have exactly one.")
            return
        }
        chain = readCertificates(certificates, token)
        guard let certificate = chain.first(where: { signer.isSigned(by: $0) }) else {
            add(.unreadable, "stamp-certificate-missing", "The certificate of the time stamp is missing.")
            return
        }
        authority = certificate
        checkSignature(signer, of: token, by: certificate)
        checkName(token.authority, of: certificate)
        checkCertificate(certificate, at: token.time)
    }

    /// The result, for the report.
    var report: SignatureReport.TimeStamp {
        SignatureReport.TimeStamp(
            outcome: problems.outcome, time: time?.rfc3339, authority: authority?.name, chain: chain.map(\.summary))
    }

    private mutating func add(_ effect: SignatureProblems.Effect, _ code: String, _ what: String) {
        problems.add(effect, code, what, at: Self.member, effect == .note ? .none : .time)
    }

    private mutating func read(_ timeSignature: String) -> TimeStampToken? {
        do {
            guard let response = Data(base64Encoded: timeSignature) else {
                throw UnreadableData(what: "it isn't base64")
            }
            return try TimeStampToken(response: Array(response))
        } catch let refused as RefusedStamp {
            add(.invalid, "stamp-refused", "The authority refused to stamp: its status is \(refused.status).")
        } catch {
            let reason = error as? UnreadableData ?? UnreadableData(describing: error)
            add(.unreadable, "stamp-unreadable", "The time stamp can't be read: \(reason.what).")
        }
        return nil
    }

    /// RFC 3161 §2.4.2, MessageImprint.
    private mutating func checkImprint(of token: TimeStampToken, _ signature: String) {
        guard let algorithm = HashAlgorithm(token.imprintAlgorithm) else {
            return add(
                .unreadable, "stamp-unreadable", "The hash algorithm \(token.imprintAlgorithm) isn't supported.")
        }
        if algorithm.hash(signature.utf8) != Array(token.imprint) {
            add(.invalid, "stamp-mismatch", "The time stamp is for another signature.")
        }
    }

    private mutating func readCertificates(_ pem: String?, _ token: TimeStampToken) -> [ChainCertificate] {
        var certificates: [ChainCertificate] = []
        if let pem, let chain = CertificateChain(pem: pem, member: "timestampCert", problems: &problems) {
            certificates = chain.certificates
        }
        // Usually the same ones. Attribute certificates, which are tagged, can't be read.
        for der in token.certificates {
            guard let certificate = try? ChainCertificate(der: der), !certificates.contains(certificate) else {
                continue
            }
            certificates.append(certificate)
        }
        return certificates
    }

    /// RFC 5652 §5.4 and §5.6.
    private mutating func checkSignature(
        _ signer: TimeStampToken.Signer, of token: TimeStampToken, by certificate: ChainCertificate
    ) {
        guard let hash = HashAlgorithm(signer.digestAlgorithm),
            let algorithm = Certificate.SignatureAlgorithm.cms(signer.signatureAlgorithm, hash: hash)
        else {
            return add(
                .unreadable, "stamp-unreadable",
                "The algorithms \(signer.signatureAlgorithm) and \(signer.digestAlgorithm) aren't supported.")
        }
        if !token.digestAlgorithms.contains(signer.digestAlgorithm) {
            add(.invalid, "stamp-attributes", "The time stamp doesn't list the algorithm that it is signed with.")
        }
        // Required if the content isn't plain data.
        guard let attributes = signer.attributes else {
            return add(.invalid, "stamp-attributes", "The time stamp has no signed attributes.")
        }
        do {
            let type = try attributes[.contentType]?.only.map { try ASN1ObjectIdentifier(derEncoded: $0) }
            let digest = try attributes[.messageDigest]?.only.map { try ASN1OctetString(derEncoded: $0).bytes }
            if type != .timeStampInfo {
                add(.invalid, "stamp-attributes", "The time stamp is signed as data of another type.")
            }
            if digest.map(Array.init) != hash.hash(token.content) {
                add(.invalid, "stamp-changed", "The time stamp was changed after it was signed.")
            }
            if try !signer.names(certificate) {
                add(.invalid, "stamp-attributes", "The time stamp doesn't name the certificate that signed it.")
            }
        } catch {
            add(.invalid, "stamp-attributes", "The signed attributes of the time stamp can't be read.")
        }
        let key = certificate.certificate.publicKey
        if !key.isValidSignature(signer.signature, for: signer.signedBytes, signatureAlgorithm: algorithm) {
            add(.invalid, "stamp-forged", "The time stamp isn't signed by “\(certificate.name)”.")
        }
    }

    /// RFC 3161 §2.4.2: the name of the authority must be one of its certificate's.
    ///
    /// Compares the names as text, as the same name can be encoded in several ways. RFC 5280 §7.1.
    private mutating func checkName(_ name: GeneralName?, of certificate: ChainCertificate) {
        guard let name else { return }
        let names = [.directoryName(certificate.certificate.subject)] + (certificate.names ?? [])
        let text = String(describing: name).lowercased()
        if !names.contains(where: { String(describing: $0).lowercased() == text }) {
            add(.invalid, "stamp-name", "The time stamp names another authority than “\(certificate.name)”.")
        }
    }

    /// RFC 3161 §2.3: the extended key usage must be critical, and nothing but time stamping.
    private mutating func checkCertificate(_ certificate: ChainCertificate, at time: CaptureTimestamp) {
        let usage = certificate.certificate.extensions[oid: .X509ExtensionID.extendedKeyUsage]
        if certificate.extendedKeyUsage.map(Array.init) != [.timeStamping] || usage?.critical != true {
            add(.invalid, "stamp-usage", "The certificate of “\(certificate.name)” isn't for time stamps.")
        }
        if !certificate.allowsSignatures {
            add(.invalid, "stamp-usage", "The key of “\(certificate.name)” isn't for signatures.")
        }
        if !certificate.isValid(at: time.date) {
            add(
                .invalid, "stamp-expired",
                "The certificate is valid from \(certificate.validity), but the time stamp is from \(time)."
            )
        }
        let before = chain
        var ordered = CertificateChain(certificates: chain)
        ordered.moveToFront(certificate, member: "timestampCert", problems: &problems)
        chain = ordered.certificates
        let problem = CertificatePath.problem(
            of: certificate, intermediates: before, roots: roots, purpose: .timeStamping, at: time.date)
        if let problem { add(.untrusted, "stamp-untrusted", problem) }
    }
}

extension TimeStampToken.Signer {
    /// Returns whether the signer has this certificate. RFC 5652 §5.3.
    fileprivate func isSigned(by certificate: ChainCertificate) -> Bool {
        switch identifier {
        case .subjectKey(let key): return certificate.keyIdentifier == key
        case .issuerAndSerial(let issuer, let serial):
            guard let name = try? DistinguishedName(derEncoded: issuer) else { return false }
            // A leading zero only makes the number positive. swift-certificates drops it.
            let own = certificate.certificate.serialNumber.bytes.drop { $0 == 0 }
            return certificate.certificate.issuer == name && own == serial.drop { $0 == 0 }
        }
    }

    /// Returns whether the signed attributes name the certificate by its hash. RFC 3161 §2.4.2, RFC 5816 §2.2.1.
    fileprivate func names(_ certificate: ChainCertificate) throws -> Bool {
        let old = try attributes?[.signingCertificate]?.only.map { try Self.firstCertificate($0) }
        let new = try attributes?[.signingCertificateV2]?.only.map { try Self.firstCertificate($0) }
        guard old != nil || new != nil else { return false }
        if let old {
            // ESSCertID: SHA-1 of the certificate, issuer and serial number.
            guard let hash = old.first, try Self.octets(hash) == HashAlgorithm.sha1.hash(certificate.der) else {
                return false
            }
        }
        if let new {
            // ESSCertIDv2: the hash algorithm, unless it's SHA-256; the hash; issuer and serial number.
            let hasAlgorithm = new.first?.identifier == .sequence
            let identifier = try hasAlgorithm ? new.first.map { try ASN1ObjectIdentifier(algorithm: $0) } : nil
            let algorithm = identifier.map { HashAlgorithm($0) } ?? .sha256
            guard let algorithm, let hash = new.dropFirst(hasAlgorithm ? 1 : 0).first,
                try Self.octets(hash) == algorithm.hash(certificate.der)
            else { return false }
        }
        return true
    }

    /// Returns the fields of the first identifier in a SigningCertificate or SigningCertificateV2. RFC 5035 §3, §5.
    private static func firstCertificate(_ node: ASN1Node) throws -> [ASN1Node] {
        try node.children(.sequence).first?.children(.sequence).first?.children(.sequence) ?? []
    }

    private static func octets(_ node: ASN1Node) throws -> [UInt8] {
        Array(try ASN1OctetString(derEncoded: node).bytes)
    }
}

extension Array {
    /// The element of an array with one element.
    fileprivate var only: Element? { count == 1 ? first : nil }
}
