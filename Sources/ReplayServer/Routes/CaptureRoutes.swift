import ArchiveStore
import HTTPTypes
import Hummingbird
import NIOCore
import WebArchive

/// `/c/…`: captures, lists of captures, and the negotiation of time, for one archive or all. RFC 7089; addresses as pywb has them.
///
/// On the control origins and bare addresses nothing that is archived is ever rendered: captures come sandboxed there, and a
/// navigation to one is sent on to the archive's own origin, where it is live.
struct CaptureRoutes: Sendable {
    /// Where the request was made.
    enum Place: Sendable {
        case control
        case replay(Replayable)
    }

    let site: Site

    func respond(to request: Request, at place: Place, context: ConnectionContext) async throws -> Response {
        guard let address = CaptureAddress(path: request.head.path ?? "") else {
            throw ErrorResponse(
                .notFound, code: "not-found", "there is nothing at this address",
                hint: "captures are at /c/ID/TIMESTAMP/URL, lists of them at /c/ID/cdx?url=URL")
        }
        guard Self.isAllowed(request.method, address.target, place) else {
            throw ErrorResponse(
                .methodNotAllowed, code: "method",
                "captures are read with GET, HEAD, POST and PUT, lists with GET and HEAD",
                fields: [.allow: Self.isAllowed(.post, address.target, place) ? "GET, HEAD, POST, PUT" : "GET, HEAD"])
        }
        // A worker that an archive brings would stand between its pages and the engine.
        guard request.headers[.serviceWorker] == nil else {
            throw ErrorResponse.forbidden("an archived script cannot become a service worker")
        }
        // Another site's page could not read the answer, but keep the server at work.
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none",
            request.method != .get, request.method != .head
        {
            throw ErrorResponse.forbidden("requests with a body come from pages of this address only")
        }
        let asked = try await asked(address.scope, at: place)
        let lists = CaptureLists(site: site, asked: asked, context: context)
        switch address.target {
        case .cdx: return try await lists.cdx(request)
        case .timeMap(let form, let url): return try await lists.timeMap(memento(address, url, request), form: form)
        case .timeGate(let url):
            return try await timeGate(address, url, request, asked)
        case .memento(let timestamp, let modifier, let url):
            return try await capture(address, timestamp, modifier, url, request, asked, place, context)
        }
    }

    /// Which archives are asked.
    enum Asked: Sendable {
        /// Every archive for itself.
        case all([Archive])
        case one(Replayable)

        var archives: [Archive] {
            switch self {
            case .all(let archives): archives
            case .one(let replayable): replayable.archives
            }
        }
    }

    /// Every method only reads here. The engine hands on whatever method an archived page uses, on the page's own origin.
    private static func isAllowed(
        _ method: HTTPRequest.Method, _ target: CaptureAddress.Target, _ place: Place
    ) -> Bool {
        switch (target, place) {
        case (.memento(_, .engine, _), .replay): true
        case (.memento, _), (.timeGate, _): [.get, .head, .post, .put].contains(method)
        case (.cdx, _), (.timeMap, _): [.get, .head].contains(method)
        }
    }

    private func asked(_ scope: CaptureAddress.Scope, at place: Place) async throws -> Asked {
        switch (scope, place) {
        case (.all, .control):
            return .all(
                try await site.blocking { try site.store.archives() }.filter { $0.availability == .here }
                    .map(\.archive))
        case (.archive(let name), .replay(let replayable)) where name == replayable.id.text: return .one(replayable)
        case (.archive(let name), .control):
            let found = try await site.blocking {
                try ArchiveID(name).flatMap { try site.store.replayable(id: $0) }
            }
            guard let found else {
                throw ErrorResponse(.notFound, code: "not-found", "no archive has the id \"\(name.prefix(100))\"")
            }
            return .one(found)
        case (_, .replay): throw ErrorResponse.notFound
        }
    }

    private func memento(_ address: CaptureAddress, _ url: String, _ request: Request) -> Memento {
        let scope =
            switch address.scope {
            case .all: "all"
            case .archive(let name): name
            }
        return Memento(origin: request.askedOrigin, scope: scope, url: url)
    }

    /// Sends on to the capture that is closest to `Accept-Datetime`. RFC 7089 §4.1, pattern 2.1.
    private func timeGate(
        _ address: CaptureAddress, _ url: String, _ request: Request, _ asked: Asked
    ) async throws -> Response {
        let memento = memento(address, url, request)
        var time: CaptureTimestamp?
        if let field = request.headers[.acceptDatetime] {
            time = HTTPDate.seconds(of: field).flatMap { CaptureTimestamp(millisecondsSince1970: Int64($0) * 1000) }
            guard time != nil else {
                throw ErrorResponse(
                    .badRequest, code: "bad-datetime",
                    "Accept-Datetime is \"\(field.prefix(60))\", which is no date of RFC 9110",
                    hint: "for example: Thu, 31 May 2007 20:35:00 GMT", fields: [.vary: "Accept-Datetime"])
            }
        }
        let wanted = ArchiveStore.CaptureRequest(url: try await requested(url, request), time: time)
        let found = try await site.blocking.long { try site.store.closestCapture(wanted, in: asked.archives) }
        guard let found else {
            throw Self.notCaptured(url, fields: [.vary: "Accept-Datetime", .link: memento.links()])
        }
        let scope = if case .one(let replayable) = asked { replayable.id } else { found.archive.id }
        let location = CaptureAddress.memento(scope, found.entry.timestamp, .none, found.entry.url)
        let links = memento.links(memento: found.entry.captureTime.map { (location, $0) })
        return Self.sentOn(to: location, links: links, fields: [.vary: "Accept-Datetime"])
    }

