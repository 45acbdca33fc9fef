import HTTPTypes

/// The header fields that keep archived pages, other sites and the control pages apart.
package enum SecurityHeaders {
    /// On every answer: no sniffing, no use by other sites, no address told to anyone.
    static let common: HTTPFields = [
        .xContentTypeOptions: "nosniff",
        .crossOriginResourcePolicy: "same-origin",
        .referrerPolicy: "no-referrer",
    ]

    /// The library: our own scripts and styles, frames of replay origins, nothing else.
    ///
    /// - Parameter origin: Which of the library's origins the page is on.
    static func controlPage(_ hosts: HostPolicy, at origin: String) -> String {
        [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob: data:",
            "font-src 'self'",
            (["connect-src 'self'"] + hosts.controlOrigins.dropFirst()).joined(separator: " "),
            "frame-src \(hosts.replaySources(at: origin)) \(hosts.addressOrigin)",
            "frame-ancestors 'none'",
            "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
        ].joined(separator: "; ")
    }

    /// The page on a replay origin that boots the worker: one inline script, one inline style, by their hashes.
    static func bootPage(_ hosts: HostPolicy, scriptHash: String, styleHash: String) -> String {
        [
            "default-src 'none'", "script-src 'sha256-\(scriptHash)'", "style-src 'sha256-\(styleHash)'",
            "worker-src 'self'",
            "connect-src 'self'", "img-src data:",
            "frame-ancestors 'self' \(hosts.controlOrigins.joined(separator: " "))",
            "base-uri 'none'", "form-action 'none'",
        ].joined(separator: "; ")
    }

    /// The replay engine's script: as a worker it fetches from its own origin alone, whatever an archive asks it to.
    static let engine = "default-src 'none'; script-src 'self'; connect-src 'self'"

    /// The stock user interface brings inline styles and frames its own origin.
    static let stockPage = [
        "default-src 'none'", "script-src 'self' 'unsafe-inline' 'unsafe-eval'", "style-src 'self' 'unsafe-inline'",
        "img-src 'self' blob: data:", "font-src 'self' data:", "connect-src 'self'", "worker-src 'self' blob:",
        "media-src 'self' blob: data:", "frame-src 'self' blob: data:", "frame-ancestors 'none'", "base-uri 'self'",
        "form-action 'none'",
    ].joined(separator: "; ")

    /// A capture as the server sends it: a document without an origin, and without scripts.
    static func capture(_ hosts: HostPolicy, at place: CaptureRoutes.Place, isForEngine: Bool) -> HTTPFields {
        guard case .replay = place else {
            return common.adding([.contentSecurityPolicy: "sandbox; \(inert)"])
        }
        var fields = common.adding([.contentSecurityPolicy: "sandbox; script-src 'none'; \(archivedPage(hosts))"])
        // Sniffing was allowed when the page was archived, and the engine hands this on to it.
        if isForEngine { fields[.xContentTypeOptions] = nil }
        return fields
    }

    /// An archived page, as the worker of its origin sends it: it may do what it likes on its own origin, and reach no other.
    ///
    /// A policy cannot stop WebRTC, and some browsers look up the names of what it blocks: docs/safety.md.
    static func archivedPage(_ hosts: HostPolicy) -> String {
        [
            "default-src 'self' 'unsafe-eval' 'unsafe-inline' data: blob: mediastream:", "frame-src 'self' data: blob:",
            // Not `data:`: a shared worker of such an address has no policy in WebKit.
            "worker-src 'self' blob:", "object-src 'none'", "form-action 'self'", "base-uri 'self'",
            "frame-ancestors 'self' \(hosts.controlOrigins.joined(separator: " "))",
        ].joined(separator: "; ")
    }

    /// An archived page that is printed: as above, with one script, by its hash. The archive's own don't run.
    static func printPage(_ hosts: HostPolicy, scriptHash: String) -> String {
        "script-src 'sha256-\(scriptHash)'; \(archivedPage(hosts))"
    }

    /// A PDF document. Its frame has no sandbox, in which browsers show none. WebKit gives its PDF viewer a size by a style attribute.
    static func pdf(_ hosts: HostPolicy) -> String {
        [
            "default-src 'none'", "style-src 'unsafe-inline'", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors \(hosts.controlOrigins.joined(separator: " "))",
        ].joined(separator: "; ")
    }

    /// An empty page of a replay origin, in a frame of the viewer.
    static func clearedPage(_ hosts: HostPolicy) -> String {
        "sandbox; default-src 'none'; frame-ancestors \(hosts.controlOrigins.joined(separator: " "))"
    }

    /// What a document of a replay origin may connect to: that origin. Chromium obeys it, also for the names that it looks up.
    /// https://wicg.github.io/connection-allowlists/
    ///
    /// Redirects are allowed since the worker and the server redirect within the origin only.
    static let ownOrigin = "(response-origin);redirects=allow"

    /// The same for our own page at a replay origin, which leads to the viewer.
    static func ownAndControlOrigins(_ hosts: HostPolicy) -> String {
        "(response-origin \(hosts.controlOrigins.map { "\"\($0)\"" }.joined(separator: " ")));redirects=allow"
    }

    /// An answer that shows nothing: errors and JSON.
    static let inert = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
}

extension HTTPField.Name {
    static let xContentTypeOptions = name("X-Content-Type-Options")
    static let crossOriginResourcePolicy = name("Cross-Origin-Resource-Policy")
    static let connectionAllowlist = name("Connection-Allowlist")
    static let crossOriginOpenerPolicy = name("Cross-Origin-Opener-Policy")
    static let referrerPolicy = name("Referrer-Policy")
    static let contentSecurityPolicy = name("Content-Security-Policy")
    static let clearSiteData = name("Clear-Site-Data")
    static let originAgentCluster = name("Origin-Agent-Cluster")
    static let serviceWorkerAllowed = name("Service-Worker-Allowed")
    static let secFetchSite = name("Sec-Fetch-Site")
    static let secFetchDest = name("Sec-Fetch-Dest")
    static let replayhostToken = name("Replayhost-Token")
    /// The code of an error whose answer is no JSON.
    static let replayhostError = name("Replayhost-Error")
    /// The number of the job that an answer is about.
    static let replayhostJob = name("Replayhost-Job")
    static let apiVersion = name("Replayhost-API-Version")
    static let lastEventID = name("Last-Event-ID")

    /// The names above are tokens by sight; the library cannot know that.
    static func name(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is no field name") }
        return name
    }
}
