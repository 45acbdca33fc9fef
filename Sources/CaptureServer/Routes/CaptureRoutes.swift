import ArchiveStore
import CaptureAPI
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ReplayServer

/// The routes of the capture server: the published calls, ours, and the page.
struct CaptureRoutes: Sendable {
    let service: CaptureService
    let callers: CallerCheck

    /// Where a request arrived.
    enum Arrival: Sendable {
        case loopback
        case network(NetworkListeners.Endpoint, CaptureConfiguration.Server, OwnAddresses)

        var isEncrypted: Bool {
            if case .network(let endpoint, _, _) = self { return endpoint.isEncrypted }
            return false
        }

        var isConfidential: Bool {
            if case .loopback = self { true } else { isEncrypted }
        }
    }

    /// A request that was admitted: its path without `/api/v1`, in parts.
    struct Call {
        let request: Request
        let path: [String]
        let caller: Caller
        /// The origin that the request names, such as `http://localhost:58443`.
        let origin: String
        /// Whether others on the network can't read the answer.
        let isConfidential: Bool
        let context: ConnectionContext
        /// Whether what the caller was admitted by, such as its key, still admits it.
        let isStillAdmitted: @Sendable () async throws -> Bool

        /// The parameters of the query. RFC 3986 §3.4.
        var parameters: [String: String] {
            let pairs = request.uri.queryParameters.map { (String($0.key), String($0.value)) }
            return Dictionary(pairs) { first, _ in first }
        }

        func hasFlag(_ name: String) -> Bool { parameters[name].map { !["0", "false"].contains($0) } ?? false }
    }

