import Foundation
import HTTPTypes
import Hummingbird

/// The library's own pages and files, on the control origins.
struct ControlRoutes: Sendable {
    let site: Site
    let ports: ReplayPorts

    var routes: RouteCollection<ConnectionContext> {
        RouteCollection(context: ConnectionContext.self)
            .get("/") { request, _ in try await index(request) }
            .get("/index.html") { request, _ in try await index(request) }
            .get("/stock") { request, _ in try await stock(request) }
            .get("/app/**") { request, context in
                try await site.asset("app/\(context.parameters.getCatchAll().joined(separator: "/"))", request: request)
            }
            .get("/sw.js") { request, _ in try await site.engineScript(request: request) }
            .get("/vendor/NOTICE.txt") { request, _ in try await site.asset("vendor/NOTICE.txt", request: request) }
            // Pages of other origins may ask for it, unlike the rest of the API.
            .get("/api/health") { _, _ in try await HealthRoute(site: site).respond() }
    }

    /// To the stock interface, on whichever origin it has.
    private func stock(_ request: Request) async throws -> Response {
        guard try await site.blocking({ try site.assets.hasStockInterface() }) else { throw ErrorResponse.stockMissing }
        let hosts = site.hosts
        // At `localhost` the browser is there because it does not find the names, or because there are none.
        let isLocal = request.askedOrigin == hosts.controlOrigins[0]
        let origin =
            hosts.origins != .names && isLocal
            ? HostPolicy.origin(replayPort: try await ports.stockPort()) : hosts.stockOrigin
        return Responses.redirect(to: "\(origin)/\(request.uri.query.map { "?\($0)" } ?? "")")
    }

    /// The application's page, with the token that lets it change things. No other origin can read it.
    private func index(_ request: Request) async throws -> Response {
        guard let page = try await site.blocking({ try site.assets.asset("index.html") }) else {
            throw ErrorResponse.assetsMissing
        }
        let filled = String(decoding: page.bytes, as: UTF8.self)
            .replacingOccurrences(of: "{{token}}", with: site.token)
            .replacingOccurrences(of: "{{version}}", with: site.version)
            .replacingOccurrences(of: "{{origins}}", with: site.hosts.origins.rawValue)
        return Responses.asset(
            Asset(bytes: Array(filled.utf8), type: page.type),
            policy: SecurityHeaders.controlPage(site.hosts, at: request.askedOrigin),
            request: request, fields: [.crossOriginOpenerPolicy: "same-origin"])
    }
}
