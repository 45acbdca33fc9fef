import ArchiveStore
import HTTPTypes
import Hummingbird
import WebArchive

/// `/c/ID/<ts><mod>/URL`: one capture. RFC 7089 §2.2.4.
struct MementoRoute: Sendable {
    let call: CaptureCall
    /// 0 to 17 digits.
    let timestamp: String
    let modifier: CaptureModifier
    let url: String

    private var site: Site { call.site }

    func respond() async throws -> Response {
        let wanted = try await call.wanted(url, at: CaptureTimestamp(endOf: timestamp))
        guard case .one(let replayable) = call.scope else { return try await redirectToArchive(wanted) }
        if let other = navigationRedirect(replayable) { return other }
        do {
            guard !CaptureRoutes.isTooLong(url) else { throw CaptureCall.notCaptured(url, fields: [:]) }
            guard let opened = try await call.open(wanted, in: replayable.archives, allowsFuzzyMatch: true) else {
                throw CaptureCall.notCaptured(url, fields: [.link: call.memento(url).links()])
            }
            if modifier == .engine, call.isRead, HTTPField.isValidValue(opened.entry.url),
                CaptureMatcher.differBySlash(url, opened.entry.url), try await hasOwnCapture(opened, wanted, replayable)
            {
                return slashRedirect(to: opened.entry, replayable.id)
            }
            return try await answer(opened, replayable)
        } catch let error where modifier == .engine {
            let failure = ErrorResponse(error)
            failure.log(error, to: call.logger)
            return ReplayErrorPage.response(to: failure, url: url, archiveTitle: replayable.title)
        }
    }

    /// Redirects a request for all archives to the archive of the closest capture.
    private func redirectToArchive(_ wanted: ArchiveStore.CaptureRequest) async throws -> Response {
        let links = call.memento(url).links()
        let found = try await call.closest(wanted, to: url, orWith: [.link: links])
        let location = CaptureAddress.memento(found.archive.id, found.entry.timestamp, modifier, url)
        return CaptureCall.redirect(to: location, links: links)
    }

    /// Whether a request for the capture's own URL opens the same capture.
    private func hasOwnCapture(
        _ capture: OpenCapture, _ wanted: ArchiveStore.CaptureRequest, _ replayable: Replayable
    ) async throws -> Bool {
        let own = ArchiveStore.CaptureRequest(url: capture.entry.url, time: wanted.time)
        return try await call.open(own, in: replayable.archives, allowsFuzzyMatch: false)?.entry == capture.entry
    }

    /// Makes the engine request `/species/` instead of `/species`, because the page's links are relative to its URL.
    private func slashRedirect(to entry: CDXJEntry, _ scope: ArchiveID) -> Response {
        let address = CaptureAddress.memento(scope, entry.timestamp, .engine, entry.url)
        return Responses.empty(
            .ok,
            fields: [
                .redirectStatus: "302", .redirectStatusText: "Found", .originalLocation: entry.url,
                .contentLocation: address, .link: call.memento(url).links(), .cacheControl: "no-store",
                .contentSecurityPolicy: SecurityHeaders.inert,
            ])
    }

    private func answer(_ capture: OpenCapture, _ replayable: Replayable) async throws -> Response {
        let entry = capture.entry
        let memento = call.memento(entry.url)
        let address = CaptureAddress.memento(replayable.id, entry.timestamp, modifier, entry.url)
        // Redirect to the exact capture. The engine accepts the closest one. A browser would encode a URL that differs only in its
        // escapes, and ask again.
        let isSameURL = CaptureMatcher.matchDecoded(url, entry.url) || url.contains("__wb_method=")
        if modifier != .engine, call.isRead, timestamp != entry.timestamp || !isSameURL {
            return CaptureCall.redirect(to: address, links: memento.links())
        }
        var fields = SecurityHeaders.capture(site.hosts, at: call.place, isForEngine: modifier == .engine)
        // In replay, scripts may read the archived `Link` field instead.
        if modifier != .engine { fields[.link] = memento.links(memento: capture.time.map { (address, $0) }) }
        // The engine resolves it against the capture's URL, and fails if that is a `urn:`, which has no path.
        if modifier != .engine || entry.url.lowercased().hasPrefix("http") { fields[.contentLocation] = address }
        if let time = capture.time { fields[.mementoDatetime] = time.httpDate }
        if capture.isSimilar, url.contains("__wb_method=") { fields[.similar] = "request" }
        return try await CaptureAnswer(
            capture: capture, modifier: modifier, request: call.request, blocking: site.blocking,
            client: call.client, scope: replayable.id, allowsReuse: allowsReuse(replayable)
        ).response(fields: fields)
    }

    /// Whether the engine requests a capture of one archive by a URL that changes with the file. Collections are excluded,
    /// although their URLs change too: if the archive with the closest capture is unavailable, another archive's capture is
    /// sent.
    private func allowsReuse(_ replayable: Replayable) -> Bool {
        guard modifier == .engine, call.isRead, case .archive(let archive) = replayable else { return false }
        return call.request.head.path?.hasPrefix("\(CaptureAddress.prefix)\(archive.replayCollection)/") ?? false
    }

    /// Returns the redirect of a navigation to the archive's replay origin, and there to the engine's page.
    private func navigationRedirect(_ replayable: Replayable) -> Response? {
        guard call.request.headers[.secFetchMode] == "navigate" else { return nil }
        guard site.hosts.replaying != nil || site.hosts.origins != .ports,
            let origin = site.replayOrigin(of: replayable)
        else {
            // The replay port may be closed. The viewer opens it.
            let path = ViewerAddress.path(of: replayable, url: url, timestamp: timestamp)
            return Responses.redirect(to: "\(site.hosts.controlOrigins[0])\(path)", status: .found)
        }
        if modifier.isForDisplay {
            return Responses.redirect(
                to: "\(origin)/\(replayable.replayCollection)/\(timestamp)mp_/\(url)", status: .found)
        }
        guard case .control = call.place else { return nil }
        let path = CaptureAddress.memento(replayable.id, timestamp, modifier, url)
        return Responses.redirect(to: "\(origin)\(path)", status: .found)
    }
}
