import ArchiveStore
import Foundation
import TestSupport
import Testing

/// `/urls`, `/counts` and `/captures/histogram`, as documented in docs/json.md.
struct URLListRouteTests {
    /// The captures of the sample, from the description that it is made from.
    private struct Site: Decodable {
        struct Capture: Decodable {
            let url: String
            let time: String
            let status: Int?
            let form: String?
        }
        let captures: [Capture]
    }

    private static func captures() throws -> [Site.Capture] {
        try JSONDecoder().decode(Site.self, from: Data(contents(of: Checkout.fixture("site/sample.json")))).captures
    }

    private func withSample(_ body: (LiveServer) async throws -> Void) async throws {
        try await withServer(
            prepare: { store, _ in _ = try store.importFile(at: Checkout.fixture("sample.wacz")) }, body)
    }

    private func urls(_ server: LiveServer, _ query: String) async throws -> [[String: Any]] {
        let answer = try await server.ask("GET", "/api/archives/sample/urls?\(query)")
        #expect(answer.status == 200, "\(query)")
        return try #require(try answer.object()["urls"] as? [[String: Any]])
    }

    private static func digits(_ time: String) -> String { time.filter(\.isNumber) }

    @Test func everyCaptureIsListed() async throws {
        let captures = try Self.captures()
        let all = captures.map { "\($0.url) \(Self.digits($0.time))" }.sorted()
        try await withSample { server in
            let found = try await urls(server, "")
            #expect(found.compactMap { "\($0["url"] ?? "") \($0["timestamp"] ?? "")" }.sorted() == all)
            var paged: [String] = []
            var cursor: String? = ""
            while let next = cursor {
                let answer = try await server.ask("GET", "/api/archives/sample/urls?limit=7&cursor=\(next)").object()
                let page = try #require(answer["urls"] as? [[String: Any]])
                paged += page.compactMap { "\($0["url"] ?? "") \($0["timestamp"] ?? "")" }
                cursor = answer["next"] as? String
            }
            #expect(paged == found.compactMap { "\($0["url"] ?? "") \($0["timestamp"] ?? "")" })
        }
    }

    @Test func parametersFilter() async throws {
        let captures = try Self.captures()
        try await withSample { server in
            func count(_ query: String) async throws -> Int { try await urls(server, query).count }
            func expected(_ includes: (Site.Capture) -> Bool) -> Int { captures.filter(includes).count }
            #expect(try await count("q=LIMPET") == expected { $0.url.contains("limpet") })
            #expect(try await count("q=l%C3%BCgel") == 1)
            #expect(try await count("q=*.svg&match=pattern") == expected { $0.url.hasSuffix(".svg") })
            #expect(try await count("q=fieldguide.example/pictures/&match=prefix") == 3)
            #expect(try await count("q=http://fieldguide.example&match=exact") == 2)
            #expect(try await count("status=404") == expected { $0.status == 404 })
            #expect(try await count("status=3xx,404") == 2)
            #expect(try await count("method=post") == expected { $0.form != nil })
            #expect(try await count("before=2024061") == expected { $0.time < "2024-06" })
            #expect(try await count("after=202406") == expected { $0.time > "2024-06" })
            #expect(try await count("after=2024-11") == expected { $0.time > "2024-11" })
            #expect(try await count("after=2024&before=2024-06") == expected { $0.time < "2024-06" })
            #expect(try await count("type=pdf,json") == expected { $0.url.contains("/data/") })
            #expect(try await count("q=nowhere") == 0)
            let collapsed = try await urls(server, "collapse=url&limit=1000")
            #expect(Set(collapsed.compactMap { $0["url"] as? String }) == Set(captures.map(\.url)))
            #expect(collapsed.compactMap { $0["captures"] as? Int }.reduce(0, +) == captures.count)
            let none = try await server.ask("GET", "/api/archives/none/urls")
            #expect(none.status == 404)
        }
    }

