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
        let body = (0..<400_000).map { "w\($0)" }.joined(separator: " ") + " lastword"
        try test.add([Record("http://a.example/", page("Long", body))], id: "a")
        for word in ["w0", "w199999", "w399999", "lastword"] {
            #expect(try test.found(word) == ["a.example/"], "\(word)")
        }
        #expect(try test.search("long").hits.first?.captures == 1)
    }
}
