import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import ReplayServer

/// Lists as CSV and JSON files, as documented in docs/json.md.
struct ListFileTests {
    /// RFC 4180 §2: fields with quotes, commas and line breaks are quoted, quotes are doubled, lines end in CRLF.
    /// The rest are the characters with which spreadsheets begin a formula (OWASP, "CSV Injection").
    @Test(
        arguments: [
            (["aaa", "bbb", "ccc"], "aaa,bbb,ccc"), (["aaa", "b\r\nbb", "ccc"], "aaa,\"b\r\nbb\",ccc"),
            (["aaa", "b\"bb", "c,c"], "aaa,\"b\"\"bb\",\"c,c\""), (["", nil, " "], ",, "),
            (["=1+1", "@SUM(A1)", "+1", "-1"], "'=1+1,'@SUM(A1),'+1,'-1"), (["\tx", "\rx"], "'\tx,\"'\rx\""),
            (["=HYPERLINK(\"http://a.example/\")"], "\"'=HYPERLINK(\"\"http://a.example/\"\")\""),
            (["é, ü", "a=b"], "\"é, ü\",a=b"), (["＝1+1", "＠x", "＋1", "－1"], "'＝1+1,'＠x,'＋1,'－1"),
            (["\n=1+1", "a\0b"], "\"'\n=1+1\",a\u{FFFD}b"),
        ] as [([String?], String)])
    func cellsAreEscaped(cells: [String?], line: String) {
        #expect(CSVText.line(cells) == line + "\r\n")
    }

    private func withPages(_ count: Int, _ body: (LiveServer) async throws -> Void) async throws {
        let pages = (0..<count).map { GeneratedArchive.Page(url: "http://example.org/\($0)", title: "Page, \($0)") }
        try await withServer(
            prepare: { store, folder in
                let file = try folder.write(GeneratedArchive(title: "Many", pages: pages).bytes(), to: "many.wacz")
                _ = try store.importFile(at: file)
            }, body)
    }

    private func text(_ server: LiveServer, _ target: String) async throws -> String {
        let answer = try await server.ask("GET", target)
        #expect(answer.status == 200, "\(target)")
        return String(decoding: answer.body, as: UTF8.self)
    }

    private func items(_ server: LiveServer, _ target: String) async throws -> [[String: Any]] {
        let json = try JSONSerialization.jsonObject(with: Data(try await text(server, target).utf8))
        return try #require(json as? [[String: Any]])
    }

    /// More pages than are read at once.
    @Test func filesHaveTheWholeList() async throws {
        try await withPages(2500) { server in
            let json = try await items(server, "/api/archives/many/pages?format=json&limit=1&offset=7")
            #expect(json.map { $0["url"] as? String } == (0..<2500).map { "http://example.org/\($0)" })
            let csv = try await text(server, "/api/archives/many/pages?format=csv").split(separator: "\r\n")
            #expect(csv.count == 2501)
            #expect(csv.first == "url,title,timestamp,list,archive")
            #expect(csv.last?.hasPrefix("http://example.org/2499,\"Page, 2499\",") == true)
            let filtered = try await items(server, "/api/archives/many/pages?format=json&q=2499")
            #expect(filtered.count == 1)
            let none = try await items(server, "/api/archives/many/pages?format=json&q=nothing")
            #expect(none.isEmpty)
        }
    }

