import Foundation
import TestSupport
import Testing

/// `explain` tells in sentences why a URL can't be shown. The reasons themselves have tests of their own.
struct ExplainCommandTests {
    typealias Record = RecordedArchive.Record

    private static let site = "http://a.example"

    /// A library with two archives, and a linked one whose file is gone.
    private static func store() async throws -> CommandStore {
        let store = try CommandStore()
        let pages = "\"\(site)/failed\":{\"error\":\"net::ERR_FAILED\"},\"\(site)/used\":{\"status\":200}"
        let one = [
            Record("\(site)/", "home"), Record("\(site)/index.html", "index"), Record("\(site)/list?a=1", "1"),
            Record("\(site)/old", to: "http://new.example/"), Record("\(site)/loop", to: "/loop"),
            Record("\(site)/gone", "gone", status: 404),
            Record("\(site)/damaged", "x").with { $0.head = "no HTTP" },
            Record("\(site)/form", "answer").with { $0.key = "example,a)/form?__wb_method=post&q=1" },
            Record(pageInfo: "\(site)/", urls: pages),
        ]
        try store.folder.write(RecordedArchive(one).bytes(), to: "one.wacz")
        let two = ["2019", "2023"].map { Record("\(site)/two", $0, timestamp: "\($0)0101000000") }
        try store.folder.write(RecordedArchive(two).bytes(), to: "two.wacz")
        try store.folder.write(RecordedArchive([Record("\(site)/x", "x")]).bytes(), to: "away.wacz")
        _ = try await store.run("import", "one.wacz", "two.wacz")
        _ = try await store.run("import", "away.wacz", "--link")
        try FileManager.default.removeItem(atPath: store.folder.path("away.wacz"))
        return store
    }

    @Test func reasonsAreSentences() async throws {
        let store = try await Self.store()
        let expected = [
            ("/", "http://a.example/ is in “one”.|It was captured on 2024-01-02.|Captured:|  one  20240102030405  "),
            (
                "/two",
                "isn't in “one”.|It's in another archive:|  two  “two”, 2 captures, 2019–2023|Captured instead:|  two  2023"
            ),
            (
                "/list",
                "It's there only with another query.|Captured instead:|  one  20240102030405  http://a.example/list?a=1"
            ),
            ("/list?a=2", "another query.|Replay shows http://a.example/list?a=1 instead."),
            ("/form", "It's there only as the answer to a form or a script (POST).|Captured instead:"),
            ("/old", "but there is no page to show.|It redirects to http://new.example/, which isn't there."),
            ("/loop", "It redirects without end."),
            ("/gone", "but only as an error page.|The site answered with an error (404) on 2024-01-02."),
            ("/damaged", "The record of 2024-01-02 can't be read: data.warc.gz, byte "),
            (
                "/failed",
                "The crawler couldn't load it on 2024-01-02 (\"net::ERR_FAILED\"), as a part of http://a.example/."
            ),
            ("/used", "A captured page uses it:|  2024-01-02  http://a.example/"),
            ("/none", "isn't in “one”.|It was never captured. 8 URLs from a.example are there.|Closest URLs:|  one  "),
        ]
        for (path, text) in expected {
            let result = try await store.run("explain", "\(Self.site)\(path)", "--in", "one")
            #expect(result.code == 0)
            #expect(result.output.contains(text.replacing("|", with: "\n")), "\(path): \(result.output)")
        }
        let other = try await store.run("explain", "other.example/", "--in", "one")
        #expect(other.output == "http://other.example/ isn't in “one”.\nNothing from other.example is there.\n")
        let away = try await store.run("explain", "\(Self.site)/x", "--in", "away")
        #expect(away.output.contains("The files of these archives can't be read:\n  away  “away”, unavailable\n"))
    }

    @Test func libraryIsSearchedWithoutAnID() async throws {
        let store = try await Self.store()
        let found = try await store.run("explain", "\(Self.site)/two", "--time", "2019")
        #expect(found.output.hasPrefix("http://a.example/two is in “two”.\nIt was captured on 2019-01-01.\n"))
        #expect(found.errors.hasSuffix("replayhost open two --url 'http://a.example/two' --time 20190101000000\n"))
        let none = try await store.run("explain", "\(Self.site)/list")
        #expect(
            none.output.hasPrefix("http://a.example/list isn't in your library.\nIt's there only with another query.\n")
        )
        #expect(none.output.contains("away  “away”, unavailable"), "the file that wasn't searched")
    }
}
