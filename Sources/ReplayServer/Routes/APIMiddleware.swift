import HTTPTypes
import Hummingbird

/// Refuses requests from pages of other sites or archives, if the browser reports the site.
struct SameOriginOnly: RouterMiddleware {
    func handle(
        _ request: Request, context: ConnectionContext,
        next: (Request, ConnectionContext) async throws -> Response
    ) async throws -> Response {
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" {
            throw ErrorResponse.forbidden("only the library's own pages can use the API")
        }
        return try await next(request, context)
    }
}

/// Allows changes only from the library's page, which knows the token.
struct ChangesNeedToken: RouterMiddleware {
    let site: Site

    func handle(
        _ request: Request, context: ConnectionContext,
        next: (Request, ConnectionContext) async throws -> Response
    ) async throws -> Response {
        guard let origin = request.headers[.origin], origin == request.targetOrigin,
            site.hosts.controlOrigins.contains(origin)
        else { throw ErrorResponse.forbidden("only the library's own pages can make changes") }
        guard let token = request.headers[.replayhostToken], Self.isEqual(token, site.token) else {
            throw ErrorResponse(
                .forbidden, code: "forbidden", "the token is missing, or the server was restarted",
                hint: "reload the page")
        }
        return try await next(request, context)
    }

    /// Compares in constant time.
    private static func isEqual(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
