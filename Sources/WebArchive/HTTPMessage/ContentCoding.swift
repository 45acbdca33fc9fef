/// How a body was compressed by its server. RFC 9110 §8.4.1; `br` is RFC 7932, `zstd` RFC 8878.
public enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    /// Gzip members. RFC 1952.
    case gzip
    /// A zlib stream; some servers sent bare deflate data.
    case deflate
    /// Brotli.
    case br
    /// Zstandard frames.
    case zstd

    /// Whether `ContentDecoder` can undo it in this build: brotli and Zstandard need libraries that iOS does not have.
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

    /// Reads one token of `Content-Encoding` or `Accept-Encoding`; `nil` for an unknown one, `identity` included.
    public init?(token: some StringProtocol) {
        switch token.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .br
        case "zstd": self = .zstd
        default: return nil
        }
    }

    /// The codings that the fields of a message name, in the order in which they were applied.
    ///
    /// - Returns: `nil` when one of them is unknown, or there are more than any server uses, so that the body can only be passed on as it is.
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

    /// Codings of one body, at most: each is a decoder around the one before.
    private static let codingsMax = 4
}
