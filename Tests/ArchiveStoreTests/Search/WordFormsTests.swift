import Foundation
import GRDB
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// A search finds other forms of words, by the rules of the page's language.
struct WordFormsTests {
    typealias Record = RecordedArchive.Record

    /// Two words of Snowball's published vocabularies, and whether both have the same published stem.
    private struct Pair {
        let language: String
        let typed: String
        let word: String
        let isSame: Bool
    }

    private static func pairs() throws -> [Pair] {
        try String(contentsOfFile: Checkout.fixture("search/word-forms.tsv"), encoding: .utf8).split(separator: "\n")
            .map {
                let fields = $0.split(separator: "\t").map(String.init)
                return Pair(language: fields[0], typed: fields[1], word: fields[2], isSame: fields[3] == "same")
            }
    }

    static let languages = ["da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ru", "sv"]

    private static func page(_ text: String, in language: String?) -> String {
        let declared = language.map { " lang=\($0)" } ?? ""
        return "<!doctype html><html\(declared)><meta charset=utf-8><title>Page</title><body><p>\(text)</p>"
    }

    @Test(arguments: languages)
    func formsOfAPublishedVocabularyAreFound(language: String) throws {
        let pairs = try Self.pairs().filter { $0.language == language }
        #expect(pairs.count { $0.isSame } >= 20 && pairs.count { !$0.isSame } >= 20)
        let words = Set(pairs.map(\.word)).sorted()
        let test = try TestStore()
        try test.add(
            words.enumerated().map { Record("http://words.example/\($0)", Self.page($1, in: language)) }, id: language)
        for pair in pairs {
            let place = try #require(words.firstIndex(of: pair.word))
            let results = try test.search(pair.typed, limit: 100)
            // Another spelling isn't another form.
            let isFound =
                results.suggestion?.isApplied != true
                && results.hits.contains { $0.url == "http://words.example/\(place)" }
            #expect(isFound == pair.isSame, "\(language): \(pair.typed), \(pair.word)")
        }
    }

    private func library() throws -> TestStore {
        let test = try TestStore()
        try test.add(
            [
                Record("http://a.example/one", Self.page("A limpet sits on the rock of the shore", in: "en")),
                Record("http://a.example/many", Self.page("Limpets are animals that live on a rock", in: "en-GB")),
                Record("http://a.example/haus", Self.page("Das Haus ist alt und die Häuser sind neu", in: "de")),
                Record(
                    "http://a.example/detected",
                    Self.page(
                        "Die alten Gärten waren für alle da, und ich war mit dem Kind in der Stadt", in: nil)),
                Record("http://a.example/undeclared", Self.page("limpets limpets", in: nil)),
                Record("http://a.example/hauser", Self.page("Hauser and the limpet", in: "xx")),
            ], id: "a")
        return test
    }

    @Test func exactFormIsFirstAndTheLanguageDecides() throws {
        let test = try library()
        // Pages with the form as typed are first, also those without a language.
        #expect(try test.found("limpet").prefix(2).sorted() == ["a.example/hauser", "a.example/one"])
        #expect(try test.found("limpet").dropFirst(2) == ["a.example/many"])
        #expect(try Set(test.found("limpets")) == ["a.example/many", "a.example/undeclared", "a.example/one"])
        #expect(try test.found("Häuser").contains("a.example/haus"))
        #expect(try test.found("Garten") == ["a.example/detected"])
        // `xx` has no rules, and "Haus" isn't on that page.
        #expect(try test.found("haus") == ["a.example/haus"])
    }

    @Test func quotationMarksAndExclusionsAreExact() throws {
        let test = try library()
        #expect(try Set(test.found("\"limpet\"")) == ["a.example/one", "a.example/hauser"])
        #expect(try test.found("\"limpets are\"") == ["a.example/many"])
        #expect(try test.found("rock -limpet") == ["a.example/many"])
        #expect(try Set(test.found("rocks site:a.example")) == ["a.example/one", "a.example/many"])
        #expect(try test.found("rocks lang:de").isEmpty)
        #expect(try !test.found("limpets lang:en-GB").isEmpty)
        #expect(try test.search("limpets lang:english").invalidFilters == ["lang:english"])
    }

    @Test func questionNeedsOnlyItsContentWords() throws {
        let test = try library()
        #expect(try Set(test.found("how do I find limpets on rocks?")) == ["a.example/one", "a.example/many"])
        #expect(try test.search("how do I find limpets \"on\" rocks?").optionalWords == ["do", "how", "i"])
        #expect(try test.search("the shore").hits.first?.snippet.parts.filter(\.isMatch).map(\.text) == ["shore"])
        // All of its words are such words.
        #expect(try test.found("how do I").isEmpty)
    }

