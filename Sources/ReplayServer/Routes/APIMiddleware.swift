import HTTPTypes
import Hummingbird

/// Refuses what another site's or an archive's page sends, wherever the browser says who sent it.
struct SameOriginOnly: RouterMiddleware {
    func handle(
        _ request: Request, context: ConnectionContext,
        next: (Request, ConnectionContext) async throws -> Response
    ) async throws -> Response {
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" {
            throw ErrorResponse.forbidden("the API answers to the library's own pages only")
        }
        return try await next(request, context)
    }
}

/// Lets a change through only from the library's own page, which alone knows the token.
struct ChangesNeedToken: RouterMiddleware {
    let site: Site

    func handle(
        _ request: Request, context: ConnectionContext,
        next: (Request, ConnectionContext) async throws -> Response
    ) async throws -> Response {
        guard let origin = request.headers[.origin], origin == request.askedOrigin,
            site.hosts.controlOrigins.contains(origin)
        else { throw ErrorResponse.forbidden("a change is asked for from the library's own pages only") }
        guard let token = request.headers[.replayhostToken], Self.isEqual(token, site.token) else {
            throw ErrorResponse(
                .forbidden, code: "forbidden", "the token is missing or not the one of this run of the server",
                hint: "reload the page")
        }
        return try await next(request, context)
    }

    /// In a time that does not tell how much of it was right.
    private static func isEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
