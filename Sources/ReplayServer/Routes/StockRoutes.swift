import Foundation
import HTTPTypes
import Hummingbird

/// The stock ReplayWeb.page interface, if it is installed, on a separate origin.
struct StockRoutes: Sendable {
    let site: Site

    func respond(to request: Request) async throws -> Response {
        guard request.method == .get || request.method == .head else {
            throw ErrorResponse.readOnly
        }
        guard try await site.blocking({ try site.assets.hasStockInterface() }) else {
            throw ErrorResponse.stockMissing
        }
        let path = String(request.uri.path.dropFirst())
        if path.isEmpty || path == "index.html" { return try await index(request) }
        // `<replay-web-page replayBase="/replay/">` looks for the worker there.
        let file = path.hasPrefix("replay/") ? String(path.dropFirst("replay/".count)) : path
        return try await site.asset(
            "vendor/stock/\(file)", policy: file == "sw.js" ? SecurityHeaders.engine : SecurityHeaders.stockPage,
            request: request,
            fields: file == "sw.js" ? [.serviceWorkerAllowed: "/"] : [:])
    }

    /// Returns the interface's own page, or a minimal one.
    private func index(_ request: Request) async throws -> Response {
        let own = try await site.blocking { try site.assets.asset("vendor/stock/index.html") }
        let page = own ?? Asset(bytes: Array(Self.page.utf8), type: "text/html; charset=utf-8")
        return Responses.asset(page, policy: SecurityHeaders.stockPage, request: request)
    }

    private static let page = """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><title>ReplayWeb.page</title><script src="/ui.js"></script></head>
        <body>
        <p>All archives that you open here share one origin, so they can read each other's data. The library isolates them.</p>
        <replay-app-main></replay-app-main>
        </body>
        </html>

        """
}