    @Test func snippetMarksTheForm() throws {
        let hits = try library().search("limpets rock").hits
        let hit = try #require(hits.first { $0.url == "http://a.example/one" })
        #expect(hit.snippet.parts.filter(\.isMatch).map(\.text) == ["limpet", "rock"])
    }

    @Test func totalAndFacetsCountForms() throws {
        let test = try library()
        #expect(try test.search("limpets").total == 3)
        let facets = try test.store.searcher.facets(SearchQuery("limpets"))
        #expect(facets.languages.map(\.value) == ["en"] && facets.languages.first?.count == 2)
    }

    /// The stem's language counts, not how many pages it has.
    @Test func vocabularyAgreesWithTheDocuments() throws {
        let test = try library()
        let first = try test.vocabulary()
        try test.add([Record("http://b.example/", Self.page("limpets only here zebrafish", in: "en"))], id: "b")
        #expect(try test.vocabulary().contains("zebrafish  1"))
        #expect(try test.vocabulary().contains("limpets  3"))
        try test.store.remove(try #require(ArchiveID("b")))
        try test.store.purgeRemovedTexts()
        #expect(try test.vocabulary() == first)
        #expect(first.contains("garten gärten 1") && first.contains("limpet  2"))
    }
}

/// What is offered when a search finds little or nothing.
struct SearchAlternativesTests {
    typealias Record = RecordedArchive.Record

    private func library() throws -> TestStore {
        let test = try TestStore()
        try test.add(
            (0..<6).map {
                Record("http://reef.example/\($0)", page("Page \($0)", "<p>coral bleaching and a crab number\($0)"))
            }
                + [Record("http://sea.example/", page("Sea", "<p>Der Straßenkrebs. A sponge. Bleachinx."))], id: "reef")
        return test
    }

    @Test(arguments: [
        ("blaching", "bleaching"), ("bleachnig", "bleaching"), ("bleeaching", "bleaching"), ("bleachung", "bleaching"),
        ("coral blaeching", "coral bleaching"), ("Corl BLEACHINF", "coral bleaching"), ("bleacinng", "bleaching"),
        ("blaching site:reef.example", "bleaching site:reef.example"), ("strasenkrebs", "straßenkrebs"),
    ])
    func misspelledWordIsCorrected(typed: String, meant: String) throws {
        let test = try library()
        let results = try test.search(typed)
        let suggestion = try #require(results.suggestion)
        #expect(suggestion.query == meant && suggestion.isApplied)
        #expect(!results.hits.isEmpty && results.total == suggestion.total)
        #expect(try results.hits.map(\.url) == test.search(meant).hits.map(\.url))
    }

    @Test(arguments: ["coral", "\"blaching\"", "blach*", "-blaching coral", "qqqqqqqq", "123456", "東京"])
    func otherSearchesAreNotCorrected(typed: String) throws {
        #expect(try library().search(typed).suggestion == nil)
    }

    /// It has a word that is found, so another one is only offered.
    @Test func rareWordIsOfferedTheFrequentOne() throws {
        let test = try TestStore()
        try test.add(
            (0..<45).map { Record("http://reef.example/\($0)", page("Page \($0)", "<p>coral number\($0)")) }
                + [Record("http://reef.example/rare", page("Rare", "<p>corel"))], id: "reef")
        let results = try test.search("corel")
        #expect(results.hits.map(\.url) == ["http://reef.example/rare"])
        #expect(results.suggestion == .init(query: "coral", total: 45, totalIsMinimum: false, isApplied: false))
    }

    /// A page of invented words that wants to be suggested: a word of two pages comes before one of a single page.
    @Test func inventedWordsAreSuggestedLast() throws {
        let test = try library()
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        let invented = (0..<26 * 26 * 9).map { number in
            "bleach\(letters[number % 26])\(letters[number / 26 % 26])\(letters[number / 676])"
        }
        try test.add([Record("http://bad.example/", page("Bad", invented.joined(separator: " ")))], id: "bad")
        #expect(try test.search("bleachimz").suggestion?.query == "bleaching")
    }

    @Test func partsThatAreFoundAreOffered() throws {
        let test = try library()
        let found = try #require(try test.search("crab qqqqqqqq \"coral bleaching\"").alternatives)
        #expect(found.parts.map(\.part) == ["crab", "qqqqqqqq", "\"coral bleaching\""])
        #expect(found.parts.map(\.total) == [6, 0, 6])
        #expect(found.parts.map(\.query) == ["crab", "qqqqqqqq", "\"coral bleaching\""])
        #expect(found.withoutFilter.isEmpty && !found.isFiltered)
        #expect(try test.search("crab qqqqqqqq site:sea.example").alternatives?.isFiltered == true)
        #expect(try test.search("crab").alternatives == nil)
    }

