import ArchiveStore
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import WebArchive

/// The routes of a replay origin: the page that starts the worker, the worker's script, captures, and the archive's
/// file.
struct ReplayRoutes: Sendable {
    let site: Site
    let captures: CaptureRoutes

    func respond(to request: Request, id: ArchiveID, context: ConnectionContext) async throws -> Response {
        guard let replayable = try await site.blocking({ try site.store.resolver.replayable(id: id) }),
            ownsThisPort(replayable)
        else {
            throw ErrorResponse(
                .notFound, code: "not-found", "no archive or collection has the id \"\(id)\"",
                hint: "the library is at \(site.hosts.controlOrigins[0])",
                fields: [.clearSiteData: "\"cache\", \"storage\""])
        }
        if request.head.path?.hasPrefix(CaptureAddress.prefix) == true {
            return try await captures.respond(to: request, at: .replay(replayable), context: context)
        }
        if request.method == .post, request.uri.path == "/requests" {
            return try await note(request, replayable)
        }
        guard request.method == .get || request.method == .head else {
            throw ErrorResponse.readOnly
        }
        if let location = Self.mediaPastWorker(request, of: id) { return Responses.redirect(to: location) }
        let path = request.uri.path
        if path == "/sw.js" { return try await worker(request) }
        if path == "/clear" { return try clear(request) }
        if path == "/mark" { return try await mark(request) }
        if path == "/engine.js" { return try await site.engineScript(request: request) }
        if path == ReplayWorker.pageScript { return try await site.asset("replay/page.js", request: request) }
        guard path == "/" || Self.isReplayAddress(path, of: id) else { throw ErrorResponse.notFound }
        return try await bootPage(for: replayable, request: request)
    }

    /// Whether the port belongs to this archive, not to a removed one with the same id.
    private func ownsThisPort(_ replayable: Replayable) -> Bool {
        guard let own = site.hosts.replaying else { return true }
        return !own.isKept || replayable.port == own.port
    }

    /// Whether a path is `/REPLAY-COLLECTION/…` of this archive.
    static func isReplayAddress(_ path: String, of id: ArchiveID) -> Bool {
        let parts = path.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[1].isEmpty && isReplayCollection(parts[0], of: id)
    }

    /// Whether a name has the form of this archive's `replayCollection`: of the current file, or of an earlier one that
    /// open tabs still use.
    static func isReplayCollection(_ name: Substring, of id: ArchiveID) -> Bool {
        guard name.hasPrefix("\(id)-") else { return false }
        let hash = name.dropFirst(id.text.count + 1)
        return hash.utf8.count == 12
            && hash.utf8.allSatisfy {
                ("0"..."9").contains(Character(.init($0))) || ("a"..."f").contains(Character(.init($0)))
            }
    }

    /// Returns the capture's path for media in frames without their own URL (`srcdoc`, `about:blank`), which Firefox
    /// 153 requests from the server instead of the service worker; `nil` for other requests.
    private static func mediaPastWorker(_ request: Request, of id: ArchiveID) -> String? {
        guard request.headers[.secFetchSite] == "same-origin",
            ["audio", "font", "image", "video"].contains(request.headers[.secFetchDest])
        else { return nil }
        let referrer = request.headers[.referer] ?? ""
        let page = referrer.hasPrefix("\(request.targetOrigin)/") ? referrer.dropFirst(request.targetOrigin.count) : ""
        return mediaAddress(request.uri.string, from: String(page), of: id)
    }

    /// Returns the capture's path for a path that a page requests: a replay path, or one relative to the root of its
    /// site.
    ///
    /// - Parameter page: The page's own replay path.
    static func mediaAddress(_ path: String, from page: String, of id: ArchiveID) -> String? {
        if let (timestamp, url) = replayed(path, of: id) {
            return CaptureAddress.memento(id, timestamp, .identity, url)
        }
        guard let (timestamp, url) = replayed(page, of: id), let scheme = url.range(of: "://") else { return nil }
        let site = url[..<(url[scheme.upperBound...].firstIndex(of: "/") ?? url.endIndex)]
        return CaptureAddress.memento(id, timestamp, .identity, "\(site)\(path)")
    }

    /// Parses a replay path, `/COLL/<ts>mp_/URL`. In replay by ranges, a segment with a colon may follow COLL.
    private static func replayed(_ path: String, of id: ArchiveID) -> (timestamp: String, url: String)? {
        guard isReplayAddress(path, of: id) else { return nil }
        var rest = path.dropFirst().drop { $0 != "/" }.dropFirst()
        if rest.first == ":" { rest = rest.drop { $0 != "/" }.dropFirst() }
        guard case .memento(let timestamp, _, let url) = CaptureAddress(path: "/c/\(id)/\(rest)")?.target else {
            return nil
        }
        return (timestamp, url)
    }

