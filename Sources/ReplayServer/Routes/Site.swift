import ArchiveStore
import HTTPTypes
import Hummingbird
import Logging

extension Request {
    /// The origin that it was made to, as its Host says.
    var askedOrigin: String { "http://\(head.authority?.lowercased() ?? "")" }
}

/// What every route needs to know.
struct Site: Sendable {
    let store: ArchiveStore
    let assets: Assets
    let hosts: HostPolicy
    /// What a request that changes something must bring in `Replayhost-Token`.
    let token: String
    let version: String
    let blocking = BlockingWork()

    /// The same for another port.
    func on(_ hosts: HostPolicy) -> Site {
        Site(store: store, assets: assets, hosts: hosts, token: token, version: version)
    }

    /// Where an archive or a collection is replayed; `nil` where it needs a port and has none yet.
    func replayOrigin(of replayable: Replayable) -> String? {
        hosts.replayOrigin(of: replayable.id, replayPort: replayable.port)
    }

    func replayOrigin(of archive: Archive) -> String? { replayOrigin(of: .archive(archive)) }

    /// An asset as an answer, or 404.
    func asset(
        _ path: String, policy: String = SecurityHeaders.inert, request: Request, fields: HTTPFields = HTTPFields()
    ) async throws -> Response {
        guard let asset = try await blocking({ try assets.asset(path) }) else { throw ErrorResponse.notFound }
        return Responses.asset(asset, policy: policy, request: request, fields: fields)
    }

    /// The engine's script. Missing, it is a 404 that names the command that fetches it.
    ///
    /// It is no service worker by itself: nothing would then stand between it and the network.
    func engineScript(request: Request) async throws -> Response {
        guard request.headers[.serviceWorker] == nil else {
            throw ErrorResponse.forbidden("the replay engine is registered as /sw.js only")
        }
        guard let script = try await blocking({ try assets.asset(ReplayWorker.engine) }) else {
            throw ErrorResponse.engineMissing
        }
        return Responses.asset(script, policy: SecurityHeaders.engine, request: request)
    }
}
