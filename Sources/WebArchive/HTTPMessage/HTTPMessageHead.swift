/// The start line and the header fields of an archived HTTP message.
///
/// Source: RFC 9112 §2 to §5. The reason phrase may be missing, and HTTP/2 messages are stored like HTTP/1.1, with
/// `HTTP/2` or `HTTP/1.1` in the first line.
public struct HTTPMessageHead: Sendable, Hashable {
    /// The start line of a message.
    public enum StartLine: Sendable, Hashable {
        /// A request: `GET /path HTTP/1.1`.
        case request(method: String, target: String)
        /// A response: `HTTP/1.1 200 OK`. The reason may be empty.
        case response(status: Int, reason: String)
    }

    /// The start line.
    public let startLine: StartLine
    /// The HTTP version as written: `HTTP/1.1`.
    public let version: String
    /// The header fields, as received.
    public let fields: HeaderFields
    /// The number of bytes in the head, including the empty line at its end.
    public let length: Int

    /// The status code of a response; `nil` for a request.
    public var status: Int? {
        guard case .response(let status, _) = startLine else { return nil }
        return status
    }

    /// The reason phrase of a response, which may be empty; `nil` for a request.
    public var reason: String? {
        guard case .response(_, let reason) = startLine else { return nil }
        return reason
    }

    /// The media type in lower case without parameters: `text/html`.
    public var mime: String? { Self.mime(ofType: fields["Content-Type"]) }

    /// Returns the media type of a `Content-Type` value in lower case, without parameters; `nil` if it's empty or too long.
    public static func mime(ofType value: String?) -> String? {
        guard let value else { return nil }
        let written = value.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        guard written.count <= Limits.standard.tokenBytesMax else { return nil }
        let type = String(Substring(written)).filter { !$0.isWhitespace }.lowercased()
        return type.isEmpty ? nil : type
    }

    /// Returns a media type or digest, unless it's longer than real ones.
    static func withinLimit(_ token: String?) -> String? {
        token.flatMap { $0.utf8.count <= Limits.standard.tokenBytesMax ? $0 : nil }
    }

    /// Whether the header fields declare a chunked body. RFC 9112 §6.1.
    public var isChunked: Bool {
        fields.all("Transfer-Encoding").contains { $0.lowercased().contains("chunked") }
    }

    /// Reads a head and leaves `input` at the start of the body.
    ///
    /// - Throws: `badRecord` if the first line isn't HTTP; `tooLarge` if the head exceeds its limits.
    static func read(from input: BufferedInput, limits: Limits) throws(WebArchiveError) -> HTTPMessageHead {
        let start = input.offset
        let lines = try input.readHead(bytesMax: limits.httpHeadBytesMax, linesMax: limits.headLinesMax)
        let first = HeaderFields.trimmed(lines.first[...])
        guard let (startLine, version) = parse(first) else {
            throw WebArchiveError(
                code: .badRecord, problem: "\"\(first.prefix(60))\" isn't the first line of an HTTP message",
                file: input.name)
        }
        return HTTPMessageHead(
            startLine: startLine, version: version, fields: lines.fields,
            length: Int(clamping: input.offset - start))
    }

    private static func parse(_ line: String) -> (StartLine, String)? {
        guard line.utf8.count <= Limits.standard.startLineBytesMax else { return nil }
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true).map(String.init)
        guard let first = parts.first, parts.count >= 2 else { return nil }
        if first.uppercased().hasPrefix("HTTP/") {
            guard let status = Int(parts[1]), (100...999).contains(status) else { return nil }
            return (.response(status: status, reason: parts.count > 2 ? parts[2] : ""), first)
        }
        guard let last = line.split(separator: " ").last, last.uppercased().hasPrefix("HTTP/") else { return nil }
        let target = line.dropFirst(first.count).dropLast(last.count).drop { $0 == " " }
        return (.request(method: first, target: String(target.reversed().drop { $0 == " " }.reversed())), String(last))
    }
}
