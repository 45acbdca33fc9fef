import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// All interfaces choose the same capture of a URL; see docs/captures.md.
struct CaptureRuleTests {
    private typealias Record = RecordedArchive.Record

    /// The result of each interface: timestamp and URL, or nothing.
    private static func answers(
        _ question: CaptureQuestions.Question, _ archive: Archive, _ store: ArchiveStore, _ connection: HTTPConnection,
        host: String
    ) throws -> [String: String?] {
        let (id, time) = (archive.id, question.time)
        let url = try #require(question.url.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        // A request's target has no fragment.
        let inPath = question.url.prefix { $0 != "#" }
        func object(_ target: String) throws -> [String: Any] {
            try connection.ask("GET", target, host: host).object()
        }
        func named(_ capture: Any?) -> String? {
            (capture as? [String: Any]).map { "\($0["timestamp"] ?? "") \($0["url"] ?? "")" }
        }
        func named(_ address: String?, _ modifier: String) -> String? {
            guard let rest = address?.dropFirst("/c/\(id)/".count), let slash = rest.firstIndex(of: "/") else {
                return nil
            }
            return "\(rest[..<slash].dropLast(modifier.count)) \(rest[slash...].dropFirst())"
        }
        let wanted = CaptureTimestamp(endOf: time)
        let gate = try connection.ask(
            "GET", "/c/\(id)/\(inPath)", host: host, wanted.map { [("Accept-Datetime", $0.httpDate)] } ?? [])
        let line = try connection.ask(
            "GET", "/c/\(id)/cdx?url=\(url)&closest=\(time.isEmpty ? "9999" : time)&limit=1&output=json", host: host)
        let opened = try store.resolver.openCapture(
            ArchiveStore.CaptureRequest(url: question.url, time: wanted), in: [archive], allowsFuzzyMatch: false)
        var answers: [String: String?] = [
            "API": named(try object("/api/archives/\(id)/captures?url=\(url)&closest=\(time)&limit=1")["closest"]),
            "CDX": line.body.isEmpty ? nil : named(try line.object()),
            "TimeGate": gate.status == 302 ? named(gate["location"], "") : nil,
            "get": opened.map { "\($0.entry.timestamp) \($0.entry.url)" },
        ]
        // Without a capture, replay uses a fuzzy match.
        if opened != nil {
            let engine = try connection.ask("GET", "/c/\(id)/\(time)ir_/\(inPath)", host: host)
            answers["ir_"] = named(engine["content-location"], "ir_")
        }
        return answers
    }

    @Test func allInterfacesAgreeWithPywb() async throws {
        try await withServer { server in
            let all = try CaptureQuestions.read()
            let archives = try all.importArchives(into: server.store, server.folder)
            let (port, host, store) = (server.port, server.host, server.store)
            let counts = try await onThread {
                let connection = try HTTPConnection(port: port)
                var (found, ties) = (0, 0)
                for question in all.questions {
                    let answers = try Self.answers(
                        question, archives[question.archive], store, connection, host: host)
                    let mine = answers["get"] ?? nil
                    let where_ = "\(question.archive) \(question.url) at \(question.time): \(answers)"
                    #expect(Set(answers.values).count == 1, "\(where_)")
                    let time = mine?.prefix { $0 != " " }
                    if let time, question.isTie(String(time)) {
                        ties += 1
                    } else {
                        #expect(time.map(String.init) == question.answer, "\(where_)")
                    }
                    if mine != nil { found += 1 }
                }
                return (found, ties)
            }
            print("\(all.questions.count) questions: \(counts.0) captured, \(counts.1) ties")
            #expect(counts.0 > all.questions.count / 2 && counts.1 > 0)
        }
    }

    @Test func urlWithoutSlashRedirectsToCaptureWithSlash() async throws {
        try await withServer { server in
            let records = [
                Record("https://a.example/species/", "page", timestamp: "20240101000000"),
                Record("https://a.example/old", "", timestamp: "20240101000000", status: 301).with {
                    $0.head += "\r\nLocation: /old/"
                },
                Record("https://a.example/old", "later", timestamp: "20250101000000"),
            ]
            // Python's surt drops the slash, warcio.js keeps it.
            for (id, key) in [("python", "example,a)/species"), ("script", "example,a)/species/")] {
                let archive = RecordedArchive([records[0].with { $0.key = key }] + records[1...])
                _ = try server.store.importFile(at: try server.folder.write(archive.bytes(), to: "\(id).wacz"))
                let species = "https://a.example/species"
                let captures = "/api/archives/\(id)/captures?url=\(species)&closest="
                let answer = try await server.ask("GET", captures).object()
                #expect((answer["closest"] as? [String: Any])?["url"] as? String == "\(species)/")
                let engine = try await server.ask("GET", "/c/\(id)/2024ir_/\(species)")
                #expect(engine["x-redirect-status"] == "302")
                #expect(engine["x-orig-location"] == "\(species)/")
                #expect(try await server.ask("GET", "/c/\(id)/2024ir_/\(species)/").text == "page")
                let exact = try await server.ask("GET", "/c/\(id)/20240101000000id_/\(species)")
                #expect(exact["location"] == "/c/\(id)/20240101000000id_/\(species)/")
                // The redirect to itself is skipped, and the fuzzy match doesn't lead back to it.
                let old = try await server.ask("GET", "/c/\(id)/2023ir_/https://a.example/old/")
                #expect(old.text == "later" && old["x-redirect-status"] == nil)
            }
        }
    }

