import GRDB
import TestSupport
import Testing

@testable import ArchiveStore
@testable import WebArchive

/// A small file can't add much to the search index.
struct TextLimitsTests {
    typealias Record = RecordedArchive.Record

    private func progress(_ archive: Archive, _ test: TestStore) throws -> IndexedText {
        try #require(try test.store.searcher.indexedText(of: archive))
    }

    /// Indexes an archive with lower limits than those for its size.
    private func index(
        _ archive: Archive, _ test: TestStore, indexed: UInt64 = 1 << 30, parsed: UInt64 = 1 << 30
    ) throws -> IndexedText {
        var limits = PageTextLimits(archiveSize: archive.size)
        limits.indexed = indexed
        let allowance = Allowance(parsedBytes: parsed)
        let work = TextWork(
            store: test.store, archive: archive, limits: limits, allowances: Allowances(allowance, for: archive))
        #expect(try work.run { _, _ in } == .done)
        return try progress(archive, test)
    }

    /// About the size of the index, in bytes.
    private func size(_ test: TestStore) throws -> Int {
        try test.store.search.database.reading { database in
            try Int.fetchOne(database, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
                ?? 0
        }
    }

    /// Pages that show one record, whose revisits have its text.
    private func pagesOfOneText(_ count: Int, _ text: String) -> [Record] {
        let first = Record("http://reef.example/0000", page("First", text), timestamp: "20230102030405")
        return [first]
            + (1..<count).map { number in
                Record("http://reef.example/\(String(10_000 + number).dropFirst())").with {
                    $0.type = "revisit"
                    $0.head = ""
                    $0.fields = [
                        "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
                        "WARC-Refers-To-Target-URI: http://reef.example/0000",
                        "WARC-Refers-To-Date: 2023-01-02T03:04:05Z",
                    ]
                }
            }
    }

    private func listed(_ count: Int) -> String {
        (0..<count).map {
            "{\"url\":\"http://reef.example/\(String(10_000 + $0).dropFirst())\",\"title\":\"Page\($0)\"}"
        }
        .joined(separator: "\n")
    }

    @Test func pagesWithTheSameLongTextShareItsWords() throws {
        let test = try TestStore()
        // Two parts of 1 MiB, for which one more page has the words.
        let long = String(repeating: "x", count: 40)
        let words = (0..<1000).map { "w\($0)" } + (0..<30_000).map { "\($0)\(long)" } + ["coral"]
        let text = words.joined(separator: " ")
        let archive = try test.add(pagesOfOneText(60, text), pages: listed(60), id: "a")
        let indexed = try progress(archive, test)
        #expect(indexed.isComplete && indexed.withText == 60 && indexed.withoutText == [:])
        // Some pages are found by the text, all by their titles.
        #expect(try (1..<10).contains(test.search("w100").total))
        #expect(try test.search("page59").total == 1)
        #expect(try test.search("page59").hits.first?.snippet.parts.first?.text.contains("w5") == true)
        #expect(try test.searchCounts()["text"] == 2)
        #expect(try size(test) < 40_000_000)
        // Another archive with such a page isn't less complete because of this one.
        try test.add(Array(pagesOfOneText(60, text).prefix(1)), id: "b")
        #expect(try test.search("in:b coral").total == 1)
        for id in ["a", "b"] { try test.store.remove(try #require(ArchiveID(id))) }
        try test.store.purgeRemovedTexts()
        #expect(try test.searchCounts().allSatisfy { $0.value == 0 })
        #expect(try test.searchWords() == [])
        #expect(try test.store.search.database.integrityCheck() == ["ok"])
    }

    @Test func pagesWithTheSameShortTextAreAllFound() throws {
        let test = try TestStore()
        try test.add((0..<300).map { Record("http://reef.example/\($0)", page("Log in", "coral reef")) }, id: "a")
        #expect(try test.search("coral").total == 300)
    }

    @Test func archiveAddsNoMoreThanItsSizeAllows() throws {
        let test = try TestStore()
        let records = ["One", "Two", "Three"].map { name in
            let words = (0..<400_000).map { "\(name)\($0)" }.joined(separator: " ")
            return Record("http://reef.example/\(name)", page(name, "coral \(words)"))
        }
        let archive = try test.add(records, id: "a", indexes: false)
        let indexed = try index(archive, test, indexed: 2 << 20)
        #expect(indexed.isComplete && indexed.pages == 3 && indexed.withText == 1)
        #expect(indexed.withoutText == ["rest": 1, "archiveLimit": 2])
        #expect(try test.search("coral").total == 1)
        #expect(try test.search("title:three").total == 1)
        #expect(try size(test) < 10_000_000)
    }

    @Test func longTitlesCountToo() throws {
        let test = try TestStore()
        let records = (0..<30).map { number in
            Record(
                "http://reef.example/\(number)", page(String(repeating: "t\(number) ", count: 100_000), "text\(number)")
            )
        }
        let archive = try test.add(records, id: "a", indexes: false)
        let indexed = try index(archive, test, indexed: 4 << 20)
        #expect(indexed.pages == 30)
        #expect(indexed.withText == 30 - (indexed.withoutText["archiveLimit"] ?? 0))
        #expect(try size(test) < 12_000_000)
    }

    @Test func recordsAreReadUpToALimit() throws {
        let test = try TestStore()
        let script = "<script>" + String(repeating: "a", count: 500_000) + "</script>"
        let records = (0..<16).map { Record("http://reef.example/\($0)", page("Title\($0)", script + "text\($0)")) }
        let archive = try test.add(records, id: "a", indexes: false)
        let indexed = try index(archive, test, parsed: 4 << 20)
        #expect(indexed.withText > 5 && indexed.withText < 10)
        #expect(indexed.withoutText == ["archiveLimit": 16 - indexed.withText])
        #expect(try test.search("reef.example").total == 16)
    }

    @Test func shortLinesCountMoreThanTheirBytes() throws {
        let test = try TestStore()
        let lines = String(repeating: "<p>a", count: 25_000)
        let records = (0..<16).map { Record("http://reef.example/\($0)", page("Title\($0)", lines + "text\($0)")) }
        let archive = try test.add(records, id: "a", indexes: false)
        let indexed = try index(archive, test, parsed: 4 << 20)
        #expect(indexed.withText > 1 && indexed.withText < 10)
    }

    @Test func limitsGrowWithTheFile() {
        let small = PageTextLimits(archiveSize: 1_000_000)
        #expect(small.indexed < 40_000_000)
        #expect(PageTextLimits(archiveSize: 1 << 40).indexed > 16 << 40)
    }

    @Test func longHostNamesHaveNoWordForEachDomain() throws {
        let host = String(repeating: "a.", count: 5000) + "example"
        #expect(SearchFacet.words(host: host, type: "html", language: "", formsLanguage: "").utf8.count < 50_000)
    }
}
