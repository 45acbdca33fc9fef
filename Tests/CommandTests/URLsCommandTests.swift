import Foundation
import TestSupport
import Testing

/// `replayhost urls`.
struct URLsCommandTests {
    @Test func capturesAreLines() async throws {
        let store = try await CommandStore.withSample()
        let all = try await store.run("urls", "sample")
        #expect(all.code == 0)
        // Fixtures/site/sample.json describes 31 captures.
        #expect(all.outputLines.count == 31)
        #expect(
            try await store.run("urls", "sample", "--match", "limpet").output == """
                2024-11-21T09:00:11Z  200  image   https://fieldguide.example/pictures/limpet.svg
                2024-11-21T09:00:20Z  200  html    https://fieldguide.example/species/limpet.html

                """)
        func count(_ options: String...) async throws -> Int {
            try await store.run(["urls", "sample"] + options).outputLines.count
        }
        #expect(try await count("--match", "*.svg") == 4)
        #expect(try await count("--status", "404,3xx") == 2)
        #expect(try await count("--before", "202406") == 5)
        #expect(try await count("--after", "202406") == 26)
        #expect(try await count("--limit", "3") == 3)
        #expect(try await count("--type", "video") == 1)
        #expect(
            try await store.run("urls", "sample", "--status", "404").output
                == "2024-11-21T09:00:35Z  404  html    https://fieldguide.example/species/kraken.html\n")
    }

    /// The members of docs/json.md.
    @Test func jsonIsAsDocumented() async throws {
        let store = try await CommandStore.withSample()
        #expect(try await store.run("collection", "create", "Both", "sample").code == 0)
        for id in ["sample", "both"] {
            let lines = try objects(try await store.run("urls", id, "--json").outputLines)
            #expect(lines.count == 31)
            let limpet = try #require(lines.first { ($0["url"] as? String)?.hasSuffix("limpet.html") == true })
            #expect(
                Set(limpet.keys)
                    == Set(["url", "timestamp", "status", "type", "mime", "length"]).union(
                        id == "both" ? ["archive"] : []))
            #expect(limpet["timestamp"] as? String == "20241121090020")
            #expect(limpet["type"] as? String == "html")
            let form = try #require(lines.first { $0["method"] != nil })
            #expect(form["method"] as? String == "POST")
        }
    }

    @Test func noMatchIsNotAnError() async throws {
        let store = try await CommandStore.withSample()
        let none = try await store.run("urls", "sample", "--match", "nowhere")
        #expect(none.code == 0)
        #expect(none.output.isEmpty)
        #expect(none.errors == "No captures match.\n")
    }

    @Test(arguments: [
        ("--type movie", "html, pdf, image"), ("--status 4x", "use 404, or 4xx"), ("--limit 0", "at least 1"),
        ("--after noon", "4 to 17 digits"), ("--before 99999999", "4 to 17 digits"),
    ])
    func badOptionIsNamed(_ option: String, _ help: String) async throws {
        let result = try await CommandStore().run(["urls", "sample"] + option.split(separator: " ").map(String.init))
        #expect(result.code == 2)
        #expect(result.errors.contains(option.prefix { $0 != " " }))
        #expect(result.errors.contains(help))
    }
}
