import ArchiveStore
import TestSupport
import Testing

/// The archived header fields of captures at `/c/…`.
struct CaptureFieldsTests {
    /// Header fields by which a response makes a browser connect, report, store or change its security. Sources: the
    /// registry at https://www.iana.org/assignments/http-fields, and the browsers' own explainers.
    private static let acting = [
        "Accept-CH", "Access-Control-Allow-Origin", "Activate-Storage-Access", "Alt-Svc",
        "Attribution-Reporting-Register-Source", "Clear-Site-Data", "Connection-Allowlist",
        "Connection-Allowlist-Report-Only", "Content-Security-Policy", "Content-Security-Policy-Report-Only",
        "Critical-CH", "Cross-Origin-Embedder-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy",
        "Document-Policy", "Integrity-Policy", "Link", "NEL", "No-Vary-Search", "Observe-Browsing-Topics",
        "Origin-Agent-Cluster", "Origin-Trial", "Permissions-Policy", "Refresh", "Referrer-Policy", "Report-To",
        "Reporting-Endpoints", "Sec-Session-Registration", "Server-Timing", "Service-Worker-Allowed", "Set-Cookie",
        "Set-Login", "Shared-Storage-Write", "SourceMap", "Speculation-Rules", "Strict-Transport-Security",
        "Supports-Loading-Mode", "Timing-Allow-Origin", "Use-As-Dictionary", "X-DNS-Prefetch-Control",
        "X-Frame-Options", "X-Redirect-Status", "X-SourceMap", "X-Wabac-Preset-Cookie", "A-Field-Of-Next-Year",
    ]

    @Test(arguments: ["id_", "ir_", "dl_"])
    func archivedFieldsDontAct(_ modifier: String) async throws {
        let record = RecordedArchive.Record("http://a.example/", "<p>one</p>").with {
            for name in Self.acting { $0.head += "\r\n\(name): evil" }
            $0.head += "\r\nX-Total-Count: 7\r\nRateLimit-Limit: 9"
        }
        let own = [
            "connection-allowlist": "(response-origin);redirects=allow", "origin-agent-cluster": "?1",
            "x-dns-prefetch-control": "off", "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin", "referrer-policy": "no-referrer",
        ]
        try await withServer(
            prepare: { store, folder in
                _ = try store.importFile(at: folder.write(RecordedArchive([record]).bytes(), to: "crawl.wacz"))
            }
        ) { server in
            let path = "/c/crawl/20240102030405\(modifier)/http://a.example/"
            for host in [server.host, server.host(of: "crawl")] {
                let answer = try await server.ask("GET", path, host: host)
                #expect(answer.status == 200)
                for (name, value) in answer.fields where value.contains("evil") {
                    #expect(name.lowercased().hasPrefix("x-archive-orig-"), "\(name)")
                }
                let isForScripts = modifier == "ir_"
                #expect(answer["x-total-count"] == (isForScripts ? "7" : nil))
                #expect(answer["ratelimit-limit"] == (isForScripts ? "9" : nil))
                for (name, value) in own where host != server.host { #expect(answer[name] == value, "\(name)") }
                #expect(answer["content-security-policy"]?.hasPrefix("sandbox; ") == true)
            }
        }
    }
}
