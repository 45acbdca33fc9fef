import Hummingbird

/// `/print` on `127.0.0.1`: the page in which the viewer prints a copy of an archived page.
///
/// It may open dialogs, so no archived script may run in it or reach it: its policy allows only our script, and gives it an
/// origin of its own. No archived page runs on `127.0.0.1`, so no service worker can replace the page.
struct PrintRoute: Sendable {
    let site: Site

    static let path = "/print"

    func respond(to request: Request) async throws -> Response {
        guard let page = try await site.blocking({ try site.assets.asset("replay/print.html") }) else {
            throw ErrorResponse.assetsMissing
        }
        let hash = ReplayRoutes.hash(from: "<script>", to: "</script>", in: String(decoding: page.bytes, as: UTF8.self))
        return Responses.asset(
            page, policy: SecurityHeaders.printPage(site.hosts, scriptHash: hash), request: request,
            fields: [.connectionAllowlist: SecurityHeaders.ownOrigin])
    }
}
