import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import WebArchive

/// An error response. All errors are converted to statuses and messages here.
struct ErrorResponse: Error, Hashable {
    let status: HTTPResponse.Status
    let code: String
    let what: String
    var place: String?
    var hint: String?
    /// Additional header fields.
    var fields = HTTPFields()

    init(
        _ status: HTTPResponse.Status, code: String, _ what: String, hint: String? = nil,
        fields: HTTPFields = HTTPFields()
    ) {
        self.status = status
        self.code = code
        self.what = what
        self.hint = hint
        self.fields = fields
    }

    /// Converts any error, without paths and types of the server.
    init(_ error: any Error) {
        switch error {
        case let error as ErrorResponse:
            self = error
        case let error as FailedUpload:
            self.init(error.reason)
            fields[.replayhostJob] = String(error.job)
        case let error as StoreError:
            self.init(Self.status(of: error.code), code: error.code.rawValue, error.what, hint: error.hint)
            // Hide absolute paths; a place in an archive is useful to the client.
            if let place = error.place, !place.hasPrefix("/") { self.place = place }
        case let error as WebArchiveError where error.code == .cancelled:
            self = .unwanted
        case is CancellationError:
            self = .unwanted
        case let error as WebArchiveError:
            self.init(StoreError.refused(error))
        case let error as CDXQueryProblem:
            self = .badParameter(error.what, hint: error.hint)
        case let error as HTTPError:
            self.init(
                error.status, code: error.status == .notFound ? "not-found" : "http-\(error.status.code)",
                error.body ?? "there is nothing at this URL")
        default:
            self.init(
                .internalServerError, code: "failed", "an unexpected error occurred",
                hint: "see the server's log, on standard error, for details")
        }
    }

    private static func status(of code: StoreError.Code) -> HTTPResponse.Status {
        switch code {
        case .notFound, .payloadMissing, .redirectsToItself: .notFound
        case .ambiguous, .taken, .changed, .notPossible: .conflict
        case .invalidMetadata, .invalidQuery, .uploadCut: .badRequest
        case .refused: .unprocessableContent
        case .noSpace: .init(code: 507, reasonPhrase: "Insufficient Storage")
        case .unusable, .notAFile, .locked, .interrupted, .unavailable, .catalogDamaged, .documentDamaged:
            .serviceUnavailable
        case .failed, .archiveDamaged: .internalServerError
        }
    }

    private struct Body: Encodable {
        struct Details: Encodable {
            let code: String
            let what: String
            let `where`: String?
            let hint: String?
        }
        /// Members of problem details (RFC 9457 §3.1).
        let type = "/api/docs#errors"
        let title: String
        let status: Int
        let detail: String
        let error: Details
    }

    /// Whether a file is missing or can't be read.
    var isOfAFile: Bool {
        status == .internalServerError
            || status == .serviceUnavailable && code == StoreError.Code.unusable.rawValue
    }

    /// Logs server errors.
    func log(_ error: any Error, to logger: Logger) {
        guard status.kind == .serverError, self != .stopping, self != .unwanted else { return }
        logger.error("request failed", metadata: ["error": "\(error)"])
    }

    /// JSON for the API, plain text for everything else.
    func response(asJSON: Bool) throws -> Response {
        guard asJSON else { return Responses.text(text, status: status, fields: fields) }
        return try Responses.json(body, status: status, fields: fields.adding([.contentType: Self.problemType]))
    }

    /// Returns the response as bytes, for a connection that is refused before routing.
    func bytes(asJSON: Bool) throws -> (fields: HTTPFields, body: [UInt8]) {
        let bytes = asJSON ? try JSONText.encoded(body) + Array("\n".utf8) : Array(text.utf8)
        return (try response(asJSON: asJSON).headers, bytes)
    }

    private var body: Body {
        Body(
            title: status.reasonPhrase, status: status.code, detail: what,
            error: .init(code: code, what: what, where: place, hint: hint))
    }

    /// RFC 9457 §6.1.
    private static let problemType = "application/problem+json"

    private var text: String {
        var lines = ["\(status.code) \(status.reasonPhrase)", "", what]
        if let hint { lines.append(hint) }
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Errors of several routes

    static let notFound = ErrorResponse(.notFound, code: "not-found", "there is nothing at this URL")

    static let readOnly = ErrorResponse(
        .methodNotAllowed, code: "method", "only GET and HEAD are allowed here", fields: [.allow: "GET, HEAD"])

    static let assetsMissing = ErrorResponse(
        .notFound, code: "assets-missing", "the user interface is missing from the assets folder",
        hint: "pass the folder www with --assets")

    static let engineMissing = ErrorResponse(
        .notFound, code: "engine-missing", "the replay engine is not installed",
        hint: "run `make setup` in the replayhost folder")

    static func misdirected(_ hosts: HostPolicy) -> ErrorResponse {
        ErrorResponse(
            .misdirectedRequest, code: "misdirected", "this server doesn't serve this host",
            hint: "open \(hosts.controlOrigins[0])")
    }

    static let stockMissing = ErrorResponse(
        .notFound, code: "stock-missing", "the stock ReplayWeb.page interface is not installed",
        hint: "run `make setup ENGINE_DIR=DIR` with the folder that contains sw.js and ui.js")

    /// For a client that has disconnected.
    static let unwanted = ErrorResponse(.serviceUnavailable, code: "unwanted", "the client has disconnected")

    static let stopping = ErrorResponse(
        .serviceUnavailable, code: "stopping", "the server is stopping",
        hint: "start it again, then reload the page")

    static func urlTooLong(_ url: String) -> ErrorResponse {
        ErrorResponse(
            .uriTooLong, code: "url-too-long",
            "the URL is too long: \(url.utf8.count) bytes; the maximum is \(Limits.standard.urlBytesMax)")
    }

    static func badParameter(_ what: String, hint: String? = nil) -> ErrorResponse {
        ErrorResponse(.badRequest, code: "bad-parameter", what, hint: hint)
    }

    /// - Parameter what: What the id would be of, for example `archive`.
    static func unknown(_ what: String, _ id: String) -> ErrorResponse {
        ErrorResponse(.notFound, code: "not-found", "no \(what) has the id \"\(id.prefix(100))\"")
    }

    static func forbidden(_ what: String) -> ErrorResponse {
        ErrorResponse(.forbidden, code: "forbidden", what)
    }

    /// Returns the error for a refused connection; `nil` if it is allowed.
    init?(refusing client: ClientCheck.Verdict) {
        switch client {
        case .allowed: return nil
        case .otherUser(let user):
            self.init(
                .forbidden, code: "other-user", "this server belongs to another user of this computer",
                hint: "its owner can give you access with --allow-user \(user)")
        case .unknownUser:
            self.init(
                .forbidden, code: "unknown-user", "can't determine which user this connection comes from",
                hint: "keep the connection open until the response arrives; containers may need --allow-other-users")
        }
    }
}