    @Test func filterThatEmptiesASearchIsNamed() throws {
        let test = try library()
        let found = try #require(try test.search("crab site:sea.example after:2020").alternatives)
        #expect(found.withoutFilter.map(\.part) == ["site"])
        #expect(found.withoutFilter.map(\.query) == ["crab after:2020"] && found.withoutFilter.map(\.total) == [6])
        let both = try #require(try test.search("crab site:sea.example type:pdf").alternatives)
        #expect(both.withoutFilter.map(\.part) == ["all"] && both.withoutFilter.map(\.query) == ["crab"])
        var query = try SearchQuery("crab qqqqqqqq")
        query.restrict(sites: ["sea.example"])
        let outside = try #require(try test.store.searcher.search(query, limit: 5).alternatives)
        #expect(outside.parts.map(\.total) == [0, 0])
        #expect(try test.search("lang:de").alternatives?.withoutFilter.isEmpty == true)
    }

    /// Everything that can be typed has an answer.
    @Test(arguments: [
        "site:x", "a OR", "-a", "title:qqqq", "title:qqqq OR a", "qqqq in:none",
        "é" + String(repeating: "\u{301}", count: 200),
    ])
    func anythingHasAlternatives(text: String) throws { _ = try library().search(text) }

    @Test func errorsAreCounted() {
        for (one, other, errors) in [
            ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "acb", 1), ("abc", "ab", 1), ("abc", "xabc", 1),
            ("abcd", "badc", 2), ("über", "uber", 1),
            ("abc", "xyz", 3), ("", "abc", 3),
        ] {
            #expect(Spelling.distance(one, other, most: 2) ?? 3 == errors, "\(one) \(other)")
        }
    }
}

/// Text that is beside a page's content is found, but isn't what results show.
struct TextBesideContentTests {
    typealias Record = RecordedArchive.Record

    @Test func menuMakesNoSnippetAndCountsLess() throws {
        let test = try TestStore()
        let menu = "<nav><a>Reef</a> <a>Tides</a></nav>"
        try test.add(
            [
                Record(
                    "http://a.example/menu",
                    page("One", "\(menu)<main><p>Nothing of it here.</main><footer>Reef</footer>")),
                Record(
                    "http://a.example/text",
                    page("Two", "<main><p>In the text there is a reef, late in a long sentence.</main>")),
            ], id: "a")
        let hits = try test.search("reef").hits
        #expect(hits.map(\.title) == ["Two", "One"])
        #expect(hits[1].snippet.text == "Nothing of it here.")
        #expect(try test.found("\"reef tides\"") == ["a.example/menu"])
        #expect(try test.found("tides nothing") == ["a.example/menu"])
    }

    @Test func lineOfMostPagesMakesNoSnippet() throws {
        let test = try TestStore()
        try test.add(
            (10..<22).map {
                Record(
                    "http://a.example/\($0)",
                    page("Page \($0)", "<p>Subscribe to the quokka letter<p>Text number\($0) is here"))
            }, id: "a")
        let last = try #require(try test.search("quokka number21").hits.first)
        #expect(last.snippet.text == "Text number21 is here")
        #expect(try test.search("quokka").total == 12)
    }

    /// Ten captures of one page have all lines in common. So has a page whose text is a menu.
    @Test func pageAloneKeepsItsLines() throws {
        let test = try TestStore()
        try test.add(
            (0..<10).map {
                Record(
                    "http://a.example/", page("Page", "<p>The quokka page<p>Day \($0)"), timestamp: "2024010203040\($0)"
                )
            } + [Record("http://b.example/", page("Menu", "<nav>Only a quokka menu</nav>"))], id: "a")
        for hit in try test.search("quokka").hits {
            #expect(hit.snippet.parts.contains { $0.isMatch && $0.text == "quokka" })
        }
    }

    /// Every second line of these pages is one that all have; the others are more than are remembered.
    @Test func manyLinesAreRepeated() {
        let repeated = RepeatedLines()
        var part = TextPart()
        for page in 0..<6 {
            repeated.begin("example,a)/\(page)")
            part = TextPart(body: (0..<50_000).flatMap { Array("menu \($0)\npage \(page) line \($0)\n".utf8) })
            repeated.mark(&part)
        }
        #expect(part.beside.count == 50_000)
        let text = SearchText(part)
        let own = (0..<50_000).map { "page 5 line \($0)\n" }.joined()
        #expect(text.content.elementsEqual(own.utf8))
    }

