import EgressGuard
import Foundation

/// The hosts that requests may name. Another site's name that leads here (DNS rebinding) isn't among them.
struct AllowedHosts: Sendable, Hashable {
    /// Host names and addresses as in a URL, in lower case.
    private let hosts: Set<String>
    private let scheme: String
    private let ports: Set<Int>

    /// - Parameters:
    ///   - names: Host names that the configuration adds.
    ///   - ports: The ports that clients use, also behind a router that forwards another one.
    init(_ own: OwnAddresses, names: [String], isEncrypted: Bool, ports: Set<Int>) {
        hosts = Set(own.addresses.map(\.hostText) + own.names + names.map { $0.lowercased() })
        scheme = isEncrypted ? "https" : "http"
        self.ports = ports
    }

    /// Returns the origin of a request with this `Host`, such as `https://192.168.1.5:8443`; `nil` for another host.
    func origin(_ host: String?) -> String? {
        guard let host = host?.lowercased() else { return nil }
        let standard = scheme == "https" ? 443 : 80
        // The port is what follows the last colon, but not inside of the brackets of an IPv6 address.
        var (name, port) = (Substring(host), standard)
        if let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") {
            let digits = host[host.index(after: colon)...]
            guard let number = Int(digits), String(number) == digits else { return nil }
            (name, port) = (host[..<colon], number)
        }
        guard ports.contains(port), hosts.contains(String(name)) else { return nil }
        return "\(scheme)://\(host)"
    }
}
