package import ArchiveStore

/// Which part of the house a `Host` field asks for. Nothing else decides what a request may see.
///
/// A page of another site that rebinds its name to 127.0.0.1 still sends its own name as Host, and is refused here.
package struct HostPolicy: Sendable, Hashable {
    /// The port that people connect to.
    package let port: Int

    package init(port: Int) {
        self.port = port
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
        switch name {
        case "localhost", Self.base: return .control(origin: "http://\(host)")
        case "127.0.0.1", "[::1]": return .address
        case "stock.\(Self.base)": return .stock
        default:
            guard name.hasSuffix(".\(Self.base)"), let id = ArchiveID(name.dropLast(Self.base.count + 1)) else {
                return .misdirected
            }
            return .replay(id)
        }
    }

    /// The two origins that the library is served on; the second is where it moves to when the browser resolves it.
    package var controlOrigins: [String] { ["http://localhost\(suffix)", "http://\(Self.base)\(suffix)"] }

    /// Where an archive is replayed.
    package func replayOrigin(of id: ArchiveID) -> String { "http://\(id).\(Self.base)\(suffix)" }

    /// Every replay origin, as a CSP source.
    package var replaySource: String { "http://*.\(Self.base)\(suffix)" }

    package static let base = "replayhost.localhost"

    /// Browsers leave the port out when it is HTTP's own.
    private var suffix: String { port == 80 ? "" : ":\(port)" }

    private func nameWithoutPort(_ host: String) -> String? {
        if host.hasSuffix(suffix), !suffix.isEmpty { return String(host.dropLast(suffix.count)) }
        if port == 80 { return host.hasSuffix(":80") ? String(host.dropLast(3)) : host }
        return nil
    }
}
