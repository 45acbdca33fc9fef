package import ArchiveStore

/// Maps the `Host` field of a request to a part of the app, which alone decides what the request can access.
///
/// A DNS rebinding attack is refused here, because the browser still sends the other site's name as Host.
package struct HostPolicy: Sendable, Hashable {
    /// How each archive gets its own origin, which isolates it in the browser.
    package enum Origins: String, Sendable, Hashable, CaseIterable {
        /// Names, or ports for browsers that don't resolve the names.
        case auto
        /// Names only: `http://ID.replayhost.localhost:PORT`.
        case names
        /// Ports only: each open archive has its own port on `localhost`.
        case ports
    }

    /// The port of the library.
    package let port: Int
    package let origins: Origins
    /// The replay port that this policy is for; `nil` for the library's port.
    package let replaying: ReplayPort?

    /// A port for one archive, one collection, or the stock interface.
    package struct ReplayPort: Sendable, Hashable {
        package let tenant: Tenant
        package let port: Int
        /// Whether the port is recorded in the store, which isn't possible if the store is read-only.
        package var isKept = true

        fileprivate var role: Role {
            switch tenant {
            case .archive(let id): .replay(id)
            case .stock: .stock
            }
        }
    }

    /// What a port is for.
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
        /// The library and its API, on the given origin, for example `http://localhost:8080`.
        case control(origin: String)
        /// The origin of an archive or a collection.
        case replay(ArchiveID)
        /// The stock ReplayWeb.page interface.
        case stock
        /// An IP address: most requests are redirected to `localhost`.
        case address
        /// An IP address with a replay port: all requests are redirected.
        case addressOfReplay
        /// An unknown host: 421.
        case misdirected
        /// No Host, or several: 400. RFC 9112 §3.2.
        case malformed
    }

    /// Returns the role for the values of all `Host` fields of a request.
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

    /// Returns the role for `replayhost.localhost` or a name below it.
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

    /// The origins of the library. It moves to the second one if the browser resolves that.
    package var controlOrigins: [String] {
        let local = "http://\(Self.local)\(Self.suffix(port))"
        guard replaying == nil, origins != .ports else { return [local] }
        return [local, "http://\(Self.base)\(Self.suffix(port))"]
    }

    /// Whether a page of another site or archive makes the browser send a request.
    ///
    /// - Parameters:
    ///   - site: `Sec-Fetch-Site`. Programs don't send it, and for URLs that a person types or opens in another program it
    ///     is `none`.
    ///   - referrer: `Referer`. The library's pages send their origin, which pages of other origins can't do.
    func isFromElsewhere(site: String?, referrer: String?) -> Bool {
        guard let site, site != "same-origin", site != "none" else { return false }
        return !isLibrary(referrer)
    }

    /// Whether a `Referer` is that of a page of the library.
    func isLibrary(_ referrer: String?) -> Bool { controlOrigins.contains { referrer == "\($0)/" } }

    /// The origin for PDF documents and for printing, which no archived page has.
    package var addressOrigin: String { "http://127.0.0.1\(Self.suffix(port))" }

    /// Returns the origin of an archive or a collection; `nil` if it needs a port and has none.
    ///
    /// - Parameter replayPort: Its port in the store.
    package func replayOrigin(of id: ArchiveID, replayPort: Int?) -> String? {
        if let replaying { return Self.origin(replayPort: replaying.port) }
        if origins == .ports { return replayPort.map(Self.origin(replayPort:)) }
        return "http://\(id).\(Self.base)\(Self.suffix(port))"
    }

    /// The origin of the stock interface, by name.
    package var stockOrigin: String { "http://\(Self.stock)\(Self.suffix(port))" }

    /// Returns the origin for a replay port.
    package static func origin(replayPort: Int) -> String { "http://\(local)\(suffix(replayPort))" }

    /// Returns CSP sources for all replay origins that the library at `control` can show in frames.
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

    /// Browsers omit port 80.
    private static func suffix(_ port: Int) -> String { port == 80 ? "" : ":\(port)" }

    private func nameWithoutPort(_ host: String) -> String? {
        let port = replaying?.port ?? port
        let suffix = Self.suffix(port)
        if host.hasSuffix(suffix), !suffix.isEmpty { return String(host.dropLast(suffix.count)) }
        if port == 80 { return host.hasSuffix(":80") ? String(host.dropLast(3)) : host }
        return nil
    }
}
