import ArchiveStore
import HTTPTypes
import Hummingbird

/// `/api/collections…`, on the control origins. Documented in `docs/json.md`.
struct CollectionRoutes: Sendable {
    let site: Site

    var routes: RouteCollection<ConnectionContext> {
        RouteCollection(context: ConnectionContext.self)
            .get { _, _ in try await collections() }
            .get(":id") { _, context in try await collection(context.name()) }
            .get(":id/pages") { request, context in
                try await pages(of: context.name(), query: request.uri.queryParameters)
            }
            .get(":id/captures") { request, context in try await site.captures(request, context, of: replayable) }
            .get(":id/captures/histogram") { request, context in
                try await site.captureCounts(request, context, of: replayable)
            }
            .get(":id/parts") { request, context in try await site.parts(request, context, of: replayable) }
            .get(":id/explain") { request, context in
                try await site.explanation(request, context, of: replayable)
            }
            .get(":id/urls") { request, context in try await site.urls(request, context, of: replayable) }
            .add(middleware: ChangesNeedToken(site: site))
            .post { request, _ in try await makeCollection(request) }
            .patch(":id") { request, context in try await edit(context.name(), request) }
            .delete(":id") { _, context in try await remove(context.name()) }
    }

    private func answer(_ details: CollectionDetails, status: HTTPResponse.Status = .ok) throws -> Response {
        try Responses.json(site.resource(details), status: status)
    }

    private func collections() async throws -> Response {
        let collections = try await site.blocking.long { try site.store.collections.details() }
        return try Responses.json([
            "collections": collections.map { site.resource(ListedCollection($0), of: $0.collection) }
        ])
    }

    private func collection(_ id: String) async throws -> Response {
        try answer(try await site.blocking.long { try site.store.collections.details(of: try site.collection(id: id)) })
    }

    private func pages(of id: String, query: Parameters) async throws -> Response {
        let wanted = try PageListRequest(query)
        let collection = try await site.blocking { try site.collection(id: id) }
        let collections = site.store.collections
        if let format = try ListFormat(query) {
            return try await site.pagesFile(format, of: collection.id, wanted) {
                try collections.pages(of: collection, $0)
            }
        }
        return try Responses.json(try await site.blocking { try collections.pages(of: collection, wanted) })
    }

    /// The body of a request for a new collection.
    private struct NewCollection: Decodable, Sendable {
        let title: String
        let members: [String]
        let id: String?
        let tags: [String]?
        let notes: String?
    }

    private func makeCollection(_ request: Request) async throws -> Response {
        let wanted: NewCollection = try await JSONBody.read(request)
        let details = try await site.blocking.long {
            let id = try wanted.id.map { text in
                guard let id = ArchiveID(text) else { throw Self.badID(text) }
                return id
            }
            let collection = try site.store.collections.make(
                id: id, title: wanted.title, members: try Self.members(wanted.members),
                metadata: ArchiveMetadata(tags: wanted.tags, notes: wanted.notes))
            return try site.store.collections.details(of: collection)
        }
        return try answer(details, status: .created)
    }

    /// The body of a request for changes. Absent keys stay unchanged; `members` replaces all members.
    private struct Change: Decodable, Sendable {
        let title: String?
        let tags: [String]?
        let notes: String?
        let members: [String]?
    }

    private func edit(_ id: String, _ request: Request) async throws -> Response {
        let change: Change = try await JSONBody.read(request)
        let metadata = ArchiveMetadata(title: change.title, tags: change.tags, notes: change.notes)
        let details = try await site.blocking.long {
            let members = try change.members.map(Self.members)
            let collection = try site.store.collections.edit(try site.collection(id: id).id, metadata) { members ?? $0 }
            return try site.store.collections.details(of: collection)
        }
        return try answer(details)
    }

    private func remove(_ id: String) async throws -> Response {
        try await site.blocking.long { try site.store.collections.remove(try site.collection(id: id).id) }
        return Responses.empty(.noContent)
    }

    @Sendable private func replayable(_ id: String) throws -> Replayable {
        guard let known = ArchiveID(id), let found = try site.store.collections.replayable(id: known) else {
            throw ErrorResponse.unknown("collection", id)
        }
        return found
    }

    private static func members(_ ids: [String]) throws -> [ArchiveID] {
        try ids.map { text in
            guard let id = ArchiveID(text) else {
                throw ErrorResponse.unknown("archive", text)
            }
            return id
        }
    }

    private static func badID(_ text: String) -> ErrorResponse {
        ErrorResponse(
            .badRequest, code: "bad-id", "\"\(text.prefix(100))\" isn't a valid id",
            hint: "use up to 63 characters: a to z, 0 to 9, and single hyphens between them")
    }
}

/// `/api/groups…`, the routes of collections in version 0.1.0. All requests are redirected.
enum FormerCollectionRoutes {
    static let path = "/groups"

    static var routes: RouteCollection<ConnectionContext> {
        let routes = RouteCollection(context: ConnectionContext.self)
        for method in [HTTPRequest.Method.get, .post, .patch, .delete] {
            for path in ["", "**"] { routes.on(RouterPath(path), method: method) { request, _ in redirect(request) } }
        }
        return routes
    }

    private static func redirect(_ request: Request) -> Response {
        let rest = request.uri.string.dropFirst("/api/groups".count)
        return Response(status: .permanentRedirect, headers: [.location: "/api/collections\(rest)"])
    }
}
