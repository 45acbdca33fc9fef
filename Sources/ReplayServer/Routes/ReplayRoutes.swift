import ArchiveStore
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import WebArchive

/// The own origin of an archive or a group: the page that boots the worker, the worker's script, the archive's file. Nothing else.
struct ReplayRoutes: Sendable {
    let site: Site
    let captures: CaptureRoutes

    func respond(to request: Request, id: ArchiveID, context: ConnectionContext) async throws -> Response {
        guard let replayable = try await site.blocking({ try site.store.replayable(id: id) }), isItsPlace(replayable)
        else {
            throw ErrorResponse(
                .notFound, code: "not-found", "no archive has the id \"\(id)\"",
                hint: "the library is at \(site.hosts.controlOrigins[0])",
                fields: [.clearSiteData: "\"cache\", \"storage\""])
        }
        if request.head.path?.hasPrefix(CaptureAddress.prefix) == true {
            return try await captures.respond(to: request, at: .replay(replayable), context: context)
        }
        guard request.method == .get || request.method == .head else {
            throw ErrorResponse.onlyReading
        }
        let path = request.uri.path
        if path == "/sw.js" { return try await worker(request) }
        if path == "/clear" { return try clear(request) }
        if path == "/engine.js" { return try await site.engineScript(request: request) }
        guard path == "/" || Self.isReplayAddress(path, of: id) else { throw ErrorResponse.notFound }
        return try await bootPage(for: replayable, request: request)
    }

    /// Whether this is the port of that very archive, and not of one that had the same id before.
    private func isItsPlace(_ replayable: Replayable) -> Bool {
        guard let own = site.hosts.replaying else { return true }
        return !own.isKept || replayable.port == own.port
    }

    /// `/COLL/…`, where COLL is this archive's, now or before its file was replaced.
    static func isReplayAddress(_ path: String, of id: ArchiveID) -> Bool {
        let parts = path.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, parts[0].hasPrefix("\(id)-") else { return false }
        let hash = parts[0].dropFirst(id.text.count + 1)
        return hash.utf8.count == 12
            && hash.utf8.allSatisfy {
                ("0"..."9").contains(Character(.init($0))) || ("a"..."f").contains(Character(.init($0)))
            }
    }

    /// Has the browser forget what it keeps for this origin: workers, databases, caches. Only the viewer asks for it, in a frame:
    /// no worker of the origin, whoever registered it, is asked first.
    private func clear(_ request: Request) throws -> Response {
        guard request.headers[.secFetchSite] == "same-site", request.headers[.secFetchDest] == "iframe" else {
            throw ErrorResponse.forbidden("the viewer asks for this, nobody else")
        }
        return Responses.page(
            "<!doctype html><title>Cleared</title>\n", policy: SecurityHeaders.clearedPage(site.hosts),
            fields: [.clearSiteData: "\"storage\""])
    }

    private func worker(_ request: Request) async throws -> Response {
        guard let worker = try await site.blocking({ try ReplayWorker(site.assets, hosts: site.hosts) }) else {
            throw ErrorResponse.engineMissing
        }
        return Responses.asset(worker.script, policy: SecurityHeaders.engine, request: request)
    }

    /// What the boot page is told.
    private struct BootData: Encodable {
        let id: String
        let title: String
        let collection: String
        /// Where the engine can read the file by ranges; absent for a group, which is replayed by lookups only.
        let source: String?
        let size: UInt64
        let controlOrigins: [String]
        /// Path and query of the worker; absent where the engine is missing.
        let worker: String?
    }

    private func bootPage(for replayable: Replayable, request: Request) async throws -> Response {
        let (page, worker) = try await site.blocking {
            (try site.assets.asset("boot.html"), try ReplayWorker(site.assets, hosts: site.hosts))
        }
        guard let page else {
            throw ErrorResponse.assetsMissing
        }
        let template = String(decoding: page.bytes, as: UTF8.self)
        let file: Archive? = if case .archive(let archive) = replayable { archive } else { nil }
        let data = BootData(
            id: replayable.id.text, title: replayable.title, collection: replayable.collection,
            source: file.map { "\($0.versionedFilePath)&view=replay" },
            size: replayable.archives.reduce(0) { $0 &+ $1.size },
            controlOrigins: site.hosts.controlOrigins.reversed(), worker: worker?.address)
        let json = String(decoding: try JSONText.encoded(data), as: UTF8.self)
            .replacingOccurrences(of: "<", with: "\\u003c")
        let filled = Asset(
            bytes: Array(template.replacingOccurrences(of: "{{boot}}", with: json).utf8), type: page.type)
        let policy = SecurityHeaders.bootPage(
            site.hosts, scriptHash: Self.hash(ofFirst: "script", in: template),
            styleHash: Self.hash(ofFirst: "style", in: template))
        return Responses.asset(
            filled, policy: policy, request: request,
            fields: [.connectionAllowlist: SecurityHeaders.ownAndControlOrigins(site.hosts)])
    }

    /// SHA-256, in base64, of the text of the first element of that name that has no attributes.
    private static func hash(ofFirst element: String, in page: String) -> String {
        guard let start = page.range(of: "<\(element)>"),
            let end = page.range(of: "</\(element)>", range: start.upperBound..<page.endIndex)
        else { return "" }
        return SHA256.hash(data: Data(page[start.upperBound..<end.lowerBound].utf8)).base64
    }
}
