import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

struct SearchTests {
    typealias Record = RecordedArchive.Record

    static let reef = [
        Record(
            "http://reef.example/", page("Reef Watch", "<h1>Coral reefs</h1><p>Half of the coral died in the summer.")),
        Record(
            "http://reef.example/star", page("Sea stars", "<p>A sea star eats corals and limpets."),
            timestamp: "20190304050607"),
        Record(
            "http://news.reef.example/2016", page("Bleaching", "<p>Bleaching of coral in 2016."),
            timestamp: "20160102030405"),
        Record(
            "http://other.example/", page("Über Straßen", "<p>Die Café-Straße in Łódź. Ёлка. مُحَمَّد."),
            timestamp: "20200101000000"),
        Record("http://other.example/jp", page("天気", "<p>東京都の天気は晴れ"), timestamp: "20210101000000"),
    ]

    static let expected: [(query: String, found: Set<String>)] = [
        ("coral", ["reef.example/", "news.reef.example/2016"]),
        ("CORAL reef", ["reef.example/", "news.reef.example/2016"]),
        ("coral died", ["reef.example/"]),
        ("\"the coral\"", ["reef.example/"]), ("\"coral the\"", []),
        ("coral*", ["reef.example/", "reef.example/star", "news.reef.example/2016"]),
        ("coral -bleaching", ["reef.example/"]),
        ("limpets OR bleaching", ["reef.example/star", "news.reef.example/2016"]),
        ("title:bleaching", ["news.reef.example/2016"]), ("title:coral", []),
        ("site:reef.example", ["reef.example/", "reef.example/star", "news.reef.example/2016"]),
        ("coral site:news.reef.example", ["news.reef.example/2016"]),
        ("coral -site:news.reef.example", ["reef.example/"]),
        ("site:reef", []), ("type:html star", ["reef.example/star"]), ("type:pdf", []),
        ("after:2019", ["reef.example/", "reef.example/star", "other.example/", "other.example/jp"]),
        ("before:2019", ["news.reef.example/2016"]), ("after:2019-03-04 before:2019-03-05", ["reef.example/star"]),
        ("Strasse", []), ("strassen", ["other.example/"]), ("cafe strasse", ["other.example/"]),
        ("lodz", ["other.example/"]),
        ("елка", ["other.example/"]), ("محمد", ["other.example/"]), ("東京", ["other.example/jp"]),
        ("京都", ["other.example/jp"]),
        ("天", ["other.example/jp"]), ("都", ["other.example/jp"]), ("東都", []),
        ("reef.example/star", ["reef.example/star"]), ("in:none coral", []),
    ]

    @Test func wordsPhrasesAndRestrictionsAreFound() throws {
        let test = try TestStore()
        try test.add(Self.reef, id: "reef")
        for (query, found) in Self.expected where query != "Strasse" {
            #expect(Set(try test.found(query)) == found, "\(query)")
        }
        #expect(Set(try test.found("Strasse")) == ["other.example/"])
    }

    private static let typed = [
        "", " ", "\"", "\"\"", "-", "--", "*", "OR", "OR OR", "AND", "NOT", "NEAR(a b)", "a AND NOT b", "title:",
        "title:\"", "site:",
        "in:", "before:", "before:never", "after:99999999999999999999", "(coral", "coral)", "{title}:a", "a^2", "a+b",
        "a,b", "%", "_", "\\",
        "'; DROP TABLE word; --", "\u{0}", "a\u{0}b", "\u{202E}abc\u{202C}", "\u{FFFD}", "-coral", "-site:x", "lang:",
        "type:", "coral -", "rank:a",
        "word:coral", "\"coral", "coral\"", "\"a\" \"b", "a:b:c", "https://", "😀", "co\u{301}ral", "∞", "col:*",
        "* coral", "coral **", "lang:\u{0}", "lang:a\u{0}b", "-lang:\u{0} coral", "site:\u{0}", "site:a\u{0}b coral",
        "lang:de\u{A6}", "lang:(", "lang:a*",
    ]

