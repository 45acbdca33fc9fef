import ArchiveStore
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import WebArchive

/// The app's page.
struct AppPage: Sendable {
    let site: Site

    /// What `www/app/opening.js` needs to open an archive or a collection while the app loads.
    private struct Target: Encodable {
        let id: String
        let replayOrigin: String
        let replayCollection: String
        /// Absent for collections.
        let mainPage: Archive.MainPage?
    }

    /// Returns the page with the token, which other origins can't read.
    ///
    /// `Scripts/bundle` writes the one that loads the app as one file, and the script `bundle/head.js` in the page, which opens an
    /// archive before that.
    func response(to request: Request) async throws -> Response {
        let (found, setup) = try await site.blocking {
            (try site.assets.asset("bundle/index.html") ?? site.assets.asset("index.html"), try site.replaySetup())
        }
        guard let page = found else { throw ErrorResponse.assetsMissing }
        let head = try await site.blocking { try site.assets.asset("bundle/head.js") }
        let leavesForNames = mayLeave(request)
        let filled = String(decoding: page.bytes, as: UTF8.self)
            .replacingOccurrences(of: "{{token}}", with: site.token)
            .replacingOccurrences(of: "{{version}}", with: site.version)
            .replacingOccurrences(of: "{{origins}}", with: site.hosts.origins.rawValue)
            .replacingOccurrences(of: "{{setup}}", with: setup)
            .replacingOccurrences(of: "{{head}}", with: String(decoding: head?.bytes ?? [], as: UTF8.self))
            .replacingOccurrences(of: "{{app}}", with: leavesForNames ? "<template id=\"app-parts\">" : "")
            .replacingOccurrences(of: "{{/app}}", with: leavesForNames ? "</template>" : "")
            .replacingOccurrences(of: "{{start}}", with: ErrorPage.escaped(site.startCommand))
            // The last, since it contains text of archives.
            .replacingOccurrences(of: "{{target}}", with: try await target(of: request))
        return Responses.asset(
            Asset(bytes: Array(filled.utf8), type: page.type),
            policy: SecurityHeaders.controlPage(
                site.hosts, at: request.targetOrigin,
                scriptHash: head.map { SHA256.hash(data: Data($0.bytes)).base64 }),
            request: request,
            // Replay origins recognize the viewer by its referrer.
            fields: [.crossOriginOpenerPolicy: "same-origin", .referrerPolicy: "origin"])
    }

    /// Whether the page moves from `localhost` to `replayhost.localhost` if the browser resolves that. `set-archive-url.js`
    /// loads the app if it doesn't.
    private func mayLeave(_ request: Request) -> Bool {
        site.hosts.origins != .ports && request.targetOrigin == site.hosts.controlOrigins[0]
    }

    /// Returns the archive or collection in the page's URL as JSON for a script element; `null` without one, with ports, at
    /// `localhost`, and for pages of replay origins, whose time must not depend on what is in the library.
    private func target(of request: Request) async throws -> String {
        let query = request.uri.queryParameters
        guard !mayLeave(request),
            !site.hosts.isFromElsewhere(site: request.headers[.secFetchSite], referrer: request.headers[.referer]),
            let replayable = try await site.blocking({ try replayable(in: query) }),
            let origin = site.replayOrigin(of: replayable)
        else { return "null" }
        let archive: Archive? = if case .archive(let archive) = replayable { archive } else { nil }
        let target = Target(
            id: replayable.id.text, replayOrigin: origin, replayCollection: replayable.replayCollection,
            mainPage: archive?.mainPage)
        return String(decoding: try JSONText.encoded(target), as: UTF8.self)
            .replacingOccurrences(of: "<", with: "\\u003c")
    }

    private func replayable(in query: Parameters) throws -> Replayable? {
        if let path = query["archive"].map(String.init) {
            let (start, end) = ("/archives/", ".wacz")
            guard path.hasPrefix(start), path.hasSuffix(end), path.count > start.count + end.count else { return nil }
            let name = path.dropFirst(start.count).dropLast(end.count)
            return try site.store.archive(named: name.removingPercentEncoding ?? String(name)).map { .archive($0) }
        }
        guard let id = (query["collection"] ?? query["group"]).flatMap({ ArchiveID(String($0)) }) else { return nil }
        let found = try site.store.resolver.replayable(id: id)
        if case .collection = found { return found }
        return nil
    }
}

extension Site {
    /// Returns `boot.html` with each line `{{PATH.js}}` replaced by the file at that path.
    ///
    /// An inline script needs only one hash in the policy, and can't be intercepted by a service worker of an earlier
    /// version.
    func bootTemplate() throws -> String {
        guard let template = try assets.joined("replay/boot.html") else { throw ErrorResponse.assetsMissing }
        return template
    }

    /// Returns a mark that changes with the files that set up the engine at a replay origin, and with the worker there.
    func replaySetup() throws -> String {
        guard let worker = try ReplayWorker(assets, hosts: hosts) else { return "" }
        let hash = SHA256.hash(data: Data("\(worker.address)\n\(try bootTemplate())".utf8))
        return String(hash.hexadecimal.prefix(16))
    }

    /// Returns the text of an asset.
    func text(of path: String) throws -> String {
        guard let asset = try assets.asset(path) else { throw ErrorResponse.assetsMissing }
        return String(decoding: asset.bytes, as: UTF8.self)
    }
}
