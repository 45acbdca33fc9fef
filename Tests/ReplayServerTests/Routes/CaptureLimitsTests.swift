import ArchiveStore
import TestSupport
import Testing

/// Limits of `/c/…` for other sites and long URLs.
struct CaptureLimitsTests {
    /// Runs a server with one archive, `crawl`, that has one capture.
    private func withCapture(_ body: (LiveServer) async throws -> Void) async throws {
        try await withServer(
            prepare: { store, folder in
                let archive = RecordedArchive([RecordedArchive.Record("http://a.example/", "<p>one</p>")])
                _ = try store.importFile(at: folder.write(archive.bytes(), to: "crawl.wacz"))
            }, body)
    }

    @Test func otherSitesCannotStartSearches() async throws {
        try await withCapture { server in
            for site in ["cross-site", "same-site"] {
                let answer = try await server.ask(
                    "POST", "/c/all/http://a.example/", [("Sec-Fetch-Site", site), ("Content-Type", "text/plain")],
                    body: [1])
                #expect(answer.status == 403)
            }
            let lists = try await server.ask("POST", "/c/crawl/cdx?url=a.example")
            #expect(lists["allow"] == "GET, HEAD")
        }
    }

    /// A URL below `/c/` of each kind, once for a captured URL and once for one that isn't captured.
    private static let kinds = [
        "/c/all/URL", "/c/all/2024/URL", "/c/all/20240102030405id_/URL", "/c/all/2024dl_/URL", "/c/all/2024mp_/URL",
        "/c/all/cdx?url=URL", "/c/all/timemap/link/URL", "/c/all/timemap/json/URL", "/c/crawl/URL", "/c/crawl/2024/URL",
        "/c/crawl/20240102030405id_/URL", "/c/crawl/20240102030405ir_/URL", "/c/crawl/20240102030405dl_/URL",
        "/c/crawl/2024mp_/URL", "/c/crawl/cdx?url=URL", "/c/crawl/timemap/link/URL", "/c/crawl/timemap/cdxj/URL",
    ]

    /// The modes and destinations of requests: https://www.w3.org/TR/fetch-metadata/
    private static let requests = [
        ("navigate", "document"), ("navigate", "iframe"), ("navigate", "object"), ("no-cors", "image"),
        ("no-cors", "script"), ("no-cors", "empty"), ("cors", "empty"), ("websocket", "websocket"),
    ]

    /// A response without its date, and with the requested URL replaced.
    private static func described(_ answer: HTTPAnswer, _ url: String) -> String {
        let fields = answer.fields.filter { $0.name.lowercased() != "date" }.map { "\($0.name): \($0.value)" }
        return (["\(answer.status)"] + fields + [answer.text]).joined(separator: "\n").replacing(url, with: "URL")
    }

    /// The table that this prints has a row for each kind of URL and request. Captures of one URL are a page, of the other
    /// a 204, which a browser doesn't leave a page for. Each kind of request goes to every third host, or with `CASES=all`
    /// to all.
    @Test(arguments: [
        ("http://a.example/page", "http://b.example/page"), ("http://a.example/204", "http://b.example/204"),
    ])
    func otherSitesLearnNothing(_ urls: (captured: String, other: String)) async throws {
        var rows: [String] = []
        try await withServer(
            prepare: { store, folder in
                let records = [
                    RecordedArchive.Record("http://a.example/page", "<p>one</p>"),
                    RecordedArchive.Record("http://a.example/204", "", status: 204),
                ]
                _ = try store.importFile(at: folder.write(RecordedArchive(records).bytes(), to: "crawl.wacz"))
            }
        ) { server in
            let port = try await server.openReplayPort("crawl")
            let library = [
                "localhost:\(server.port)", "replayhost.localhost:\(server.port)", "127.0.0.1:\(server.port)",
            ]
            let replay = [server.host(of: "crawl"), server.host(of: "none"), "localhost:\(port)"]
            func ask(_ path: String, _ host: String, _ fields: [(String, String)]) async throws -> HTTPAnswer {
                let to = Int(host.split(separator: ":")[1])!
                return try await onThread { try HTTPConnection(port: to).ask("GET", path, host: host, fields) }
            }
            for (row, kind) in Self.kinds.enumerated() {
                for (column, (mode, destination)) in Self.requests.enumerated() {
                    var cells: [String] = []
                    for site in ["cross-site", "same-site"] {
                        let fields = [
                            ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", destination),
                            ("Referer", "http://localhost:\(server.port)/other"),
                        ]
                        for (number, host) in (library + replay).enumerated()
                        where Cases.areAll || (row + column + number).isMultiple(of: 3) {
                            let captured = try await ask(kind.replacing("URL", with: urls.captured), host, fields)
                            let other = try await ask(kind.replacing("URL", with: urls.other), host, fields)
                            let place = Comment(rawValue: "\(host)\(kind) \(site) \(mode) \(destination)")
                            #expect(Self.described(captured, urls.captured) == Self.described(other, urls.other), place)
                            #expect(captured.status == 403, place)
                            #expect(captured.text.contains("<a href=\"/c/") == (mode == "navigate"), place)
                        }
                        cells.append(mode == "navigate" ? "403, asks" : "403")
                    }
                    for site in ["same-origin", "none"] {
                        let fields = [
                            ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", destination),
                        ]
                        let own = try await ask(kind.replacing("URL", with: urls.captured), library[0], fields)
                        #expect([200, 204, 302].contains(own.status), "\(kind) \(site) \(mode)")
                        cells.append("\(own.status)")
                    }
                    rows.append("| \(kind) | \(mode), \(destination) | \(cells.joined(separator: " | ")) |")
                }
            }
        }
        print("| URL | request | cross-site | same-site | same-origin | none |\n| --- | --- | --- | --- | --- | --- |")
        print(rows.joined(separator: "\n"))
    }

