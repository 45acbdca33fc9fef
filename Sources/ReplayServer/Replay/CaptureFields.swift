import ArchiveStore
import HTTPTypes
import WebArchive

/// Selects which archived fields are sent under their own names.
///
/// Archived cookies, caching, policies and connection fields must not affect this server's response. Like other replay
/// servers, this one sends every field as `X-Archive-Orig-…` as well.
enum CaptureFields {
    /// Returns the fields to send.
    ///
    /// - Parameter isForEngine: Whether the replay engine reads them. It handles most fields itself, so it gets all
    ///   that don't affect the transfer.
    static func fields(of capture: OpenCapture, isForEngine: Bool) -> HTTPFields {
        var fields = HTTPFields()
        var bytes = 0
        for field in capture.fields.fields {
            // Includes the prefix and the delimiters.
            bytes += field.name.utf8.count + field.value.utf8.count + 20
            guard bytes <= bytesMax else { break }
            let lower = field.name.lowercased()
            if isForEngine ? !active.contains(lower) && !isActive(lower) : kept.contains(lower) {
                append(field.name, field.value, to: &fields)
                if isForEngine { continue }
            }
            append("X-Archive-Orig-\(field.name)", field.value, to: &fields)
        }
        if isForEngine, let cookies = cookies(of: capture) { append("X-Proxy-Set-Cookie", cookies, to: &fields) }
        return fields
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

    private static func isActive(_ name: String) -> Bool {
        activePrefixes.contains { name.hasPrefix($0) }
    }

    /// Fields that describe the body.
    private static let kept: Set<String> = ["content-type", "content-language", "content-disposition"]

    /// Fields that browsers or proxies act on, and fields that this server sets.
    private static let active: Set<String> = [
        "accept-ranges", "age", "alt-svc", "alternate-protocol", "authentication-info", "cache-control",
        "clear-site-data",
        "connection", "content-encoding", "content-length", "content-location", "content-range",
        "content-security-policy",
        "content-security-policy-report-only", "critical-ch", "date", "document-policy", "etag", "expect-ct", "expires",
        "feature-policy", "keep-alive", "last-modified", "link", "location", "memento-datetime", "nel",
        "origin-agent-cluster", "p3p", "permissions-policy", "pragma", "public-key-pins",
        "public-key-pins-report-only",
        "referrer-policy", "refresh", "report-to", "reporting-endpoints", "retry-after", "server",
        "service-worker-allowed",
        "set-cookie", "set-cookie2", "set-login", "sourcemap", "speculation-rules", "status",
        "strict-transport-security",
        "supports-loading-mode", "te", "timing-allow-origin", "trailer", "transfer-encoding", "upgrade", "vary", "via",
        "warning", "www-authenticate", "x-content-type-options", "x-dns-prefetch-control", "x-frame-options",
        "x-orig-location", "x-orig-ts", "x-proxy-set-cookie", "x-redirect-status", "x-redirect-statustext",
        "x-sourcemap", "x-wabac-preset-cookie", "x-xss-protection",
    ]
    private static let activePrefixes = [
        "access-control-", "accept-ch", "cross-origin-", "proxy-", "sec-", "x-archive-orig-", "attribution-",
        "observe-browsing",
    ]
    private static let bytesMax = 64 << 10
    private static let cookieBytesMax = 16 << 10
}
