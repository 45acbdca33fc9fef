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
    }

    /// A request that was admitted: its path without `/api/v1`, in parts.
    struct Call {
        let request: Request
        let path: [String]
        let caller: Caller
        /// The origin that the request names, such as `http://localhost:58443`.
        let origin: String

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
        if isRead, let file = try await FileRoutes(service: service).withTicket(request, path) { return file }
        var caller = try await callers.caller(
            of: request, context, isEncrypted: arrival.isEncrypted, service.network.configuration.security)
        if case .loopback = arrival { caller.isLocal = true }
        let call = Call(request: request, path: path, caller: caller, origin: origin)
        if path == ["health"] { return try await health(call) }
        if isRead, path == ["server.crt"] { return try await SetupRoutes(service: service).certificate(call) }
        try caller.requireKey()
        return try await isRead ? read(call) : change(call)
    }

    private func health(_ call: Call) async throws -> Response {
        guard call.request.method == .get || call.request.method == .head else {
            throw RequestFailure.method("GET, HEAD")
        }
        return try await HealthRoute(service: service).respond(call)
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

    private func read(_ call: Call) async throws -> Response {
        let downloads = DownloadRoutes(service: service)
        let setup = SetupRoutes(service: service)
        switch (call.path.count, call.path.first, call.path.last) {
        case (1, "history", _): return try await downloads.history(call)
        case (1, "users", _): return try await setup.users(call)
        case (1, "keys", _): return try await setup.keys(call)
        case (1, "config", _): return try await ConfigurationRoutes(service: service).read(call)
        case (2, "config", "connection"): return try await setup.connection(call)
        case (2, "status", let id?): return try await downloads.status(id, call.caller)
        case (3, "download", "log"): return try await downloads.log(call)
        case (3, "download", "file"): return try await FileRoutes(service: service).file(call)
        case (3, "download", "archive"): return try await FileRoutes(service: service).archive(call)
        case (1, "download", _), (3, "download", "cancel"), (3, "download", "retry"), (3, "download", "check"),
            (3, "download", "ticket"), (2, "config", "setup"):
            throw RequestFailure.method("POST")
        case (2, "history", _), (2, "keys", _): throw RequestFailure.method("DELETE")
        default: throw RequestFailure.nothingHere
        }
    }

    private func change(_ call: Call) async throws -> Response {
        let downloads = DownloadRoutes(service: service)
        let setup = SetupRoutes(service: service)
        switch (call.request.method, call.path.count, call.path.first, call.path.last) {
        case (.post, 1, "download", _): return try await downloads.add(call)
        case (.post, 3, "download", "cancel"): return try await downloads.cancel(call)
        case (.post, 3, "download", "retry"): return try await downloads.retry(call)
        case (.post, 3, "download", "check"): return try await downloads.check(call)
        case (.post, 3, "download", "ticket"): return try await FileRoutes(service: service).ticket(call)
        case (.delete, 2, "history", _): return try await downloads.delete(call)
        case (.put, 1, "config", _): return try await ConfigurationRoutes(service: service).change(call)
        case (.post, 2, "config", "setup"): return try await setup.setUp(call)
        case (.delete, 2, "keys", _): return try await setup.revoke(call)
        case (_, 1, "download", _), (_, 3, "download", "cancel"), (_, 3, "download", "retry"),
            (_, 3, "download", "check"), (_, 3, "download", "ticket"), (_, 2, "config", "setup"):
            throw RequestFailure.method("POST")
        case (_, 1, "config", _): throw RequestFailure.method("GET, HEAD, PUT")
        case (_, 1, "history", _), (_, 1, "users", _), (_, 1, "keys", _), (_, 2, "config", _), (_, 2, "status", _),
            (_, 3, "download", _):
            throw RequestFailure.method("GET, HEAD")
        case (_, 2, "history", _), (_, 2, "keys", _): throw RequestFailure.method("DELETE")
        default: throw RequestFailure.nothingHere
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
        if path == "/" || path == "/index.html" {
            // The page has one origin, so that it remembers its settings.
            guard !isAtAddress else { return Responses.redirect(to: service.address + "/") }
            return try await asset("capture/index.html", request, policy: Self.pagePolicy)
        }
        if path == "/favicon.ico" { return try await asset("app/icon.svg", request) }
        guard Self.folders.contains(where: path.hasPrefix) || path == "/app/icon.svg" else { return nil }
        return try await asset(String(path.dropFirst()), request)
    }

    private func asset(
        _ path: String, _ request: Request, policy: String = SecurityHeaders.inert
    ) async throws -> Response {
        guard let asset = try await BlockingWork()({ [assets = service.assets] in try assets.asset(path) }) else {
            throw RequestFailure.nothingHere
        }
        return Responses.asset(
            asset, policy: policy, request: request, fields: [.crossOriginOpenerPolicy: "same-origin"])
    }

    private static let folders = ["/capture/", "/app/core/", "/app/components/", "/app/messages/"]
    private static let pagePolicy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].joined(separator: "; ")
}
