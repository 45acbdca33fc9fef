import Foundation
import HTTPTypes
import Hummingbird

/// The library's pages and files, on the control origins.
struct ControlRoutes: Sendable {
    let site: Site
    let ports: ReplayPorts

    var routes: RouteCollection<ConnectionContext> {
        RouteCollection(context: ConnectionContext.self)
            .get("/") { request, _ in try await index(request) }
            .get("/index.html") { request, _ in try await index(request) }
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

    /// Returns the app's page with the token, which other origins can't read.
    ///
    /// `Scripts/bundle` writes the one that loads the app as one file.
    private func index(_ request: Request) async throws -> Response {
        let found = try await site.blocking {
            try site.assets.asset("bundle/index.html") ?? site.assets.asset("index.html")
        }
        guard let page = found else { throw ErrorResponse.assetsMissing }
        let filled = String(decoding: page.bytes, as: UTF8.self)
            .replacingOccurrences(of: "{{token}}", with: site.token)
            .replacingOccurrences(of: "{{version}}", with: site.version)
            .replacingOccurrences(of: "{{origins}}", with: site.hosts.origins.rawValue)
            .replacingOccurrences(of: "{{start}}", with: ErrorPage.escaped(site.startCommand))
        return Responses.asset(
            Asset(bytes: Array(filled.utf8), type: page.type),
            policy: SecurityHeaders.controlPage(site.hosts, at: request.targetOrigin),
            request: request,
            // Replay origins recognize the viewer by its referrer.
            fields: [.crossOriginOpenerPolicy: "same-origin", .referrerPolicy: "origin"])
    }
}
