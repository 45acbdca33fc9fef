/// The start line and the header fields of an archived HTTP message.
///
/// Source: RFC 9112 §2 to §5. The reason phrase may be missing, and HTTP/2 messages are stored like HTTP/1.1, with
/// `HTTP/2` or `HTTP/1.1` in the first line. Servers of thirty years also wrote `HTTP 200 OK`, `ICY 200 OK` (SHOUTcast), a
/// status of 0, tabs, or nothing at all (HTTP/0.9, RFC 1945 §4.1: then the message is an HTML document).
public struct HTTPMessageHead: Sendable, Hashable {
    /// The start line of a message.
    public enum StartLine: Sendable, Hashable {
        /// A request: `GET /path HTTP/1.1`.
        case request(method: String, target: String)
        /// A response: `HTTP/1.1 200 OK`. The status is 0 if the server sent none; the reason may be empty.
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

    /// The status code of a response, 100 to 999; `nil` for a request, and if the server sent none.
    public var status: Int? {
        guard case .response(let status, _) = startLine, (100...999).contains(status) else { return nil }
        return status
    }

    /// The reason phrase of a response, which may be empty; `nil` for a request.
    public var reason: String? {
        guard case .response(_, let reason) = startLine else { return nil }
        return reason
    }

    /// The first line of a response, with single spaces: `HTTP/1.1 200 OK`; `nil` for a request and for HTTP/0.9.
    package var statusLine: String? {
        guard case .response(let status, let reason) = startLine, length > 0 else { return nil }
        return "\(version) \(status)" + (reason.isEmpty ? "" : " \(reason)")
    }

    /// The target of a redirect, as received; `nil` for other messages.
    package var redirectLocation: String? {
        guard let status, (300...399).contains(status), status != 304 else { return nil }
        return fields["Location"]
    }

    /// The maximum number of redirects in a row. Fetch, "HTTP-redirect fetch".
    package static let redirectsMax = 20

    /// The media type in lower case without parameters: `text/html`.
    public var mime: String? { Self.mime(ofType: fields["Content-Type"]) }

    /// Returns the media type of a `Content-Type` value in lower case, without parameters; `nil` if it's empty or too long.
    /// Some servers left out the semicolon: `text/html charset=utf-8`.
    public static func mime(ofType value: String?) -> String? {
        guard let value else { return nil }
        let blanks = Array(" \t\r\n".utf8)
        let written = value.utf8.drop { blanks.contains($0) }.prefix { !(Array(";,".utf8) + blanks).contains($0) }
        guard written.count <= Limits.standard.tokenBytesMax else { return nil }
        let type = String(Substring(written)).lowercased()
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
        // No first line begins with a tag.
        if try input.peek(1) == [UInt8(ascii: "<")] { return withoutHead }
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
        let parts = line.split(maxSplits: 2, whereSeparator: isBlank).map(String.init)
        guard let first = parts.first, parts.count >= 2 else { return nil }
        if isVersion(first) {
            guard let status = Int(parts[1]), (0...999).contains(status) else { return nil }
            let reason = parts.count > 2 ? String(parts[2].drop(while: isBlank)) : ""
            return (.response(status: status, reason: reason), first)
        }
        guard let last = line.split(whereSeparator: isBlank).last, last.uppercased().hasPrefix("HTTP/") else {
            return nil
        }
        let target = line.dropFirst(first.count).dropLast(last.count).drop(while: isBlank)
        let end = target.lastIndex { !isBlank($0) }
        return (.request(method: first, target: end.map { String(target[...$0]) } ?? ""), String(last))
    }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    private static func isVersion(_ word: String) -> Bool {
        let word = word.uppercased()
        return word.hasPrefix("HTTP/") || word == "HTTP" || word == "ICY"
    }

    /// Returns whether bytes are the start of a response's first line.
    static func begins(_ bytes: [UInt8]) -> Bool {
        let start = String(decoding: bytes, as: UTF8.self).uppercased()
        return ["HTTP/", "HTTP ", "HTTP\t", "ICY ", "ICY\t"].contains(where: start.hasPrefix)
    }

    /// The head of a message of HTTP/0.9, which has none.
    static let withoutHead = HTTPMessageHead(
        startLine: .response(status: 0, reason: ""), version: "HTTP/0.9",
        fields: HeaderFields([.init(name: "Content-Type", value: "text/html")]), length: 0)
}