    /// Makes the browser clear the origin's data: workers, databases, caches. Only for the viewer, in a frame and as an
    /// image, so that no worker of the origin can intercept the request. Firefox needs the image, WebKit the frame.
    private func clear(_ request: Request) throws -> Response {
        guard request.headers[.secFetchSite] == "same-site", site.hosts.isLibrary(request.headers[.referer]),
            ["iframe", "image"].contains(request.headers[.secFetchDest])
        else {
            throw ErrorResponse.forbidden("only the viewer can use this")
        }
        return Responses.page(
            "<!doctype html><title>Cleared</title>\n", policy: SecurityHeaders.clearedPage(site.hosts),
            fields: [.clearSiteData: "\"storage\"", .crossOriginResourcePolicy: "same-site"])
    }

    /// The body of a report of the worker.
    private struct Reports: Decodable, Sendable {
        let requests: [PageRequests.Report]
    }

    /// Notes what archived pages requested. Only the worker sends this: it passes on no such request of a page.
    private func note(_ request: Request, _ replayable: Replayable) async throws -> Response {
        guard request.headers[.secFetchSite] == "same-origin" else {
            throw ErrorResponse.forbidden("only the viewer can use this")
        }
        let reports: Reports = try await JSONBody.read(request)
        site.pageRequests.add(reports.requests, in: replayable.replayCollection)
        return Responses.empty(.noContent)
    }

    /// Returns the page with which the viewer keeps a mark in the origin's storage; see `clear-origin.js`.
    private func mark(_ request: Request) async throws -> Response {
        let page = try await site.blocking { try site.text(of: "replay/mark.html") }
        let hash = Self.hash(from: "<script>", to: "</script>", in: page)
        return Responses.asset(
            Asset(bytes: Array(page.utf8), type: "text/html; charset=utf-8"),
            policy: SecurityHeaders.markPage(site.hosts, scriptHash: hash), request: request)
    }

    private func worker(_ request: Request) async throws -> Response {
        guard let worker = try await site.blocking({ try ReplayWorker(site.assets, hosts: site.hosts) }) else {
            throw ErrorResponse.engineMissing
        }
        return Responses.asset(worker.script, policy: SecurityHeaders.engine, request: request)
    }

    /// The data in the boot page.
    private struct BootData: Encodable {
        let id: String
        let title: String
        let collection: String
        /// The URL of the file for replay by ranges; absent for a collection, which replays by lookups only.
        let source: String?
        let size: UInt64
        let controlOrigins: [String]
        /// The path and query of the worker; absent if the engine is missing.
        let worker: String?
    }

    private func bootPage(for replayable: Replayable, request: Request) async throws -> Response {
        let (template, worker) = try await site.blocking {
            (try site.bootTemplate(), try ReplayWorker(site.assets, hosts: site.hosts))
        }
        let file: Archive? = if case .archive(let archive) = replayable { archive } else { nil }
        let data = BootData(
            id: replayable.id.text, title: replayable.title, collection: replayable.replayCollection,
            source: file.map { "\($0.versionedFilePath)&view=replay" },
            size: replayable.archives.reduce(0) { $0.addingSaturated($1.size) },
            controlOrigins: site.hosts.controlOrigins.reversed(), worker: worker?.address)
        let json = String(decoding: try JSONText.encoded(data), as: UTF8.self)
            .replacingOccurrences(of: "<", with: "\\u003c")
        let filled = Asset(
            bytes: Array(template.replacingOccurrences(of: "{{boot}}", with: json).utf8),
            type: "text/html; charset=utf-8")
        let policy = SecurityHeaders.bootPage(
            site.hosts, scriptHash: Self.hash(from: "<script type=\"module\">", to: "</script>", in: template),
            styleHash: Self.hash(from: "<style>", to: "</style>", in: template))
        return Responses.asset(
            filled, policy: policy, request: request,
            fields: [
                .connectionAllowlist: SecurityHeaders.ownAndControlOrigins(site.hosts),
                // When it loads an archived page, the worker has to see that this origin requests it.
                .referrerPolicy: "same-origin",
            ])
    }

    /// Returns the SHA-256, in base64, of the text between two tags.
    static func hash(from opening: String, to closing: String, in page: String) -> String {
        guard let start = page.range(of: opening),
            let end = page.range(of: closing, range: start.upperBound..<page.endIndex)
        else { return "" }
        return SHA256.hash(data: Data(page[start.upperBound..<end.lowerBound].utf8)).base64
    }
}
