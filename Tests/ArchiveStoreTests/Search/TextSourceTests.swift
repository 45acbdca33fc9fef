import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Where pages and their text come from.
struct TextSourceTests {
    typealias Record = RecordedArchive.Record

    private func progress(_ archive: Archive, _ test: TestStore) throws -> IndexedText {
        try #require(try test.store.searcher.indexedText(of: archive))
    }

    @Test func textOfThePageListIsUsed() throws {
        let test = try TestStore()
        let archive = try test.add(
            [Record("http://a.example/", page("HTML title", "fromhtml"))],
            pages: """
                {"url":"http://a.example/","ts":"2024-01-02T03:04:05Z","title":"List title","text":"fromlist"}
                {"url":"http://b.example/","ts":"2024-01-02T03:04:05Z","title":"Missing"}

                """, id: "a")
        #expect(try test.found("fromlist") == ["a.example/"])
        #expect(try test.found("fromhtml") == [])
        #expect(try test.found("title:list") == ["a.example/"])
        // A page without a capture is found by its title.
        #expect(try test.found("missing") == ["b.example/"])
        let text = try progress(archive, test)
        #expect(text.isComplete && text.source == .listed && text.pages == 2 && text.withText == 1)
        #expect(text.withoutText == ["notCaptured": 1])
    }

    @Test func listedPagesAreReadFromTheArchive() throws {
        let test = try TestStore()
        try test.add(
            [
                Record("http://a.example/", page("HTML title", "fromhtml")),
                Record("http://a.example/unlisted", page("Other", "unlisted")),
            ], pages: "{\"url\":\"http://a.example/\",\"ts\":\"2024-01-02T03:04:05Z\"}\n", id: "a")
        #expect(try test.found("fromhtml") == ["a.example/"])
        #expect(try test.found("title:html") == ["a.example/"])
        #expect(try test.found("unlisted") == [])
    }

    @Test func textRecordsAreUsed() throws {
        let test = try TestStore()
        let record = Record("urn:text:http://a.example/", "fromrecord").with {
            ($0.type, $0.head, $0.key) = ("resource", "", "urn:text:http://a.example/")
            $0.fields = ["Content-Type: text/plain"]
            $0.index = "\"mime\":\"text/plain\",\"status\":\"-\""
        }
        try test.add(
            [Record("http://a.example/", page("T", "fromhtml")), record],
            pages: "{\"url\":\"http://a.example/\",\"ts\":\"2024-01-02T03:04:05Z\"}\n", id: "a")
        #expect(try test.found("fromrecord") == ["a.example/"])
        #expect(try test.found("fromhtml") == [])
    }

    @Test func pagesAreDetected() throws {
        let test = try TestStore()
        let frame = Record("http://a.example/frame", page("Frame", "inframe")).with {
            $0.fields = ["WARC-Resource-Type: sub_frame"]
        }
        let archive = try test.add(
            [
                Record("http://a.example/", page("Main", "inmain")), frame,
                Record("http://a.example/gone", page("Gone", "ingone"), status: 404),
                Record("http://a.example/image", "x").with { $0.index = "\"mime\":\"image/png\",\"status\":\"200\"" },
                Record("http://a.example/form", page("Form", "inform")).with { $0.index += ",\"method\":\"POST\"" },
            ], id: "a")
        #expect(try test.found("main OR frame OR gone OR form") == ["a.example/"])
        let text = try progress(archive, test)
        #expect(text.source == .detected && text.pages == 1 && text.withText == 1)
    }

    @Test func pagesOfPageRecordsAreDetected() throws {
        let test = try TestStore()
        let info = Record("urn:pageinfo:http://a.example/", "{}").with {
            ($0.type, $0.head, $0.key) = ("resource", "", "urn:pageinfo:http://a.example/")
            $0.fields = ["Content-Type: application/json"]
            $0.index = "\"mime\":\"application/json\",\"status\":\"-\""
        }
        try test.add(
            [
                Record("http://a.example/", page("Main", "inmain")), info,
                Record("http://a.example/other", page("Other", "inother")),
            ], id: "a")
        #expect(try test.found("inmain OR inother") == ["a.example/"])
    }

