import ArchiveStore
import Hummingbird

/// `POST …/:id/origin` of archives and collections, on the control origins. Documented in `docs/json.md`.
struct OriginRoutes: Sendable {
    let site: Site
    let ports: ReplayPorts

    var routes: RouteCollection<ConnectionContext> {
        RouteCollection(context: ConnectionContext.self)
            .add(middleware: ChangesNeedToken(site: site))
            .post(":id/origin") { _, context in try await openOrigin(of: context.name()) }
    }

    /// Opens the replay port of an archive or a collection, unless origins have names. It is closed some time after the
    /// last connection; the viewer repeats this request from time to time.
    private func openOrigin(of id: String) async throws -> Response {
        let replayable = try await site.blocking { try site.replayable(id: id) }
        let origin =
            site.hosts.origins == .names
            ? site.replayOrigin(of: replayable)
            : HostPolicy.origin(replayPort: try await ports.port(for: replayable))
        return try Responses.json(["replayOrigin": origin])
    }
}
