import ArchiveStore
import Foundation
import TestSupport
import Testing

/// `/api/archives/ID/explain` and `/api/collections/ID/explain`. The reasons have tests of their own.
struct ExplanationTests {
    typealias Record = RecordedArchive.Record

    private static let page = "http://a.example/page"

    /// Runs a server with an archive without the page, one with it, and one with it whose file is gone.
    private func withArchives(_ body: (LiveServer) async throws -> Void) async throws {
        try await withServer { server in
            for (name, url) in [("one", "http://a.example/"), ("two", Self.page), ("gone", Self.page)] {
                let record = Record(url, name)
                let path = try server.folder.write(RecordedArchive([record]).bytes(), to: "\(name).wacz")
                _ = try name == "gone" ? server.store.importLink(to: path) : server.store.importFile(at: path)
            }
            try FileManager.default.removeItem(atPath: server.folder.path("gone.wacz"))
            try await body(server)
        }
    }

    private func codes(_ answer: [String: Any]) -> [String] {
        ((answer["reasons"] as? [[String: Any]]) ?? []).compactMap { $0["code"] as? String }
    }

    @Test func archivesAndCollectionsExplain() async throws {
        try await withArchives { server in
            let one = try await server.ask("GET", "/api/archives/one/explain?url=\(Self.page)&ts=2024").object()
            #expect(one["code"] as? String == "other-archive")
            #expect(one["archive"] as? String == "one")
            #expect(one["timestamp"] as? String == "20241231235959", "an incomplete time means its end")
            #expect((one["offers"] as? [[String: Any]])?.map { $0["archive"] as? String } == ["two"])
            let two = try await server.ask("GET", "/api/archives/two/explain?url=\(Self.page)&ts=").object()
            #expect(codes(two) == ["captured"])
            #expect(two["timestamp"] == nil)

            let body = #"{"title":"Both","members":["one","gone"]}"#
            #expect(try await server.ask("POST", "/api/collections", json: body).status == 201)
            let both = try await server.ask("GET", "/api/collections/both/explain?url=\(Self.page)").object()
            #expect(both["collection"] as? String == "both")
            #expect(codes(both) == ["other-archive", "unavailable"])
            #expect(try await server.ask("GET", "/api/collections/both/explain").errorCode() == "bad-parameter")
        }
    }

    @Test func unavailableArchiveIsAnAnswer() async throws {
        try await withArchives { server in
            let gone = try await server.ask("GET", "/api/archives/gone/explain?url=\(Self.page)")
            #expect(gone.status == 200)
            #expect(codes(try gone.object()) == ["other-archive", "unavailable"])
            #expect(try await server.ask("GET", "/api/archives/none/explain?url=\(Self.page)").status == 404)
            let long = "http://a.example/" + String(repeating: "a", count: 20_000)
            #expect(try await server.ask("GET", "/api/archives/one/explain?url=\(long)").status == 414)
        }
    }

    /// A page of an archive can ask only its own origin. Nothing there tells whether another archive has the content that a
    /// revisit names: not by an answer, by its length, or by the way in which the request is made.
    @Test func archivedPageCantFindOutWhatOthersHave() async throws {
        // `printf secret | sha1sum`, in base32.
        let digest = "sha1:4XU7UG5DD3GRV2CPOXFKUR2PHJTD6BPU"
        let guess = Record(Self.page, "").with {
            $0.type = "revisit"
            $0.index = "\"mime\":\"warc/revisit\",\"digest\":\"\(digest)\""
            $0.fields = [
                "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
                "WARC-Payload-Digest: \(digest)", "WARC-Refers-To-Target-URI: \(Self.page)",
                "WARC-Refers-To-Date: 2020-01-01T00:00:00Z", "WARC-Refers-To-Container: file://secret.wacz",
            ]
        }
        var thief = RecordedArchive([guess])
        thief.requirements = [("secret.wacz", nil), ("secret.wacz", "sha256:\(String(repeating: "0", count: 64))")]
        let secret = Record(Self.page, "secret", timestamp: "20200101000000").with {
            $0.index += ",\"digest\":\"\(digest)\""
        }
        try await withServer { [thief] server in
            let archive = try server.store.importFile(at: server.folder.write(thief.bytes(), to: "thief.wacz")).archive
            let (own, host) = (archive.replayCollection, server.host(of: "thief"))
            let explain = "/api/archives/thief/explain?url=\(Self.page)&ts=2024"
            func answers() async throws -> [String] {
                var answers: [String] = []
                let captures = ["ir_", "id_", "mp_"].map { "/c/\(own)/20240102030405\($0)/\(Self.page)" }
                let lists = ["cdx?url=\(Self.page)", "cdx?url=\(Self.page)&closest=2024", "timemap/link/\(Self.page)"]
                let targets = captures + lists.map { "/c/\(own)/\($0)" } + ["/c/\(own)/\(Self.page)"]
                for target in targets + [explain, "/api/archives", "/c/all/2024id_/\(Self.page)"] {
                    for method in ["GET", "HEAD", "POST"] {
                        let answer = try await server.ask(method, target, host: host)
                        let fields = answer.fields.filter { $0.0.lowercased() != "date" }.map { "\($0.0): \($0.1)" }
                        answers.append("\(method) \(target) \(answer.status) \(fields) \(answer.body)")
                    }
                }
                return answers
            }
            try await server.finishJobs()
            let before = try await answers()
            #expect(codes(try await server.ask("GET", explain).object()) == ["requires"])
            _ = try server.store.importFile(
                at: server.folder.write(RecordedArchive([secret]).bytes(), to: "secret.wacz"))
            try await server.finishJobs()
            #expect(try await answers() == before)
            // Only the person is told.
            let reasons = try await server.ask("GET", explain).object()["reasons"] as? [[String: Any]]
            let archives = reasons?.first { $0["code"] as? String == "incomplete" }?["archives"] as? [[String: Any]]
            #expect(archives?.map { $0["archive"] as? String } == ["secret"])
            #expect(archives?.first?["requiredBytes"] as? String == "unknown", "it's required without a hash, too")
            let page = [("Sec-Fetch-Site", "same-site"), ("Origin", "http://\(host)")]
            let asked = try await server.ask("GET", explain, page)
            #expect(asked["Access-Control-Allow-Origin"] == nil, "nor can its scripts read the app's answer")
        }
    }

    /// The OpenAPI description and docs/json.md list the same codes in the same order.
    @Test func codesAreDocumented() throws {
        let codes = Explanation.Code.allCases.map(\.rawValue)
        let description = try #require(
            try JSONSerialization.jsonObject(with: Data(contents(of: Checkout.path("www/openapi.json"))))
                as? [String: Any])
        let schemas = (description["components"] as? [String: Any])?["schemas"] as? [String: Any]
        let properties = (schemas?["Explanation"] as? [String: Any])?["properties"] as? [String: Any]
        #expect((properties?["code"] as? [String: Any])?["enum"] as? [String] == codes)
        let text = String(decoding: try contents(of: Checkout.path("docs/json.md")), as: UTF8.self)
        let section = try #require(text.components(separatedBy: "## Explanation").last)
        let table = try #require(section.components(separatedBy: "| code | evidence").last)
            .components(separatedBy: "\n\n")[0]
        let listed = table.matches(of: /(?m)^\| `([a-z-]+)` \|/).map { String($0.1) }
        #expect(listed == codes)
    }
}
