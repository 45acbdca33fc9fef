import Foundation
import TestSupport
import Testing

/// What only `replayhost cdx` does. Its parameters are tested with `CDXQuery`.
struct CDXCommandTests {
    private static func prepared() async throws -> CommandStore {
        let store = try CommandStore()
        let pages = ["http://example.org/", "http://example.org/two"].map { GeneratedArchive.Page(url: $0) }
        try store.write(GeneratedArchive(pages: pages, seed: 1), to: "one.wacz")
        try store.write(GeneratedArchive(pages: pages, seed: 2), to: "other.wacz")
        #expect(try await store.run("import", "one.wacz", "other.wacz").code == 0)
        return store
    }

    @Test func optionsMatchAPIParameters() async throws {
        let store = try await Self.prepared()
        let text = ["cdx", "*.example.org", "one", "--output", "text", "--fields"]
        #expect(
            try await store.run(text + ["urlkey,timestamp,url,status"]).output == """
                org,example)/0 20240102030405 http://example.org/ 200
                org,example)/1 20240102030405 http://example.org/two 200

                """)
        func lines(_ options: String...) async throws -> [String] {
            try await store.run(text + ["urlkey"] + options).outputLines
        }
        #expect(try await lines("--sort", "reverse", "--limit", "1") == ["org,example)/1"])
        #expect(try await lines("--filter", "!url:two", "--filter", "=status:200") == ["org,example)/0"])
        #if WITH_RE2
        #expect(try await lines("--filter", "~url:.*two$") == ["org,example)/1"])
        #endif
        #expect(try await lines("--collapse", "timestamp:4") == ["org,example)/0"])
        #expect(try await lines("--from", "2025") == [])
        #expect(try await lines("--to", "2024", "--closest", "2020").count == 2)
        #expect(try await lines("--page", "0", "--page-size", "1").count == 2)
        #expect(
            try await store.run("cdx", "example.org", "--match-type", "host", "--show-num-pages").output
                == "{\"pages\": 1, \"pageSize\": 10, \"blocks\": 1}\n")
    }

    @Test func linesNameTheirArchive() async throws {
        let store = try await Self.prepared()
        let fields = ["--output", "text", "--fields", "urlkey,source"]
        let all = try await store.run(["cdx", "*.example.org"] + fields).outputLines
        #expect(
            all.sorted() == [
                "org,example)/0 one", "org,example)/0 other", "org,example)/1 one", "org,example)/1 other",
            ])
        #expect(try await store.run(["cdx", "*.example.org", "on", "one"] + fields).outputLines.count == 2)
        let objects = try objects(try await store.run("cdx", "*.example.org", "one", "other", "--json").outputLines)
        #expect(objects.map { $0["source"] as? String } == ["one", "other", "one", "other"])
        let object = try #require(
            try CommandTests.objects(try await store.run("cdx", "*.example.org", "one", "--json").outputLines).first)
        #expect(object["source"] == nil)
    }

    @Test func noMatchIsNotAnError() async throws {
        let store = try await Self.prepared()
        let none = try await store.run("cdx", "http://nowhere.test/")
        #expect(none.code == 0)
        #expect(none.output.isEmpty)
        #expect(none.errors.contains("No captures match."))
        #expect(try await store.run("cdx", "http://nowhere.test/", "--quiet").errors.isEmpty)
    }

    @Test func closedPipeEndsTheCommandQuietly() async throws {
        let store = try CommandStore()
        let pages = (0..<5000).map { GeneratedArchive.Page(url: "http://example.org/\($0)") }
        try store.write(GeneratedArchive(pages: pages), to: "many.wacz")
        #expect(try await store.run("import", "many.wacz").code == 0)
        let command = "\(Checkout.binary) cdx '*.example.org' --store \(store.store) | head -n 2"
        let result = try await run("/bin/sh", ["-c", command], environment: [:])
        #expect(result.code == 0)
        #expect(result.outputLines.count == 2)
        #expect(result.errors.isEmpty)
        #expect(try await store.run("cdx", "*.example.org").outputLines.count == 5000)
    }
}
