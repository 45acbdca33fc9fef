import Foundation
import TestSupport
import Testing

@testable import CommandSupport
@testable import replayhost

/// What commands write to terminals of a given width.
@Suite(PreparedLibrary())
struct NarrowTerminalTests {
    private func golden(_ name: String, _ columns: Int, _ result: ProgramResult) throws -> String? {
        #expect(result.code == 0, "\(result.errors)")
        // A URL isn't cut.
        for line in result.outputLines where !line.contains("http://") {
            #expect(Terminal.width(line) <= columns, "\(line)")
        }
        let today = /\b20(?:2[4-9]|[3-9]\d)-\d\d-\d\d(?=  (?:[A-Z]|\d+ warning|none|partly))/
        let text = result.output.replacing(today, with: "YYYY-MM-DD")
        return try Golden.difference(text, file: CommandTests.golden("terminal-\(name)-\(columns)"))
    }

    @Test(arguments: [80, 120])
    func listFits(columns: Int) async throws {
        let store = try #require(PreparedLibrary.current)
        #expect(
            try golden("list", columns, try await store.runOnTerminal(columns, ["list", "--sort", "title"])) == nil)
    }

    @Test(arguments: ["added", "size", "captured", "pages", "trust"])
    func sortedColumnIsShown(sort: String) async throws {
        let store = try #require(PreparedLibrary.current)
        for columns in [40, 60, 80] {
            let result = try await store.runOnTerminal(columns, ["list", "--sort", sort])
            #expect(result.outputLines.first?.contains(sort.uppercased()) == true, "\(columns)")
        }
    }

    /// The ids of a narrow list can be copied.
    @Test func shownIDsAreAccepted() async throws {
        let store = try #require(PreparedLibrary.current)
        let lines = try await store.runOnTerminal(80, ["list"]).outputLines
        let start = try #require(lines.first?.range(of: "ID  ")?.lowerBound)
        let column = lines[0][..<start].count
        var ids: [String] = []
        for line in lines.dropFirst() {
            var (left, rest) = (column, Substring(line))
            while left > 0, let character = rest.popFirst() { left -= Terminal.width(String(character)) }
            ids.append(String(rest.prefix { $0 != " " }))
        }
        #expect(ids.count == 6 && Set(ids).count == 6)
        for id in ids { #expect(try await store.run("info", id).code == 0, "\(id)") }
    }

    @Test(arguments: [80, 120])
    func collectionsFit(columns: Int) async throws {
        let store = try #require(PreparedLibrary.current)
        #expect(
            try golden("collections", columns, try await store.runOnTerminal(columns, ["collection", "list"])) == nil)
    }

    @Test(arguments: [80, 120])
    func hitsAreTwoLines(columns: Int) async throws {
        let store = try #require(PreparedLibrary.current)
        let result = try await store.runOnTerminal(columns, ["search", "harbour", "--quiet"])
        #expect(try golden("search", columns, result) == nil)
        #expect(result.outputLines.count.isMultiple(of: 2))
    }

    @Test func pipedListIsComplete() async throws {
        let store = try #require(PreparedLibrary.current)
        let list = try await store.run("list", "--sort", "title")
        #expect(list.output.contains("the-quite-long-name-of-a-crawl-of-the-old-harbour-2023"))
        #expect(list.outputLines.first?.split(separator: " ").count == 9)
    }

    @Test func binaryIsNotWrittenToATerminal() async throws {
        let store = try await CommandStore.withSample()
        let url = "https://fieldguide.example/pictures/anemone.png"
        let refused = try await store.runOnTerminal(80, ["get", url])
        #expect(refused.code == 1 && refused.output.isEmpty)
        #expect(refused.errors.contains("error: this isn't text, so the terminal can't show it\n"))
        #expect(refused.errors.contains("hint: to save it, add `> FILE` to the command\n"))
        #expect(try await store.runOnTerminal(80, ["get", url, "--head"]).code == 0)
        let text = try await store.runOnTerminal(80, ["get", "https://fieldguide.example/guide.css"])
        #expect(text.code == 0 && text.output.hasPrefix(":root"))
        let shell = "\"$0\" get \"$1\" | head -c 4"
        let piped = try await TestSupport.run(
            "/bin/sh", ["-c", shell, Checkout.binary, url], environment: ["REPLAYHOST_STORE": store.store])
        #expect(piped.output.hasSuffix("PNG"))
    }
}

/// A library with titles in several scripts and long ids, made once for all tests of a suite.
private struct PreparedLibrary: SuiteTrait, TestScoping {
    @TaskLocal static var current: CommandStore?

    private static let titles: [(id: String, title: String, text: String)] = [
        (
            "the-quite-long-name-of-a-crawl-of-the-old-harbour-2023",
            "The old harbour, its fishing boats and its people, from 1890 to 2023", "A walk in the old harbour"
        ),
        ("the-quite-long-name-of-a-crawl-of-the-old-harbour-2024", "Harbour", "The harbour at night"),
        ("kanazawa-minato-no-kiroku", "金沢港の記録と写真、漁船と市場の二十年間の歩み、そして未来", "金沢港 harbour 漁船"),
        ("haifa", "נמל חיפה הישן: תמונות וסיפורים", "נמל harbour חיפה"),
        ("alexandria-port", "ميناء الإسكندرية القديم وقصصه", "ميناء harbour الإسكندرية"),
        ("fish-market", "Fish market 🐟🦀 naïve café", "From the harbour to the market"),
    ]

    private static func prepare() async throws -> CommandStore {
        let store = try CommandStore()
        for (number, item) in titles.enumerated() {
            let filler = String(repeating: "Boats come and go all day long. ", count: 4)
            let url = "http://\(item.id.prefix(20)).example/visit/" + String(repeating: "quay/", count: number * 2)
            let record = RecordedArchive.Record(url, "<title>\(item.title)</title><p>\(filler)\(item.text). \(filler)")
            try store.folder.write(RecordedArchive([record]).bytes(), to: "\(number).wacz")
            let imported = try await store.run(
                "import", "\(number).wacz", "--id", item.id, "--title", item.title)
            try #require(imported.code == 0, "\(imported.errors)")
        }
        let created = try await store.run(
            "collection", "create", "港 Harbours of the world and the sea between them", "haifa", "kan", "alex", "fish",
            "--id", "harbours-of-the-world")
        try #require(created.code == 0, "\(created.errors)")
        try #require(try await store.run("jobs", "run").code == 0)
        return store
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.$current.withValue(try await Self.prepare()) { try await function() }
    }
}
