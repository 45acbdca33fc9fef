import CaptureAPI
import CaptureTLS
import Foundation
import HTTPTypes
import Hummingbird
import ReplayServer

/// Users, keys, and what connects a phone.
struct SetupRoutes: Sendable {
    let service: CaptureService

    /// `GET /users`
    func users(_ call: CaptureRoutes.Call) async throws -> Response {
        let users = try await BlockingWork().long { [service] in try service.keys.users(only: call.caller.user) }
        return try JSONAnswer.response(users)
    }

    /// `GET /keys`
    func keys(_ call: CaptureRoutes.Call) async throws -> Response {
        let keys = try await BlockingWork().long { [service] in try service.keys.all() }
        return try JSONAnswer.response(keys)
    }

    /// `DELETE /keys/{id}`
    func revoke(_ call: CaptureRoutes.Call) async throws -> Response {
        let key = try await BlockingWork().long { [service] in try service.keys.revoke(call.path[1]) }
        guard let key else { throw RequestFailure(.notFound, "not_found", "no key has this ID, or it was revoked") }
        return try JSONAnswer.response(key)
    }

    /// `POST /config/setup`: makes a key for a device.
    func setUp(_ call: CaptureRoutes.Call) async throws -> Response {
        struct Body: Decodable {
            let name: String
            let username: String?
            let admin: Bool?
        }
        let body = try await DownloadRoutes.decoded(Body.self, call.request)
        let user = body.username.flatMap { $0.isEmpty ? nil : $0 }
        let username = user.flatMap { Username($0) }
        guard (user == nil) == (username == nil) else {
            throw RequestFailure(invalid: [.username])
        }
        guard !service.network.configuration.server.isLoopback else {
            throw RequestFailure(
                .conflict, "not_possible",
                "other devices can't connect yet; run `replayhost-capture setup`, or let them connect on the administrator's page"
            )
        }
        let connection = service.network.connection(withKey: false)
        guard connection.lan.available else { throw Self.noNetwork }
        let made: (text: String, key: KeyDescription)
        do {
            made = try await BlockingWork().long { [service] in
                try service.keys.add(body.name, user: username, isAdministrator: body.admin ?? false)
            }
        } catch let problem as APIKeys.Problem {
            throw RequestFailure(invalid: [FieldProblem(["body", problem.field], problem.sentence)])
        }
        guard let payload = QRPayload(connection, key: made.text) else { throw Self.noNetwork }
        let answer = SetupAnswer(
            made.key, secret: made.text, payload, payloadSVG: try QRCode(payload.text).svg,
            linkSVG: try QRCode(payload.link).svg)
        return try JSONAnswer.response(answer, status: .created)
    }

    private static let noNetwork = RequestFailure(
        .conflict, "not_possible", "this computer isn't connected to a network")

    /// `GET /config/connection`
    func connection(_ call: CaptureRoutes.Call) async throws -> Response {
        let isAdministrator = call.caller.role == .administrator
        return try JSONAnswer.response(service.network.connection(withKey: isAdministrator))
    }

    /// `GET /server.crt`: the root certificate.
    func certificate(_ call: CaptureRoutes.Call) async throws -> Response {
        guard let pem = service.network.rootCertificate else {
            throw RequestFailure(.notFound, "not_found", "this server has no root certificate of its own")
        }
        return Responses.bytes(
            Data(pem.utf8), type: CertificateAuthority.mediaType, status: .ok, policy: SecurityHeaders.inert,
            fields: [.cacheControl: "no-store", .contentDisposition: "attachment; filename=\"server.crt\""])
    }
}

extension APIKeys.Problem {
    /// The part of the request that is wrong.
    var field: String { self == .administratorWithUser ? "username" : "name" }

    package var sentence: String {
        switch self {
        case .name: "A name must have 1 to 100 characters"
        case .nameTaken: "Another key has this name; choose a different one, or revoke the other"
        case .administratorWithUser: "An administrator's key isn't bound to a user"
        }
    }
}
