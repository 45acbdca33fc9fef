import ArchiveStore
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import WebArchive

/// What a client is told when something did not work. The one place where errors become statuses and words.
struct ErrorResponse: Error, Hashable {
    let status: HTTPResponse.Status
    let code: String
    let what: String
    var place: String?
    var hint: String?
    /// Fields that go with the status.
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

    /// Any error, as a client may see it: no paths of the server, no types, no surprises.
    init(_ error: any Error) {
        switch error {
        case let error as ErrorResponse:
            self = error
        case let error as FailedUpload:
            self.init(error.reason)
            fields[.replayhostJob] = String(error.job)
        case let error as StoreError:
            self.init(Self.status(of: error.code), code: error.code.rawValue, error.what, hint: error.hint)
            // An absolute path is the server's own business; the name of an archive and a place in it is the client's.
            if let place = error.place, !place.hasPrefix("/") { self.place = place }
        case let error as WebArchiveError where error.code == .cancelled:
            self = .unwanted
        case is CancellationError:
            self = .unwanted
        case let error as WebArchiveError:
            self.init(StoreError.refused(error))
        case let error as HTTPError:
            self.init(
                error.status, code: error.status == .notFound ? "not-found" : "http-\(error.status.code)",
                error.body ?? "there is nothing at this address")
        default:
            self.init(
                .internalServerError, code: "failed", "the server could not do this",
                hint: "its log, on standard error, says why")
        }
    }

    private static func status(of code: StoreError.Code) -> HTTPResponse.Status {
        switch code {
        case .notFound, .payloadMissing, .redirectsToItself: .notFound
        case .ambiguous, .taken, .changed, .notPossible: .conflict
        case .invalidMetadata, .uploadCut: .badRequest
        case .refused: .unprocessableContent
        case .noSpace: .init(code: 507, reasonPhrase: "Insufficient Storage")
        case .unusable, .locked, .interrupted, .unavailable, .catalogDamaged, .documentDamaged: .serviceUnavailable
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
        let error: Details
    }

    /// Writes the error down when it is the server's own.
    func log(_ error: any Error, to logger: Logger) {
        guard status.kind == .serverError, self != .stopping, self != .unwanted else { return }
        logger.error("request failed", metadata: ["error": "\(error)"])
    }

    /// JSON for the API, plain text for everything else.
    func response(asJSON: Bool) throws -> Response {
        guard asJSON else { return Responses.text(text, status: status, fields: fields) }
        return try Responses.json(body, status: status, fields: fields)
    }

    /// The same as bytes, for a connection that is refused before any route is asked.
    func bytes(asJSON: Bool) throws -> (fields: HTTPFields, body: [UInt8]) {
        let bytes = asJSON ? try JSONText.encoded(body) + Array("\n".utf8) : Array(text.utf8)
        return (try response(asJSON: asJSON).headers, bytes)
    }

    private var body: Body { Body(error: .init(code: code, what: what, where: place, hint: hint)) }

    private var text: String {
        var lines = ["\(status.code) \(status.reasonPhrase)", "", what]
        if let hint { lines.append(hint) }
        return lines.joined(separator: "\n") + "\n"
    }

    // The refusals that more than one route makes.

    static let notFound = ErrorResponse(.notFound, code: "not-found", "there is nothing at this address")

    static let onlyReading = ErrorResponse(
        .methodNotAllowed, code: "method", "only GET and HEAD here", fields: [.allow: "GET, HEAD"])

    static let assetsMissing = ErrorResponse(
        .notFound, code: "assets-missing", "the user interface is missing from the assets folder",
        hint: "give the folder www with --assets")

    static let engineMissing = ErrorResponse(
        .notFound, code: "engine-missing", "the replay engine is not installed",
        hint: "run `make setup` in the replayhost folder")

    static func misdirected(_ hosts: HostPolicy) -> ErrorResponse {
        ErrorResponse(
            .misdirectedRequest, code: "misdirected", "this server answers to its own names only",
            hint: "open \(hosts.controlOrigins[0])")
    }

    static let stockMissing = ErrorResponse(
        .notFound, code: "stock-missing", "the stock ReplayWeb.page interface is not installed",
        hint: "run `make setup ENGINE_DIR=DIR` with the folder that holds its sw.js and ui.js")

    /// For a client that has left: nobody reads it.
    static let unwanted = ErrorResponse(.serviceUnavailable, code: "unwanted", "the client has left")

    static let stopping = ErrorResponse(
        .serviceUnavailable, code: "stopping", "the server is about to stop", hint: "load the page again")

    static func urlTooLong(_ url: String) -> ErrorResponse {
        ErrorResponse(
            .uriTooLong, code: "url-too-long", "the URL has \(url.utf8.count) bytes",
            hint: "URLs of up to \(Limits.standard.urlBytesMax) bytes can be looked up")
    }

    static func forbidden(_ what: String) -> ErrorResponse {
        ErrorResponse(.forbidden, code: "forbidden", what)
    }

    /// Why a connection is refused; `nil` when it isn't.
    init?(refusing client: ClientCheck.Verdict) {
        switch client {
        case .allowed: return nil
        case .otherUser(let user):
            self.init(
                .forbidden, code: "other-user", "this server belongs to another user of this computer",
                hint: "its owner can let you in with --allow-user \(user)")
        case .unknownUser:
            self.init(
                .forbidden, code: "unknown-user", "can't find out which user of this computer this connection is from",
                hint: "keep the connection open until the response arrives; containers may need --allow-other-users")
        }
    }
}
