import CaptureAPI
import Foundation
import HTTPTypes
import Hummingbird
import ReplayServer

/// The cookies of users, for the administrator. No answer has their content.
struct CookieRoutes: Sendable {
    let service: CaptureService

    private var files: CookieFiles { CookieFiles(service.layout) }

    /// `GET /cookies`
    func list(_ call: CaptureRoutes.Call) async throws -> Response {
        return try JSONAnswer.response(try await BlockingWork().long { [files] in try files.all() })
    }

    /// `PUT /cookies/{username}`
    func set(_ call: CaptureRoutes.Call) async throws -> Response {
        let user = try Self.user(call)
        struct Body: Decodable {
            let text: String
        }
        let body = try await DownloadRoutes.decoded(Body.self, call.request, bytesMax: CookieFiles.bytesMax)
        do {
            _ = try await BlockingWork().long { [files] in try files.set(Data(body.text.utf8), for: user) }
        } catch is CookieFiles.NotCookies {
            throw RequestFailure(invalid: [FieldProblem(["body", "text"], CookieFiles.NotCookies.sentence)])
        }
        return try await list(call)
    }

    /// `DELETE /cookies/{username}`
    func remove(_ call: CaptureRoutes.Call) async throws -> Response {
        let user = try Self.user(call)
        guard try await BlockingWork().long({ [files] in try files.remove(of: user) }) else {
            throw RequestFailure(.notFound, "not_found", "this user has no cookies")
        }
        return try await list(call)
    }

    private static func user(_ call: CaptureRoutes.Call) throws -> Username {
        guard let user = Username(call.path[1]) else { throw RequestFailure(invalid: [.username]) }
        return user
    }
}
