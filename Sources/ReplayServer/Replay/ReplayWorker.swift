import Crypto
import Foundation
import WebArchive

/// The service worker of replay origins: `www/replay/sw.js`, with the policy of archived pages filled in. It imports the engine.
struct ReplayWorker {
    /// Path and query under which it is registered. They change with its content, so that a browser that has an earlier worker
    /// replaces it before it shows a page.
    let address: String
    let script: Asset

    /// Where archived pages find `www/replay/page.js`: the engine adds the scripts of `injectScripts` to each page, below this path.
    static let pageScript = "/static/proxy/page.js"

    /// The engine, as an asset.
    static let engine = "vendor/sw.js"

    private struct Settings: Encodable {
        let address: String
        let fields: [String: String]
    }

    /// `nil` when the engine is missing.
    init?(_ assets: Assets, hosts: HostPolicy) throws {
        guard let template = try assets.asset("replay/sw.js"), let engine = try assets.asset(Self.engine) else {
            return nil
        }
        let fields = [
            "Content-Security-Policy": SecurityHeaders.archivedPage(hosts),
            "Connection-Allowlist": SecurityHeaders.ownOrigin, "X-DNS-Prefetch-Control": "off",
        ]
        var hash = SHA256()
        for part in [template.sha256, engine.sha256] + fields.values.sorted() { hash.update(data: Data(part.utf8)) }
        // `replayPrefix` is an engine setting. Empty means that archived pages are served from the root.
        let version = hash.finalize().hexadecimal.prefix(16)
        address = "/sw.js?replayPrefix=&version=\(version)&injectScripts=page.js"
        let settings = String(decoding: try JSONText.encoded(Settings(address: address, fields: fields)), as: UTF8.self)
        let text = String(decoding: template.bytes, as: UTF8.self)
            .replacingOccurrences(of: "{{worker}}", with: settings)
        script = Asset(bytes: Array(text.utf8), type: template.type)
    }
}
