import ArchiveStore
import Foundation
import TestSupport
import Testing

/// `/api/collections`, as documented in docs/json.md.
struct CollectionAPITests {
    /// Two archives of two pages each: `first` has `/0` and `/1`, `other` has `/1` and `/2`.
    private static func withTwoArchives(_ body: (LiveServer) async throws -> Void) async throws {
        try await withServer { server in
            for (name, numbers) in [("first", 0...1), ("other", 1...2)] {
                let pages = numbers.map {
                    GeneratedArchive.Page(url: "http://example.org/\($0)", title: "\(name) \($0)")
                }
                let bytes = GeneratedArchive(title: name, pages: pages, seed: UInt64(numbers.lowerBound)).bytes()
                let file = try server.folder.write(bytes, to: "\(name).wacz")
                _ = try server.store.importFile(at: file)
            }
            try await body(server)
        }
    }

    private func make(_ server: LiveServer, _ json: String) async throws -> [String: Any] {
        let answer = try await server.ask("POST", "/api/collections", json: json)
        #expect(answer.status == 201)
        return try answer.object()
    }

    private static let both = #"{"title": "Both of them", "members": ["other", "first"]}"#

    /// RFC 9110 §15.4.9: method and body stay the same.
    @Test func groupRequestsAreRedirected() async throws {
        try await Self.withTwoArchives { server in
            for (method, path) in [
                ("GET", ""), ("POST", ""), ("GET", "/both/captures?url=http://a.example/%20b"), ("PATCH", "/both"),
                ("DELETE", "/both"), ("GET", "/both/pages"), ("POST", "/both/origin"),
            ] {
                let answer = try await server.ask(method, "/api/groups\(path)", server.authority)
                #expect(answer.status == 308)
                #expect(answer["Location"] == "/api/collections\(path)")
            }
        }
    }

    @Test func collectionIsCreatedAndShownWithMembers() async throws {
        try await Self.withTwoArchives { server in
            try await server.finishJobs()
            let made = try await make(
                server,
                #"{"title":" Both ","members":["other","first","other"],"id":"pair","tags":["sea","sea"],"notes":"a\nb"}"#
            )
            #expect(
                Set(made.keys) == [
                    "id", "title", "tags", "notes", "members", "createdAt", "captureCount", "pageCount", "size",
                    "firstCapture", "lastCapture", "mainPage", "replayCollection", "replayOrigin", "availability",
                ])
            #expect(made["id"] as? String == "pair")
            #expect(made["title"] as? String == "Both")
            #expect(made["tags"] as? [String] == ["sea"])
            #expect(made["notes"] as? String == "a\nb")
            #expect(made["availability"] as? String == "available")
            #expect(made["replayOrigin"] as? String == "http://pair.replayhost.localhost:\(server.port)")
            #expect((made["replayCollection"] as? String)?.hasPrefix("pair-") == true)

            let archives = try #require(
                try await server.ask("GET", "/api/archives").object()["archives"] as? [[String: Any]])
            let members = try #require(made["members"] as? [[String: Any]])
            #expect(members.map { $0["id"] as? String } == ["other", "first"])
            for member in members {
                let listed = archives.first { $0["id"] as? String == member["id"] as? String }
                #expect(NSDictionary(dictionary: member) == NSDictionary(dictionary: try #require(listed)))
            }
            for key in ["captureCount", "pageCount", "size"] {
                #expect(made[key] as? Int == archives.compactMap { $0[key] as? Int }.reduce(0, +), "\(key)")
            }
            let times = archives.compactMap { $0["firstCapture"] as? String }
            #expect(made["firstCapture"] as? String == times.min())

