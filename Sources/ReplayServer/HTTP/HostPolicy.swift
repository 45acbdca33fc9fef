package import ArchiveStore

/// Which part of the house a `Host` field asks for. Nothing else decides what a request may see.
///
/// A page of another site that rebinds its name to 127.0.0.1 still sends its own name as Host, and is refused here.
package struct HostPolicy: Sendable, Hashable {
    /// How archives are kept apart in the browser: each on an origin of its own, under a name or on a port.
    package enum Origins: String, Sendable, Hashable, CaseIterable {
        /// Names, and ports for browsers that do not find the names.
        case auto
        /// `http://ID.replayhost.localhost:PORT`, nothing else.
        case names
        /// Everything on `localhost`: each archive that is opened has a port of its own there.
        case ports
    }

    /// The port of the library.
    package let port: Int
    package let origins: Origins
    /// What is replayed on the port that this policy is for; `nil` for the library's.
    package let replaying: ReplayPort?

    /// A port on which one archive or collection is replayed, and nothing else; or the stock interface.
    package struct ReplayPort: Sendable, Hashable {
        package let tenant: Tenant
        package let port: Int
        /// Whether the store knows of it; one that can only be read does not.
        package let isKept: Bool

        package init(tenant: Tenant, port: Int, isKept: Bool = true) {
            (self.tenant, self.port, self.isKept) = (tenant, port, isKept)
        }

        fileprivate var role: Role {
            switch tenant {
            case .archive(let id): .replay(id)
            case .stock: .stock
            }
        }
    }

    /// Who has a port alone.
    package enum Tenant: Sendable, Hashable, CustomStringConvertible {
        case archive(ArchiveID)
        case stock

        package var description: String {
            switch self {
            case .archive(let id): id.text
            case .stock: "stock"
            }
        }
    }

    package init(port: Int, origins: Origins = .auto, replaying: ReplayPort? = nil) {
        self.port = port
        self.origins = origins
        self.replaying = replaying
    }

    package enum Role: Sendable, Hashable {
        /// The library and its API; the exact origin, for example `http://localhost:8080`.
        case control(origin: String)
        /// One archive's own origin.
        case replay(ArchiveID)
        /// The stock ReplayWeb.page user interface.
        case stock
        /// A bare loopback address: few things are answered, the rest redirected to `localhost`.
        case address
        /// A bare loopback address with an archive's own port: everything is redirected.
        case addressOfReplay
        /// A label under `replayhost.localhost` that can't be an archive's, or a foreign name: 421.
        case misdirected
        /// No Host, or several: 400. RFC 9112 §3.2.
        case malformed
    }

    /// Reads the values of all `Host` fields of one request.
    package func role(hosts: [String]) -> Role {
        guard hosts.count == 1 else { return .malformed }
        let host = hosts[0].lowercased()
        guard let name = nameWithoutPort(host) else { return .misdirected }
        if let replaying {
            switch name {
            case Self.local: return replaying.role
            case "127.0.0.1", "[::1]": return .addressOfReplay
            default: return .misdirected
            }
        }
        switch name {
        case Self.local: return .control(origin: "http://\(host)")
        case "127.0.0.1", "[::1]": return .address
        default: return origins == .ports ? .misdirected : role(ofName: name, host: host)
        }
    }

    /// Of a name at or under `replayhost.localhost`.
    private func role(ofName name: String, host: String) -> Role {
        switch name {
        case Self.base: return .control(origin: "http://\(host)")
        case Self.stock: return .stock
        default:
            guard name.hasSuffix(".\(Self.base)"), let id = ArchiveID(name.dropLast(Self.base.count + 1)) else {
                return .misdirected
            }
            return .replay(id)
        }
    }

    /// The origins that the library is served on; where there is a second, it moves there when the browser resolves it.
    package var controlOrigins: [String] {
        let local = "http://\(Self.local)\(Self.suffix(port))"
        guard replaying == nil, origins != .ports else { return [local] }
        return [local, "http://\(Self.base)\(Self.suffix(port))"]
    }

    /// The library's port at a bare address, where PDF documents are shown: no archived page has this origin.
    package var addressOrigin: String { "http://127.0.0.1\(Self.suffix(port))" }

    /// Where an archive or a collection is replayed; `nil` where that needs a port that it does not have.
    ///
    /// - Parameter replayPort: The one that the store keeps for it.
    package func replayOrigin(of id: ArchiveID, replayPort: Int?) -> String? {
        if let replaying { return Self.origin(replayPort: replaying.port) }
        if origins == .ports { return replayPort.map(Self.origin(replayPort:)) }
        return "http://\(id).\(Self.base)\(Self.suffix(port))"
    }

    /// Where the stock interface is, by name.
    package var stockOrigin: String { "http://\(Self.stock)\(Self.suffix(port))" }

    /// Where something is replayed that has that port to itself.
    package static func origin(replayPort: Int) -> String { "http://\(local)\(suffix(replayPort))" }

    /// Every replay origin that a page of the library at `control` shows, as CSP sources.
    package func replaySources(at control: String) -> String {
        let names = "http://*.\(Self.base)\(Self.suffix(port))"
        let ports = "http://\(Self.local):*"
        switch origins {
        case .names: return names
        case .ports: return ports
        case .auto: return control == controlOrigins[0] ? "\(names) \(ports)" : names
        }
    }

    package static let base = "replayhost.localhost"
    private static let stock = "stock.\(base)"
    private static let local = "localhost"

    /// Browsers leave the port out when it is HTTP's own.
    private static func suffix(_ port: Int) -> String { port == 80 ? "" : ":\(port)" }

    private func nameWithoutPort(_ host: String) -> String? {
        let port = replaying?.port ?? port
        let suffix = Self.suffix(port)
        if host.hasSuffix(suffix), !suffix.isEmpty { return String(host.dropLast(suffix.count)) }
        if port == 80 { return host.hasSuffix(":80") ? String(host.dropLast(3)) : host }
        return nil
    }
}
