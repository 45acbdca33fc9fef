import ArchiveStore
import HTTPTypes
import Hummingbird
import Logging

/// Sends each request to the routes of the origin it was made to. Every error ends here, as an answer.
struct HostDispatch<Control: HTTPResponder>: HTTPResponder where Control.Context == ConnectionContext {
    let site: Site
    /// The library; `nil` on a port where it is not.
    let control: Control?
    let replay: ReplayRoutes
    let stock: StockRoutes
    let captures: CaptureRoutes

    init(site: Site, control: Control?) {
        self.site = site
        self.control = control
        captures = CaptureRoutes(site: site)
        replay = ReplayRoutes(site: site, captures: captures)
        stock = StockRoutes(site: site)
    }

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        let role = site.hosts.role(hosts: [request.head.authority ?? ""])
        let response: Response
        do {
            response = try await route(request, role: role, context: context)
        } catch {
            let words = ErrorResponse(error)
            words.log(error, to: context.logger)
            response =
                ErrorPage.isWanted(by: request)
                ? ErrorPage.response(to: words, library: site.hosts.controlOrigins[0])
                : try words.response(asJSON: request.uri.path.hasPrefix("/api/"))
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func route(
        _ request: Request, role: HostPolicy.Role, context: ConnectionContext
    ) async throws -> Response {
        switch role {
        case .control:
            if request.uri.path.hasPrefix("/archives/") { throw try await unansweredFile(request) }
            if isCapture(request) { return try await captures.respond(to: request, at: .control, context: context) }
            guard let control else { throw ErrorResponse.misdirected(site.hosts) }
            return try await control.respond(to: request, context: context)
        case .replay(let id):
            if let reason = try await reasonForNoFile(request, of: id) { throw reason }
            return try await replay.respond(to: request, id: id, context: context)
        case .stock:
            if request.uri.path.hasPrefix("/archives/") { throw try await unansweredFile(request) }
            return try await stock.respond(to: request)
        case .address:
            return try await atAddress(request, context: context)
        case .addressOfReplay:
            guard request.method == .get || request.method == .head, let own = site.hosts.replaying else {
                throw ErrorResponse.misdirected(site.hosts)
            }
            return Responses.redirect(to: "\(HostPolicy.origin(replayPort: own.port))\(request.uri.string)")
        case .misdirected:
            throw ErrorResponse.misdirected(site.hosts)
        case .malformed:
            throw ErrorResponse(.badRequest, code: "bad-host", "a request has exactly one Host")
        }
    }

    /// `127.0.0.1` and `[::1]`: programs get files and health in place, people are sent to a name that can hold a worker.
    private func atAddress(_ request: Request, context: ConnectionContext) async throws -> Response {
        guard request.method == .get || request.method == .head else { throw ErrorResponse.misdirected(site.hosts) }
        if request.uri.path.hasPrefix("/archives/") { throw try await unansweredFile(request) }
        if isCapture(request) { return try await captures.respond(to: request, at: .control, context: context) }
        if request.uri.path.hasPrefix(PDFRoute.prefix) {
            return try await PDFRoute(site: site).respond(to: request, context: context)
        }
        if request.uri.path == "/api/health" { return try await HealthRoute(site: site).respond() }
        return Responses.redirect(to: "\(site.hosts.controlOrigins[0])\(request.uri.string)")
    }

    private func isCapture(_ request: Request) -> Bool {
        request.head.path?.hasPrefix(CaptureAddress.prefix) == true
    }

    /// Why the archive handler did not give out the file of a replay origin's own archive, when that is away or was changed.
    private func reasonForNoFile(_ request: Request, of id: ArchiveID) async throws -> ErrorResponse? {
        guard request.uri.path == "/archives/\(id).wacz",
            try await site.blocking({ try site.store.archive(id: id) }) != nil
        else { return nil }
        let reason = try await unansweredFile(request)
        guard [.serviceUnavailable, .conflict].contains(reason.status) else { return nil }
        // Not 503: the engine would ask again and again for minutes before it gives up.
        return ErrorResponse(
            reason.status == .serviceUnavailable ? .notFound : reason.status, code: reason.code, reason.what,
            hint: reason.hint, fields: [.replayhostError: reason.code])
    }

    /// Why the archive handler did not answer: the method, a name that no archive has, or a file that cannot be read.
    private func unansweredFile(_ request: Request) async throws -> ErrorResponse {
        if ArchiveRequest.isNavigationFromElsewhere(
            site: request.headers[.secFetchSite], mode: request.headers[.secFetchMode])
        {
            return ErrorResponse.forbidden("another site can't lead to an archive's file; open its address yourself")
        }
        guard request.method == .get || request.method == .head else {
            return ErrorResponse(
                .methodNotAllowed, code: "method", "an archive's file is read with GET and HEAD only",
                fields: [.allow: "GET, HEAD"])
        }
        let last = request.uri.path.split(separator: "/").last.map(String.init) ?? ""
        let file = OpenArchives.Request(path: last, query: request.uri.query?[...])
        do {
            guard let file, try await site.blocking({ try site.store.openArchives.file(for: file) }) != nil else {
                return ErrorResponse(
                    .notFound, code: "not-found", "no archive's file has this address",
                    hint: "the library is at \(site.hosts.controlOrigins[0])")
            }
            return ErrorResponse(
                .notFound, code: "another-file", "the archive of this name is another file now", hint: "reload the page"
            )
        } catch let error as StoreError where [.unavailable, .changed].contains(error.code) {
            return ErrorResponse(error)
        } catch {
            return ErrorResponse(
                .internalServerError, code: "file-unreadable",
                "the archive's file is missing from the store or cannot be read",
                hint: "run `replayhost doctor`")
        }
    }
}

/// Hands the router's own errors on to `HostDispatch`: it would answer them itself, with bare statuses.
struct ErrorMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: ConnectionContext,
        next: (Request, ConnectionContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError {
            throw ErrorResponse(error)
        }
    }
}
