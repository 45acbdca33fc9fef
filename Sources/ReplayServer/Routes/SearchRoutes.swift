import ArchiveStore
import Hummingbird
import WebArchive

/// `/api/search`, `/api/suggest` and `/api/facets`. Documented in `docs/json.md`.
struct SearchRoutes: Sendable {
    let site: Site

    var routes: RouteCollection<ConnectionContext> {
        RouteCollection(context: ConnectionContext.self)
            .get("/search") { request, _ in try await search(request.uri.queryParameters) }
            .get("/suggest") { request, _ in try await suggest(request.uri.queryParameters) }
            .get("/facets") { request, _ in try await facets(request.uri.queryParameters) }
    }

    private func search(_ parameters: Parameters) async throws -> Response {
        let query = try Self.query(parameters)
        if let format = try ListFormat(parameters) { return try await hitsFile(format, query) }
        let limit = try ListParameters.number("limit", in: parameters, default: 20, allowed: 1...100)
        let cursor = parameters["cursor"].map(String.init)
        let hasFacets = parameters["facets"] == "true"
        return try Responses.json(
            try await site.blocking.long {
                try site.store.searcher.search(query, limit: limit, cursor: cursor, hasFacets: hasFacets)
            })
    }

    private func hitsFile(_ format: ListFormat, _ query: SearchQuery) async throws -> Response {
        try await site.listFile(format, named: "search-results", from: "0" as String?) { cursor -> [SearchHit]? in
            guard let position = cursor else { return nil }
            let results = try site.store.searcher.search(query, limit: 1000, cursor: position)
            cursor = results.next
            return results.hits
        }
    }

    private func suggest(_ parameters: Parameters) async throws -> Response {
        let text = parameters["q"].map(String.init) ?? ""
        let limit = try ListParameters.number("limit", in: parameters, default: 8, allowed: 1...20)
        return try Responses.json([
            "suggestions": try await site.blocking.long { try site.store.searcher.suggestions(for: text, limit: limit) }
        ])
    }

    /// Responds with what archives can be filtered by.
    private func facets(_ parameters: Parameters) async throws -> Response {
        let filter = try LibraryFilter(query: parameters)
        return try Responses.json(try await site.blocking.long { try site.store.library.facets(filter) })
    }

    private static func query(_ parameters: Parameters) throws -> SearchQuery {
        guard let text = parameters["q"] else {
            throw ErrorResponse.badParameter("the parameter q is missing")
        }
        func values(_ name: Substring) -> [String] {
            parameters[name].map { $0.split(separator: ",").map(String.init) } ?? []
        }
        var query = try SearchQuery(String(text))
        if let type = values("type").first(where: { !SearchQuery.types.contains($0.lowercased()) }) {
            throw ErrorResponse.badParameter("the parameter type must be from html, pdf, text, other: \"\(type)\"")
        }
        query.restrict(sites: values("site"), types: values("type"), languages: values("lang"))
        query.archives += values("in")
        query.collections += values("collection")
        let (after, before) = (parameters["after"].map(String.init), parameters["before"].map(String.init))
        guard query.restrict(after: after, before: before) else {
            throw ErrorResponse.badParameter(
                "the parameter after or before isn't a valid time",
                hint: "use 4 to 14 digits of YYYYMMDDhhmmss")
        }
        return query
    }
}
