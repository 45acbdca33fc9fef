import ArchiveStore
import HTTPTypes
import WebArchive

/// Selects which archived fields are sent under their own names.
///
/// Only listed fields are: browsers act on many others, and on more of them with each version. Like other replay servers,
/// this one sends every field as `X-Archive-Orig-…` as well.
enum CaptureFields {
    /// Returns the fields to send.
    ///
    /// - Parameter isForEngine: Whether the replay engine reads them. It also gets the fields for archived scripts, and
    ///   needs no copies of what it gets.
    static func fields(of capture: OpenCapture, isForEngine: Bool) -> HTTPFields {
        var fields = HTTPFields()
        var bytes = 0
        for field in capture.fields.fields {
            // Includes the prefix and the delimiters.
            bytes += field.name.utf8.count + field.value.utf8.count + 20
            guard bytes <= bytesMax else { break }
            let lower = field.name.lowercased()
            if described.contains(lower) || isForEngine && isForScripts(lower) {
                append(field.name, lower == "content-type" ? withSemicolon(field.value) : field.value, to: &fields)
                if isForEngine { continue }
            }
            append("X-Archive-Orig-\(field.name)", field.value, to: &fields)
        }
        guard isForEngine else { return fields }
        if let cookies = cookies(of: capture) { append("X-Proxy-Set-Cookie", cookies, to: &fields) }
        if let type = capture.identifiedType, type.utf8.count <= identifiedTypeBytesMax {
            append("X-Archive-Identified-Type", type, to: &fields)
        }
        return fields
    }

    /// Returns a media type with the semicolon before its parameters, which some servers left out. Browsers don't know the
    /// type without it.
    private static func withSemicolon(_ type: String) -> String {
        let name = type.prefix { !" \t;".contains($0) }
        let rest = type.dropFirst(name.count).drop { " \t".contains($0) }
        guard name.contains("/"), !name.contains(","), rest.first?.isLetter == true, rest.contains("=") else {
            return type
        }
        return "\(name); \(rest)"
    }

    /// Returns the cookies that are visible to scripts, for the engine: `name=value,…`, the format of wabac.js.
    private static func cookies(of capture: OpenCapture) -> String? {
        var cookies: [Substring] = []
        var bytes = 0
        for field in capture.fields.fields where field.name.lowercased() == "set-cookie" {
            let parts = field.value.split(separator: ";", omittingEmptySubsequences: false)
            let isHidden = parts.dropFirst().contains { $0.filter { $0 != " " }.lowercased() == "httponly" }
            guard !isHidden, let cookie = parts.first, cookie.contains("="), !cookie.contains(",") else { continue }
            bytes += cookie.utf8.count + 1
            guard bytes <= cookieBytesMax else { break }
            cookies.append(cookie)
        }
        return cookies.isEmpty ? nil : cookies.joined(separator: ",")
    }

    /// Appends a field, unless it isn't valid: archives contain whatever servers sent.
    private static func append(_ name: String, _ value: String, to fields: inout HTTPFields) {
        guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { return }
        fields.append(HTTPField(name: name, value: value))
    }

    // MARK: The lists

    /// The lists for the worker, which selects from what the engine returns. Names are in lower case.
    struct Lists: Encodable {
        let documents = CaptureFields.documents.sorted()
        let scripts = CaptureFields.scripts.sorted()
        let ownPrefix = CaptureFields.ownPrefix
        let notOwn = CaptureFields.notOwn
    }

    /// Fields that describe the body.
    private static let described: Set<String> = ["content-disposition", "content-language", "content-type"]

    /// The fields of documents, scripts and images. The server and the engine set those that aren't in `described`.
    private static let documents = described.union([
        "accept-ranges", "cache-control", "content-length", "content-location", "content-range", "date", "etag",
        "expires", "last-modified", "location", "memento-datetime", "vary", "x-content-type-options",
    ])

    /// Fields that archived scripts can read as well, and that browsers don't act on.
    private static let scripts: Set<String> = [
        "allow", "content-md5", "deprecation", "digest", "grpc-message", "grpc-status", "ratelimit-limit",
        "ratelimit-remaining", "ratelimit-reset", "sunset",
    ]

    /// Names with this prefix are a site's own (RFC 6648), and scripts can read them.
    private static let ownPrefix = "x-"

    /// The start of names that browsers or the engine act on nevertheless.
    private static let notOwn = [
        "x-archive-identified-", "x-archive-orig-", "x-content-security-policy", "x-content-type-options",
        "x-dns-prefetch-control",
        "x-frame-options", "x-orig-location", "x-orig-ts", "x-proxy-set-cookie", "x-redirect-status",
        "x-replayhost-", "x-sourcemap", "x-ua-compatible", "x-wabac-", "x-webkit-csp", "x-xss-protection",
    ]

    /// Whether archived scripts can read a field that isn't in `documents`.
    private static func isForScripts(_ name: String) -> Bool {
        scripts.contains(name) || name.hasPrefix(ownPrefix) && !notOwn.contains { name.hasPrefix($0) }
    }

    private static let bytesMax = 64 << 10
    private static let cookieBytesMax = 16 << 10
    private static let identifiedTypeBytesMax = 1 << 10
}
