import ArchiveStore
import HTTPTypes
import Hummingbird
import WebArchive

/// `/c/…`: captures, lists of captures, and the negotiation of time, for one archive or all. RFC 7089; addresses as pywb has them.
///
/// On the control origins and bare addresses nothing that is archived is ever rendered: captures come sandboxed there, and a
/// navigation to one is sent on to the archive's own origin, where it is live.
struct CaptureRoutes: Sendable {
    /// Where the request was made.
    enum Place: Sendable {
        case control
        case replay(Replayable)
    }

    let site: Site

    func respond(to request: Request, at place: Place, context: ConnectionContext) async throws -> Response {
        guard let address = CaptureAddress(path: request.head.path ?? "") else {
            throw ErrorResponse(
                .notFound, code: "not-found", "there is nothing at this address",
                hint: "captures are at /c/ID/TIMESTAMP/URL, lists of them at /c/ID/cdx?url=URL")
        }
        // To a page such a URL is one that was not captured, like any other.
        if let url = address.target.url, Self.isTooLong(url), !address.target.isForEngine {
            throw ErrorResponse.urlTooLong(url)
        }
        guard Self.isAllowed(request.method, address.target, place) else {
            throw ErrorResponse(
                .methodNotAllowed, code: "method",
                "captures are read with GET, HEAD, POST and PUT, lists with GET and HEAD",
                fields: [.allow: Self.isAllowed(.post, address.target, place) ? "GET, HEAD, POST, PUT" : "GET, HEAD"])
        }
        // A worker that an archive brings would stand between its pages and the engine.
        guard request.headers[.serviceWorker] == nil else {
            throw ErrorResponse.forbidden("an archived script cannot become a service worker")
        }
        guard Self.isByPerson(request) || Self.isBySamePage(request) else {
            throw ErrorResponse.forbidden("pages of other sites can link to captures, but not load them")
        }
        let call = CaptureCall(
            site: site, request: request, place: place, scope: try await scope(address.scope, at: place),
            client: try await context.watchClient(), logger: context.logger)
        switch address.target {
        case .cdx: return try await CaptureLists(call: call).cdx()
        case .timeMap(let form, let url): return try await CaptureLists(call: call).timeMap(of: url, form: form)
        case .timeGate(let url): return try await TimeGate(call: call, url: url).respond()
        case .memento(let timestamp, let modifier, let url):
            return try await MementoRoute(call: call, timestamp: timestamp, modifier: modifier, url: url).respond()
        }
    }

    private static func isBySamePage(_ request: Request) -> Bool {
        guard let site = request.headers[.secFetchSite] else { return true }
        return site == "same-origin" || site == "none"
    }

    /// Whether a link of any site was followed. Everything else that another site's page sends could not be read by it, but
    /// would keep the server at work.
    private static func isByPerson(_ request: Request) -> Bool {
        [.get, .head].contains(request.method) && request.headers[.secFetchMode] == "navigate"
            && [nil, "document"].contains(request.headers[.secFetchDest])
    }

    /// Every method only reads here. The engine hands on whatever method an archived page uses, on the page's own origin.
    private static func isAllowed(
        _ method: HTTPRequest.Method, _ target: CaptureAddress.Target, _ place: Place
    ) -> Bool {
        switch (target, place) {
        case (.memento(_, .engine, _), .replay): true
        case (.memento, _), (.timeGate, _): [.get, .head, .post, .put].contains(method)
        case (.cdx, _), (.timeMap, _): [.get, .head].contains(method)
        }
    }

    private func scope(_ scope: CaptureAddress.Scope, at place: Place) async throws -> CaptureCall.Scope {
        switch (scope, place) {
        case (.all, .control):
            return .all(
                try await site.blocking.long { try site.store.archives() }.filter { $0.availability == .available }
                    .map(\.archive))
        case (.archive(let name), .replay(let replayable)) where name == replayable.id.text: return .one(replayable)
        case (.archive(let name), .control):
            let found = try await site.blocking {
                try ArchiveID(name).flatMap { try site.store.resolver.replayable(id: $0) }
            }
            guard let found else {
                throw ErrorResponse(.notFound, code: "not-found", "no archive has the id \"\(name.prefix(100))\"")
            }
            return .one(found)
        case (_, .replay): throw ErrorResponse.notFound
        }
    }

    static func isTooLong(_ url: String) -> Bool { url.utf8.count > Limits.standard.urlBytesMax }
}