            let again = try await server.ask("GET", "/api/collections/pair").object()
            #expect(NSDictionary(dictionary: again) == NSDictionary(dictionary: made))
            let collections =
                try await server.ask("GET", "/api/collections").object()["collections"] as? [[String: Any]]
            let listed = try #require(collections?.first)
            #expect(collections?.count == 1)
            #expect(listed["members"] as? [String] == ["other", "first"])
            #expect(Set(listed.keys) == Set(made.keys))
            let first = try await server.ask("GET", "/api/archives/first").object()
            #expect(first["collections"] as? [String] == ["pair"])
        }
    }

    @Test func pagesAreListedMemberByMember() async throws {
        try await Self.withTwoArchives { server in
            _ = try await make(server, Self.both)
            func pages(_ query: String) async throws -> (total: Int?, titles: [String], archives: [String]) {
                let answer = try await server.ask("GET", "/api/collections/both-of-them/pages\(query)").object()
                let pages = answer["pages"] as? [[String: Any]] ?? []
                return (
                    answer["total"] as? Int, pages.compactMap { $0["title"] as? String },
                    pages.compactMap { $0["archive"] as? String }
                )
            }
            let all = try await pages("")
            #expect(all.total == 4)
            #expect(all.titles == ["other 1", "other 2", "first 0", "first 1"])
            #expect(all.archives == ["other", "other", "first", "first"])
            let some = try await pages("?offset=1&limit=2")
            #expect(some.total == 4)
            #expect(some.titles == ["other 2", "first 0"])
            let ones = try await pages("?q=example.org%20/1")
            #expect(ones.total == 2)
            #expect(ones.titles == ["other 1", "first 1"])
            let none = try await pages("?q=%25")
            #expect(none.total == 0)
            #expect(
                try await server.ask("GET", "/api/collections/both-of-them/pages?limit=0").errorCode()
                    == "bad-parameter")
            #expect(try await server.ask("GET", "/api/collections/first/pages").status == 404)
            // A collection of other archives has none of these.
            _ = try await make(server, #"{"title":"Alone","members":["first"]}"#)
            let alone = try await server.ask("GET", "/api/collections/alone/pages").object()
            #expect(alone["total"] as? Int == 2)
        }
    }

    @Test func capturesOfAllMembersAreSortedByTime() async throws {
        try await withServer { server in
            typealias Record = RecordedArchive.Record
            let url = "http://a.example/page"
            for (name, times) in [("odd", ["2021", "2023"]), ("even", ["2022", "2024"])] {
                let records = times.map { Record(url, "", timestamp: "\($0)0101000000") }
                _ = try server.store.importFile(
                    at: try server.folder.write(RecordedArchive(records).bytes(), to: "\(name).wacz"))
            }
            _ = try await make(server, #"{"title":"Years","members":["odd","even"]}"#)
            let answer = try await server.ask("GET", "/api/collections/years/captures?url=\(url)&limit=3").object()
            let captures = try #require(answer["captures"] as? [[String: Any]])
            let times = captures.compactMap { ($0["timestamp"] as? String)?.prefix(4) }
            #expect(times == ["2021", "2022", "2023"])
            #expect(captures.compactMap { $0["archive"] as? String } == ["odd", "even", "odd"])
            let missing = try await server.ask("GET", "/api/collections/years/captures")
            #expect(try missing.errorCode() == "bad-parameter")
            let alone = try await server.ask("GET", "/api/archives/odd/captures?url=\(url)").object()
            #expect((alone["captures"] as? [[String: Any]])?.map { $0["archive"] == nil } == [true, true])
        }
    }

    @Test func collectionIsChangedAndDeletedAndArchivesStay() async throws {
        try await Self.withTwoArchives { server in
            _ = try await make(server, Self.both)
            let path = "/api/collections/both-of-them"
            let before = try await server.ask("GET", path).object()
            let words = try await server.ask("PATCH", path, json: #"{"title":"Pair","tags":["x","y"],"notes":"n"}"#)
            #expect(words.status == 200)
            let members = try await server.ask("PATCH", path, json: #"{"members":["first"]}"#)
            let after = try members.object()
            #expect(after["title"] as? String == "Pair")
            #expect(after["tags"] as? [String] == ["x", "y"])
            #expect(after["notes"] as? String == "n")
            #expect((after["members"] as? [[String: Any]])?.map { $0["id"] as? String } == ["first"])
            #expect(after["createdAt"] as? String == before["createdAt"] as? String)
            // The engine must not use what it stored for other files.
            #expect(after["replayCollection"] as? String != before["replayCollection"] as? String)

            #expect(try await server.ask("DELETE", path, server.authority).status == 204)
            #expect(try await server.ask("GET", path).status == 404)
            #expect(try await server.ask("DELETE", path, server.authority).status == 404)
            #expect(try await server.ask("PATCH", path, json: "{}").status == 404)
            let archives = try await server.ask("GET", "/api/archives").object()
            #expect((archives["archives"] as? [Any])?.count == 2)
        }
    }

    @Test(arguments: [
        (#"{"title":"T","members":["nobody"]}"#, 404, "not-found"),
        (#"{"title":"T","members":["No Body"]}"#, 404, "not-found"),
        (#"{"title":"T","members":["first"],"id":"other"}"#, 409, "taken"),
        (#"{"title":"T","members":["first"],"id":"Ill formed"}"#, 400, "bad-id"),
        (#"{"title":"T","members":["first"],"id":"api"}"#, 400, "bad-id"),
        (#"{"title":"  ","members":["first"]}"#, 400, "invalid-metadata"),
        (#"{"members":["first"]}"#, 400, "bad-body"), (#"{"title":"T"}"#, 400, "bad-body"),
        (#"{"title":"T","members":"first"}"#, 400, "bad-body"),
    ])
    func invalidCollectionIsRefused(json: String, status: Int, code: String) async throws {
        try await Self.withTwoArchives { server in
            let answer = try await server.ask("POST", "/api/collections", json: json)
            #expect(answer.status == status)
            #expect(try answer.errorCode() == code)
            #expect(try server.store.collections.details().isEmpty)
        }
    }

    @Test func collectionReportsAvailability() async throws {
        try await withServer { server in
            let page = GeneratedArchive.Page(url: "http://example.org/0")
            var paths: [String] = []
            for (name, seed) in [("first", UInt64(1)), ("other", 2)] {
                let path = try server.folder.write(
                    GeneratedArchive(pages: [page], seed: seed).bytes(), to: "\(name).wacz")
                paths.append(path)
                _ = try server.store.importLink(to: path)
            }
            _ = try await make(server, Self.both)
            let captures = "/api/collections/both-of-them/captures?url=http://example.org/0"
            func state() async throws -> (String?, Int) {
                let collection = try await server.ask("GET", "/api/collections/both-of-them").object()
                return (collection["availability"] as? String, try await server.ask("GET", captures).status)
            }
            #expect(try await state() == ("available", 200))
            try FileManager.default.moveItem(atPath: paths[0], toPath: paths[0] + ".away")
            #expect(try await state() == ("partly", 200))
            let left = try await server.ask("GET", captures).object()
            #expect((left["captures"] as? [[String: Any]])?.map { $0["archive"] as? String } == ["other"])
            try FileManager.default.moveItem(atPath: paths[1], toPath: paths[1] + ".away")
            #expect(try await state() == ("unavailable", 503))
            #expect(try await server.ask("GET", captures).errorCode() == "archive-unavailable")
            for path in paths { try FileManager.default.moveItem(atPath: path + ".away", toPath: path) }
            #expect(try await state() == ("available", 200))
        }
    }

    @Test func memberWithLostFileIsSkipped() async throws {
        try await Self.withTwoArchives { server in
            _ = try await make(server, Self.both)
            let lost = try #require(try server.store.archive(named: "other"))
            try FileManager.default.removeItem(atPath: server.store.layout.file(lost.key))
            let collection = try await server.ask("GET", "/api/collections/both-of-them").object()
            #expect(collection["availability"] as? String == "partly")
            let captures = try await server.ask(
                "GET", "/api/collections/both-of-them/captures?url=http://example.org/1")
            #expect(
                (try captures.object()["captures"] as? [[String: Any]])?.map { $0["archive"] as? String } == ["first"])
        }
    }
}
