import SwiftASN1
import WebArchive
import X509

/// A response of a time stamping authority, as read, with nothing checked. RFC 3161 §2.4.2, RFC 5652 §5.
///
/// swift-certificates reads CMS too, but not publicly. Only DER is read, which RFC 3161 doesn't require of the outer
/// structures: authsign writes DER, and OpenSSL does.
struct TimeStampToken {
    /// A signature over the token. RFC 5652 §5.3, SignerInfo.
    struct Signer {
        /// The signer's certificate. RFC 5652 §5.3, SignerIdentifier.
        enum Identifier {
            case issuerAndSerial(issuer: ASN1Node, serial: ArraySlice<UInt8>)
            case subjectKey(ArraySlice<UInt8>)
        }

        let identifier: Identifier
        let digestAlgorithm: ASN1ObjectIdentifier
        /// The values of each signed attribute; `nil` if there are no signed attributes. RFC 5652 §11.
        let attributes: [ASN1ObjectIdentifier: [ASN1Node]]?
        /// The bytes that are signed: the signed attributes as a SET OF instead of [0]. RFC 5652 §5.4.
        let signedBytes: [UInt8]
        let signatureAlgorithm: ASN1ObjectIdentifier
        let signature: ArraySlice<UInt8>
    }

    /// The status. RFC 3161 §2.4.2: 0 is granted, 1 granted with modifications; others come without a token.
    let status: Int
    /// The digest algorithms of all signatures. RFC 5652 §5.1.
    let digestAlgorithms: [ASN1ObjectIdentifier]
    /// The encoded TSTInfo, over which the message digest is calculated. RFC 5652 §5.4.
    let content: [UInt8]
    /// The algorithm and the hash of the stamped data. RFC 3161 §2.4.2, MessageImprint.
    let imprintAlgorithm: ASN1ObjectIdentifier
    let imprint: ArraySlice<UInt8>
    /// The time of the stamp, to the second. RFC 3161 §2.4.2, genTime.
    let time: CaptureTimestamp
    /// The name of the authority; `nil` if it's missing. RFC 3161 §2.4.2, tsa.
    let authority: GeneralName?
    /// The encoded certificates in the token. RFC 5652 §10.2.3.
    let certificates: [[UInt8]]
    /// The signatures. RFC 3161 §2.4.2 requires exactly one.
    let signers: [Signer]

    /// Reads a TimeStampResp.
    ///
    /// - Throws: `UnreadableData` if the structure is wrong, and `RefusedStamp` if the authority didn't grant a stamp.
    init(response: [UInt8]) throws {
        guard response.count <= SignatureLimits.timeStampBytesMax else {
            throw UnreadableData(
                what: "it has \(response.count) bytes, \(SignatureLimits.timeStampBytesMax) are allowed")
        }
        let response = try DER.parse(response).children(.sequence)
        guard let statusNode = try response.first?.children(.sequence).first else {
            throw UnreadableData(what: "it has no status")
        }
        status = try Int(derEncoded: statusNode)
        guard status == 0 || status == 1 else { throw RefusedStamp(status: status) }
        guard response.count > 1 else { throw UnreadableData(what: "it contains no token") }
        let signedData = try Self.content(of: response[1], type: .signedData)
        let fields = try signedData.children(.sequence)
        // Version, digest algorithms, content, certificates [0], revocation lists [1], signers.
        guard fields.count >= 4, let last = fields.last else {
            throw UnreadableData(what: "its signed data is incomplete")
        }
        digestAlgorithms = try fields[1].children(.set).map { try ASN1ObjectIdentifier(algorithm: $0) }
        content = Array(try ASN1OctetString(derEncoded: Self.content(of: fields[2], type: .timeStampInfo)).bytes)
        certificates = try fields[3..<(fields.count - 1)].filter { $0.isTagged(0) }
            .flatMap { try $0.children($0.identifier) }.prefix(SignatureLimits.certificatesMax).map {
                Array($0.encodedBytes)
            }
        signers = try last.children(.set).prefix(2).map { try Signer($0) }
        // Version, policy, imprint, serial number, time; what follows is optional.
        let info = try DER.parse(content).children(.sequence)
        guard info.count >= 5, try Int(derEncoded: info[0]) == 1 else {
            throw UnreadableData(what: "its version is unknown")
        }
        (imprintAlgorithm, imprint) = try Self.imprint(info[2])
        time = try Self.time(info[4])
        authority = try info[5...].first { $0.isTagged(0) }.flatMap { try $0.children($0.identifier).first }.map {
            try GeneralName(derEncoded: $0)
        }
    }

    /// Returns the content of a ContentInfo or EncapsulatedContentInfo. RFC 5652 §3, §5.2.
    private static func content(of node: ASN1Node, type: ASN1ObjectIdentifier) throws -> ASN1Node {
        let fields = try node.children(.sequence)
        guard fields.count == 2, try ASN1ObjectIdentifier(derEncoded: fields[0]) == type, fields[1].isTagged(0),
            let content = try fields[1].children(fields[1].identifier).first
        else { throw UnreadableData(what: "it isn't a time stamp token") }
        return content
    }

