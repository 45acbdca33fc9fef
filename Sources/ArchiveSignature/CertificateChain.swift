import X509

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The certificates in a member of `signedData`, in the order of the file.
struct CertificateChain: Sendable {
    /// The certificates that can be read.
    var certificates: [ChainCertificate]

    init(certificates: [ChainCertificate]) { self.certificates = certificates }

    /// Reads a PEM text. RFC 7468 §5. Text outside of certificates is ignored, as OpenSSL does.
    ///
    /// The first certificate must be readable; others are only needed for a path to a root.
    ///
    /// - Parameter member: The member of `signedData`.
    init?(pem: String, member: String, problems: inout SignatureProblems) {
        certificates = []
        let blocks: [[UInt8]]
        do throws(UnreadableData) {
            blocks = try Self.blocks(of: pem, max: SignatureLimits.certificatesMax)
        } catch {
            problems.add(
                .unreadable, "chain-unreadable", "The certificates can't be read: \(error.what).", at: member,
                .unchecked)
            return nil
        }
        for (position, block) in blocks.enumerated() {
            do throws(UnreadableData) {
                let certificate = try ChainCertificate(der: block)
                if !certificates.contains(certificate) { certificates.append(certificate) }
            } catch {
                let isFirst = position == 0
                problems.add(
                    isFirst ? .unreadable : .note, "certificate-unreadable",
                    "Certificate \(position + 1) can't be read: \(error.what).", at: member,
                    isFirst ? .unchecked : .none)
                if isFirst { return nil }
            }
        }
    }

    /// Moves the signer's certificate to the front, and notes if the order differs from that of RFC 5246 §7.4.2: each
    /// certificate is followed by that of its issuer.
    ///
    /// - Parameter signer: The signer's certificate.
    mutating func moveToFront(_ signer: ChainCertificate, member: String, problems: inout SignatureProblems) {
        let others = certificates.filter { $0 != signer }
        let isOrdered =
            certificates.first == signer
            && zip(certificates, certificates.dropFirst()).allSatisfy {
                $0.certificate.issuer == $1.certificate.subject
            }
        certificates = [signer] + others
        if !isOrdered {
            problems.add(
                .note, "chain-order", "The certificates aren't in the order from the signer's to the root.", at: member,
                .none)
        }
    }

    /// Returns the decoded blocks of a PEM text.
    ///
    /// - Throws: `UnreadableData` if there are none, more than `max`, or one isn't base64.
    static func blocks(of pem: String, max: Int) throws(UnreadableData) -> [[UInt8]] {
        var blocks: [[UInt8]] = []
        var base64: Data?
        for line in pem.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let line = line.trimmingSpaces
            if line.elementsEqual("-----BEGIN CERTIFICATE-----".utf8) {
                base64 = Data()
            } else if line.elementsEqual("-----END CERTIFICATE-----".utf8) {
                guard let bytes = base64.flatMap({ Data(base64Encoded: $0) }) else {
                    throw UnreadableData(what: "certificate \(blocks.count + 1) isn't base64")
                }
                base64 = nil
                guard blocks.count < max else { throw UnreadableData(what: "there are more than \(max)") }
                blocks.append(Array(bytes))
            } else {
                base64?.append(contentsOf: line)
            }
        }
        guard base64 == nil else { throw UnreadableData(what: "certificate \(blocks.count + 1) has no end") }
        guard !blocks.isEmpty else { throw UnreadableData(what: "there are none") }
        return blocks
    }
}

extension Substring.UTF8View {
    /// The text without spaces and tabs at both ends.
    fileprivate var trimmingSpaces: Self {
        var rest = self
        while let byte = rest.first, byte == 0x20 || byte == 0x09 { rest = rest.dropFirst() }
        while let byte = rest.last, byte == 0x20 || byte == 0x09 { rest = rest.dropLast() }
        return rest
    }
}
