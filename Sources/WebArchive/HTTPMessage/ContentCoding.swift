/// The compression of a response body. RFC 9110 §8.4.1, RFC 7932 (`br`), RFC 8878 (`zstd`).
public enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    /// Gzip members. RFC 1952.
    case gzip
    /// A zlib stream, or raw deflate data as sent by some servers.
    case deflate
    /// Brotli.
    case br
    /// Zstandard frames.
    case zstd

    /// Whether `ContentDecoder` supports the coding in this build. Brotli and Zstandard need libraries that iOS lacks.
    public var isDecodable: Bool {
        switch self {
        case .gzip, .deflate: return true
        case .br:
            #if WITH_BROTLI
            return true
            #else
            return false
            #endif
        case .zstd:
            #if WITH_ZSTD
            return true
            #else
            return false
            #endif
        }
    }

    /// Creates a coding from a token of `Content-Encoding` or `Accept-Encoding`; `nil` for `identity` and unknown
    /// tokens.
    public init?(token: some StringProtocol) {
        switch token.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .br
        case "zstd": self = .zstd
        default: return nil
        }
    }

    /// Returns the content codings of a message in the order in which they were applied.
    ///
    /// - Returns: `nil` if a coding is unknown or there are too many, so that the body can't be decoded.
    public static func applied(in fields: HeaderFields) -> [ContentCoding]? {
        var codings: [ContentCoding] = []
        for token in fields.all("Content-Encoding").flatMap({ $0.split(separator: ",") }) {
            let name = token.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" && $0 != ";" }
            if name.isEmpty || name.lowercased() == "identity" { continue }
            guard let coding = ContentCoding(token: name) else { return nil }
            codings.append(coding)
            let large = codings.count { $0 == .br || $0 == .zstd }
            guard codings.count <= codingsMax, large <= largeCodingsMax else { return nil }
        }
        return codings
    }

    /// Returns those of the codings that a message names that its body has.
    ///
    /// Some tools store decoded bodies but keep the `Content-Encoding` field, and some servers sent it with bodies that
    /// weren't encoded. A browser shows an error instead of such a body.
    ///
    /// - Parameters:
    ///   - named: In the order in which they were applied.
    ///   - start: The first `startBytes` of the body, or all of it. What they can't tell is believed.
    static func confirmed(
        _ named: [ContentCoding], by start: [UInt8], _ allowance: Allowance
    ) -> [ContentCoding] {
        var confirmed: [ContentCoding] = []
        var bytes = start
        for (place, coding) in named.enumerated().reversed() {
            let decoder = ContentDecoder(
                SourceStream(MemoryByteSource(bytes, name: "")), coding: coding, allowance)
            do throws(WebArchiveError) {
                guard try decoder.isEncoded() else { continue }
                confirmed.insert(coding, at: 0)
                bytes = decoder.decodedStart(startBytes)
                if bytes.isEmpty { return named[..<place] + confirmed }
            } catch {
                return named[...place] + confirmed
            }
        }
        return confirmed
    }

    /// The number of bytes of a body to judge its codings by.
    static let startBytes = 4 << 10

    /// The maximum number of codings of a body. Each adds a decoder around the previous one.
    private static let codingsMax = 4
    /// The maximum number of those whose decoders keep up to 16 MB of what they have decoded. RFC 7932 §9.1, RFC 9659.
    private static let largeCodingsMax = 2
}
