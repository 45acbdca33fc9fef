import EgressGuard

/// The part of the configuration that says where the server listens besides the loopback addresses.
package struct ListeningPlan: Sendable, Hashable {
    /// `127.0.0.1`, `::1` or `localhost`: nowhere else. `0.0.0.0`: all IPv4 addresses. `::`: all addresses. Else one of this
    /// computer's addresses.
    package var host = "127.0.0.1"
    /// The port for HTTP, also on the loopback addresses.
    package var port = 58_443
    /// The port for HTTPS; `nil` without. If it's the same as `port`, the network gets HTTPS only.
    package var encryptedPort: Int?
    /// More host names that requests may name.
    package var names: [String] = []
    /// `host:port` under which a router forwards connections from the internet.
    package var wan: String?
    package var serverName = "Video Download Server"

    package init() {}

    /// Whether only this computer can connect.
    package var isLoopbackOnly: Bool { host == "localhost" || IPAddress(host)?.isLoopback == true }

    /// Returns the addresses to listen on.
    func addresses(_ own: OwnAddresses) -> [IPAddress] {
        if isLoopbackOnly { return [] }
        switch host {
        case "0.0.0.0": return own.addresses.filter(\.isIPv4)
        case "::": return own.addresses
        default: return own.addresses.filter { $0 == IPAddress(host) }
        }
    }

    func endpoints(_ own: OwnAddresses) -> Set<NetworkListeners.Endpoint> {
        var endpoints: Set<NetworkListeners.Endpoint> = []
        for address in addresses(own) {
            if encryptedPort != port {
                endpoints.insert(.init(address: address, port: port, isEncrypted: false))
            }
            if let encryptedPort {
                endpoints.insert(.init(address: address, port: encryptedPort, isEncrypted: true))
            }
        }
        return endpoints
    }

    /// Returns the hosts that requests at an endpoint may name.
    func hosts(_ own: OwnAddresses, at endpoint: NetworkListeners.Endpoint) -> AllowedHosts {
        let forwarded = wan.flatMap(Self.parts)
        return AllowedHosts(
            own, names: names + [forwarded?.host].compactMap { $0 }, isEncrypted: endpoint.isEncrypted,
            ports: Set([endpoint.port, forwarded?.port].compactMap { $0 }))
    }

    /// Splits `host:port`.
    private static func parts(_ text: String) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else { return nil }
        return (String(text[..<colon]), port)
    }
}
