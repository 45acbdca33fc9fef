import Crypto
import Foundation
import WebArchive

/// The service worker of replay origins: `www/replay/sw.js` with the policy of archived pages. It imports the engine.
struct ReplayWorker {
    /// The path and query for registering the worker. They change with its content, so that browsers replace earlier
    /// workers before showing a page.
    let address: String
    let script: Asset

    /// The path of `www/replay/page.js`, which the engine adds to each page because of `injectScripts`.
    static let pageScript = "/static/proxy/page.js"

    /// The asset path of the engine.
    static let engine = "vendor/sw.js"

    private struct PageScript: Encodable {
        let path = ReplayWorker.pageScript
        let text: String
    }

    private struct Settings: Encodable {
        let address: String
        let fields: [String: String]
        /// The referrers of the viewer.
        let viewers: [String]
        let kept = CaptureFields.Lists()
        /// The path and the text of the script in each page, so that a page doesn't wait for the server.
        let pageScript: PageScript
    }

    /// Creates the worker; `nil` if the engine is missing.
    init?(_ assets: Assets, hosts: HostPolicy) throws {
        guard let template = try assets.joined("replay/sw.js"), let engine = try assets.asset(Self.engine) else {
            return nil
        }
        let pageScript = PageScript(
            text: try assets.asset("replay/page.js").map { String(decoding: $0.bytes, as: UTF8.self) } ?? "")
        let fields = [
            "Content-Security-Policy": SecurityHeaders.archivedPage(hosts),
            "Connection-Allowlist": SecurityHeaders.ownOrigin, "X-DNS-Prefetch-Control": "off",
        ]
        func settings(_ version: String) throws -> Settings {
            // An empty `replayPrefix` makes the engine serve archived pages from the root.
            Settings(
                address: "/sw.js?replayPrefix=&version=\(version)&injectScripts=page.js", fields: fields,
                viewers: hosts.controlOrigins.map { "\($0)/" }, pageScript: pageScript)
        }
        var hash = SHA256()
        for part in [template, engine.sha256] { hash.update(data: Data(part.utf8)) }
        hash.update(data: try JSONText.encoded(settings("")))
        let own = try settings(String(hash.finalize().hexadecimal.prefix(16)))
        address = own.address
        let text = template.replacingOccurrences(
            of: "{{worker}}", with: String(decoding: try JSONText.encoded(own), as: UTF8.self))
        script = Asset(bytes: Array(text.utf8), type: "text/javascript; charset=utf-8")
    }
}
