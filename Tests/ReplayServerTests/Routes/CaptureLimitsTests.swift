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

    /// An image, a script, a frame of another site: https://www.w3.org/TR/fetch-metadata/ says what their requests look
    /// like.
    @Test func otherSitesCanOnlyLinkToCaptures() async throws {
        try await withCapture { server in
            let paths = [
                "/c/all/http://a.example/", "/c/crawl/20240102030405id_/http://a.example/", "/c/all/cdx?url=a.example",
                "/c/crawl/timemap/link/http://a.example/",
            ]
            for (path, site) in paths.flatMap({ path in ["cross-site", "same-site"].map { (path, $0) } }) {
                for (mode, destination) in [
                    ("no-cors", "image"), ("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe"),
                    ("navigate", "object"),
                ] {
                    let fields = [
                        ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", destination),
                    ]
                    for host in [server.host, server.host(of: "crawl")] {
                        let answer = try await server.ask("GET", path, host: host, fields)
                        #expect(answer.status == 403, "\(path) \(site) \(mode) \(destination)")
                    }
                }
                let link = [
                    ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"),
                ]
                #expect(try await [200, 302].contains(server.ask("GET", path, link).status), "\(path)")
            }
            for site in ["same-origin", "none"] {
                let own = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty")]
                #expect(try await server.ask("GET", paths[1], own).status == 200)
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
