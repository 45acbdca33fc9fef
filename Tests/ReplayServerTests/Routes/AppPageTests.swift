import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import ReplayServer

/// What the app's page has for a URL that opens an archive.
@Suite struct AppPageTests {
    private static func page(
        of server: LiveServer, _ path: String, _ fields: [(String, String)] = []
    ) async throws -> HTTPAnswer {
        try await server.ask("GET", path, host: "replayhost.localhost:\(server.port)", fields)
    }

    private static func target(in page: HTTPAnswer) throws -> [String: Any]? {
        let parts = page.text.components(separatedBy: "<script type=\"application/json\" id=\"target\">")
        let json = try #require(parts.last?.components(separatedBy: "</script>").first)
        return try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed) as? [String: Any]
    }

    private static func setup(in page: HTTPAnswer) throws -> Substring {
        let parts = page.text.components(separatedBy: "<meta name=\"replayhost-setup\" content=\"")
        return try #require(parts.last?.prefix { $0 != "\"" })
    }

    @Test func hasTheArchiveInItsURL() async throws {
        try await withServer { server in
            let path = try await server.place(patternBytes(10), as: "file", originalName: "A b.wacz")
            let hash = try await sha256ByOpenSSL(path)
            for name in ["file", "A%20b"] {
                let page = try await Self.page(of: server, "/?archive=/archives/\(name).wacz&replay=lookups")
                let target = try #require(try Self.target(in: page), "\(name)")
                #expect(target["id"] as? String == "file")
                #expect(target["replayOrigin"] as? String == "http://\(server.host(of: "file"))")
                #expect(target["replayCollection"] as? String == "file-\(hash.prefix(12))")
            }
            for query in [
                "", "?archive=/archives/none.wacz", "?archive=file", "?archive=", "?archive=/archives/.wacz",
                "?archive=/archives/%25.wacz", "?collection=file", "?group=file",
            ] {
                #expect(try Self.target(in: await Self.page(of: server, "/\(query)")) == nil, "\(query)")
            }
        }
    }

    @Test func hasTheCollectionInItsURL() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let body = #"{"title": "Both </script>", "members": ["file"]}"#
            let fields = server.authority + [("Content-Type", "application/json")]
            let made = try await server.ask("POST", "/api/collections", fields, body: Array(body.utf8)).object()
            let id = try #require(made["id"] as? String)
            for parameter in ["collection", "group"] {
                let target = try #require(try Self.target(in: await Self.page(of: server, "/?\(parameter)=\(id)")))
                #expect(target["id"] as? String == id)
                #expect(target["replayCollection"] as? String == made["replayCollection"] as? String)
                #expect(target["mainPage"] == nil)
            }
            #expect(try Self.target(in: await Self.page(of: server, "/?archive=/archives/\(id).wacz")) == nil)
        }
    }

    /// Pages of archives can open the app, and measure how long that takes. `docs/safety.md`.
    @Test func looksUpNothingForPagesOfReplayOrigins() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let address = "/?archive=/archives/file.wacz"
            let fields = [
                ("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"),
            ]
            let page = try await Self.page(of: server, address, fields)
            #expect(page.status == 200)
            #expect(try Self.target(in: page) == nil)
            for site in ["none", "same-origin"] {
                let page = try await Self.page(of: server, address, [("Sec-Fetch-Site", site)])
                #expect(try Self.target(in: page) != nil, "\(site)")
            }
        }
    }

    /// The app opens a page at once only where the engine was set up by the same files.
    @Test(arguments: ["replay/boot.js", "replay/sw.js", "replay/page.js", "vendor/sw.js"])
    func markOfTheSetupChangesWithItsFiles(file: String) async throws {
        try await withServer { server in
            let before = try Self.setup(in: await server.ask("GET", "/"))
            #expect(before.count == 16)
            #expect(try Self.setup(in: await server.ask("GET", "/")) == before)
            try server.assets.write(file == "replay/sw.js" ? "const one = {{worker}};" : "changed()", to: file)
            #expect(try Self.setup(in: await server.ask("GET", "/")) != before)
        }
    }

    /// It runs before anything else is loaded. The policy allows only this one.
    @Test func hasTheScriptOfItsHeadInline() async throws {
        let script = "open('\u{FC}')\n"
        try await withServer { server in
            let before = try await server.ask("GET", "/")
            #expect(before["content-security-policy"]?.contains("script-src 'self'; ") == true)
            try server.assets.write("<script>{{head}}</script>", to: "bundle/index.html")
            try server.assets.write(script, to: "bundle/head.js")
            let page = try await server.ask("GET", "/")
            #expect(page.text == "<script>\(script)</script>")
            let digest = try await RouteTests.base64Digest(script)
            #expect(page["content-security-policy"]?.contains("script-src 'self' 'sha256-\(digest)'; ") == true)
        }
    }

    /// Most browsers leave `localhost` at once. Then they neither load the app there nor need an archive.
    @Test func hasTheAppInATemplateAtLocalhost() async throws {
        let (app, address) = ("<script src=\"/app/main.js\"></script>", "/?archive=/archives/file.wacz")
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let left = try await server.ask("GET", address)
            #expect(left.text.contains("<template id=\"app-parts\">\(app)</template>"))
            #expect(try Self.target(in: left) == nil)
            let home = try await Self.page(of: server, address)
            #expect(home.text.contains(app) && !home.text.contains("<template"))
        }
        try await withServer(origins: .ports) { server in
            try await server.place(patternBytes(10), as: "file")
            let page = try await server.ask("GET", address)
            #expect(page.text.contains(app) && !page.text.contains("<template"))
            #expect(try Self.target(in: page) == nil)
        }
    }
}