    /// The page that asks has a link to itself. Its request comes from the same origin, and leads on to the archive's.
    @Test func peopleCanOpenLinksOfOtherSites() async throws {
        try await withCapture { server in
            let path = "/c/all/20240102030405dl_/http://a.example/?a=1&b=\"<i>"
            let link = [
                ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"),
            ]
            let asking = try await server.ask("GET", path, link)
            let escaped = "/c/all/20240102030405dl_/http://a.example/?a=1&amp;b=&quot;&lt;i&gt;"
            #expect(asking.text.contains("<a href=\"\(escaped)\">Open this URL</a>"))
            #expect(asking["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
            #expect(asking["content-security-policy"]?.contains("sandbox") == false)
            #expect(asking["referrer-policy"] == "origin")
            let opened = [("Sec-Fetch-Site", "same-origin"), link[1], link[2]]
            let toArchive = try await server.ask("GET", "/c/all/20240102030405dl_/http://a.example/", opened)
            #expect(toArchive["location"] == "/c/crawl/20240102030405dl_/http://a.example/")
            #expect(toArchive["referrer-policy"] == "origin")
            let own = "/c/crawl/20240102030405dl_/http://a.example/"
            let toOrigin = try await server.ask("GET", own, opened)
            #expect(toOrigin["location"] == "http://\(server.host(of: "crawl"))\(own)")
            #expect(toOrigin["referrer-policy"] == "origin")
            // After redirects, Firefox sends `cross-site`.
            for (site, referrer, status) in [
                ("same-site", server.origin, 200), ("cross-site", server.origin, 200),
                ("same-site", "http://replayhost.localhost:\(server.port)", 200),
                ("same-site", "http://\(server.host(of: "other"))", 403), ("same-site", "http://localhost:1", 403),
            ] {
                let fields = [("Sec-Fetch-Site", site), link[1], link[2], ("Referer", "\(referrer)/")]
                let answer = try await server.ask("GET", own, host: server.host(of: "crawl"), fields)
                #expect(answer.status == status, "\(site) \(referrer)")
            }
        }
    }

    @Test func urlLengthIsLimited() async throws {
        try await withCapture { server in
            let allowed = "http://a.example/" + String(repeating: "x", count: (16 << 10) - 17)
            for (start, missing) in [
                ("/c/all/", 404), ("/c/crawl/2024id_/", 404), ("/c/crawl/timemap/link/", 404),
                ("/api/archives/crawl/captures?url=", 200),
            ] {
                #expect(try await server.ask("GET", start + allowed).status == missing, "\(start)")
                let longer = try await server.ask("GET", start + allowed + "x")
                #expect(longer.status == 414, "\(start)")
                #expect(longer.text.contains("16385 bytes"))
            }
            // curl refuses a field of more than 100 kB, Python's http.client one of more than 64 kB.
            let escaped = "http://a.example/" + String(repeating: "\"", count: (16 << 10) - 17)
            let link = try await server.ask("GET", "/c/crawl/2024id_/\(escaped)")["link"]
            #expect(link.map { $0.utf8.count < 65_536 && $0.contains("rel=\"original\"") } == true)
            // A request of an archived page is either captured or not.
            let host = server.host(of: "crawl")
            let page = try await server.ask("GET", "/c/crawl/2024ir_/\(allowed)x", host: host)
            #expect(page.status == 404)
            #expect(page.text.contains("Nothing was loaded from the internet"))
            let words = String(repeating: "x", count: (16 << 10) + 1)
            #expect(try await server.ask("GET", "/api/archives/crawl/pages?q=\(words)").status == 400)
        }
    }
}
