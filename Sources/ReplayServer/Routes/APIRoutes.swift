import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird

/// `/api/…`, on the control origins. Documented in `docs/json.md`.
struct APIRoutes: Sendable {
    let site: Site
    let ports: OwnPorts

    func add(to router: Router<ConnectionContext>, events: EventHub) {
        let api = router.group("/api").add(middleware: SameOriginOnly())
        api.get("/health") { _, _ in try await HealthRoute(site: site).respond() }
        api.get("/openapi.json") { request, _ in try await site.asset("openapi.json", request: request) }
        api.get("/archives") { _, _ in try await archives() }
        api.get("/archives/:id") { _, context in try await archive(named: Self.name(in: context)) }
        api.get("/archives/:id/pages") { request, context in
            try await pages(of: Self.name(in: context), query: request.uri.queryParameters)
        }
        api.get("/archives/:id/captures") { request, context in
            try await site.captures(request, context) { try .archive(find($0)) }
        }
        let changes = api.group().add(middleware: ChangesNeedToken(site: site))
        changes.post("/archives") { request, _ in try await importUpload(request) }
        changes.patch("/archives/:id") { request, context in try await edit(Self.name(in: context), request) }
        changes.delete("/archives/:id") { _, context in try await remove(Self.name(in: context)) }
        changes.post("/archives/:id/origin") { _, context in try await openOrigin(of: Self.name(in: context)) }
        changes.post("/groups/:id/origin") { _, context in try await openOrigin(of: Self.name(in: context)) }
        JobRoutes(site: site).add(to: api, changes: changes)
        EventRoutes(site: site, events: events).add(to: api)
        GroupRoutes(site: site).add(to: api, changes: changes)
    }

    /// The archive or group that the path names. RFC 3986 §2.1: percent-encoding undone.
    static func name(in context: ConnectionContext) throws -> String {
        guard let name = try context.parameters.require("id").removingPercentEncoding else {
            throw ErrorResponse(.badRequest, code: "bad-path", "the path is not well-formed percent-encoding")
        }
        return name
    }

    private func archives() async throws -> Response {
        try Responses.json(["archives": try await site.blocking { try site.store.archives() }.map(site.shown)])
    }

    private func archive(named name: String) async throws -> Response {
        let details = try await site.blocking { () throws -> ArchiveDetails in
            try site.store.details(of: try find(name))
        }
        return try Responses.json(site.shown(details))
    }

    private func pages(of id: String, query: Parameters) async throws -> Response {
        let wanted = try ListParameters(pages: query)
        return try Responses.json(
            try await site.blocking {
                let archive = try find(id)
                return ListedPages(
                    try site.store.catalog.pages(
                        key: archive.key, words: wanted.words, offset: wanted.offset, limit: wanted.limit))
            })
    }

    private func find(_ name: String) throws -> Archive {
        guard let archive = try site.store.catalog.archive(named: name) else {
            throw ErrorResponse(.notFound, code: "not-found", "no archive has the name \"\(name.prefix(100))\"")
        }
        return archive
    }

    /// The body is the file. It goes to disk as it comes; nothing is kept of it when the client goes away.
    private func importUpload(_ request: Request) async throws -> Response {
        guard request.headers[.contentType] == "application/wacz" else {
            throw ErrorResponse(
                .unsupportedMediaType, code: "bad-type", "an upload has the type application/wacz",
                hint: "send Content-Type: application/wacz")
        }
        guard let length = request.headers[.contentLength].flatMap({ UInt64($0) }) else {
            throw ErrorResponse(.lengthRequired, code: "length-required", "an upload says its length")
        }
        let name = request.uri.queryParameters["name"].map(String.init) ?? "upload.wacz"
        let job = try await site.blocking.long {
            try site.store.beginImportJob(ImportOrder(path: nil), name: name, total: length)
        }
        let result: ImportResult
        do {
            result = try await receive(request, name: name, length: length, job: job)
        } catch {
            // Whoever sent the file has stopped: that is no failure.
            let isCut = (error as? ErrorResponse)?.code == Self.uploadCut
            let end: any Error = isCut ? StoreError(.interrupted, "the upload was ended") : error
            try await site.blocking.long { job.end(.failure(end)) }
            throw FailedUpload(job: job.id, reason: error)
        }
        try await site.blocking.long { job.end(.success(result)) }
        switch result {
        case .archive(let outcome): return try imported(outcome)
        case .package(let outcome): return try imported(outcome)
        }
    }