    @Test func eachListIsAFile() async throws {
        try await withServer(
            prepare: { store, _ in _ = try store.importFile(at: Checkout.fixture("sample.wacz")) },
            { server in
                _ = try await server.ask(
                    "POST", "/api/collections", json: #"{"title":"Both","members":["sample"],"id":"both"}"#)
                for list in [
                    "archives/sample/pages", "archives/sample/urls", "archives/sample/issues", "archives",
                    "collections/both/pages", "collections/both/urls", "search?q=limpet",
                ] {
                    let target = "/api/\(list)\(list.contains("?") ? "&" : "?")format="
                    let csv = try await server.ask("GET", target + "csv")
                    #expect(csv.status == 200 && csv["content-type"] == "text/csv; charset=utf-8; header=present")
                    #expect(csv["content-disposition"]?.contains(".csv\"") == true, "\(list)")
                    #expect(csv["content-security-policy"]?.contains("default-src 'none'") == true)
                    let json = try await items(server, target + "json")
                    // A text may contain a line break, but none in this archive does.
                    #expect(String(decoding: csv.body, as: UTF8.self).split(separator: "\r\n").count == json.count + 1)
                    let wrong = try await server.ask("GET", target + "xml")
                    #expect(wrong.status == 400)
                    #expect(try wrong.errorCode() == "bad-parameter")
                }
                let shown = try await server.ask("GET", "/api/archives/sample/urls?limit=1000").object()
                let listed = try await items(server, "/api/archives/sample/urls?format=json")
                #expect(listed.count == (shown["urls"] as? [Any])?.count)
                #expect(try await server.ask("GET", "/api/archives/none/urls?format=csv").status == 404)
            })
    }

    /// RFC 9457 §3: the members of problem details, and the media type.
    @Test func errorsAreProblemDetails() async throws {
        try await withServer { server in
            let answer = try await server.ask("GET", "/api/archives/none")
            let problem = try answer.object()
            #expect(answer["content-type"] == "application/problem+json")
            #expect(problem["status"] as? Int == 404)
            #expect(problem["title"] as? String == "Not Found")
            #expect(problem["detail"] as? String == (problem["error"] as? [String: Any])?["what"] as? String)
            #expect(problem["type"] as? String == "/api/docs#errors")
        }
    }

    @Test func recordsAreAsInTheFile() async throws {
        let file = Checkout.fixture("sample.wacz")
        try await withServer(
            prepare: { store, _ in _ = try store.importFile(at: file) },
            { server in
                let listed = try await items(server, "/api/archives/sample/urls?format=json&type=html")
                let capture = try #require(listed.first)
                let url = try #require(capture["url"] as? String)
                let time = try #require(capture["timestamp"] as? String)
                let target = "/api/archives/sample/records?url=\(url)&ts=\(time)&hashes=true"
                let records = try #require(try await server.ask("GET", target).object()["records"] as? [[String: Any]])
                let record = try #require(records.first)
                let fields = try #require(record["record"] as? [[String]])
                #expect(fields.first { $0[0] == "WARC-Target-URI" }?[1] == url)
                #expect((record["http"] as? [[String]])?.contains { $0[0].lowercased() == "content-type" } == true)
                let name = try #require(record["file"] as? String)
                let offset = try #require(record["offset"] as? Int)
                let length = try #require(record["length"] as? Int)
                // Another reader of ZIP files.
                let script =
                    "import hashlib, sys, zipfile; file, name, offset, length = sys.argv[1:]; "
                    + "part = zipfile.ZipFile(file).read(name)[int(offset):][:int(length)]; "
                    + "print(hashlib.sha256(part).hexdigest())"
                let python = try ProgramRun("python3", ["-c", script, file, name, "\(offset)", "\(length)"])
                #expect(try await onThread { python.wait() }.output == "\(record["sha256"] ?? "")\n")
                let none = try await server.ask("GET", "/api/archives/sample/records?url=http://none.example/&ts=2024")
                #expect((try none.object()["records"] as? [Any])?.isEmpty == true)
                #expect(try await server.ask("GET", "/api/archives/sample/records?url=\(url)").status == 400)
            })
    }

    @Test func documentationIsAPage() async throws {
        try await withServer { server in
            let page = try await server.ask("GET", "/api/docs")
            #expect(page.status == 200)
            #expect(page["content-type"]?.hasPrefix("text/html") == true)
            #expect(page["content-security-policy"]?.contains("unsafe") == false)
        }
    }
}
