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
            guard codings.count <= codingsMax else { return nil }
        }
        return codings
    }

    /// The maximum number of codings of a body. Each adds a decoder around the previous one.
    private static let codingsMax = 4
}
