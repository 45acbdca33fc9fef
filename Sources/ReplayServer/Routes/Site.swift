import ArchiveStore
import HTTPTypes
import Hummingbird
import Logging

extension Request {
    /// The origin that the request was made to, from its Host.
    var targetOrigin: String { "http://\(head.authority?.lowercased() ?? "")" }
}

/// The context of all routes.
struct Site: Sendable {
    let store: ArchiveStore
    let assets: Assets
    let hosts: HostPolicy
    /// The value of `Replayhost-Token` that requests need to change anything.
    let token: String
    let version: String
    /// The command that starts the server again, for the pages that notice that it has stopped.
    let startCommand: String
    let blocking = BlockingWork()
    var exports = StagedExports()
    var pageRequests = PageRequests()

    /// Returns the site for another port.
    func on(_ hosts: HostPolicy) -> Site {
        Site(
            store: store, assets: assets, hosts: hosts, token: token, version: version, startCommand: startCommand,
            exports: exports, pageRequests: pageRequests)
    }

    /// Returns the replay origin of an archive or a collection; `nil` if it needs a port and has none.
    func replayOrigin(of replayable: Replayable) -> String? {
        hosts.replayOrigin(of: replayable.id, replayPort: replayable.port)
    }

    func replayOrigin(of archive: Archive) -> String? { replayOrigin(of: .archive(archive)) }

    /// Returns the archive or the collection with an id, or throws 404.
    func replayable(id: String) throws -> Replayable {
        guard let found = try ArchiveID(id).flatMap({ try store.resolver.replayable(id: $0) }) else {
            throw ErrorResponse.unknown("archive or collection", id)
        }
        return found
    }

    /// Returns the collection with an id, or throws 404.
    func collection(id: String) throws -> ArchiveCollection {
        guard let known = ArchiveID(id), let collection = try store.collections.collection(id: known) else {
            throw ErrorResponse.unknown("collection", id)
        }
        return collection
    }

    /// Responds with what a long search finds for the path parameter `:id`. The search ends when the client disconnects.
    func found<Found: Encodable & Sendable>(
        _ context: ConnectionContext,
        _ search: @escaping @Sendable (_ name: String, _ isWanted: @escaping @Sendable () -> Bool) throws -> Found
    ) async throws -> Response {
        let name = try context.name()
        let client = context.watchClient()
        return try Responses.json(try await blocking.long { try search(name, { client.isThere }) })
    }

    /// Returns an asset, or throws 404.
    func asset(
        _ path: String, policy: String = SecurityHeaders.inert, request: Request, fields: HTTPFields = HTTPFields()
    ) async throws -> Response {
        guard let asset = try await blocking({ try assets.asset(path) }) else { throw ErrorResponse.notFound }
        return Responses.asset(asset, policy: policy, request: request, fields: fields)
    }

    /// Returns the engine's script, or throws 404 with the command that installs it.
    ///
    /// It can't be registered as a service worker itself, because it could then reach the network.
    func engineScript(request: Request) async throws -> Response {
        guard request.headers[.serviceWorker] == nil else {
            throw ErrorResponse.forbidden("the replay engine can only be registered as /sw.js")
        }
        guard let script = try await blocking({ try assets.asset(ReplayWorker.engine) }) else {
            throw ErrorResponse.engineMissing
        }
        return Responses.asset(script, policy: SecurityHeaders.engine, request: request)
    }
}
