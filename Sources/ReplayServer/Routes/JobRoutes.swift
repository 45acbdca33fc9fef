import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird

/// `/api/jobs`, on the control origins. Documented in `docs/json.md`.
struct JobRoutes: Sendable {
    let site: Site

    var routes: RouteCollection<ConnectionContext> {
        let routes = RouteCollection(context: ConnectionContext.self)
        routes.get { request, _ in try await jobs(in: Self.states(request.uri.queryParameters)) }
        routes.get("summary") { _, _ in try await summary() }
        routes.get(":id") { _, context in try await job(Self.id(in: context)) }
        routes.add(middleware: ChangesNeedToken(site: site))
        routes.delete { request, _ in try await forgetAll(request.uri.queryParameters) }
        for change in [JobChange.pause, .resume, .cancel] {
            routes.post("all/\(change.rawValue)") { request, _ in
                try await changeAll(change, Self.kind(request.uri.queryParameters))
            }
        }
        routes.delete(":id") { _, context in try await forget(Self.id(in: context)) }
        for change in JobChange.allCases {
            routes.post(":id/\(change.rawValue)") { _, context in
                try await self.change(Self.id(in: context), change)
            }
        }
        return routes
    }

    private func jobs(in states: [Job.State]?) async throws -> Response {
        let jobs = try await site.blocking {
            try site.store.jobs.all(in: states, limit: Self.listMax)
        }
        return try Responses.json(["jobs": jobs])
    }

    private func summary() async throws -> Response {
        try Responses.json(["kinds": try await site.blocking { try site.store.jobs.counts() }])
    }

    private func changeAll(_ change: JobChange, _ kind: Job.Kind?) async throws -> Response {
        try Responses.json([
            "changed": try await site.blocking.long { try site.store.jobs.changeAll(change, kind: kind) }
        ])
    }

    /// Removes all jobs in a finished state from the list.
    private func forgetAll(_ query: Parameters) async throws -> Response {
        let finished = Job.State.allCases.filter(\.isOver)
        guard let name = query["state"], let state = finished.first(where: { $0.rawValue == name }) else {
            throw ErrorResponse.badParameter(
                "the parameter state must name a finished state",
                hint: "use \(finished.map(\.rawValue).joined(separator: ", "))")
        }
        let kind = try Self.kind(query)
        return try Responses.json(
            ["dismissed": try await site.blocking.long { try site.store.jobs.forgetAll(in: state, kind: kind) }])
    }

    private func job(_ id: Int64) async throws -> Response {
        guard let job = try await site.blocking({ try site.store.jobs.job(id: id) }) else {
            throw Self.noJob("\(id)")
        }
        return try Responses.json(job)
    }

    private func forget(_ id: Int64) async throws -> Response {
        try await site.blocking.long { try site.store.jobs.forget(id) }
        return Responses.empty(.noContent)
    }

    private func change(_ id: Int64, _ change: JobChange) async throws -> Response {
        try Responses.json(try await site.blocking.long { try site.store.jobs.change(id, change) })
    }

    /// Returns the states in the parameter `state`, separated by commas; `nil` for all.
    private static func states(_ query: Parameters) throws -> [Job.State]? {
        try query["state"]?.split(separator: ",", omittingEmptySubsequences: false).map { name in
            guard let state = Job.State(rawValue: String(name)) else {
                throw ErrorResponse.badParameter(
                    "the parameter state has an unknown state: \"\(name.prefix(20))\"",
                    hint: "use \(Job.State.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            return state
        }
    }

    /// Returns the kind in the parameter `kind`; `nil` for all.
    private static func kind(_ query: Parameters) throws -> Job.Kind? {
        guard let name = query["kind"], !name.isEmpty else { return nil }
        guard let kind = Job.Kind(rawValue: String(name)) else {
            throw ErrorResponse.badParameter(
                "the parameter kind is unknown: \"\(name.prefix(20))\"",
                hint: "use \(Job.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return kind
    }

    private static func id(in context: ConnectionContext) throws -> Int64 {
        let text = try context.name()
        guard let id = Int64(text) else { throw noJob(text.prefix(40)) }
        return id
    }

    private static func noJob(_ id: some StringProtocol) -> ErrorResponse {
        ErrorResponse(.notFound, code: "not-found", "there is no job \(id)")
    }

    private static let listMax = 1000
}