    /// The ranges survive being stored, whatever is cut out of the text.
    @Test func rangesAreStored() throws {
        let lines = ["Menu\n", "Text \u{FFFD}\n", "Foot\n"].map { Array($0.utf8) }
        var part = TextPart(body: lines[0] + [0x54, 0xFF, 0x0A] + lines[2])
        part.beside = [0..<5, 8..<13]
        let text = SearchText(part)
        #expect(String(decoding: text.content, as: UTF8.self) == "T\u{FFFD}\n")
        #expect(String(decoding: text.besideContent, as: UTF8.self) == "Menu\nFoot\n")
        #expect(text.body.count == part.body.count + 2)
    }
}

/// An index of the version before answers while it is made again.
struct SearchConversionTests {
    typealias Record = RecordedArchive.Record

    private func library() throws -> TestStore {
        let test = try TestStore()
        for name in ["one", "two"] {
            try test.add(
                (0..<20).map {
                    Record(
                        "http://\(name).example/\($0)",
                        "<html lang=en><title>\(name)</title><p>limpet \(name) number\($0)")
                }, id: name)
        }
        return test
    }

    /// Returns the store with a search index as the version before made it.
    private func old() throws -> TestStore {
        let test = try library()
        try test.store.search.database.writing { database in
            let folding = WordFolding()
            let rows = try Row.fetchAll(
                database, sql: "SELECT document.*, url.key FROM document JOIN url ON url.number = document.url")
            for row in rows {
                let text = try SearchText.fetch(database, number: row["text"])
                for contents in [SearchSchema.contents, 1] {
                    let words = DocumentWords(
                        key: row["key"], title: row["title"], type: row["type"], language: row["language"], text,
                        folding,
                        contents: contents)
                    let (column, value) = contents == 1 ? ("", "") : ("word, ", "'delete', ")
                    try database.execute(
                        sql:
                            "INSERT INTO word (\(column)rowid, title, heading, url, body, facet) VALUES (\(value)?, ?, ?, ?, ?, ?)",
                        arguments: StatementArguments([row["number"] as Int64]) + StatementArguments(words.columns))
                }
            }
            try database.execute(
                sql: """
                    UPDATE text SET digest = randomblob(16);
                    ALTER TABLE document DROP COLUMN contents;
                    ALTER TABLE archive DROP COLUMN contents; ALTER TABLE text DROP COLUMN beside; DROP TABLE vocabulary;
                    PRAGMA user_version = \(SearchSchema.previousVersion);
                    """)
        }
        return try TestStore(reopening: test)
    }

    private func archive(_ name: String, of test: TestStore) throws -> Archive {
        let id = try #require(ArchiveID(name))
        return try #require(try test.store.catalog.archive(id: id))
    }

    @Test func oldIndexAnswersUntilItIsReplaced() throws {
        let test = try old()
        #expect(try test.search("limpet").total == 40)
        #expect(try test.search("limpets").total == 0)
        #expect(try test.search("limpet").coverage == SearchCoverage(complete: 2, pending: 0))
        // Stops halfway through the first archive.
        struct Stop: Error {}
        let archive = try archive("one", of: test)
        var left = 10
        #expect(throws: Stop.self) {
            _ = try TextWork(store: test.store, archive: archive).run { _, _ in
                if left == 0 { throw Stop() }
                left -= 1
            }
        }
        #expect(try test.search("limpet one").total == 20)
        #expect(try test.search("limpet").hits.allSatisfy { $0.captures == 1 && $0.otherArchives == nil })
        try test.indexAll()
        #expect(try test.search("limpets").total == 40)
        try test.store.purgeRemovedTexts()
        let fresh = try library()
        #expect(try test.searchContents() == fresh.searchContents())
        #expect(try test.searchWords() == fresh.searchWords())
        #expect(try test.vocabulary() == fresh.vocabulary())
        #expect(try test.store.search.database.integrityCheck() == ["ok"])
        // What was indexed again is removed like anything else.
        for store in [test, fresh] {
            try store.store.remove(try #require(ArchiveID("two")))
            try store.store.purgeRemovedTexts()
        }
        #expect(try test.vocabulary() == fresh.vocabulary())
        #expect(try test.searchCounts() == fresh.searchCounts())
    }

    @Test func removedArchiveIsNotReplaced() throws {
        let test = try old()
        _ = try test.store.search.begin(key: try archive("one", of: test).key)
        try test.store.remove(try #require(ArchiveID("one")))
        try test.indexAll()
        try test.store.purgeRemovedTexts()
        #expect(try test.search("limpet").total == 20)
        #expect(try test.searchCounts()["archive"] == 1)
    }
}

extension Snippet {
    fileprivate var text: String { parts.map(\.text).joined().trimmingCharacters(in: .whitespaces) }
}
