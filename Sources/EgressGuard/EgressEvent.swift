/// A connection that is made, or refused.
package struct EgressEvent: Sendable, Hashable, Codable {
    /// As the tool named it, in lower case; empty if the request wasn't valid.
    package var host = ""
    package var port = 0
    /// The IP address that is connected.
    package var address: String?
    /// Why nothing is connected; with an address: why the connection ended.
    package var refusal: Refusal?

    /// Source: RFC 9209 §2.3, the error types of `Proxy-Status`.
    package enum Refusal: String, Sendable, Codable, CaseIterable {
        case notPublic = "destination_ip_prohibited"
        case denied = "http_request_denied"
        case invalid = "http_request_error"
        case unknownHost = "dns_error"
        case noConnection = "connection_refused"
        case tooSlow = "connection_timeout"
        case limit = "connection_limit_reached"

        /// What a person reads in the log of a download.
        package var reason: String {
            switch self {
            case .notPublic: "the host has an address that isn't public"
            case .denied: "the guard doesn't let this host or port through"
            case .invalid: "the request isn't valid"
            case .unknownHost: "the host has no address"
            case .noConnection: "the host can't be reached"
            case .tooSlow: "the host doesn't answer"
            case .limit: "a limit of the download is reached"
            }
        }

        /// The status code of the response. Source: as the type recommends.
        var status: Int {
            switch self {
            case .notPublic, .denied: 403
            case .invalid: 400
            case .unknownHost, .noConnection: 502
            case .tooSlow: 504
            case .limit: 503
            }
        }

        var statusText: String {
            switch status {
            case 400: "Bad Request"
            case 403: "Forbidden"
            case 502: "Bad Gateway"
            case 503: "Service Unavailable"
            default: "Gateway Timeout"
            }
        }
    }
}

/// A connection that isn't made.
struct Refused: Error {
    let refusal: EgressEvent.Refusal

    init(_ refusal: EgressEvent.Refusal) { self.refusal = refusal }
}