    @Test(arguments: [
        "match=regex", "type=html,movie", "status=4x", "status=1000", "limit=0", "limit=1001", "limit=x", "cursor=x",
        "collapse=time", "after=20", "before=x", "before=99999999", "q=.&match=prefix", "q=://&match=exact",
        "q=" + String(repeating: "a", count: 16385),
    ])
    func badParameterIsNamed(_ query: String) async throws {
        try await withSample { server in
            let answer = try await server.ask("GET", "/api/archives/sample/urls?\(query)")
            #expect(answer.status == 400)
            #expect(try answer.errorCode() == "bad-parameter")
            let name = query.hasPrefix("q=") ? "q" : String(query.prefix { $0 != "=" })
            let error = try #require(try answer.object()["error"] as? [String: Any])
            #expect((error["what"] as? String)?.contains("parameter \(name) ") == true)
        }
    }

    @Test func collectionsListAllMembers() async throws {
        try await withSample { server in
            let page = GeneratedArchive.Page(url: "http://fieldguide.example/zoo")
            _ = try server.store.importFile(
                at: server.folder.write(GeneratedArchive(pages: [page]).bytes(), to: "more.wacz"))
            _ = try await server.ask(
                "POST", "/api/collections", json: #"{"title":"Both","members":["sample","more"]}"#)
            let answer = try await server.ask("GET", "/api/collections/both/urls?limit=1000").object()
            let found = try #require(answer["urls"] as? [[String: Any]])
            let archives = found.compactMap { $0["archive"] as? String }
            #expect(archives.count == found.count)
            #expect(archives.count { $0 == "more" } == 1)
            #expect(archives.count { $0 == "sample" } == (try Self.captures().count))
            #expect(try await server.ask("GET", "/api/collections/none/urls").status == 404)
            let histogram = try await server.ask(
                "GET", "/api/collections/both/captures/histogram?url=https://fieldguide.example/&by=year"
            ).object()
            #expect(histogram["total"] as? Int == 2)
        }
    }

    @Test func histogramCountsDays() async throws {
        try await withSample { server in
            let path = "/api/archives/sample/captures/histogram"
            let answer = try await server.ask("GET", "\(path)?url=https://fieldguide.example/").object()
            #expect(answer["by"] as? String == "day")
            #expect(answer["total"] as? Int == 2)
            let counts = try #require(answer["counts"] as? [[String: Any]])
            #expect(counts.map { $0["period"] as? String } == ["2024-05-03", "2024-11-21"])
            #expect(counts.map { $0["captures"] as? Int } == [1, 1])
            for (query, status) in [
                ("", 400), ("?url=", 400), ("?url=a.example&by=week", 400), ("?url=a.example", 200),
            ] {
                #expect(try await server.ask("GET", path + query).status == status, "\(query)")
            }
            let long = String(repeating: "a", count: 16385)
            #expect(try await server.ask("GET", "\(path)?url=\(long)").status == 414)
            #expect(try await server.ask("GET", "/api/archives/none/captures/histogram?url=a").status == 404)
        }
    }

    @Test func countsAreOfTheWholeArchive() async throws {
        let captures = try Self.captures()
        try await withSample { server in
            for _ in 0..<2 {
                let counts = try await server.ask("GET", "/api/archives/sample/counts").object()
                #expect(counts["captures"] as? Int == captures.count)
                #expect(counts["urls"] as? Int == Set(captures.map(\.url)).count)
                let sites = try #require(counts["sites"] as? [[String: Any]])
                #expect(
                    sites.compactMap { $0["host"] as? String } == ["fieldguide.example", "media.fieldguide.example"])
                let media = captures.filter { $0.url.contains("//media.") }
                #expect(sites.last?["captures"] as? Int == media.count)
                #expect(sites.last?["urls"] as? Int == Set(media.map(\.url)).count)
                let months = try #require(counts["months"] as? [[String: Any]])
                #expect(months.compactMap { $0["month"] as? String } == ["2024-05", "2024-11"])
                #expect(months.first?["captures"] as? Int == captures.count { $0.time < "2024-06" })
                let types = try #require(counts["types"] as? [[String: Any]])
                #expect(types.compactMap { $0["captures"] as? Int }.reduce(0, +) == captures.count)
                #expect(Set(counts.keys) == ["captures", "urls", "sites", "otherSites", "types", "months"])
            }
            #expect(try await server.ask("GET", "/api/archives/none/counts").status == 404)
        }
    }
}