    private func capture(
        _ address: CaptureAddress, _ timestamp: String, _ modifier: CaptureModifier, _ url: String, _ request: Request,
        _ asked: Asked, _ place: Place, _ context: ConnectionContext
    ) async throws -> Response {
        let wanted = ArchiveStore.CaptureRequest(
            url: try await requested(url, request), time: CaptureTimestamp(endOf: timestamp))
        let memento = memento(address, url, request)
        guard case .one(let replayable) = asked else {
            let found = try await site.blocking.long {
                try site.store.closestCapture(wanted, in: asked.archives)
            }
            guard let found else { throw Self.notCaptured(url, fields: [.link: memento.links()]) }
            let location = CaptureAddress.memento(found.archive.id, found.entry.timestamp, modifier, url)
            return Self.sentOn(to: location, links: memento.links())
        }
        if let other = placeToLookAt(modifier, timestamp, url, request, replayable, place) {
            return other
        }
        do {
            let opened = try await site.blocking.long {
                try site.store.openCapture(wanted, in: replayable.archives, allowsStandIn: true)
            }
            guard let opened else { throw Self.notCaptured(url, fields: [.link: memento.links()]) }
            return try await answer(
                opened, (timestamp, url), modifier, memento, scope: replayable.id, request, place, context)
        } catch let error where modifier == .engine {
            return NotShownPage.response(to: error, url: url, archiveTitle: replayable.title)
        }
    }

    private func answer(
        _ capture: OpenCapture, _ wanted: (timestamp: String, url: String), _ modifier: CaptureModifier,
        _ asked: Memento, scope: ArchiveID, _ request: Request, _ place: Place, _ context: ConnectionContext
    ) async throws -> Response {
        let memento = Memento(origin: asked.origin, scope: scope.text, url: capture.entry.url)
        let address = CaptureAddress.memento(scope, capture.entry.timestamp, modifier, capture.entry.url)
        // An address names one capture: where it was only near, the exact one is elsewhere. The engine takes the near one.
        let isSameURL = wanted.url.contains("__wb_method=") || SURT.matches(wanted.url, capture.entry.url)
        let isExact = wanted.timestamp == capture.entry.timestamp && isSameURL
        if !isExact, modifier != .engine, request.method == .get || request.method == .head {
            return Self.sentOn(to: address, links: memento.links())
        }
        var fields = SecurityHeaders.capture(site.hosts, at: place, isForEngine: modifier == .engine)
        fields[.link] = memento.links(memento: capture.time.map { (address, $0) })
        fields[.contentLocation] = address
        if let time = capture.time { fields[.mementoDatetime] = time.httpDate }
        return try await CaptureAnswer(
            capture: capture, modifier: modifier, request: request, blocking: site.blocking,
            client: context.watchClient(), scope: scope
        ).response(fields: fields)
    }

    /// To the address of one capture, with the links that every answer about its URL has.
    private static func sentOn(to location: String, links: String, fields: HTTPFields = [:]) -> Response {
        let own: HTTPFields = [
            .location: location, .link: links, .cacheControl: "no-store",
            .contentSecurityPolicy: SecurityHeaders.inert,
        ]
        return Responses.empty(.found, fields: own.adding(fields))
    }

    /// Where a person who navigates to a capture is sent: the archive's own origin, and there the engine's page.
    private func placeToLookAt(
        _ modifier: CaptureModifier, _ timestamp: String, _ url: String, _ request: Request, _ replayable: Replayable,
        _ place: Place
    ) -> Response? {
        guard request.headers[.secFetchMode] == "navigate" else { return nil }
        guard site.hosts.replaying != nil || site.hosts.origins != .ports,
            let origin = site.replayOrigin(of: replayable)
        else {
            // Its port may be closed: the viewer opens it.
            return Responses.redirect(
                to:
                    "\(site.hosts.controlOrigins[0])\(ViewerAddress.path(of: replayable, url: url, timestamp: timestamp))",
                status: .found)
        }
        if modifier.isForPeople {
            return Responses.redirect(
                to: "\(origin)/\(replayable.collection)/\(timestamp)mp_/\(url)", status: .found)
        }
        guard case .control = place else { return nil }
        let path = CaptureAddress.memento(replayable.id, timestamp, modifier, url)
        return Responses.redirect(to: "\(origin)\(path)", status: .found)
    }

    /// The URL under which the request's capture is indexed: a body becomes part of it.
    private func requested(_ url: String, _ request: Request) async throws -> String {
        guard request.method == .post || request.method == .put else { return url }
        do {
            let body = try await request.body.collect(upTo: Self.requestBodyMax)
            let (method, type) = (request.method.rawValue, request.headers[.contentType])
            return try await site.blocking.long {
                IndexedRequest.url(url, method: method, contentType: type, body: Array(body.readableBytesView))
            }
        } catch is NIOTooManyBytesError {
            throw ErrorResponse(
                .contentTooLarge, code: "body-too-large", "a request's body has at most \(Self.requestBodyMax) bytes")
        }
    }

    static func notCaptured(_ url: String, fields: HTTPFields) -> ErrorResponse {
        ErrorResponse(
            .notFound, code: "not-captured", "this address was not captured: \(url.prefix(2000))",
            hint: "GET /c/ID/cdx?url=HOST&matchType=domain lists what was", fields: fields)
    }

    private static let requestBodyMax = 4 << 20
}
