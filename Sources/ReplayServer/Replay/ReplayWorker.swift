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

    private struct Settings: Encodable {
        let address: String
        let fields: [String: String]
    }

    /// Creates the worker; `nil` if the engine is missing.
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
        // An empty `replayPrefix` makes the engine serve archived pages from the root.
        let version = hash.finalize().hexadecimal.prefix(16)
        address = "/sw.js?replayPrefix=&version=\(version)&injectScripts=page.js"
        let settings = String(decoding: try JSONText.encoded(Settings(address: address, fields: fields)), as: UTF8.self)
        let text = String(decoding: template.bytes, as: UTF8.self)
            .replacingOccurrences(of: "{{worker}}", with: settings)
        script = Asset(bytes: Array(text.utf8), type: template.type)
    }
}
