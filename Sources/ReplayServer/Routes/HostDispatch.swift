import ArchiveStore
import HTTPTypes
import Hummingbird
import Logging

/// Passes each request to the routes of its origin, and converts errors to responses.
struct HostDispatch<Control: HTTPResponder>: HTTPResponder where Control.Context == ConnectionContext {
    let site: Site
    /// The library's routes; `nil` on a replay port.
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
            response = try await routeRetryingRemovedFile(request, role: role, context: context)
        } catch {
            let failure = ErrorResponse(error)
            failure.log(error, to: context.logger)
            response =
                ErrorPage.isWanted(by: request)
                ? ErrorPage.response(to: failure, library: site.hosts.controlOrigins[0])
                : try failure.response(asJSON: request.uri.path.hasPrefix("/api/"))
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Routes a request. If the file of an archive is missing since the archive is just being removed, routes it again: the
    /// request is answered as if it came after the removal.
    private func routeRetryingRemovedFile(
        _ request: Request, role: HostPolicy.Role, context: ConnectionContext
    ) async throws -> Response {
        for attempt in 0..<Self.attemptsMax {
            do {
                return try await route(request, role: role, context: context)
            } catch  where (request.method == .get || request.method == .head) && ErrorResponse(error).isOfAFile {
                let isRemoving = try await site.blocking { site.store.isRemoving }
                // The removal may have ended in between.
                guard isRemoving || attempt == 0 else { throw error }
                if isRemoving { try await Task.sleep(for: .milliseconds(50)) }
            }
        }
        return try await route(request, role: role, context: context)
    }

    private static var attemptsMax: Int { 20 }

    private func route(
        _ request: Request, role: HostPolicy.Role, context: ConnectionContext
    ) async throws -> Response {
        if let answer = try answerToOtherSites(request, role: role) { return answer }
        switch role {
        case .control:
            if request.uri.path.hasPrefix("/archives/") { throw try await fileError(request) }
            if isCapture(request) { return try await captures.respond(to: request, at: .control, context: context) }
            guard let control else { throw ErrorResponse.misdirected(site.hosts) }
            return try await control.respond(to: request, context: context)
        case .replay(let id):
            if let error = try await replayFileError(request, of: id) { throw error }
            return try await replay.respond(to: request, id: id, context: context)
        case .stock:
            if request.uri.path.hasPrefix("/archives/") { throw try await fileError(request) }
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
            throw ErrorResponse(.badRequest, code: "bad-host", "a request must have exactly one Host field")
        }
    }

    /// Returns the response to a page of another site or archive, before anything is looked up: neither it nor its time may
    /// depend on what is in the library. `nil` for other requests, and for what is the same in every library.
    ///
    /// - Throws: An error for requests that don't open a tab or a frame, and for framed pages of replay origins.
    private func answerToOtherSites(_ request: Request, role: HostPolicy.Role) throws -> Response? {
        let headers = request.headers
        let (from, destination) = (headers[.secFetchSite], headers[.secFetchDest])
        guard site.hosts.isFromElsewhere(site: from, referrer: headers[.referer]) else { return nil }
        let isNavigation = headers[.secFetchMode] == "navigate"
        switch role {
        case .misdirected, .malformed, .addressOfReplay: return nil
        case .address where !dependsOnLibraryAtAddress(request): return nil
        case .control, .address:
            if request.uri.path == "/api/health" { return nil }
            // Pages of replay origins lead to the viewer, without a referrer.
            let isApp = ["/", "/index.html"].contains(request.uri.path)
            if isApp, from == "same-site", isNavigation, destination == "document" { return nil }
        case .replay, .stock:
            // A tab shows the viewer, a frame would show the page itself.
            guard isCapture(request) || [nil, "document"].contains(destination) || !isNavigation else {
                throw ErrorResponse.forbidden("only the viewer can show pages in a frame")
            }
        }
        guard isNavigation, let path = request.head.path else {
            throw ErrorResponse.forbidden("other sites can't use the library")
        }
        return ErrorPage.asking(path)
    }

    /// Responds on `127.0.0.1` and `[::1]`: programs get files, captures and health here, the viewer gets PDF documents
    /// and its page for printing, people are redirected to `localhost`.
    private func atAddress(_ request: Request, context: ConnectionContext) async throws -> Response {
        guard request.method == .get || request.method == .head else { throw ErrorResponse.misdirected(site.hosts) }
        if request.uri.path.hasPrefix("/archives/") { throw try await fileError(request) }
        if isCapture(request) { return try await captures.respond(to: request, at: .control, context: context) }
        if request.uri.path.hasPrefix(PDFRoute.prefix) {
            return try await PDFRoute(site: site).respond(to: request, context: context)
        }
        if request.uri.path == PrintRoute.path { return try await PrintRoute(site: site).respond(to: request) }
        if request.uri.path == "/api/health" { return try await HealthRoute(site: site).respond() }
        return Responses.redirect(to: "\(site.hosts.controlOrigins[0])\(request.uri.string)")
    }

    /// Whether what `atAddress` answers depends on what is in the library. The page for printing, which the viewer opens
    /// without a referrer, is the same in all.
    private func dependsOnLibraryAtAddress(_ request: Request) -> Bool {
        let path = request.uri.path
        return path.hasPrefix("/archives/") || isCapture(request) || path.hasPrefix(PDFRoute.prefix)
    }

    private func isCapture(_ request: Request) -> Bool {
        request.head.path?.hasPrefix(CaptureAddress.prefix) == true
    }

    /// Returns the error for the file of a replay origin's archive, if it is unavailable, changed or replaced.
    private func replayFileError(_ request: Request, of id: ArchiveID) async throws -> ErrorResponse? {
        guard request.uri.path == "/archives/\(id).wacz",
            try await site.blocking({ try site.store.archive(id: id) }) != nil
        else { return nil }
        let error = try await fileError(request)
        let isReported = [.serviceUnavailable, .conflict].contains(error.status) || error.code == "another-file"
        guard isReported else { return nil }
        // Not 503, for which the engine would retry for minutes.
        return ErrorResponse(
            error.status == .serviceUnavailable ? .notFound : error.status, code: error.code, error.what,
            hint: error.hint, fields: [.replayhostError: error.code])
    }

    /// Returns the error for a request that the archive handler didn't accept.
    private func fileError(_ request: Request) async throws -> ErrorResponse {
        guard request.method == .get || request.method == .head else {
            return ErrorResponse(
                .methodNotAllowed, code: "method", "use GET or HEAD for an archive's file",
                fields: [.allow: "GET, HEAD"])
        }
        let last = request.uri.path.split(separator: "/").last.map(String.init) ?? ""
        let file = OpenArchives.Request(path: last, query: request.uri.query?[...])
        do {
            guard let file, try await site.blocking({ try site.store.openArchives.file(for: file) }) != nil else {
                return ErrorResponse(
                    .notFound, code: "not-found", "no archive has this file",
                    hint: "the library is at \(site.hosts.controlOrigins[0])")
            }
            return ErrorResponse(
                .notFound, code: "another-file", "this archive's file was replaced", hint: "reload the page")
        } catch let error as StoreError where [.unavailable, .changed].contains(error.code) {
            return ErrorResponse(error)
        } catch {
            return ErrorResponse(
                .internalServerError, code: "file-unreadable",
                "the archive's file is missing from the store or can't be read",
                hint: "run `replayhost doctor`")
        }
    }
}

/// Passes errors of the router on to `HostDispatch`, so that they get a message.
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
