import ArchiveStore
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import WebArchive

/// An accepted request below `/c/`, with its context.
struct CaptureCall: Sendable {
    let site: Site
    let request: Request
    let place: CaptureRoutes.Place
    let scope: Scope
    /// Whether the client is still connected; long searches end when it isn't.
    let client: ClientPresence
    let logger: Logger

    /// The archives to search.
    enum Scope: Sendable {
        /// All archives, each by itself.
        case all
        case one(Replayable)

        /// `nil` for all.
        var id: ArchiveID? { if case .one(let replayable) = self { replayable.id } else { nil } }
    }

    var isRead: Bool { request.method == .get || request.method == .head }

    func memento(_ url: String) -> Memento {
        Memento(origin: request.targetOrigin, scope: scope.id?.text ?? "all", url: url)
    }

    /// Returns the lookup for the request. Its URL includes a request body, as in the index.
    func wanted(_ url: String, at time: CaptureTimestamp?) async throws -> ArchiveStore.CaptureRequest {
        guard request.method == .post || request.method == .put else { return .init(url: url, time: time) }
        do {
            let body = try await request.body.collect(upTo: Self.requestBodyMax)
            let (method, type) = (request.method.rawValue, request.headers[.contentType])
            return try await site.blocking.long {
                let indexed = IndexedRequest.url(
                    url, method: method, contentType: type, body: Array(body.readableBytesView))
                return .init(url: indexed, time: time)
            }
        } catch is NIOTooManyBytesError {
            throw ErrorResponse(
                .contentTooLarge, code: "body-too-large",
                "the request body is too large; the maximum is \(ByteSize.text(UInt64(Self.requestBodyMax)))")
        }
    }

    /// Returns the closest capture in any of the archives.
    ///
    /// - Parameters:
    ///   - url: The requested URL, without a body.
    ///   - fields: The fields of the error if there is no capture.
    func closest(
        _ wanted: ArchiveStore.CaptureRequest, to url: String, orWith fields: HTTPFields
    ) async throws -> (archive: Archive, entry: CDXJEntry) {
        let found = try await site.blocking.long {
            switch scope {
            case .all: try site.store.resolver.closestCaptureInLibrary(wanted, isWanted: { client.isThere })
            case .one(let replayable):
                try site.store.resolver.closestCapture(wanted, in: replayable.archives, isWanted: { client.isThere })
            }
        }
        guard let found else { throw Self.notCaptured(url, fields: fields) }
        return found
    }

    /// Opens the closest capture in some archives.
    func open(
        _ wanted: ArchiveStore.CaptureRequest, in archives: [Archive], allowsFuzzyMatch: Bool
    ) async throws -> OpenCapture? {
        try await site.blocking.long {
            try site.store.resolver.openCapture(
                wanted, in: archives, allowsFuzzyMatch: allowsFuzzyMatch, isWanted: { client.isThere })
        }
    }

    /// Returns a redirect to a capture.
    static func redirect(to location: String, links: String, fields: HTTPFields = [:]) -> Response {
        let own: HTTPFields = [
            .location: location, .link: links, .cacheControl: "no-store",
            .contentSecurityPolicy: SecurityHeaders.inert, .referrerPolicy: SecurityHeaders.referrerOfRedirects,
        ]
        return Responses.empty(.found, fields: own.adding(fields))
    }

    static func notCaptured(_ url: String, fields: HTTPFields) -> ErrorResponse {
        ErrorResponse(
            .notFound, code: "not-captured", "this URL wasn't captured: \(url.prefix(2000))",
            hint: "use /c/ID/cdx?url=HOST&matchType=domain to list captured URLs", fields: fields)
    }

    private static let requestBodyMax = 4 << 20
}