    private static let uploadCut = "upload-cut"

    private func receive(
        _ request: Request, name: String, length: UInt64, job: ImportJob
    ) async throws -> ImportResult {
        let incoming = try await site.blocking {
            try site.store.beginImport(name: name, source: "browser", expectedSize: length)
        }
        var received: UInt64 = 0
        do {
            for try await buffer in request.body {
                received += UInt64(buffer.readableBytes)
                let done = received
                try await site.blocking {
                    try buffer.withUnsafeReadableBytes { try incoming.write($0) }
                    try job.advance(to: done)
                }
            }
        } catch let error where !(error is StoreError) {
            // The connection's: what came is all there is.
        }
        guard received == length else {
            throw ErrorResponse(
                .badRequest, code: Self.uploadCut, "the upload ended after \(received) of \(length) bytes",
                hint: "send it again")
        }
        return try await site.blocking.long { try site.store.finishAny(incoming) { try job.follow($0) } }
    }

    private func imported(_ outcome: PackageOutcome) throws -> Response {
        struct Imported: Encodable {
            let group: String
            let archives: [Shown<ArchiveDetails>]
            let duplicate: Bool
            let remarks: [String]
        }
        let archives = outcome.members.map { site.shown($0.details) }
        return try Responses.json(
            Imported(
                group: outcome.group.id.text, archives: archives, duplicate: outcome.isDuplicate,
                remarks: outcome.remarks),
            status: outcome.isDuplicate ? .ok : .created)
    }

    private func imported(_ outcome: ImportOutcome) throws -> Response {
        struct Imported: Encodable {
            let archive: Shown<ArchiveDetails>
            let duplicate: Bool
        }
        return try Responses.json(
            Imported(archive: site.shown(outcome.details), duplicate: outcome.isDuplicate),
            status: outcome.isDuplicate ? .ok : .created)
    }

    /// Changes title, tags, notes.
    private func edit(_ id: String, _ request: Request) async throws -> Response {
        let words: ArchiveWords = try await JSONBody.read(request)
        let details = try await site.blocking.long {
            try site.store.details(of: site.store.edit(try known(id), words))
        }
        return try Responses.json(site.shown(details))
    }

    /// Opens the port on which an archive or a group is replayed, where names are not found or not wanted. It stays open as
    /// long as somebody is connected to it, and some time after; a viewer asks again from time to time.
    private func openOrigin(of id: String) async throws -> Response {
        let replayable = try await site.blocking { try ArchiveID(id).flatMap { try site.store.replayable(id: $0) } }
        guard let replayable else {
            throw ErrorResponse(
                .notFound, code: "not-found", "no archive and no group has the id \"\(id.prefix(100))\"")
        }
        let origin =
            site.hosts.origins == .names
            ? site.replayOrigin(of: replayable)
            : HostPolicy.origin(ownPort: try await ports.port(for: replayable))
        return try Responses.json(["replayOrigin": origin])
    }

    private func remove(_ id: String) async throws -> Response {
        try await site.blocking.long { try site.store.remove(try known(id)) }
        return Responses.empty(.noContent)
    }

    /// The archive of that very id: a change is never made by another name.
    private func known(_ id: String) throws -> Archive {
        guard let known = ArchiveID(id), let archive = try site.store.catalog.archive(id: known) else {
            throw ErrorResponse(.notFound, code: "not-found", "no archive has the id \"\(id.prefix(100))\"")
        }
        return archive
    }
}

/// Why an upload was not imported, and which job says so too.
struct FailedUpload: Error {
    let job: Int64
    let reason: any Error
}

/// Refuses what another site's or an archive's page sends, wherever the browser says who sent it.
struct SameOriginOnly: RouterMiddleware {
    func handle(
        _ request: Request, context: ConnectionContext,
        next: (Request, ConnectionContext) async throws -> Response
    ) async throws -> Response {
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none",
            request.uri.path != "/api/health"
        {
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
