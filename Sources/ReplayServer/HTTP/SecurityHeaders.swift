package import HTTPTypes

/// The header fields that isolate archived pages, other sites and the library from each other.
package enum SecurityHeaders {
    /// The fields of every response: no sniffing, no use by other sites, no referrer.
    package static let common: HTTPFields = [
        .xContentTypeOptions: "nosniff",
        .crossOriginResourcePolicy: "same-origin",
        .referrerPolicy: "no-referrer",
    ]

    /// The `Referrer-Policy` of redirects. Each origin recognizes those that began at the library.
    static let referrerOfRedirects = "origin"

    /// The policy of the library: its own scripts and styles, one inline script by hash, frames of replay origins, and images only to clear those.
    ///
    /// - Parameters:
    ///   - origin: The library's origin that the page is on.
    ///   - scriptHash: The hash of its inline script, if it has one.
    static func controlPage(_ hosts: HostPolicy, at origin: String, scriptHash: String? = nil) -> String {
        let replaySources = hosts.replaySources(at: origin)
        let clearing = replaySources.split(separator: " ").map { "\($0)/clear" }.joined(separator: " ")
        return [
            "default-src 'none'", "script-src 'self'\(scriptHash.map { " 'sha256-\($0)'" } ?? "")", "style-src 'self'",
            "img-src 'self' blob: data: \(clearing)", "font-src 'self'",
            (["connect-src 'self'"] + hosts.controlOrigins.dropFirst()).joined(separator: " "),
            "frame-src \(replaySources) \(hosts.addressOrigin)",
            "frame-ancestors 'none'",
            "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
        ].joined(separator: "; ")
    }

    /// The policy of the page that starts the worker on a replay origin: one inline script and style, by hash.
    static func bootPage(_ hosts: HostPolicy, scriptHash: String, styleHash: String) -> String {
        [
            "default-src 'none'", "script-src 'sha256-\(scriptHash)'", "style-src 'sha256-\(styleHash)'",
            "worker-src 'self'",
            "connect-src 'self'", "img-src data:",
            "frame-ancestors 'self' \(hosts.controlOrigins.joined(separator: " "))",
            "base-uri 'none'", "form-action 'none'",
        ].joined(separator: "; ")
    }

    /// The policy of the replay engine's script: the worker can only fetch from its own origin. Frames that a script fills
    /// are `blob:` URLs of that origin.
    static let engine = "default-src 'none'; script-src 'self'; connect-src 'self' blob:"

    /// The policy of the stock interface, which uses inline styles and frames its own origin.
    static let stockPage = [
        "default-src 'none'", "script-src 'self' 'unsafe-inline' 'unsafe-eval'", "style-src 'self' 'unsafe-inline'",
        "img-src 'self' blob: data:", "font-src 'self' data:", "connect-src 'self'", "worker-src 'self' blob:",
        "media-src 'self' blob: data:", "frame-src 'self' blob: data:", "frame-ancestors 'none'", "base-uri 'self'",
        "form-action 'none'",
    ].joined(separator: "; ")

    /// The fields of a capture: a sandboxed document without scripts.
    static func capture(_ hosts: HostPolicy, at place: CaptureRoutes.Place, isForEngine: Bool) -> HTTPFields {
        guard case .replay = place else {
            return common.adding([.contentSecurityPolicy: "sandbox; \(inert)"])
        }
        var fields = common.adding([.contentSecurityPolicy: "sandbox; script-src 'none'; \(archivedPage(hosts))"])
        // The engine passes the fields on to archived pages, which may rely on sniffing.
        if isForEngine { fields[.xContentTypeOptions] = nil }
        return fields
    }

    /// The policy of an archived page: it can do anything on its own origin, and can't reach any other.
    ///
    /// It can't block WebRTC, and some browsers resolve the names of blocked hosts; see `docs/safety.md`.
    static func archivedPage(_ hosts: HostPolicy) -> String {
        [
            "default-src 'self' 'unsafe-eval' 'unsafe-inline' data: blob: mediastream:", "frame-src 'self' data: blob:",
            // Not `data:`: shared workers with such a URL have no policy in WebKit.
            "worker-src 'self' blob:", "object-src 'none'", "form-action 'self'", "base-uri 'self'",
            "frame-ancestors 'self' \(hosts.controlOrigins.joined(separator: " "))",
        ].joined(separator: "; ")
    }

    /// The policy for printing a copy of an archived page: only our script runs, by hash, and everything else is in the
    /// copy. Frames can have their content only in an attribute. The sandbox gives the page an origin of its own.
    static func printPage(_ hosts: HostPolicy, scriptHash: String) -> String {
        [
            "sandbox allow-scripts allow-modals", "default-src 'none'", "script-src 'sha256-\(scriptHash)'",
            "style-src 'unsafe-inline'", "img-src data:", "font-src data:", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors \(hosts.controlOrigins.joined(separator: " "))",
        ].joined(separator: "; ")
    }

    /// The policy of a PDF document. Browsers don't show PDF in a sandbox. WebKit's PDF viewer needs a style attribute.
    static func pdf(_ hosts: HostPolicy) -> String {
        [
            "default-src 'none'", "style-src 'unsafe-inline'", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors \(hosts.controlOrigins.joined(separator: " "))",
        ].joined(separator: "; ")
    }

    /// The policy of the empty page on a replay origin, in a frame of the viewer.
    static func clearedPage(_ hosts: HostPolicy) -> String {
        "sandbox; default-src 'none'; frame-ancestors \(hosts.controlOrigins.joined(separator: " "))"
    }

    /// The policy of the page that keeps the viewer's mark at a replay origin: only the viewer can show it in a frame.
    static func markPage(_ hosts: HostPolicy, scriptHash: String) -> String {
        "default-src 'none'; script-src 'sha256-\(scriptHash)'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors \(hosts.controlOrigins.joined(separator: " "))"
    }

    /// Limits the connections of documents on a replay origin to that origin, including DNS lookups, in Chromium.
    /// https://wicg.github.io/connection-allowlists/
    ///
    /// Redirects are allowed because the worker and the server only redirect within the origin.
    static let ownOrigin = "(response-origin);redirects=allow"

    /// The same for our own page on a replay origin, which opens the viewer.
    static func ownAndControlOrigins(_ hosts: HostPolicy) -> String {
        "(response-origin \(hosts.controlOrigins.map { "\"\($0)\"" }.joined(separator: " ")));redirects=allow"
    }

    /// The policy of an archived image: a document without scripts, on an origin of its own.
    static let image = "sandbox; \(inert)"

    /// The policy of responses without active content: errors and JSON.
    package static let inert = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
}

extension HTTPField.Name {
    static let xContentTypeOptions = name("X-Content-Type-Options")
    static let crossOriginResourcePolicy = name("Cross-Origin-Resource-Policy")
    static let connectionAllowlist = name("Connection-Allowlist")
    package static let crossOriginOpenerPolicy = name("Cross-Origin-Opener-Policy")
    static let referrerPolicy = name("Referrer-Policy")
    static let contentSecurityPolicy = name("Content-Security-Policy")
    static let clearSiteData = name("Clear-Site-Data")
    static let originAgentCluster = name("Origin-Agent-Cluster")
    package static let serviceWorkerAllowed = name("Service-Worker-Allowed")
    package static let secFetchSite = name("Sec-Fetch-Site")
    static let secFetchDest = name("Sec-Fetch-Dest")
    static let replayhostToken = name("Replayhost-Token")
    /// The code of an error whose response isn't JSON.
    static let replayhostError = name("Replayhost-Error")
    /// The id of the job that a response is about.
    static let replayhostJob = name("Replayhost-Job")
    static let apiVersion = name("Replayhost-API-Version")
    package static let lastEventID = name("Last-Event-ID")

    /// Creates a name from a text that is known to be valid.
    package static func name(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) isn't a field name") }
        return name
    }
}