    @Test func exactURLWinsForSameTime() async throws {
        try await withServer { server in
            let urls = ["http://a.example/Page", "https://a.example/page", "https://www.a.example/page"]
            let records = urls.map { url in
                Record(url, url, timestamp: "20240101000000").with { $0.key = "example,a)/page" }
            }
            let file = try server.folder.write(RecordedArchive(records).bytes(), to: "crawl.wacz")
            _ = try server.store.importFile(at: file)
            for url in urls {
                #expect(try await server.ask("GET", "/c/crawl/2024ir_/\(url)").text == url)
                let first = "/c/crawl/cdx?url=\(url)&closest=2020&limit=1&fl=url&output=text"
                let line = try await server.ask("GET", first)
                #expect(line.text == "\(url)\n")
            }
        }
    }

    @Test func allOfThousandCapturesAreReachable() async throws {
        try await withServer { server in
            let start = try #require(CaptureTimestamp(digits: "20110101000000"))
            let times = (0..<1000).compactMap { number in
                CaptureTimestamp(millisecondsSince1970: start.millisecondsSince1970 + Int64(number / 2) * 86_400_000)?
                    .digits14
            }
            // Two at each moment, by either scheme.
            let records = times.enumerated().map { number, time in
                Record("\(number.isMultiple(of: 2) ? "http" : "https")://a.example/", "", timestamp: time)
            }
            let file = try server.folder.write(RecordedArchive(records).bytes(), to: "crawl.wacz")
            _ = try server.store.importFile(at: file)
            func list(_ query: String) async throws -> (times: [String], position: Int, total: Int, closest: String?) {
                let answer = try await server.ask("GET", "/api/archives/crawl/captures?url=http://a.example/\(query)")
                    .object()
                let captures = try #require(answer["captures"] as? [[String: Any]])
                return (
                    captures.compactMap { $0["timestamp"] as? String }, try #require(answer["position"] as? Int),
                    try #require(answer["total"] as? Int),
                    (answer["closest"] as? [String: Any])?["timestamp"] as? String
                )
            }
            var (forward, backward): ([String], [String]) = ([], [])
            var page = try await list("&limit=37")
            while !page.times.isEmpty {
                #expect(page.position == forward.count && page.total == 1000 && page.closest == nil)
                forward += page.times
                page = try await list("&limit=37&after=\(forward.last ?? "")")
            }
            page = try await list("&limit=41&closest=")
            while !page.times.isEmpty {
                #expect(page.position + page.times.count + backward.count == 1000)
                backward = page.times + backward
                page = try await list("&limit=41&before=\(backward.first ?? "")")
            }
            #expect(forward == times)
            #expect(backward == times)
            let middle = try await list("&closest=\(times[500])&limit=10")
            #expect(middle.closest == times[500])
            #expect(middle.times == Array(times[496..<506]) && middle.position == 496, "a moment stays whole")
            #expect(try await list("&closest=2099").closest == times[999])
            #expect(try await list("&closest=1999&limit=3").position == 0)
            for query in ["closest=x", "before=", "after=20241", "after=99", "closest=2024&after=2024"] {
                let answer = try await server.ask("GET", "/api/archives/crawl/captures?url=http://a.example/&\(query)")
                #expect(answer.status == (query == "after=20241" ? 200 : 400), "\(query)")
            }
        }
    }

    @Test func capturesOfFormsAreListed() async throws {
        try await withServer { server in
            let posted = Record("http://a.example/form", "", timestamp: "20240101000000").with {
                $0.key = "example,a)/form?__wb_method=post&q=1"
                $0.index += ",\"method\":\"POST\",\"requestBody\":\"q=1\""
            }
            let file = try server.folder.write(RecordedArchive([posted]).bytes(), to: "crawl.wacz")
            _ = try server.store.importFile(at: file)
            let answer = try await server.ask("GET", "/api/archives/crawl/captures?url=http://a.example/form&closest=")
                .object()
            #expect(answer["total"] as? Int == 1)
            #expect((answer["closest"] as? [String: Any])?["timestamp"] as? String == "20240101000000")
            #expect(try await server.ask("GET", "/c/crawl/http://a.example/form").status == 404)
        }
    }
}