    /// Reads a MessageImprint. RFC 3161 §2.4.2.
    private static func imprint(_ node: ASN1Node) throws -> (ASN1ObjectIdentifier, ArraySlice<UInt8>) {
        let fields = try node.children(.sequence)
        guard fields.count == 2 else { throw UnreadableData(what: "it has no hash of the stamped data") }
        return (
            try ASN1ObjectIdentifier(algorithm: fields[0]), try ASN1OctetString(derEncoded: fields[1]).bytes
        )
    }

    /// Reads a GeneralizedTime, without fractions of a second.
    private static func time(_ node: ASN1Node) throws -> CaptureTimestamp {
        _ = try GeneralizedTime(derEncoded: node)
        guard case .primitive(let text) = node.content,
            let time = CaptureTimestamp(digits: String(decoding: text.prefix(14), as: UTF8.self))
        else { throw UnreadableData(what: "its time is invalid") }
        return time
    }
}

/// The authority didn't grant a time stamp.
struct RefusedStamp: Error {
    /// RFC 3161 §2.4.2, PKIStatus.
    let status: Int
}

extension TimeStampToken.Signer {
    /// Reads a SignerInfo. RFC 5652 §5.3.
    init(_ node: ASN1Node) throws {
        var fields = try node.children(.sequence)[...]
        func next() throws -> ASN1Node {
            guard let field = fields.popFirst() else { throw UnreadableData(what: "its signature is incomplete") }
            return field
        }
        _ = try Int(derEncoded: next())
        identifier = try Self.identifier(next())
        digestAlgorithm = try ASN1ObjectIdentifier(algorithm: next())
        if let set = fields.first, set.isTagged(0) {
            fields.removeFirst()
            attributes = try Self.attributes(set)
            // The tag has one byte: [0], constructed. A SET OF has another one.
            signedBytes = [0x31] + set.encodedBytes.dropFirst()
        } else {
            attributes = nil
            signedBytes = []
        }
        signatureAlgorithm = try ASN1ObjectIdentifier(algorithm: next())
        signature = try ASN1OctetString(derEncoded: next()).bytes
    }

    private static func identifier(_ node: ASN1Node) throws -> Identifier {
        if node.isTagged(0), case .primitive(let bytes) = node.content { return .subjectKey(bytes) }
        let fields = try node.children(.sequence)
        guard fields.count == 2, fields[1].identifier == .integer, case .primitive(let serial) = fields[1].content
        else {
            throw UnreadableData(what: "its signer isn't named")
        }
        return .issuerAndSerial(issuer: fields[0], serial: serial)
    }

    /// Reads attributes, each of which must occur once. RFC 5652 §11.
    private static func attributes(_ set: ASN1Node) throws -> [ASN1ObjectIdentifier: [ASN1Node]] {
        var attributes: [ASN1ObjectIdentifier: [ASN1Node]] = [:]
        for attribute in try set.children(set.identifier) {
            let fields = try attribute.children(.sequence)
            guard fields.count == 2 else { throw UnreadableData(what: "a signed attribute is damaged") }
            let type = try ASN1ObjectIdentifier(derEncoded: fields[0])
            guard attributes.updateValue(try fields[1].children(.set), forKey: type) == nil else {
                throw UnreadableData(what: "a signed attribute occurs twice")
            }
        }
        return attributes
    }
}

extension ASN1Node {
    /// Returns whether the node has a context-specific tag with this number.
    func isTagged(_ number: UInt) -> Bool {
        identifier == ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}

extension ASN1ObjectIdentifier {
    /// Reads the algorithm of an AlgorithmIdentifier, without its parameters. RFC 5280 §4.1.1.2.
    init(algorithm node: ASN1Node) throws {
        guard let first = try node.children(.sequence).first else {
            throw UnreadableData(what: "an algorithm is missing")
        }
        self = try ASN1ObjectIdentifier(derEncoded: first)
    }

    /// RFC 5652 §5.1.
    static let signedData: Self = [1, 2, 840, 113549, 1, 7, 2]
    /// RFC 3161 §2.4.2, id-ct-TSTInfo.
    static let timeStampInfo: Self = [1, 2, 840, 113549, 1, 9, 16, 1, 4]
    /// RFC 5652 §11.1.
    static let contentType: Self = [1, 2, 840, 113549, 1, 9, 3]
    /// RFC 5652 §11.2.
    static let messageDigest: Self = [1, 2, 840, 113549, 1, 9, 4]
    /// RFC 2634 §5.4.
    static let signingCertificate: Self = [1, 2, 840, 113549, 1, 9, 16, 2, 12]
    /// RFC 5035 §3.
    static let signingCertificateV2: Self = [1, 2, 840, 113549, 1, 9, 16, 2, 47]
}
