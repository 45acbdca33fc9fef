import Foundation
import WebArchive

extension ToolFailure {
    /// Classifies why a page can't be opened.
    ///
    /// - Parameter error: The browser's name for it. Source: Chromium, `net/base/net_error_list.h`.
    package init(navigationError error: String) {
        let name = error.hasPrefix("net::ERR_") ? String(error.dropFirst("net::ERR_".count)) : error
        switch name {
        case "TOO_MANY_REDIRECTS": self.init(.network, "the site redirects in a circle")
        case let name where name.hasPrefix("CERT_") || name.hasPrefix("SSL_") || name.hasPrefix("BAD_SSL_"):
            self.init(.toolFailed, "the site's certificate or TLS isn't valid (\(error))")
        case "UNSAFE_PORT", "BLOCKED_BY_CLIENT", "UNKNOWN_URL_SCHEME", "INVALID_URL", "DISALLOWED_URL_SCHEME":
            self.init(.refused, "the browser doesn't open this URL (\(error))")
        case "HTTP_RESPONSE_CODE_FAILURE", "INVALID_RESPONSE", "EMPTY_RESPONSE":
            self.init(.network, "the site's answer has no content (\(error))")
        default: self.init(.network, "the page can't be opened (\(error))")
        }
    }
}

extension CaptureTimestamp {
    /// - Throws: `ToolFailure` if the clock is before 1970.
    static func now() throws -> CaptureTimestamp {
        guard let time = CaptureTimestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000)) else {
            throw ToolFailure(.toolFailed, "the computer's clock isn't set")
        }
        return time
    }
}
