import ArchiveStore
import HTTPTypes
import Hummingbird

/// `POST /api/imports`: imports files and folders of this computer. Documented in `docs/json.md`.
struct ImportRoute: Sendable {
    let site: Site

    var routes: RouteCollection<ConnectionContext> {
        RouteCollection(context: ConnectionContext.self)
            .add(middleware: ChangesNeedToken(site: site))
            .post { request, _ in try await queue(request) }
    }

    private struct Order: Decodable {
        let paths: [String]
        let link: Bool?
    }

    private func queue(_ request: Request) async throws -> Response {
        let order: Order = try await JSONBody.read(request)
        guard (1...Self.pathsMax).contains(order.paths.count) else {
            throw ErrorResponse(.badRequest, code: "bad-body", "paths must have 1 to \(Self.pathsMax) paths")
        }
        if let path = order.paths.first(where: { !$0.hasPrefix("/") }) {
            throw ErrorResponse(
                .badRequest, code: "bad-body", "\"\(path.prefix(200))\" isn't an absolute path",
                hint: "begin with /, for example /media/archives")
        }
        let jobs = try await site.blocking.long {
            try site.store.jobs.queueImports(of: order.paths, mode: order.link == true ? .link : .copy)
        }
        return try Responses.json(["jobs": jobs], status: .accepted)
    }

    private static let pathsMax = 100
}
