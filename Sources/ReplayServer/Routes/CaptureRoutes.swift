import ArchiveStore
import HTTPTypes
import Hummingbird
import WebArchive

/// `/c/…`: captures, lists of captures and datetime negotiation, for one archive or all. RFC 7089, with URLs as in
/// pywb. At a replay origin, `replayCollection` can replace the ID.
///
/// The control origins and IP addresses never render archived content: captures are sandboxed there, and navigations
/// are redirected to the archive's replay origin. `HostDispatch` answers requests of other sites.
struct CaptureRoutes: Sendable {
    /// The kind of origin that the request was made to.
    enum Place: Sendable {
        case control
        case replay(Replayable)
    }

    let site: Site

    func respond(to request: Request, at place: Place, context: ConnectionContext) async throws -> Response {
        guard let address = CaptureAddress(path: request.head.path ?? "") else {
            throw ErrorResponse(
                .notFound, code: "not-found", "there is nothing at this URL",
                hint: "use /c/ID/TIMESTAMP/URL for captures, /c/ID/cdx?url=URL for lists")
        }
        // For an archived page, such a URL simply wasn't captured.
        if let url = address.target.url, Self.isTooLong(url), !address.target.isForEngine {
            throw ErrorResponse.urlTooLong(url)
        }
        guard Self.isAllowed(request.method, address.target, place) else {
            throw ErrorResponse(
                .methodNotAllowed, code: "method",
                "use GET, HEAD, POST or PUT for captures, GET or HEAD for lists",
                fields: [.allow: Self.isAllowed(.post, address.target, place) ? "GET, HEAD, POST, PUT" : "GET, HEAD"])
        }
        // An archived service worker would intercept requests before the engine.
        guard request.headers[.serviceWorker] == nil else {
            throw ErrorResponse.forbidden("an archived script can't be registered as a service worker")
        }
        let call = CaptureCall(
            site: site, request: request, place: place, scope: try await scope(address.scope, at: place),
            client: context.watchClient(), logger: context.logger)
        switch address.target {
        case .cdx: return try await CaptureLists(call: call).cdx()
        case .timeMap(let form, let url): return try await CaptureLists(call: call).timeMap(of: url, form: form)
        case .timeGate(let url): return try await TimeGate(call: call, url: url).respond()
        case .memento(let timestamp, let modifier, let url):
            return try await MementoRoute(call: call, timestamp: timestamp, modifier: modifier, url: url).respond()
        }
    }

    /// Whether a method is allowed. All methods only read here. On replay origins, the engine passes on any method that
    /// an archived page uses.
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
            return .all
        case (.archive(let name), .replay(let replayable))
        where name == replayable.id.text || ReplayRoutes.isReplayCollection(name[...], of: replayable.id):
            return .one(replayable)
        case (.archive(let name), .control):
            return .one(try await site.blocking { try site.replayable(id: name) })
        case (_, .replay): throw ErrorResponse.notFound
        }
    }

    static func isTooLong(_ url: String) -> Bool { url.utf8.count > Limits.standard.urlBytesMax }
}
