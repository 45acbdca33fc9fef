import Foundation
import TestSupport
import Testing

/// `replayhost search`.
struct SearchCommandTests {
    private static func indexed() async throws -> CommandStore {
        let store = try await CommandStore.withSample()
        #expect(try await store.run("jobs", "run").code == 0)
        return store
    }

    @Test func resultIsTwoLines() async throws {
        let store = try await Self.indexed()
        let result = try await store.run("search", "vulgata")
        #expect(result.code == 0)
        try #require(result.outputLines.count == 2)
        #expect(
            result.outputLines[0]
                == "Common limpet - Tidepool Field Guide  https://fieldguide.example/species/limpet.html")
        #expect(result.outputLines[1].hasPrefix("    2024-11-21  sample  "))
        #expect(result.outputLines[1].contains("Patella vulgata"))
        #expect(
            result.errors.contains(
                "replayhost open sample --url 'https://fieldguide.example/species/limpet.html' --time 20241121090020"))
    }

    /// The members of docs/json.md.
    @Test func jsonIsAsDocumented() async throws {
        let store = try await Self.indexed()
        let hits = try objects(try await store.run("search", "--json", "vulgata").outputLines)
        let hit = try #require(hits.first)
        #expect(
            Set(hit.keys) == [
                "archive", "archiveTitle", "originalName", "url", "timestamp", "title", "snippet", "type", "captures",
                "years", "verification", "verificationSummary",
            ])
        #expect(hit["captures"] as? Int == 1)
        #expect(hit["years"] as? [Int] == [2024])
        let parts = try #require(hit["snippet"] as? [[String: Any]])
        #expect(parts.filter { $0["match"] as? Bool == true }.map { $0["text"] as? String } == ["vulgata"])
    }

    @Test func nothingFoundIsNotAnError() async throws {
        let store = try await Self.indexed()
        let result = try await store.run("search", "xylophone")
        #expect(result.code == 0 && result.output.isEmpty)
        #expect(result.errors == "No pages found.\n")
    }

    /// Also for programs, which must not take it for the answer.
    @Test(arguments: [[], ["--json"], ["--quiet"]])
    func archiveThatIsNotIndexedIsMentioned(options: [String]) async throws {
        let store = try await CommandStore.withSample()
        let result = try await store.run(["search", "limpet"] + options)
        #expect(result.code == 0 && result.output.isEmpty)
        #expect(
            result.errors.hasSuffix(
                "warning: 1 archive isn't fully indexed yet, so pages can be missing; run `replayhost jobs run`\n"
            ))
    }

    /// The parser would take `-harbour` for options, among them `-h`.
    @Test func wordsAreLeftOut() async throws {
        let store = try await Self.indexed()
        let all = try await store.run("search", "--limit", "50", "limpet").outputLines
        let some = try await store.run("search", "limpet", "-shore", "-harbour", "--limit", "50").outputLines
        #expect(!some.isEmpty && some.count < all.count)
        #expect(
            try await store.run("search", "--limit", "50", "--", "limpet", "-shore", "-harbour").outputLines == some)
        #expect(try await store.run("search", "-h").output.hasPrefix("OVERVIEW"))
        #expect(try await store.run("search", "limpet", "--limit", "-5").code == 2)
    }

    @Test func invalidFilterIsMentioned() async throws {
        let store = try await Self.indexed()
        let result = try await store.run("search", "limpet after:soon type:doc site:fieldguide.example")
        let limpets = try await store.run("search", "--json", "limpet site:fieldguide.example").outputLines.count
        #expect(
            result.errorLines == [
                "No pages found.", "\(limpets) pages with: limpet",
                "\"after:soon\" isn't a valid filter, so its words were searched for instead.",
                "\"type:doc\" isn't a valid filter, so its words were searched for instead.",
            ])
    }

    @Test func collectionIsSearched() async throws {
        let store = try await Self.indexed()
        #expect(try await store.run("collection", "create", "Shores", "sample").code == 0)
        for words in [["vulgata in:shores"], ["vulgata collection:shores"], ["vulgata", "--in", "shores"]] {
            #expect(try await store.run(["search"] + words).outputLines.count == 2, "\(words)")
        }
    }

    @Test func unknownArchiveIsAnError() async throws {
        let store = try await Self.indexed()
        #expect(try await store.run("search", "limpet", "--in", "nowhere").code == 3)
        let result = try await store.run("search", "limpet in:nowhere")
        #expect(result.code == 3)
        #expect(result.errors.contains("no archive or collection has the id \"nowhere\""))
    }

    @Test(arguments: [
        ("https://fieldguide.example/tides.html", true), ("fieldguide.example/*", true), ("*.fieldguide.example", true),
        ("limpet", false), ("3.14", false), ("limpet.", false), ("title:limpet", false),
    ])
    func urlLeadsToItsCaptures(text: String, isURL: Bool) async throws {
        let store = try await Self.indexed()
        let result = try await store.run("search", text)
        #expect(result.code == 0)
        #expect(
            result.errors.contains("To list captures of this URL: replayhost cdx '\(text)'\n") == isURL, "\(text)")
        if text.hasPrefix("https:") { #expect(!result.output.isEmpty) }
        if isURL { #expect(try await store.run("cdx", text).outputLines.isEmpty == false) }
    }
}
