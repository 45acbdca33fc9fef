import HTTPTypes
import Hummingbird

/// The library's pages and files, on the control origins.
struct ControlRoutes: Sendable {
    let site: Site
    let ports: ReplayPorts

    var routes: RouteCollection<ConnectionContext> {
        RouteCollection(context: ConnectionContext.self)
            .get("/") { request, _ in try await AppPage(site: site).response(to: request) }
            .get("/index.html") { request, _ in try await AppPage(site: site).response(to: request) }
            .get("/stock") { request, _ in try await stock(request) }
            .get("/app/**") { request, context in try await asset(in: "app", request, context) }
            .get("/bundle/**") { request, context in try await asset(in: "bundle", request, context) }
            .get("/sw.js") { request, _ in try await site.engineScript(request: request) }
            .get("/vendor/NOTICE.txt") { request, _ in try await site.asset("vendor/NOTICE.txt", request: request) }
            // Unlike the rest of the API, this is open to other origins.
            .get("/api/health") { _, _ in try await HealthRoute(site: site).respond() }
    }

    private func asset(in folder: String, _ request: Request, _ context: ConnectionContext) async throws -> Response {
        try await site.asset("\(folder)/\(context.parameters.getCatchAll().joined(separator: "/"))", request: request)
    }

    /// Redirects to the stock interface.
    private func stock(_ request: Request) async throws -> Response {
        guard try await site.blocking({ try site.assets.hasStockInterface() }) else { throw ErrorResponse.stockMissing }
        let hosts = site.hosts
        // A browser uses `localhost` if it doesn't resolve the names, or in origin mode `ports`.
        let isLocal = request.targetOrigin == hosts.controlOrigins[0]
        let origin =
            hosts.origins != .names && isLocal
            ? HostPolicy.origin(replayPort: try await ports.stockPort()) : hosts.stockOrigin
        return Responses.redirect(to: "\(origin)/\(request.uri.query.map { "?\($0)" } ?? "")")
    }
}
