import HTTPTypes
import Hummingbird

/// A call of the capture server: a method, a path and what answers it.
struct CaptureRoute: Sendable {
    typealias Answer = @Sendable (CaptureService, CaptureRoutes.Call) async throws -> Response

    /// Who may send it.
    enum Access: Sendable {
        /// Also without a key.
        case everyone
        case callers
        case administrator
    }

    let method: HTTPRequest.Method
    /// Its parts; `{id}` stands for any.
    let path: [String]
    let access: Access
    let answer: Answer

    private init(_ method: HTTPRequest.Method, _ path: String, _ access: Access = .callers, _ answer: @escaping Answer)
    {
        self.method = method
        self.path = path.split(separator: "/").map(String.init)
        (self.access, self.answer) = (access, answer)
    }

    private func matches(_ other: [String]) -> Bool {
        path.count == other.count && zip(path, other).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }

    /// Returns the routes at a path.
    static func routes(at path: [String]) -> [CaptureRoute] { all.filter { $0.matches(path) } }

    /// Returns the value of `Allow`: RFC 9110 §10.2.1.
    static func allow(_ routes: [CaptureRoute]) -> String {
        routes.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] }.joined(separator: ", ")
    }

    /// All calls. `HEAD` comes with each `GET`.
    static let all = published + devices + administrator

    private static let published: [CaptureRoute] = [
        .init(.get, "/health", .everyone) { try await HealthRoute(service: $0).respond($1) },
        .init(.post, "/download") { try await DownloadRoutes(service: $0).add($1) },
        .init(.get, "/status/{id}") { try await DownloadRoutes(service: $0).status($1) },
        .init(.get, "/history") { try await DownloadRoutes(service: $0).history($1) },
        .init(.get, "/events") { try await EventRoutes(service: $0).stream($1) },
        .init(.delete, "/history") { try await DownloadRoutes(service: $0).deleteRange($1) },
        .init(.delete, "/history/{id}") { try await DownloadRoutes(service: $0).delete($1) },
        .init(.post, "/download/{id}/cancel") { try await DownloadRoutes(service: $0).cancel($1) },
        .init(.post, "/download/{id}/preview/close") { try await DownloadRoutes(service: $0).closePreview($1) },
        .init(.post, "/download/{id}/retry") { try await DownloadRoutes(service: $0).retry($1) },
        .init(.post, "/download/{id}/check") { try await DownloadRoutes(service: $0).check($1) },
        .init(.get, "/download/{id}/log") { try await DownloadRoutes(service: $0).log($1) },
        .init(.get, "/download/{id}/file") { try await FileRoutes(service: $0).file($1) },
        .init(.get, "/download/{id}/archive") { try await FileRoutes(service: $0).archive($1) },
        .init(.get, "/download/{id}/page") { try await PageRoutes(service: $0).page($1) },
        .init(.get, "/download/{id}/screenshot") { try await PageRoutes(service: $0).screenshot($1) },
        .init(.post, "/download/{id}/ticket") { try await FileRoutes(service: $0).ticket($1) },
    ]

    private static let devices: [CaptureRoute] = [
        .init(.get, "/server.crt", .everyone) { try await SetupRoutes(service: $0).certificate($1) },
        .init(.get, "/config/connection") { try await SetupRoutes(service: $0).connection($1) },
        .init(.post, "/config/setup", .administrator) { try await SetupRoutes(service: $0).setUp($1) },
        .init(.get, "/users") { try await SetupRoutes(service: $0).users($1) },
        .init(.get, "/keys", .administrator) { try await SetupRoutes(service: $0).keys($1) },
        .init(.delete, "/keys/{id}", .administrator) { try await SetupRoutes(service: $0).revoke($1) },
    ]

    private static let administrator: [CaptureRoute] = [
        .init(.get, "/config", .administrator) { try await ConfigurationRoutes(service: $0).read($1) },
        .init(.put, "/config", .administrator) { try await ConfigurationRoutes(service: $0).change($1) },
        .init(.post, "/config/check", .administrator) { try await ConfigurationRoutes(service: $0).check($1) },
        .init(.post, "/config/open", .administrator) { try await ConfigurationRoutes(service: $0).open($1) },
        .init(.post, "/config/restore", .administrator) { try await ConfigurationRoutes(service: $0).restore($1) },
        .init(.post, "/admin/session", .everyone) { try await AdministratorRoutes(service: $0).session($1) },
        .init(.post, "/admin/link", .administrator) { try await AdministratorRoutes(service: $0).link($1) },
        .init(.get, "/admin/state", .administrator) { try await AdministratorRoutes(service: $0).state($1) },
        .init(.post, "/queue/pause", .administrator) { try await AdministratorRoutes(service: $0).pause($1) },
        .init(.post, "/queue/resume", .administrator) { try await AdministratorRoutes(service: $0).resume($1) },
        .init(.get, "/cookies", .administrator) { try await CookieRoutes(service: $0).list($1) },
        .init(.put, "/cookies/{username}", .administrator) { try await CookieRoutes(service: $0).set($1) },
        .init(.delete, "/cookies/{username}", .administrator) { try await CookieRoutes(service: $0).remove($1) },
        .init(.post, "/tools/update", .administrator) { try await AdministratorRoutes(service: $0).updateTools($1) },
        .init(.post, "/tools/rollback", .administrator) {
            try await AdministratorRoutes(service: $0).rollBackTools($1)
        },
        .init(.get, "/server/log", .administrator) { try await AdministratorRoutes(service: $0).log($1) },
    ]
}