    func respond(to request: Request, _ context: ConnectionContext, at arrival: Arrival) async throws -> Response {
        let response: Response
        do {
            response = try await route(request, context, arrival)
        } catch let failure as RequestFailure {
            response = try failure.response()
        } catch let problem as FieldProblem {
            response = try RequestFailure(invalid: [problem]).response()
        } catch {
            context.logger.error("request failed", metadata: ["error": "\(error)"])
            response = try RequestFailure(error).response()
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func route(
        _ request: Request, _ context: ConnectionContext, _ arrival: Arrival
    ) async throws -> Response {
        let (origin, isAtAddress) = try origin(of: request, arrival)
        let isRead = request.method == .get || request.method == .head
        if isRead, let page = try await page(request, isAtAddress: isAtAddress) { return page }
        try Self.checkSite(request, origin)
        var path = request.uri.path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        if path.starts(with: ["api", "v1"]) { path.removeFirst(2) }
        // SQLite compares a text up to its first NUL.
        guard !path.contains(where: { $0.contains("\0") }) else { throw RequestFailure.nothingHere }
        let rules = service.network.configuration.security
        if isRead {
            let file = try await FileRoutes(service: service).withTicket(request, path) {
                try await callers.holders(rules)
            }
            if let file { return file }
        }
        var caller = try await callers.caller(of: request, context, isEncrypted: arrival.isEncrypted, rules)
        if case .loopback = arrival {
            caller.isLocal = true
        } else if caller.holder.isKey, let address = CallerCheck.address(of: context) {
            service.network.limits.recognize(address)
        }
        let call = Call(
            request: request, path: path, caller: caller, origin: origin, isConfidential: arrival.isConfidential,
            context: context
        ) { [service, callers, holder = caller.holder] in
            try await callers.holders(service.network.configuration.security).contains(holder)
        }
        let routes = CaptureRoute.routes(at: path)
        if !routes.contains(where: { $0.access == .everyone }) { try caller.requireKey() }
        guard !routes.isEmpty else { throw RequestFailure.nothingHere }
        guard let route = routes.first(where: { isRead ? $0.method == .get : $0.method == request.method }) else {
            throw RequestFailure.method(CaptureRoute.allow(routes))
        }
        if route.access == .administrator { try caller.requireAdministrator() }
        return try await route.answer(service, call)
    }

    /// Returns the origin that a request names, and whether that is a loopback address instead of a name.
    private func origin(of request: Request, _ arrival: Arrival) throws -> (origin: String, isAtAddress: Bool) {
        let host = request.head.authority ?? ""
        switch arrival {
        case .loopback:
            switch service.hosts.role(hosts: [host]) {
            case .control: return ("http://\(host.lowercased())", false)
            case .address: return ("http://\(host.lowercased())", true)
            case .malformed: throw RequestFailure(.badRequest, "bad_host", "a request must have exactly one Host field")
            default:
                throw RequestFailure(
                    .misdirectedRequest, "misdirected",
                    "this server doesn't serve this host; open \(service.address)")
            }
        case .network(let endpoint, let server, let own):
            guard let origin = server.hosts(own, at: endpoint).origin(host) else {
                throw RequestFailure(
                    .misdirectedRequest, "misdirected",
                    "this server doesn't serve this host; use its IP address, or add the name to server.names")
            }
            return (origin, false)
        }
    }

    /// Refuses requests of other sites in the same browser. Programs send neither field.
    private static func checkSite(_ request: Request, _ origin: String) throws {
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" {
            throw RequestFailure(.forbidden, "forbidden", "other sites can't use this server")
        }
        if let sender = request.headers[.origin], sender != origin {
            throw RequestFailure(.forbidden, "forbidden", "other sites can't use this server")
        }
    }

    // The page

    /// Returns the page or one of its files; `nil` for other paths.
    private func page(_ request: Request, isAtAddress: Bool) async throws -> Response? {
        let path = request.uri.path
        if ["/", "/index.html", "/share"].contains(path) {
            // The page has one origin, so that it remembers its settings, and what it couldn't send yet.
            guard !isAtAddress else {
                let query = request.uri.query.map { "?\($0)" } ?? ""
                return Responses.redirect(to: service.address + (path == "/share" ? path + query : "/"))
            }
            return try await asset(
                "bundle/capture/index.html", orElse: "capture/index.html", request, policy: Self.appPolicy)
        }
        if Self.workers.contains(path) {
            return try await asset(
                String(path.dropFirst()), request, policy: Self.workerPolicy, fields: [.serviceWorkerAllowed: "/"])
        }
        if let file = Self.documents[path] { return try await asset(file, request, policy: Self.pagePolicy) }
        if path == "/redoc" { return Responses.redirect(to: "/docs") }
        if path == "/favicon.ico" { return try await asset("app/icon.svg", request) }
        guard Self.folders.contains(where: path.hasPrefix) || path == "/app/icon.svg" else { return nil }
        return try await asset(String(path.dropFirst()), request)
    }

    private func asset(
        _ path: String, orElse other: String? = nil, _ request: Request, policy: String = SecurityHeaders.inert,
        fields: HTTPFields = HTTPFields()
    ) async throws -> Response {
        let asset = try await BlockingWork()({ [assets = service.assets] in
            try assets.asset(path) ?? other.flatMap { try assets.asset($0) }
        })
        guard let asset else { throw RequestFailure.nothingHere }
        return Responses.asset(
            asset, policy: policy, request: request,
            fields: fields.adding([.crossOriginOpenerPolicy: "same-origin"]))
    }

    private static let folders = [
        "/capture/", "/bundle/capture/", "/app/core/", "/app/components/", "/app/messages/", "/app/docs/",
    ]
    /// Files outside these folders.
    static let documents = [
        "/admin": "capture/admin.html", "/config/setup": "capture/admin.html", "/docs": "capture/docs.html",
        "/openapi.json": "capture/openapi.json",
    ]
    /// The service worker of the page, as a module and bundled.
    private static let workers: Set = ["/capture/worker.js", "/bundle/capture/worker.js"]
    private static let documentPolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
    ].joined(separator: "; ")
    private static let pagePolicy = documentPolicy + "; trusted-types 'none'"
    /// The page to save URLs can also be installed, start its worker, and play what was saved.
    private static let appPolicy =
        documentPolicy + "; trusted-types capture-worker; worker-src 'self'; manifest-src 'self'; media-src 'self'"
    private static let workerPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'"
}
