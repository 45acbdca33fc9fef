import ArchiveStore
import HTTPTypes
import WebArchive

/// Which fields of an archived answer go to the client under their own names.
///
/// An archived field speaks to the browser of its time about a site that is not this server: cookies, caching, policies and
/// the connection must not act here. Every field is repeated as `X-Archive-Orig-…`, as other replay servers do it.
enum CaptureFields {
    /// The archived fields as they are given out.
    ///
    /// - Parameter isForEngine: Whether the replay engine reads them: it treats most fields itself, so it gets all that does
    ///   not act on the way.
    static func fields(of capture: OpenCapture, isForEngine: Bool) -> HTTPFields {
        var fields = HTTPFields()
        var bytes = 0
        for field in capture.fields.fields {
            // With the prefix and what stands around them.
            bytes += field.name.utf8.count + field.value.utf8.count + 20
            guard bytes <= bytesMax else { break }
            let lower = field.name.lowercased()
            if isForEngine ? !acting.contains(lower) && !isActing(lower) : kept.contains(lower) {
                append(field.name, field.value, to: &fields)
                if isForEngine { continue }
            }
            append("X-Archive-Orig-\(field.name)", field.value, to: &fields)
        }
        if isForEngine, let cookies = cookies(of: capture) { append("X-Proxy-Set-Cookie", cookies, to: &fields) }
        return fields
    }

    /// The cookies that the page's scripts saw, for the engine to set in the page: `name=value,…`, as wabac.js splits them.
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

    /// What a field name or value cannot hold is left out: archives hold what servers really sent.
    private static func append(_ name: String, _ value: String, to fields: inout HTTPFields) {
        guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { return }
        fields.append(HTTPField(name: name, value: value))
    }

    private static func isActing(_ name: String) -> Bool {
        actingPrefixes.contains { name.hasPrefix($0) }
    }

    /// What tells how to read the body.
    private static let kept: Set<String> = ["content-type", "content-language", "content-disposition"]

    /// What a browser or a program on the way obeys, and what this server says itself.
    private static let acting: Set<String> = [
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
    private static let actingPrefixes = [
        "access-control-", "accept-ch", "cross-origin-", "proxy-", "sec-", "x-archive-orig-", "attribution-",
        "observe-browsing",
    ]
    private static let bytesMax = 64 << 10
    private static let cookieBytesMax = 16 << 10
}
