import ArchiveStore
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import WebArchive

/// A request below `/c/` that may be answered, with all that its answer depends on.
struct CaptureCall: Sendable {
    let site: Site
    let request: Request
    let place: CaptureRoutes.Place
    let scope: Scope
    /// Who waits for the answer: what takes long ends when nobody does.
    let client: ClientPresence
    let logger: Logger

    /// Which archives are asked.
    enum Scope: Sendable {
        /// Every archive for itself.
        case all([Archive])
        case one(Replayable)

        var archives: [Archive] {
            switch self {
            case .all(let archives): archives
            case .one(let replayable): replayable.archives
            }
        }

        /// `nil` for all.
        var id: ArchiveID? { if case .one(let replayable) = self { replayable.id } else { nil } }
    }

    var onlyReads: Bool { request.method == .get || request.method == .head }

    func memento(_ url: String) -> Memento {
        Memento(origin: request.askedOrigin, scope: scope.id?.text ?? "all", url: url)
    }

    /// The URL under which the request's capture is indexed, a body being part of it, at a time.
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
                .contentTooLarge, code: "body-too-large", "a request's body has at most \(Self.requestBodyMax) bytes")
        }
    }

    /// The capture that is closest in any of the archives.
    ///
    /// - Parameters:
    ///   - url: As it was asked for, without a body.
    ///   - fields: Of the error when there is none.
    func closest(
        _ wanted: ArchiveStore.CaptureRequest, to url: String, orWith fields: HTTPFields
    ) async throws -> (archive: Archive, entry: CDXJEntry) {
        let found = try await site.blocking.long {
            try site.store.resolver.closestCapture(wanted, in: scope.archives, isWanted: { client.isThere })
        }
        guard let found else { throw Self.notCaptured(url, fields: fields) }
        return found
    }

    /// The record of the closest capture in the one archive or collection.
    func open(_ wanted: ArchiveStore.CaptureRequest, allowsFuzzyMatch: Bool) async throws -> OpenCapture? {
        try await site.blocking.long {
            try site.store.resolver.openCapture(
                wanted, in: scope.archives, allowsFuzzyMatch: allowsFuzzyMatch, isWanted: { client.isThere })
        }
    }

    /// To the address of one capture, with the links that every answer about its URL has.
    static func sentOn(to location: String, links: String, fields: HTTPFields = [:]) -> Response {
        let own: HTTPFields = [
            .location: location, .link: links, .cacheControl: "no-store",
            .contentSecurityPolicy: SecurityHeaders.inert,
        ]
        return Responses.empty(.found, fields: own.adding(fields))
    }

    static func notCaptured(_ url: String, fields: HTTPFields) -> ErrorResponse {
        ErrorResponse(
            .notFound, code: "not-captured", "this address was not captured: \(url.prefix(2000))",
            hint: "GET /c/ID/cdx?url=HOST&matchType=domain lists what was", fields: fields)
    }

    private static let requestBodyMax = 4 << 20
}
