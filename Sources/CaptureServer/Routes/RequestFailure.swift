import ArchiveStore
import CaptureAPI
import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import ReplayServer

/// An error response, with all keys that the published documents name.
struct RequestFailure: Error {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    var reason: String?
    /// `nil` for the message.
    var detail: CaptureError.Detail?
    var fields = HTTPFields()
    /// Whether `error` is the message, as the older client expects.
    var isForOlderClient = false

    init(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, detail: CaptureError.Detail? = nil,
        fields: HTTPFields = HTTPFields()
    ) {
        (self.status, self.code, self.message) = (status, code, message)
        (self.detail, self.fields) = (detail, fields)
    }

    /// Converts any other error, without paths and types of the server.
    init(_ error: any Error) {
        switch error {
        case let error as DatabaseError where error.resultCode == .SQLITE_FULL: self = .noSpace
        case let error as StoreError where error.code == .noSpace: self = .noSpace
        case let error where CaptureDatabase.isBusy(error): self = .busy
        default:
            self.init(
                .internalServerError, "internal_error", "an unexpected error occurred; the server's log has details")
        }
    }

    /// 400 with a list of problems.
    init(invalid problems: [FieldProblem]) {
        self.init(
            .badRequest, "invalid_parameter", problems.first?.msg ?? "Invalid request", detail: .problems(problems))
    }

    static let notJSON = RequestFailure(
        .badRequest, "invalid_json", "The body must be a JSON object",
        detail: .problems([FieldProblem(["body"], "JSON decode error", type: "json_invalid")]))

    static let noDownload = RequestFailure(.notFound, "not_found", "Download not found")

    static let nothingHere = RequestFailure(.notFound, "not_found", "there is nothing at this URL")

    static let noSpace = RequestFailure(
        .init(code: 507, reasonPhrase: "Insufficient Storage"), "no_space", "the disk is full; nothing was kept")

    static let busy = RequestFailure(
        .serviceUnavailable, "busy", "another program has locked the queue; nothing was kept, try again later",
        fields: [.retryAfter: "30"])

    static func method(_ allowed: String) -> RequestFailure {
        RequestFailure(
            .methodNotAllowed, "method_not_allowed", "use \(allowed) here", fields: [.allow: allowed])
    }

    func response() throws -> Response {
        let body = CaptureError(
            error: isForOlderClient ? message : code, message: message, reason: reason,
            requestID: UUID().uuidString.lowercased(), timestamp: Int(Date().timeIntervalSince1970),
            detail: detail ?? .text(message))
        return try JSONAnswer.response(body, status: status, fields: fields)
    }
}

/// JSON responses.
enum JSONAnswer {
    static func response(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, fields: HTTPFields = HTTPFields()
    ) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Responses.bytes(
            try encoder.encode(value), type: "application/json", status: status, policy: SecurityHeaders.inert,
            fields: fields.adding([.cacheControl: "no-store"]))
    }
}
