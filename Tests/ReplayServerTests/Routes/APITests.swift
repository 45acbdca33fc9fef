import ArchiveStore
import Foundation
import TestSupport
import Testing

/// `/api`, as documented in docs/json.md.
struct APITests {
    private func json(_ answer: HTTPAnswer) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    }

    private func errorCode(_ answer: HTTPAnswer) throws -> String {
        let error = try #require(try json(answer)["error"] as? [String: Any])
        #expect((error["what"] as? String)?.isEmpty == false)
        return try #require(error["code"] as? String)
    }

    private static let upload = ("Content-Type", "application/wacz")

    @Test func healthReportsVersionAndEngine() async throws {
        try await withServer { server in
            let health = try json(try await server.ask("GET", "/api/health"))
            #expect(Set(health.keys) == ["status", "version", "engine", "stockUI", "capture"])
            #expect(health["capture"] is NSNull)
            #expect(health["status"] as? String == "ok")
            #expect(health["version"] as? String == "9.8.7")
            let engine = try #require(health["engine"] as? [String: String])
            #expect(engine["name"] == "wabac.js")
            #expect(engine["version"] == "1.2.3")
            // The installed file counts, not what engine.json claims.
            #expect(engine["sha256"] == (try await sha256ByOpenSSL(server.assets.path("vendor/sw.js"))))
        }
    }

    @Test(arguments: [
        "q=tidepool&lang=%22", "q=tidepool&lang=%00", "q=tidepool&site=%22,%00", "q=lang%3A%00+tidepool",
        "q=tidepool&lang=%22+OR+%22tidepool",
    ])
    func filterWithSyntaxFindsNothing(query: String) async throws {
        try await withServer(
            prepare: { store, _ in
                _ = try store.importFile(at: Checkout.fixture("sample.wacz"))
                try store.jobs.queueTexts()
                let runner = JobRunner(store)
                while try runner.runNext() != nil {}
            }
        ) { server in
            let known = try json(try await server.ask("GET", "/api/search?q=tidepool"))
            #expect((known["total"] as? Int ?? 0) > 0)
            let answer = try await server.ask("GET", "/api/search?\(query)&facets=true")
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try json(answer)["total"] as? Int == 0)
        }
    }

    @Test func uploadBecomesArchiveOnce() async throws {
        try await withServer { server in
            let file = try contents(of: Checkout.fixture("sample.wacz"))
            let fields = server.authority + [Self.upload]
            let first = try await server.ask("POST", "/api/archives?name=My%20Crawl.wacz", fields, body: file)
            #expect(first.status == 201)
            let answer = try json(first)
            #expect(answer["duplicate"] as? Bool == false)
            let archive = try #require(answer["archive"] as? [String: Any])
            #expect(archive["id"] as? String == "my-crawl")
            #expect(archive["originalName"] as? String == "My Crawl.wacz")
            #expect(archive["sha256"] as? String == (try await sha256ByOpenSSL(Checkout.fixture("sample.wacz"))))
            #expect(archive["size"] as? Int == file.count)
            #expect(archive["replayOrigin"] as? String == "http://my-crawl.replayhost.localhost:\(server.port)")
            #expect(archive["file"] as? String == "/archives/my-crawl.wacz")

            let second = try await server.ask("POST", "/api/archives?name=other.wacz", fields, body: file)
            #expect(second.status == 200)
            #expect(try json(second)["duplicate"] as? Bool == true)
            let list = try json(try await server.ask("GET", "/api/archives"))
            #expect((list["archives"] as? [[String: Any]])?.map { $0["id"] as? String } == ["my-crawl"])
            #expect(try await server.ask("GET", "/archives/my-crawl.wacz").body == file)
            // A job that indexes its text has a file there.
            let isEmpty = try await eventually { names(in: server.store.layout.incoming).isEmpty }
            #expect(isEmpty)
        }
    }

    /// Compares responses with the fixture's description, Fixtures/site/sample.json.
    @Test func archiveHasPagesAndCaptures() async throws {
        try await withServer(prepare: { store, _ in
            _ = try store.importFile(at: Checkout.fixture("sample.wacz"))
        }) { server in
            let one = try json(try await server.ask("GET", "/api/archives/sample"))
            #expect(one["findings"] is [Any])
            #expect(one["verification"] as? String == "not-verified")
            let inList = try json(try await server.ask("GET", "/api/archives"))
            let listed = try #require((inList["archives"] as? [[String: Any]])?.first)
            #expect(Set(one.keys).symmetricDifference(listed.keys) == ["findings", "collections"])
            #expect(try await server.ask("GET", "/api/archives/none").status == 404)

            let all = try json(try await server.ask("GET", "/api/archives/sample/pages"))
            let pages = try #require(all["pages"] as? [[String: Any]])
            #expect(all["total"] as? Int == pages.count)
            #expect(pages.map { $0["position"] as? Int } == Array(0..<pages.count))
            #expect(pages.count == one["pageCount"] as? Int)
            let urls = pages.compactMap { $0["url"] as? String }

            let some = try json(try await server.ask("GET", "/api/archives/sample/pages?offset=2&limit=3"))
            #expect((some["pages"] as? [[String: Any]])?.compactMap { $0["url"] as? String } == Array(urls[2..<5]))
            #expect(some["total"] as? Int == pages.count)
            let beyond = try json(try await server.ask("GET", "/api/archives/sample/pages?offset=2147483647"))
            #expect((beyond["pages"] as? [Any])?.isEmpty == true)

            let crab = try json(try await server.ask("GET", "/api/archives/sample/pages?q=shore%20CRAB"))
            let found = try #require(crab["pages"] as? [[String: Any]])
            #expect(!found.isEmpty && found.count < pages.count)
            for page in found {
                let text = "\(page["title"] ?? "") \(page["url"] ?? "")".lowercased()
                #expect(text.contains("shore") && text.contains("crab"))
            }
            for (query, text) in [("%25", "%"), ("_", "_"), ("%5C", "\\"), ("100%25", "100%"), ("'", "'")] {
                let answer = try json(try await server.ask("GET", "/api/archives/sample/pages?q=\(query)"))
                let expected = pages.filter { "\($0["title"] ?? "") \($0["url"] ?? "")".contains(text) }.count
                #expect(answer["total"] as? Int == expected, "\(text) is no wildcard")
                #expect(expected < pages.count)
            }

            let main = try #require((one["mainPage"] as? [String: Any])?["url"] as? String)
            let twice = try json(try await server.ask("GET", "/api/archives/sample/captures?url=\(main)"))
            let captures = try #require(twice["captures"] as? [[String: Any]])
            #expect(captures.count == 2, "Fixtures/README.md: two captures of the main page")
            let times = captures.compactMap { $0["timestamp"] as? String }
            #expect(times == times.sorted())
            #expect(captures.allSatisfy { $0["url"] as? String == main && $0["status"] as? Int == 200 })
            let secure = main.replacingOccurrences(of: "http://", with: "https://")
            #expect(try await server.ask("GET", "/api/archives/sample/captures?url=\(secure)").body.count > 20)
            let one1 = try json(try await server.ask("GET", "/api/archives/sample/captures?url=\(main)&limit=1"))
            #expect((one1["captures"] as? [Any])?.count == 1)
            let never = try json(try await server.ask("GET", "/api/archives/sample/captures?url=http://never.example/"))
            #expect((never["captures"] as? [Any])?.isEmpty == true)
        }
    }

    @Test(arguments: [
        ("pages?offset=-1", "offset"), ("pages?offset=x", "offset"), ("pages?offset=99999999999999999999", "offset"),
        ("pages?offset=", "offset"), ("pages?limit=0", "limit"), ("pages?limit=1001", "limit"),
        ("pages?limit=1.5", "limit"),
        ("captures", "url"), ("captures?url=", "url"), ("captures?url=http://a.example/&limit=-1", "limit"),
        ("explain", "url"), ("explain?url=", "url"), ("explain?url=http://a.example/&ts=noon", "ts"),
    ])
    func invalidNumbersAreReported(query: String, parameter: String) async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let answer = try await server.ask("GET", "/api/archives/file/\(query)")
            #expect(answer.status == 400)
            #expect(try errorCode(answer) == "bad-parameter")
            #expect(answer.text.contains("the parameter \(parameter) "))
        }
    }

    @Test func changesRequireOriginAndToken() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let (origin, token) = (server.origin, server.token)
            let other = "http://replayhost.localhost:\(server.port)"
            let archive = "http://file.replayhost.localhost:\(server.port)"
            let refused: [[(String, String)]] = [
                [], [("Origin", origin)], [("Replayhost-Token", token)],
                [("Origin", origin), ("Replayhost-Token", "")],
                [("Origin", origin), ("Replayhost-Token", String(token.dropLast()))],
                [("Origin", origin), ("Replayhost-Token", token + "0")],
                [("Origin", origin), ("Replayhost-Token", String(token.reversed()))],
                [("Origin", origin), ("Replayhost-Token", token.uppercased() + " ")],
                [("Origin", other), ("Replayhost-Token", token)], [("Origin", archive), ("Replayhost-Token", token)],
                [("Origin", "null"), ("Replayhost-Token", token)],
                [("Origin", "http://evil.example"), ("Replayhost-Token", token)],
                [("Origin", "https://\(server.host)"), ("Replayhost-Token", token)],
                [("Origin", origin + "/"), ("Replayhost-Token", token)],
                [("Origin", origin), ("Replayhost-Token", token), ("Sec-Fetch-Site", "cross-site")],
                [("Origin", origin), ("Replayhost-Token", token), ("Sec-Fetch-Site", "same-site")],
            ]
            for fields in refused {
                let name = Comment(rawValue: "\(fields)")
                let removal = try await server.ask("DELETE", "/api/archives/file", fields)
                #expect(removal.status == 403, name)
                #expect(try errorCode(removal) == "forbidden", name)
                let upload = try await server.ask("POST", "/api/archives", fields + [Self.upload], body: [1, 2, 3])
                #expect(upload.status == 403, name)
            }
            #expect(try await server.ask("GET", "/archives/file.wacz").status == 200)
            // A job that indexes its text has a file there.
            let isEmpty = try await eventually { names(in: server.store.layout.incoming).isEmpty }
            #expect(isEmpty)
            // The other control origin is allowed to, in a request to itself.
            let fields = [("Origin", other), ("Replayhost-Token", token), ("Sec-Fetch-Site", "same-origin")]
            let host = "replayhost.localhost:\(server.port)"
            #expect(try await server.ask("DELETE", "/api/archives/file", host: host, fields).status == 204)
            #expect(try await server.ask("DELETE", "/api/archives/file", host: host, fields).status == 404)
            #expect(try await server.ask("GET", "/archives/file.wacz").status == 404)
            #expect(names(in: server.store.layout.files).isEmpty)
        }
    }

    @Test func otherSitesCannotReadTheAPI() async throws {
        try await withServer { server in
            for site in ["cross-site", "same-site"] {
                let list = try await server.ask("GET", "/api/archives", [("Sec-Fetch-Site", site)])
                #expect(list.status == 403)
                let health = try await server.ask("GET", "/api/health", [("Sec-Fetch-Site", site)])
                #expect(health.status == 200)
            }
            for site in ["same-origin", "none"] {
                #expect(try await server.ask("GET", "/api/archives", [("Sec-Fetch-Site", site)]).status == 200)
            }
        }
    }

    @Test func invalidUploadIsRefusedWithMessage() async throws {
        try await withServer { server in
            let authority = server.authority
            let good = try contents(of: Checkout.fixture("second.wacz"))
            for type in [
                "application/zip", "application/octet-stream", "text/plain", "multipart/form-data; boundary=x",
            ] {
                let answer = try await server.ask(
                    "POST", "/api/archives", authority + [("Content-Type", type)], body: good)
                #expect(answer.status == 415)
                #expect(try errorCode(answer) == "bad-type")
            }
            let (port, host) = (server.port, server.host)
            let withoutLength = try await onThread {
                let connection = try HTTPConnection(port: port)
                try connection.send(
                    request(
                        "POST", "/api/archives", host: host,
                        authority + [Self.upload, ("Transfer-Encoding", "chunked")])
                        + Array("0\r\n\r\n".utf8))
                return try connection.readAnswer()
            }
            #expect(withoutLength.status == 411)
            let absurd = try await onThread {
                let connection = try HTTPConnection(port: port)
                let fields = authority + [Self.upload, ("Content-Length", "9000000000000000000")]
                try connection.send(request("POST", "/api/archives", host: host, fields))
                return try connection.readAnswer()
            }
            #expect(absurd.status == 507)
            #expect(try errorCode(absurd) == "no-space")
            #expect(!absurd.text.contains(server.folder.path))
            // A job that indexes its text has a file there.
            let isEmpty = try await eventually { names(in: server.store.layout.incoming).isEmpty }
            #expect(isEmpty)
            #expect(names(in: server.store.layout.files).isEmpty)
        }
    }

    @Test(arguments: ["truncated", "not-a-zip", "encrypted", "nul-name", "multi-wacz"])
    func damagedUploadIsRefusedWithMessage(name: String) async throws {
        try await withServer { server in
            let file = try contents(of: Checkout.fixture("damaged/\(name).wacz"))
            let answer = try await server.ask(
                "POST", "/api/archives?name=\(name).wacz", server.authority + [Self.upload], body: file)
            #expect(answer.status == 422)
            #expect(try errorCode(answer) == "archive-refused")
            let error = try #require(try json(answer)["error"] as? [String: Any])
            #expect((error["where"] as? String)?.contains("\(name).wacz") == true)
            #expect(!answer.text.contains(server.folder.path))
            // The owner's file is deleted a moment after the response.
            let incoming = server.store.layout.incoming
            #expect(try await eventually { names(in: incoming).isEmpty })
            #expect(names(in: server.store.layout.files).isEmpty)
            #expect(try server.store.archives().isEmpty)
        }
    }

    @Test func interruptedUploadLeavesNothing() async throws {
        try await withServer { server in
            let file = try contents(of: Checkout.fixture("sample.wacz"))
            let (port, host, authority) = (server.port, server.host, server.authority)
            let incoming = server.store.layout.incoming
            for isAbort in [false, true] {
                let sender = try await onThread { () -> Sender in
                    let connection = try HTTPConnection(port: port)
                    let head = request(
                        "POST", "/api/archives?name=cut.wacz", host: host,
                        authority + [Self.upload, ("Content-Length", "\(file.count)")])
                    try connection.send(head + file.prefix(100_000))
                    return Sender(connection)
                }
                #expect(try await eventually { !names(in: incoming).isEmpty }, "the upload has started")
                sender.end(isAbort: isAbort)
                #expect(try await eventually { names(in: incoming).isEmpty })
            }
            @Sendable func jobs() throws -> [Job] { try server.store.jobs.all(in: nil, limit: 10) }
            #expect(try await eventually { try jobs().map(\.state) == [.cancelled, .cancelled] })
            #expect(try jobs().map(\.reason) == ["nothing was added", "nothing was added"])
            #expect(names(in: server.store.layout.files).isEmpty)
            #expect(try server.store.archives().isEmpty)
            #expect(try await server.ask("GET", "/api/health").status == 200)
        }
    }

    /// A connection that can be closed from another thread.
    private final class Sender: @unchecked Sendable {
        private var connection: HTTPConnection?

        init(_ connection: HTTPConnection) { self.connection = connection }

        func end(isAbort: Bool) {
            if isAbort { connection?.abort() }
            connection = nil
        }
    }
}