    /// None of these is a syntax error, and none takes long.
    @Test func anythingCanBeTyped() throws {
        let test = try TestStore()
        try test.add(Self.reef, id: "reef")
        for text in Self.typed {
            #expect(throws: Never.self, "\(text)") {
                _ = try test.search(text)
                _ = try test.store.searcher.facets(SearchQuery(text))
                _ = try test.store.searcher.suggestions(for: text, limit: 8)
            }
        }
    }

    private static let filterValues = [
        "\"", "\"\"", "\"\"\"", "x\"", "\" OR \"coral", "\") OR (\"coral", "x\" OR title : \"bleaching", "\"*", "*",
        "^", "\u{0}",
        "x\u{0}\"", "\\\"", "'", "(", ")", "{title} : a", "NEAR(a b)", "x + y", "\u{A6}", "\u{FFFD}", "",
    ]

    /// What the API and the web app give as filters is also only the value of a filter.
    @Test func filtersAreNotSyntax() throws {
        let test = try TestStore()
        try test.add(Self.reef, id: "reef")
        for value in Self.filterValues {
            for name in ["sites", "types", "languages"] {
                var query = try SearchQuery("coral")
                switch name {
                case "sites": query.restrict(sites: [value])
                case "types": query.restrict(types: [value])
                default: query.restrict(languages: [value])
                }
                #expect(try test.store.searcher.search(query, limit: 20).hits.isEmpty, "\(name): \(value)")
                #expect(try test.store.searcher.facets(query).types.isEmpty, "\(name): \(value)")
            }
        }
        #expect(try test.search("coral").coverage.rebuildReason == nil)
    }

    @Test func thousandFiltersAreSearched() throws {
        let test = try TestStore()
        try test.add(Self.reef, id: "reef")
        var query = try SearchQuery("coral")
        query.restrict(sites: (0..<1000).map { "\($0).example" } + ["news.reef.example"])
        #expect(try test.store.searcher.search(query, limit: 20).hits.map(\.url) == ["http://news.reef.example/2016"])
    }

    @Test func tooLongIsAnError() throws {
        #expect { try SearchQuery(String(repeating: "a", count: 10_000)) } throws: {
            ($0 as? StoreError)?.code == .invalidQuery
        }
        #expect { try SearchQuery(String(repeating: "a b ", count: 100)) } throws: {
            ($0 as? StoreError)?.code == .invalidQuery
        }
    }

    @Test func capturesOfAURLAreOneHit() throws {
        let test = try TestStore()
        let url = "http://reef.example/"
        try test.add(
            [
                Record(url, page("Old", "coral one"), timestamp: "20160101000000"),
                Record(url, page("Old", "coral one"), timestamp: "20170101000000"),
                Record(url, page("New", "coral two coral"), timestamp: "20190101000000"),
            ], id: "one")
        try test.add([Record(url, page("Old", "coral one"), timestamp: "20200101000000")], id: "two")
        let results = try test.search("coral")
        #expect(results.total == 1 && results.hits.count == 1)
        #expect(results.hits.first?.captures == 4)
        #expect(results.hits.first?.years == [2016, 2017, 2019, 2020])
        // Equal texts are stored once.
        #expect(try test.searchCounts()["text"] == 2)
        let first = try test.search("coral one").hits.first
        #expect(first?.archive.text == "two" && first?.timestamp == "20200101000000")
        #expect(try test.search("coral one in:one").hits.first?.timestamp == "20170101000000")
        #expect(try test.search("coral before:2017").hits.first?.captures == 1)
    }

    @Test func resultsContinue() throws {
        let test = try TestStore()
        try test.add((0..<25).map { Record("http://a.example/\($0)", page("Page", "coral \($0)")) }, id: "many")
        var found: [String] = []
        var cursor: String?
        repeat {
            let results = try test.store.searcher.search(SearchQuery("coral"), limit: 10, cursor: cursor)
            #expect(results.total == 25)
            found += results.hits.map(\.url)
            cursor = results.next
        } while cursor != nil
        #expect(found.count == 25 && Set(found).count == 25)
        for invalid in ["x", "-1", "99999999999", ""] {
            #expect(throws: StoreError.self) {
                try test.store.searcher.search(SearchQuery("coral"), limit: 10, cursor: invalid)
            }
        }
    }

    @Test func snippetShowsWhatWasFound() throws {
        let test = try TestStore()
        let filler = String(repeating: "lorem ipsum dolor sit amet ", count: 200)
        try test.add(
            [
                Record(
                    "http://a.example/", page("T", "<p>\(filler)<p>The Café Müller is <b>open</b> today.<p>\(filler)"))
            ], id: "a")
        let snippet = try #require(try test.search("cafe open").hits.first?.snippet)
        #expect(snippet.parts.filter(\.isMatch).map(\.text) == ["Café", "open"])
        #expect(snippet.parts.map(\.text).joined().contains("The Café Müller is open today."))
        #expect(snippet.parts.map(\.text).joined().utf8.count < 400)
        #expect(snippet.parts.first?.text.hasPrefix("…") == true)
        let phrase = try #require(try test.search("\"muller is open\"").hits.first?.snippet)
        #expect(phrase.parts.filter(\.isMatch).map(\.text) == ["Müller is open"])
    }

    @Test func facetsCountPages() throws {
        let test = try TestStore()
        try test.add(Self.reef, id: "reef")
        try test.add([Record("http://reef.example/", page("Reef", "coral"))], id: "second")
        let facets = try test.store.searcher.facets(SearchQuery("coral"))
        func pairs(_ counts: [SearchFacets.Count]) -> [String] { counts.map { "\($0.value) \($0.count)" } }
        #expect(pairs(facets.archives) == ["reef 2", "second 1"])
        #expect(pairs(facets.sites) == ["news.reef.example 1", "reef.example 1"])
        #expect(pairs(facets.years) == ["2016 1", "2024 1"])
        #expect(pairs(facets.types) == ["html 2"])
    }

    @Test func suggestionsComeWhileTyping() throws {
        let test = try TestStore()
        try test.add(Self.reef, id: "reef")
        func suggest(_ text: String) throws -> [String] {
            try test.store.searcher.suggestions(for: text, limit: 8).map { "\($0.kind) \($0.text)" }
        }
        #expect(try suggest("Title of").first == "archive Title of reef")
        #expect(try suggest("sea st") == ["page Sea stars"])
        #expect(try suggest("reef.ex").contains("site reef.example"))
        #expect(try suggest("http://reef.example/st") == ["url http://reef.example/star"])
        #expect(try suggest("s").allSatisfy { !$0.hasPrefix("page") })
        #expect(try suggest("") == [])
    }
}
