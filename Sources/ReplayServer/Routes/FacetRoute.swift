import ArchiveStore
import Hummingbird

/// `/api/facets`, on the control origins. Documented in `docs/json.md`.
struct FacetRoute: Sendable {
    let site: Site

    var routes: RouteCollection<ConnectionContext> {
        RouteCollection(context: ConnectionContext.self)
            .get("/facets") { request, _ in
                let filter = try LibraryFilter(query: request.uri.queryParameters)
                return try Responses.json(
                    try await site.blocking.long { try site.store.library.facets(filter) })
            }
    }
}
