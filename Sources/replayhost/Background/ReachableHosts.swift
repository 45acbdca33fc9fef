import ArchiveStore
import CommandSupport
import Foundation
import WebArchive

/// The only hosts and ports that an isolated browser can connect to.
struct ReachableHosts: Equatable {
    /// Host names of this computer. A leading `*.` matches any label.
    let names: [String]
    let ports: [Int]

    /// The host on which the viewer shows PDF documents and prints copies of pages.
    private static let pdfHost = "127.0.0.1"

    /// For a server in origin mode names.
    static func names(port: Int) -> ReachableHosts {
        ReachableHosts(
            names: ["localhost", "replayhost.localhost", "*.replayhost.localhost", pdfHost], ports: [port])
    }

    /// For a server in origin mode ports: its own port and that of one archive.
    static func ports(server: Int, archive: Int) -> ReachableHosts {
        ReachableHosts(names: ["localhost", pdfHost], ports: [server, archive])
    }

    /// Returns the hosts that a running server uses for an archive or a collection.
    ///
    /// - Throws: `StoreError` `failed` when the server doesn't respond.
    static func of(_ server: ServerDescription, showing replayable: Replayable) throws -> ReachableHosts {
        // Servers in origin mode ports don't respond to this name.
        if HealthResponse.request(port: server.port, host: "replayhost.localhost") != nil {
            return .names(port: server.port)
        }
        return .ports(server: server.port, archive: try openPort(server, replayable))
    }

    /// Lets the server open the port of an archive.
    private static func openPort(_ server: ServerDescription, _ replayable: Replayable) throws -> Int {
        struct Opened: Decodable { let replayOrigin: String }
        let kind =
            switch replayable {
            case .archive: "archives"
            case .collection: "collections"
            }
        let request = LoopbackRequest(
            method: "POST", path: "/api/\(kind)/\(replayable.id)/origin", port: server.port,
            fields: [
                ("Origin", server.address), ("Replayhost-Token", server.token), ("Content-Type", "application/json"),
            ])
        let opened = request.responses().lazy.compactMap { LoopbackRequest.object(Opened.self, in: $0) }.first
        guard let port = opened.flatMap({ URL(string: $0.replayOrigin)?.port }) else {
            throw StoreError(
                .failed, "the server didn't open a port for \(replayable.id)", place: server.address,
                hint: "stop it with `replayhost stop`, then try again")
        }
        return port
    }

    /// All combinations of names and ports, as `name:port`.
    var pairs: [String] { names.flatMap { name in ports.map { "\(name):\($0)" } } }
}
