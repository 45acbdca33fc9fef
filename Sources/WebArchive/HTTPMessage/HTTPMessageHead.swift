/// The first line and the fields of an HTTP message as it was archived.
///
/// Source: RFC 9112 §2 to §5. Writers differ: the reason phrase may be missing, and HTTP/2 messages are written in the
/// form of HTTP/1.1, with `HTTP/2` or `HTTP/1.1` in the first line.
public struct HTTPMessageHead: Sendable, Hashable {
    /// The first line of a message.
    public enum StartLine: Sendable, Hashable {
        /// `GET /path HTTP/1.1`.
        case request(method: String, target: String)
        /// `HTTP/1.1 200 OK`; the reason may be empty.
        case response(status: Int, reason: String)
    }

    /// What kind of message it is.
    public let startLine: StartLine
    /// `HTTP/1.1`, as written.
    public let version: String
    /// The fields, as they were received.
    public let fields: HeaderFields
    /// Bytes of the head with the empty line that ends it.
    public let length: Int

    /// The status of a response; `nil` for a request.
    public var status: Int? {
        guard case .response(let status, _) = startLine else { return nil }
        return status
    }

    /// The reason phrase of a response, which may be empty; `nil` for a request.
    public var reason: String? {
        guard case .response(_, let reason) = startLine else { return nil }
        return reason
    }

    /// The media type without parameters, in lower case: `text/html`.
    public var mime: String? { Self.mime(ofType: fields["Content-Type"]) }

    /// The media type that a `Content-Type` names, without parameters, in lower case.
    public static func mime(ofType value: String?) -> String? {
        guard let value else { return nil }
        let type = value.prefix { $0 != ";" && $0 != "," }.filter { !$0.isWhitespace }.lowercased()
        return type.isEmpty ? nil : type
    }

    /// Whether the head says that the body is sent in chunks. RFC 9112 §6.1.
    public var isChunked: Bool {
        fields.all("Transfer-Encoding").contains { $0.lowercased().contains("chunked") }
    }

    /// Reads a head and leaves `input` at the body.
    ///
    /// - Throws: `badRecord` when the first line is no HTTP, `tooLarge` when the head does not end.
    static func read(from input: BufferedInput, limits: Limits) throws(WebArchiveError) -> HTTPMessageHead {
        let start = input.offset
        let lines = try input.readHeadLines(limit: limits.httpHeadBytesMax)
        let first = lines.first.map { HeaderFields.trimmed($0[...]) } ?? ""
        guard let (startLine, version) = parse(first) else {
            throw WebArchiveError(
                code: .badRecord, problem: "'\(first.prefix(60))' is not the first line of an HTTP message",
                file: input.name)
        }
        return HTTPMessageHead(
            startLine: startLine, version: version, fields: HeaderFields(lines: Array(lines.dropFirst())),
            length: Int(clamping: input.offset - start))
    }

    private static func parse(_ line: String) -> (StartLine, String)? {
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
