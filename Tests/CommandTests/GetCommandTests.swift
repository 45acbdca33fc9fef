import Foundation
import TestSupport
import Testing

/// `get` prints a capture by URL and time.
struct GetCommandTests {
    typealias Record = RecordedArchive.Record

    private func store() async throws -> CommandStore {
        let store = try CommandStore()
        let early = Record("http://a.example/", "early", timestamp: "20200101000000")
        let late = Record("http://a.example/", "late", timestamp: "20220101000000").with { $0.head += "\r\nX-Own: 1" }
        let escape = Record("http://a.example/escape", "x").with { $0.head += "\r\nX-Bell: \u{1B}[31m\u{07}" }
        let archive = RecordedArchive([early, late, escape])
        try store.folder.write(archive.bytes(), to: "one.wacz")
        try store.folder.write(
            RecordedArchive([Record("http://a.example/", "middle", timestamp: "20210101000000")]).bytes(),
            to: "two.wacz")
        _ = try await store.run("import", "one.wacz", "two.wacz")
        return store
    }

    @Test func closestCaptureOfAllArchivesIsPrinted() async throws {
        let store = try await store()
        #expect(try await store.run("get", "http://a.example/").output == "late")
        #expect(try await store.run("get", "https://a.example", "--at", "20210201").output == "middle")
        #expect(try await store.run("get", "a.example/", "one", "--at", "20201201").output == "early")
        #expect(try await store.run("get", "a.example/", "one", "two", "--at", "2020").output == "middle")
        let latest = try await store.run("get", "http://a.example/")
        #expect(latest.errors == "one: http://a.example/, 20220101000000, status 200\n")
        #expect(try await store.run("get", "http://a.example/", "--quiet").errors.isEmpty)
    }

    /// The first lines of records, and what is printed.
    @Test(arguments: [
        ("HTTP/1.1 0 No Content\r\nX-Own: 1", "HTTP/1.1 0 No Content\nX-Own: 1\n"), ("", "Content-Type: text/plain\n"),
    ])
    func unknownStatusIsCalledUnknown(_ head: String, _ printed: String) async throws {
        let store = try CommandStore()
        let record = RecordedArchive.Record("http://a.example/", "x").with {
            ($0.head, $0.index) = (head, "\"mime\":\"text/plain\"")
            if head.isEmpty { ($0.type, $0.fields) = ("resource", ["Content-Type: text/plain"]) }
        }
        try store.folder.write(RecordedArchive([record]).bytes(), to: "one.wacz")
        _ = try await store.run("import", "one.wacz")
        let answer = try await store.run("get", "http://a.example/", "--head")
        #expect(answer.output == printed)
        #expect(answer.errors == "one: http://a.example/, 20240102030405, status unknown\n")
        #expect(try await !store.run("get", "http://a.example/", "--json").output.contains("status"))
    }

    @Test func headAndRecordAreAsArchived() async throws {
        let store = try await store()
        let head = try await store.run("get", "http://a.example/", "--head")
        #expect(head.output == "HTTP/1.1 200 Reason\nContent-Type: text/html\nX-Own: 1\n")
        let record = try await store.run("get", "http://a.example/", "--record")
        #expect(record.output.hasPrefix("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n"))
        #expect(
            record.output.hasSuffix("\r\n\r\nHTTP/1.1 200 Reason\r\nContent-Type: text/html\r\nX-Own: 1\r\n\r\nlate"))
        let escape = try await store.run("get", "http://a.example/escape", "--head")
        #expect(!escape.output.contains("\u{1B}") && !escape.output.contains("\u{07}"))
    }

    @Test func uncapturedURLIsNotFound() async throws {
        let store = try await store()
        let none = try await store.run("get", "http://none.example/")
        #expect(none.code == 3)
        #expect(none.output.isEmpty)
        #expect(none.errors.contains("error: http://none.example/: no capture of this URL in the archives searched"))
        // No fuzzy matches: a capture with another query is a different URL.
        #expect(try await store.run("get", "http://a.example/?x=1").code == 3)
        #expect(try await store.run("get", "http://a.example/", "three").code == 3)
    }

    @Test func answerToFormIsFoundByTheURLInTheHint() async throws {
        let store = try CommandStore()
        let answer = Record("http://a.example/form", "thank you").with {
            $0.index += ",\"method\":\"POST\",\"requestBody\":\"name=x\""
            $0.key = "example,a)/form?__wb_method=post&name=x"
        }
        try store.folder.write(RecordedArchive([answer]).bytes(), to: "one.wacz")
        _ = try await store.run("import", "one.wacz")
        let none = try await store.run("get", "http://a.example/form")
        #expect(none.code == 3)
        #expect(none.errors.contains("this URL was captured only as the answer to a form or a script"))
        #expect(none.errors.contains("`replayhost get 'http://a.example/form?__wb_method=POST&name=x'`"))
        let found = try await store.run("get", "http://a.example/form?__wb_method=POST&name=x")
        #expect(found.output == "thank you")
    }
}
