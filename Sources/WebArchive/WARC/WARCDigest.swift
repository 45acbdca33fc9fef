/// A digest from a WARC record or an index.
///
/// Source: WARC 1.1 §5.8, `labelled-digest`. Five spellings exist: `sha1:` with base32, `sha256:` and `sha-256:` with
/// hexadecimal, and both base32 and hexadecimal without a label.
public struct WARCDigest: Sendable, Hashable {
    /// The hash function.
    public enum Algorithm: String, Sendable, Hashable, Codable {
        /// MD5, 16 bytes.
        case md5
        /// SHA-1, 20 bytes.
        case sha1
        /// SHA-256, 32 bytes.
        case sha256
        /// SHA-512, 64 bytes.
        case sha512

        /// Creates an algorithm from a label such as `sha-256` or `SHA256`; `nil` for others.
        init?(label: String) { self.init(rawValue: label.lowercased().replacing("-", with: "")) }

        /// The name for people, such as `SHA-256`.
        var name: String { rawValue.uppercased().replacing("SHA", with: "SHA-") }

        /// Whether different data can be made that have the same hash. RFC 6151 §2.1 (MD5), RFC 9155 §1 (SHA-1).
        var isWeak: Bool { self == .md5 || self == .sha1 }

        var byteCount: Int {
            switch self {
            case .md5: 16
            case .sha1: 20
            case .sha256: 32
            case .sha512: 64
            }
        }
    }

    /// The hash function.
    public let algorithm: Algorithm
    /// The bytes of the hash.
    public let bytes: [UInt8]

    /// The hash in lower-case hexadecimal digits.
    public var hex: String { bytes.hexadecimal }

    init(algorithm: Algorithm, bytes: [UInt8]) {
        (self.algorithm, self.bytes) = (algorithm, bytes)
    }

    /// Parses any of the five spellings; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard let value = parts.last else { return nil }
        let candidates: [Algorithm] =
            parts.count == 2
            ? Algorithm(label: String(parts[0])).map { [$0] } ?? [] : [.sha256, .sha1, .md5, .sha512]
        for algorithm in candidates {
            for decoded in [Self.hexDecoded(value), Self.base32Decoded(value)] {
                if let decoded, decoded.count == algorithm.byteCount {
                    self.algorithm = algorithm
                    bytes = decoded
                    return
                }
            }
        }
        return nil
    }

    private static func hexDecoded(_ text: Substring) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(digits.count / 2)
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[place].hexadecimalValue, let low = digits[place + 1].hexadecimalValue else {
                return nil
            }
            decoded.append(high << 4 | low)
        }
        return decoded
    }

    /// Decodes base32 with or without padding. RFC 4648 §6.
    private static func base32Decoded(_ text: Substring) -> [UInt8]? {
        var decoded: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in text.uppercased().utf8 where byte != UInt8(ascii: "=") {
            let value: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
            case UInt8(ascii: "2")...UInt8(ascii: "7"): value = byte - UInt8(ascii: "2") + 26
            default: return nil
            }
            bits = (bits << 5 | UInt32(value)) & 0xFFFF
            bitCount += 5
            if bitCount >= 8 {
                bitCount -= 8
                decoded.append(UInt8(truncatingIfNeeded: bits >> bitCount))
            }
        }
        return decoded
    }
}