    /// Whether documents are pages is decided for each WARC file.
    @Test func pagesOfFilesWithoutPageRecordsAreDetectedToo() throws {
        let test = try TestStore()
        let marked = [
            "http://a.example/": "inmain", "http://a.example/frame": "inframe",
        ].map { Record($0.key, page("A", $0.value)) }
        let info = WARCFiles.pageInfo("http://a.example/")
        let plain = (0..<3).map { Record("http://b.example/\($0)", page("B", "inplain")) }
        try test.folder.write(WARCFiles.bytes(marked + [info]), to: "marked.warc")
        try test.folder.write(WARCFiles.bytes(plain), to: "plain.warc")
        let paths = ["marked.warc", "plain.warc"].map { test.folder.path($0) }
        for order in [paths, paths.reversed()] {
            let result = try test.store.jobs.importAny(at: order[0], with: [order[1]])
            let archive = try result.onlyArchive
            #expect(archive.pageCount == 4)
            let pages = try test.store.pages(of: archive, PageListRequest(limit: 9)).pages.map(\.url).sorted()
            #expect(
                pages == [
                    "http://a.example/", "http://b.example/0", "http://b.example/1", "http://b.example/2",
                ])
            try test.store.remove(archive.id)
        }
    }

    @Test func detectedPagesArePagesAndOneOfThemIsTheMainPage() throws {
        let test = try TestStore()
        let records = [
            ("http://a.example/deep/page", "20240101000000"), ("http://a.example/", "20240101000100"),
            ("http://elsewhere.example/", "20240101000050"),
        ].map { Record($0.0, page("Title", "text"), timestamp: $0.1) }
        let before = try test.add(records, id: "a", indexes: false)
        #expect(before.pageCount == 0 && before.mainPageURL == nil)
        try test.indexAll()
        let archive = try #require(try test.store.archive(id: before.id))
        #expect(archive.pageCount == 3 && archive.hasDetectedPages)
        #expect(archive.mainPageURL == "http://a.example/", "the shortest path on the host of the earliest capture")
        #expect(archive.summary.mainPageTimestamp == "20240101000100")
        // A catalog that was rebuilt doesn't know them until the server starts.
        let (store, _) = try ArchiveStore.rebuild(at: test.layout.root)
        #expect(try store.archive(id: before.id)?.pageCount == 0)
        try store.jobs.queueTexts()
        #expect(try store.archive(id: before.id)?.pageCount == 3)
        #expect(try store.archive(id: before.id)?.mainPageURL == "http://a.example/")
    }

    @Test func titleThatIsTheURLGivesWayToThatOfTheDocument() throws {
        let test = try TestStore()
        for (number, title) in ["http://a.example/0", "a.example/1", "Listed"].enumerated() {
            let url = "http://a.example/\(number)"
            try test.add(
                [Record(url, page("Own \(number)", "word\(number)"))],
                pages: "{\"url\":\"\(url)\",\"ts\":\"2024-01-02T03:04:05Z\",\"title\":\"\(title)\"}\n",
                id: "a\(number)")
            let expected = number < 2 ? "Own \(number)" : "Listed"
            #expect(try test.search("word\(number)").hits.map(\.title) == [expected])
        }
    }

    /// `file:` URLs of two archives name different files.
    @Test func urlsWithoutHostBelongToTheirArchive() throws {
        let test = try TestStore()
        for id in ["a", "b"] {
            let record = Record("file:///attachment.html", page("Attachment", "shared of\(id)")).with {
                $0.key = "file:///attachment.html"
            }
            try test.add(
                [record], pages: "{\"url\":\"file:///attachment.html\",\"ts\":\"2024-01-02T03:04:05Z\"}\n",
                id: id)
        }
        let hits = try test.search("shared").hits
        #expect(hits.map(\.archive.text).sorted() == ["a", "b"] && hits.allSatisfy { $0.captures == 1 })
        let facets = try test.store.searcher.facets(SearchQuery("shared"))
        #expect(facets.sites.map(\.value) == ["file:"])
        #expect(try test.search("shared site:file:").total == 2)
        try test.store.remove(try #require(ArchiveID("a")))
        try test.store.purgeRemovedTexts()
        #expect(try test.search("shared").hits.map(\.archive.text) == ["b"])
        #expect(try test.store.search.database.integrityCheck() == ["ok"])
    }

    @Test func escapedWordsInURLsAreFound() throws {
        let test = try TestStore()
        try test.add([Record("http://a.example/w%C3%B6rter/caf%C3%A9", page("T", "x"))], id: "a")
        for word in ["wörter", "W%C3%B6rter", "café"] { #expect(try test.search(word).total == 1, "\(word)") }
    }

    @Test func damagedRecordsHaveAReason() throws {
        let test = try TestStore()
        let archive = try test.add(
            [
                Record("http://a.example/good", page("Good", "good")),
                Record("http://a.example/bad", "").with {
                    $0.head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip"
                    $0.body = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xFF, 0xFF, 0xFF, 0xFF]
                },
                Record("http://a.example/empty", "<script>1</script>"),
            ], id: "a")
        let text = try progress(archive, test)
        #expect(text.withText == 1 && text.withoutText == ["unreadable": 1, "empty": 1])
        #expect(try test.found("good") == ["a.example/good"])
    }

    @Test func longTitleIsSearchedToItsEnd() throws {
        let test = try TestStore()
        let title = String(repeating: "word ", count: 200_000) + "endtitle"
        try test.add([Record("http://a.example/", page(title, "body"))], id: "a")
        #expect(try test.found("title:endtitle") == ["a.example/"])
        #expect(try test.search("endtitle").hits.first?.title.count == 300)
    }

    @Test func longTextIsSearchedToItsEnd() throws {
        let test = try TestStore()
        let long = String(repeating: "x", count: 40)
        let body = (0..<70_000).map { "w\($0)\(long)" }.joined(separator: " ") + " lastword"
        try test.add([Record("http://a.example/", page("Long", body))], id: "a")
        for word in ["w0\(long)", "w34999\(long)", "w69999\(long)", "lastword"] {
            #expect(try test.found(word) == ["a.example/"], "\(word)")
        }
        #expect(try test.search("long").hits.first?.captures == 1)
    }
}

/// WARC files of generated records.
private enum WARCFiles {
    static func bytes(_ records: [RecordedArchive.Record]) -> [UInt8] { records.flatMap { $0.bytes() } }

    /// The record that Browsertrix writes about a page.
    static func pageInfo(_ url: String) -> RecordedArchive.Record {
        RecordedArchive.Record("urn:pageinfo:\(url)", "{}").with {
            ($0.type, $0.head) = ("resource", "")
            $0.fields = ["Content-Type: application/json"]
        }
    }
}
