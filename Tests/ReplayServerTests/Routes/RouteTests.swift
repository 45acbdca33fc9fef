import ArchiveStore
import Foundation
import TestSupport
import Testing

@testable import ReplayServer

/// Every route on every role of Host: status and security headers.
struct RouteTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let host: String
        let target: String
        let status: Int
        /// Fields and what their values contain; an empty text means that the field is absent.
        let fields: [String: String]
        var method = "GET"

        init(_ host: String, _ target: String, _ status: Int, _ fields: [String: String] = [:], method: String = "GET")
        {
            (self.host, self.target, self.status, self.fields, self.method) = (host, target, status, fields, method)
        }

        var testDescription: String { "\(method) \(host) \(target)" }
    }

    private static let inert = "default-src 'none'; frame-ancestors 'none'"

    static let cases: [Case] = [
        // The library's origins.
        Case(
            "localhost", "/", 200,
            [
                "content-type": "text/html", "content-security-policy": "default-src 'none'; script-src 'self'",
                "cross-origin-opener-policy": "same-origin", "cache-control": "no-cache",
            ]),
        Case(
            "replayhost.localhost", "/", 200,
            ["content-security-policy": "frame-src http://*.replayhost.localhost:PORT"]),
        Case("localhost", "/index.html", 200, ["content-security-policy": "frame-ancestors 'none'"]),
        Case("localhost", "/index.html?archive=/archives/file.wacz", 200),
        Case("localhost", "/app/main.js", 200, ["content-type": "text/javascript", "content-security-policy": inert]),
        Case("localhost", "/app/core/app.css", 200, ["content-type": "text/css"]),
        // The start of the hash, as sha256sum prints it.
        Case(
            "localhost", "/bundle/app.js?v=f844a39109b19326", 200,
            ["cache-control": "max-age=31536000, immutable", "content-security-policy": inert]),
        Case("localhost", "/bundle/app.js?v=f844a39109b19327", 200, ["cache-control": "no-cache"]),
        Case("localhost", "/bundle/app.js?v=", 200, ["cache-control": "no-cache"]),
        Case("localhost", "/bundle/app.js", 200, ["cache-control": "no-cache"]),
        Case("localhost", "/bundle/../index.html", 404), Case("file.replayhost.localhost", "/bundle/app.js", 404),
        Case(
            "localhost", "/sw.js", 200,
            [
                "content-type": "text/javascript", "service-worker-allowed": "",
                "content-security-policy": "default-src 'none'; script-src 'self'; connect-src 'self' blob:",
            ]),
        Case("localhost", "/vendor/NOTICE.txt", 200, ["content-type": "text/plain"]),
        Case(
            "localhost", "/opensearch.xml", 200,
            ["content-type": "application/opensearchdescription+xml", "content-security-policy": inert]),
        Case("localhost", "/search?q=tide", 307, ["location": "/#search=tide", "cache-control": "no-store"]),
        Case("localhost", "/search/suggestions?q=tide", 200, ["content-type": "application/x-suggestions+json"]),
        Case("file.replayhost.localhost", "/opensearch.xml", 404),
        Case("file.replayhost.localhost", "/search?q=a", 404),
        Case("127.0.0.1", "/search?q=a", 307, ["location": "http://localhost:PORT/search?q=a"]),
        Case("localhost", "/vendor/sw.js", 404), Case("localhost", "/replay/boot.html", 404),
        Case("localhost", "/replay/boot.js", 404),
        Case("localhost", "/nothing", 404),
        Case("localhost", "/file-0123456789ab/x", 404), Case("localhost", "/app/", 404),
        Case("localhost", "/app/README", 404),
        Case("localhost", "/app/.hidden.js", 404), Case("localhost", "/app/../index.html", 404),
        Case("localhost", "/app/%2e%2e/index.html", 404), Case("localhost", "/app/..%2findex.html", 404),
        Case(
            "localhost", "/api/health", 200,
            [
                "content-type": "application/json", "cache-control": "no-store", "replayhost-api-version": "1",
                "content-security-policy": inert,
            ]),
        Case("localhost", "/api/archives", 200, ["replayhost-api-version": "1"]),
        Case("localhost", "/api/archives/file", 200),
        Case("localhost", "/api/nothing", 404, ["content-type": "application/problem+json"]),
        Case(
            "localhost", "/archives/file.wacz", 200,
            [
                "content-type": "application/wacz", "content-security-policy": inert, "accept-ranges": "bytes",
                "cache-control": "no-cache", "etag": "\"",
            ]),
        Case("localhost", "/archives/none.wacz", 404, ["content-security-policy": inert]),
        // An archive's own origin.
        Case(
            "file.replayhost.localhost", "/", 200,
            [
                "content-type": "text/html", "origin-agent-cluster": "?1",
                "content-security-policy":
                    "frame-ancestors 'self' http://localhost:PORT http://replayhost.localhost:PORT",
            ]),
        Case(
            "file.replayhost.localhost", "/file-0123456789ab/20240102030405mp_/http://example.org/", 200,
            [
                "content-security-policy": "script-src 'sha256-"
            ]),
        Case("file.replayhost.localhost", "/sw.js", 200, ["content-security-policy": "connect-src 'self'"]),
        Case("file.replayhost.localhost", "/sw.js?replayPrefix=", 200),
        Case(
            "file.replayhost.localhost", "/engine.js", 200,
            ["content-type": "text/javascript", "content-security-policy": "connect-src 'self'"]),
        Case("file.replayhost.localhost", "/clear", 403),
        Case(
            "file.replayhost.localhost", "/mark", 200, ["content-security-policy": "frame-ancestors http://localhost:"]),
        Case("file.replayhost.localhost", "/pdf/file/2024/http://example.org/", 404),
        Case("localhost", "/pdf/file/2024/http://example.org/", 404),
        Case("127.0.0.1", "/pdf/file/2024/http://example.org/", 403, ["content-security-policy": inert]),
        Case("file.replayhost.localhost", "/print", 404), Case("localhost", "/print", 404),
        Case("127.0.0.1", "/print", 200, ["content-security-policy": "sandbox allow-scripts allow-modals; "]),
        Case("file.replayhost.localhost", "/archives/file.wacz", 200, ["accept-ranges": "bytes"]),
        Case("file.replayhost.localhost", "/archives/other.wacz", 404),
        Case("file.replayhost.localhost", "/archives/file", 404),
        Case("file.replayhost.localhost", "/index.html", 404), Case("file.replayhost.localhost", "/app/main.js", 404),
        Case("file.replayhost.localhost", "/replay/boot.js", 404), Case("file.replayhost.localhost", "/boot.js", 404),
        Case("file.replayhost.localhost", "/api/health", 404), Case("file.replayhost.localhost", "/api/archives", 404),
        Case("file.replayhost.localhost", "/other-0123456789ab/x", 404),
        Case("file.replayhost.localhost", "/", 405, ["allow": "GET, HEAD"], method: "POST"),
        Case("gone.replayhost.localhost", "/", 404, ["clear-site-data": "\"cache\", \"storage\""]),
        Case("gone.replayhost.localhost", "/archives/file.wacz", 404, ["clear-site-data": "\"storage\""]),
        Case("gone.replayhost.localhost", "/sw.js", 404, ["clear-site-data": "\"storage\""]),
        // The stock interface, which is not installed here.
        Case("stock.replayhost.localhost", "/", 404), Case("stock.replayhost.localhost", "/sw.js", 404),
        Case("stock.replayhost.localhost", "/archives/file.wacz", 200),
        Case("stock.replayhost.localhost", "/api/health", 404),
        // Bare addresses.
        Case("127.0.0.1", "/", 307, ["location": "http://localhost:PORT/", "cache-control": "no-store"]),
        Case(
            "127.0.0.1", "/index.html?archive=/archives/a.wacz", 307,
            [
                "location": "http://localhost:PORT/index.html?archive=/archives/a.wacz"
            ]),
        Case("127.0.0.1", "/api/archives", 307, ["location": "http://localhost:PORT/api/archives"]),
        Case("127.0.0.1", "/api/health", 200), Case("127.0.0.1", "/archives/file.wacz", 200, ["location": ""]),
        Case("127.0.0.1", "/archives/none.wacz", 404), Case("127.0.0.1", "/api/archives", 421, method: "POST"),
        Case("127.0.0.1", "/api/archives/file", 421, method: "DELETE"),
        Case("[::1]", "/", 307, ["location": "http://localhost:PORT/"]), Case("[::1]", "/api/health", 200),
        Case("[::1]", "/archives/file.wacz", 200),
        // Names of others.
        Case("evil.example", "/", 421, ["content-security-policy": inert]), Case("evil.example", "/api/health", 421),
        Case("evil.example", "/archives/file.wacz", 421), Case("evil.example", "/sw.js", 421),
        Case("xn--a.replayhost.localhost", "/", 421), Case("api.replayhost.localhost", "/", 421),
        Case("localhost.", "/", 421), Case("file.replayhost.localhost.", "/", 421),
    ]

    @Test func routesOnlyRespondOnTheirOrigins() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            try await server.place(patternBytes(11), as: "other")
            let port = server.port
            for c in Self.cases {
                let name = Comment(rawValue: c.testDescription)
                let isIPv6 = c.host == "[::1]"
                let answer = try await server.ask(c.method, c.target, host: "\(c.host):\(port)", isIPv6: isIPv6)
                #expect(answer.status == c.status, name)
                for (field, part) in c.fields {
                    let wanted = part.replacingOccurrences(of: "PORT", with: "\(port)")
                    if wanted.isEmpty {
                        #expect(answer[field] == nil, name)
                    } else {
                        #expect(
                            answer[field]?.contains(wanted) == true, "\(name) \(field): \(answer[field] ?? "absent")")
                    }
                }
                // On every answer, whatever it is.
                #expect(answer["set-cookie"] == nil, name)
                #expect(answer["x-content-type-options"] == "nosniff", name)
                // Replay origins recognize the viewer, and pages of their own. The page for printing loads nothing.
                let isHTML = answer["content-type"]?.hasPrefix("text/html") == true
                let isPage = answer.status == 200 && isHTML && !["/print", "/mark"].contains(c.target)
                let ofPage = answer.text.contains("replayhost-token") ? "origin" : "same-origin"
                let ofOthers = answer["location"] == nil ? "no-referrer" : "origin"
                #expect(answer["referrer-policy"] == (isPage ? ofPage : ofOthers), name)
                // Only health is open, so that the library can find out whether its other name resolves.
                let isHealth = c.target == "/api/health" && c.status == 200
                #expect(answer["cross-origin-resource-policy"] == (isHealth ? "cross-origin" : "same-origin"), name)
                #expect(answer["access-control-allow-origin"] == (isHealth ? server.origin : nil), name)
                if c.status >= 400 { #expect(!answer.text.contains(server.folder.path), name) }
                if c.status >= 400, c.method == "GET" { #expect(answer.text.count > 10, name) }
            }
        }
    }

    /// RFC 9110 §9.3.2, also where the router answers.
    @Test func headHasNoBody() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let port = server.port
            for c in Self.cases where c.method == "GET" && c.host != "[::1]" {
                let name = Comment(rawValue: c.testDescription)
                let host = "\(c.host):\(port)"
                try await onThread {
                    let connection = try HTTPConnection(port: port)
                    let get = try connection.ask("GET", c.target, host: host)
                    let head = try connection.ask("HEAD", c.target, host: host)
                    #expect(head.status == get.status, name)
                    #expect(head["content-type"] == get["content-type"], name)
                    #expect(head["content-length"] == get["content-length"], name)
                    // A body would be parsed as the head of this response.
                    #expect(try connection.ask("GET", "/api/health", host: "localhost:\(port)").status == 200, name)
                }
            }
        }
    }

    @Test(arguments: [false, true]) func libraryPageContainsTokenAndVersion(isBundled: Bool) async throws {
        let prepare: (ArchiveStore, TemporaryFolder) throws -> Void = { _, assets in
            if isBundled { try assets.write(TestAssets.index + "<!-- bundle -->", to: "bundle/index.html") }
        }
        try await withServer(prepare: prepare) { server in
            let page = try await server.ask("GET", "/")
            #expect(page.text.hasSuffix("<!-- bundle -->") == isBundled)
            #expect(page.text.contains("<meta name=\"replayhost-token\" content=\"\(server.token)\">"))
            let command = "replayhost serve --store '/a &quot;b&quot;'"
            #expect(page.text.contains("<meta name=\"replayhost-start\" content=\"\(command)\">"))
            #expect(page.text.contains("content=\"9.8.7\""))
            #expect(!page.text.contains("{{"))
            #expect(server.token.count == 64)
            // Archived pages and other origins can't get it.
            try await server.place(patternBytes(10), as: "file")
            let boot = try await server.ask("GET", "/", host: server.host(of: "file"))
            #expect(!boot.text.contains(server.token))
        }
    }

    @Test func workerHasTheScriptOfPages() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            try server.assets.write("page('\u{2028}</script>')", to: "replay/page.js")
            let worker = try await server.ask(
                "GET", "/sw.js", host: server.host(of: "file"), [("Service-Worker", "script")])
            let json = try #require(worker.text.firstIndex(of: "=").map { worker.text[$0...].dropFirst().dropLast(2) })
            let settings = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            let script = try #require(settings["pageScript"] as? [String: String])
            #expect(script == ["path": "/static/proxy/page.js", "text": "page('\u{2028}</script>')"])
        }
    }

    @Test func bootPageContainsArchiveAndAllowsScriptByHash() async throws {
        try await withServer { server in
            let path = try await server.place(patternBytes(10), as: "file")
            let hash = try await sha256ByOpenSSL(path)
            let page = try await server.ask("GET", "/", host: server.host(of: "file"))
            let json = try #require(
                page.text.split(separator: "<script type=\"application/json\" id=\"boot\">").last?
                    .split(separator: "</script>").first)
            let data = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            #expect(data["id"] as? String == "file")
            #expect(data["collection"] as? String == "file-\(hash.prefix(12))")
            #expect(data["source"] as? String == "/archives/file.wacz?sha256=\(hash)&view=replay")
            #expect((data["worker"] as? String)?.hasPrefix("/sw.js?replayPrefix=&version=") == true)
            #expect(data["size"] as? Int == 10)
            // Its scripts are inline.
            let script = "\nexport const text = 1;\nstart(text);\n"
            #expect(page.text.contains("<script type=\"module\">\(script)</script>"))
            let policy = try #require(page["content-security-policy"])
            #expect(policy.contains("script-src 'sha256-\(try await Self.base64Digest(script))'"))
            #expect(policy.contains("style-src 'sha256-\(try await Self.base64Digest("p { color: red }"))'"))
        }
    }

    static func base64Digest(_ text: String) async throws -> String {
        let script = "printf %s \"$0\" | openssl dgst -sha256 -binary | base64"
        return try await run("/bin/sh", ["-c", script, text]).output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(arguments: ["/", "/app/main.js", "/sw.js", "/vendor/NOTICE.txt"])
    func unchangedAssetsAreNotSentAgain(target: String) async throws {
        try await withServer { server in
            let first = try await server.ask("GET", target)
            let tag = try #require(first["etag"])
            #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
            for field in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let again = try await server.ask("GET", target, [("If-None-Match", field)])
                #expect(again.status == 304)
                #expect(again.body.isEmpty)
                #expect(again["etag"] == tag)
                #expect(again["content-security-policy"] == first["content-security-policy"])
            }
            #expect(try await server.ask("GET", target, [("If-None-Match", "\"x\"")]).status == 200)
        }
    }

    @Test func allReplayResponsesConfinePages() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let host = server.host(of: "file")
            let long = "/" + String(repeating: "x", count: 90_000)
            let targets = [
                "/", "/sw.js", "/engine.js", "/clear", "/archives/file.wacz", "/archives/none.wacz", "/nothing",
                "/api/index",
                "/c/file/cdx?url=a", "/c/file/2024id_/http://a.example/",
                "/file-0123456789ab/2024mp_/http://a.example/", long,
            ]
            for target in targets {
                let name = Comment(rawValue: String(target.prefix(60)))
                for fields in [[], [("Range", "bytes=0-1")], [("If-None-Match", "*")]] {
                    let answer = try await server.ask("GET", target, host: host, fields)
                    #expect(answer["content-security-policy"]?.contains("default-src") == true, name)
                    let own = target == "/" || target.hasPrefix("/file-")
                    let control = " \"http://localhost:\(server.port)\" \"http://replayhost.localhost:\(server.port)\""
                    #expect(
                        answer["connection-allowlist"] == "(response-origin\(own ? control : ""));redirects=allow", name
                    )
                    #expect(answer["origin-agent-cluster"] == "?1", name)
                    #expect(answer["x-dns-prefetch-control"] == "off", name)
                    #expect(answer["cross-origin-opener-policy"] == "same-origin", name)
                }
            }
        }
    }

    @Test func engineCannotBeRegisteredAsWorker() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let asWorker = [("Service-Worker", "script")]
            let host = server.host(of: "file")
            #expect(try await server.ask("GET", "/engine.js", host: host, asWorker).status == 403)
            #expect(try await server.ask("GET", "/sw.js", asWorker).status == 403)
            let worker = try await server.ask("GET", "/sw.js", host: host, asWorker)
            #expect(worker.status == 200)
            // The worker's URL in the page must be the one that the worker expects.
            let page = try await server.ask("GET", "/", host: host).text
            let address = try #require(page.firstMatch(of: /"worker":"([^"]+)"/)?.1)
            #expect(worker.text.contains("\"address\":\"\(address)\""))
            #expect(worker.text.contains("\"Connection-Allowlist\":\"(response-origin);redirects=allow\""))
            // The lists of archived fields, which the server uses too.
            #expect(worker.text.contains("\"scripts\":[\"allow\","))
        }
    }

    @Test func onlyViewerCanClearOrigin() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let host = server.host(of: "file")
            let library = ("Referer", "\(server.origin)/")
            for destination in ["iframe", "image"] {
                let viewer = [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Dest", destination), library]
                let cleared = try await server.ask("GET", "/clear", host: host, viewer)
                #expect(cleared.status == 200)
                #expect(cleared["clear-site-data"] == "\"storage\"")
                #expect(cleared["content-security-policy"]?.contains("sandbox") == true)
            }
            for other in [
                [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "iframe"), library],
                [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Dest", "iframe")],
                [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "image")],
                [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Dest", "image")],
                [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Dest", "empty"), library], [],
                // A page of another archive.
                [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Dest", "iframe")],
                [
                    ("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Dest", "image"),
                    ("Referer", "http://\(server.host(of: "other"))/"),
                ],
            ] {
                let answer = try await server.ask("GET", "/clear", host: host, other)
                #expect(answer.status == 403)
                #expect(answer["clear-site-data"] == nil)
            }
        }
    }

    @Test func onlyViewerAndOwnPagesFrameArchivedPages() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let port = try await server.openReplayPort("file")
            let collection = try #require(try server.store.archive(named: "file")).replayCollection
            let other = "http://\(server.host(of: "other"))/"
            let viewer = "\(server.origin)/"
            let requests: [(site: String, referrer: String?, status: Int)] = [
                ("same-site", viewer, 200), ("same-origin", nil, 200), ("none", nil, 200), ("same-site", nil, 403),
                ("same-site", other, 403), ("same-site", "http://localhost:\(port + 1)/", 403),
                ("cross-site", nil, 403),
                ("same-site", "\(viewer)x", 403),
            ]
            for (host, to) in [(server.host(of: "file"), server.port), ("localhost:\(port)", port)] {
                for path in ["/", "/\(collection)/2024mp_/http://a.example/"] {
                    for (site, referrer, status) in requests {
                        for destination in ["iframe", "frame", "object", "embed", "document"] {
                            let fields =
                                [
                                    ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate"),
                                    ("Sec-Fetch-Dest", destination),
                                ] + (referrer.map { [("Referer", $0)] } ?? [])
                            let answer = try await onThread {
                                try HTTPConnection(port: to).ask("GET", path, host: host, fields)
                            }
                            let place = Comment(
                                rawValue: "\(host)\(path) \(site) \(referrer ?? "") \(destination)")
                            #expect(answer.status == status, place)
                            // In a tab, a person is asked.
                            let asks = status == 403 && destination == "document"
                            #expect(answer.text.contains(">Open this URL</a>") == asks, place)
                        }
                    }
                }
            }
        }
    }

    @Test func browserGetsErrorPageWithLibraryLink() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let browser = [("Accept", "text/html,application/xhtml+xml"), ("Sec-Fetch-Dest", "document")]
            let cases: [(String, String, Int, String)] = [
                ("/none", server.host, 404, "There is nothing at this URL."),
                ("/archives/none.wacz", server.host, 404, "No archive"),
                ("/none", server.host(of: "file"), 404, "There is nothing at this URL."),
                ("/", server.host(of: "none"), 404, "No archive or collection has the id &quot;none&quot;."),
                ("/c/none/http://a.example/<b>", server.host, 404, "No archive or collection has the id"),
                ("/", "elsewhere.example", 421, "This server doesn't serve this host."),
            ]
            for (path, host, status, words) in cases {
                let answer = try await server.ask("GET", path, host: host, browser)
                #expect(answer.status == status)
                #expect(answer["content-type"] == "text/html; charset=utf-8", "\(path)")
                #expect(answer.text.contains("<h1>\(words)"), "\(answer.text)")
                #expect(answer.text.contains(/<a href="http:\/\/[a-z.]*localhost:[0-9]+\/">Open the library<\/a>/))
                #expect(
                    answer["content-security-policy"]?.hasPrefix("default-src 'none'; frame-ancestors 'none'") == true)
                let program = try await server.ask("GET", path, host: host)
                #expect(program.status == status)
                #expect(program["content-type"] == "text/plain; charset=utf-8")
                let frame = try await server.ask("GET", path, host: host, [browser[0], ("Sec-Fetch-Dest", "iframe")])
                #expect(frame["content-type"] == "text/plain; charset=utf-8")
            }
            let script = try await server.ask("GET", "/api/none", browser)
            #expect(script["content-type"] == "application/problem+json")
        }
    }

    @Test func onlyOwnPagesAreRedirectedToMedia() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let host = server.host(of: "file")
            let page = "http://\(host)/file-0123456789ab/2024mp_/https://site.example/a"
            let own = [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Dest", "image"), ("Referer", page)]
            let sentOn = try await server.ask("GET", "/a.png?b=//evil.example/", host: host, own)
            #expect(sentOn.status == 307)
            #expect(sentOn["location"] == "/c/file/2024id_/https://site.example/a.png?b=//evil.example/")
            for other in [
                [("Sec-Fetch-Site", "cross-site"), own[1], own[2]], [own[0], ("Sec-Fetch-Dest", "script"), own[2]],
                [own[0], own[1], ("Referer", page.replacing("http://", with: "https://"))],
                [own[0], own[1], ("Referer", page.replacing("file-", with: "else-"))], [own[0], own[1]], [],
            ] {
                let isElsewhere = other.first?.1 == "cross-site"
                let answer = try await server.ask("GET", "/a.png", host: host, other)
                #expect(answer.status == (isElsewhere ? 403 : 404))
            }
        }
    }

    @Test func missingEngineIsReported() async throws {
        try await withServer(prepare: { _, assets in
            try FileManager.default.removeItem(atPath: assets.path("vendor/sw.js"))
        }) { server in
            let script = try await server.ask("GET", "/sw.js")
            #expect(script.status == 404)
            #expect(script.text.contains("make setup"))
            #expect(try await server.ask("GET", "/api/health").text.contains("\"engine\":null"))
        }
    }

    @Test func stockInterfaceHasOwnOrigin() async throws {
        try await withServer(prepare: { _, assets in
            try assets.write("ui()", to: "vendor/stock/ui.js")
            try assets.write("stock()", to: "vendor/stock/sw.js")
        }) { server in
            try await server.place(patternBytes(10), as: "file")
            let host = server.host(of: "stock")
            #expect(try await server.ask("GET", "/", host: host).text.contains("/ui.js"))
            #expect(try await server.ask("GET", "/ui.js", host: host).text == "ui()")
            let worker = try await server.ask("GET", "/replay/sw.js", host: host)
            #expect(worker.text == "stock()")
            #expect(worker["service-worker-allowed"] == "/")
            #expect(try await server.ask("GET", "/sw.js", host: server.host).text == TestAssets.engine)
            #expect(try await server.ask("GET", "/api/archives", host: host).status == 404)
            #expect(try await server.ask("GET", "/api/health").text.contains("\"stockUI\":true"))
        }
    }
}
