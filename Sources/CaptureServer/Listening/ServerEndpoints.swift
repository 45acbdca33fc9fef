import EgressGuard

extension CaptureConfiguration.Server {
    /// The port for HTTPS; `nil` without.
    var encryptedPort: Int? { ssl.isEnabled ? ssl.port : nil }

    /// Returns the addresses to listen on besides the loopback addresses. `0.0.0.0` stands for all IPv4 addresses, `::` for all
    /// addresses.
    func addresses(_ own: OwnAddresses) -> [IPAddress] {
        if isLoopback { return [] }
        switch host {
        case "0.0.0.0": return own.addresses.filter(\.isIPv4)
        case "::": return own.addresses
        default: return own.addresses.filter { $0 == IPAddress(host) }
        }
    }

    /// Returns where to listen besides the loopback addresses. If both ports are the same, only HTTPS.
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

    /// Splits `HOST:PORT`.
    private static func parts(_ text: String) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else { return nil }
        return (String(text[..<colon]), port)
    }
}
