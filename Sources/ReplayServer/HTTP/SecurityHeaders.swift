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
            "frame-src \(hosts.replaySources(at: origin))",
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

    /// A capture. On the control origins it is a document without an origin and without scripts; on its own origin it is live, but
    /// calls nobody outside.
    static func capture(_ hosts: HostPolicy, at place: CaptureRoutes.Place, isForEngine: Bool) -> HTTPFields {
        switch place {
        case .control: return common.adding([.contentSecurityPolicy: "sandbox; \(inert)"])
        case .replay:
            var fields = common.adding([.contentSecurityPolicy: archived(hosts)])
            // Sniffing was allowed when the page was archived, and the engine hands this on to it.
            if isForEngine { fields[.xContentTypeOptions] = nil }
            return fields
        }
    }

    /// An archived document on its own origin without the engine: it may do what it likes there. It opens no windows and fetches
    /// nothing from elsewhere; that it sends its own tab elsewhere, or WebRTC packets, no policy prevents.
    private static func archived(_ hosts: HostPolicy) -> String {
        [
            "default-src 'unsafe-eval' 'unsafe-inline' 'self' data: blob: mediastream:", "worker-src blob: data:",
            "frame-src 'self' data: about: blob:", "object-src 'none'", "form-action 'self'",
            "sandbox allow-scripts allow-same-origin allow-forms allow-modals allow-downloads",
            "frame-ancestors 'self' \(hosts.controlOrigins.joined(separator: " "))",
        ].joined(separator: "; ")
    }

    /// An answer that shows nothing: errors and JSON.
    static let inert = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
}

extension HTTPField.Name {
    static let xContentTypeOptions = name("X-Content-Type-Options")
    static let crossOriginResourcePolicy = name("Cross-Origin-Resource-Policy")
    static let crossOriginOpenerPolicy = name("Cross-Origin-Opener-Policy")
    static let referrerPolicy = name("Referrer-Policy")
    static let contentSecurityPolicy = name("Content-Security-Policy")
    static let clearSiteData = name("Clear-Site-Data")
    static let originAgentCluster = name("Origin-Agent-Cluster")
    static let serviceWorkerAllowed = name("Service-Worker-Allowed")
    static let secFetchSite = name("Sec-Fetch-Site")
    static let replayhostToken = name("Replayhost-Token")
    /// The code of an error whose answer is no JSON.
    static let replayhostError = name("Replayhost-Error")
    static let apiVersion = name("Replayhost-API-Version")
    static let lastEventID = name("Last-Event-ID")

    /// The names above are tokens by sight; the library cannot know that.
    static func name(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is no field name") }
        return name
    }
}
