import ArchiveStore
import Foundation
import TestSupport
import Testing

/// Changing metadata of archives and collections with `/api`.
struct EditAPITests {
    @Test func archiveMetadataIsChanged() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let path = "/api/archives/file"
            try await server.finishJobs()
            let answer = try await server.ask(
                "PATCH", path,
                json: #"{"title":" A new\nname ","tags":["sea"," sea ","","Küste, West"],"notes":"one\n\ntwo"}"#)
            #expect(answer.status == 200)
            let archive = try answer.object()
            #expect(archive["title"] as? String == "A new name")
            #expect(archive["tags"] as? [String] == ["sea", "Küste, West"])
            #expect(archive["notes"] as? String == "one\n\ntwo")
            #expect(archive["findings"] is [Any])
            let again = try await server.ask("GET", path).object()
            #expect(NSDictionary(dictionary: again) == NSDictionary(dictionary: archive))

            // Absent keys and null leave a field unchanged.
            let part = try await server.ask("PATCH", path, json: #"{"tags":[],"notes":null}"#).object()
            #expect(part["title"] as? String == "A new name")
            #expect(part["tags"] as? [String] == [])
            #expect(part["notes"] as? String == "one\n\ntwo")
            let nothing = try await server.ask("PATCH", path, json: "{}")
            #expect(NSDictionary(dictionary: try nothing.object()) == NSDictionary(dictionary: part))
            #expect(try await server.ask("PATCH", "/api/archives/none", json: "{}").errorCode() == "not-found")
        }
    }

    @Test(arguments: [
        ("", "the body isn't valid JSON"), ("{", "the body isn't valid JSON"), ("[]", "the body isn't a JSON object"),
        (#"{"title":3}"#, "the value of title "), (#"{"tags":"sea"}"#, "the value of tags "),
        (#"{"tags":["a",null]}"#, "the value of tags[1] "),
        (#"{"title":"\#(String(repeating: "x", count: 1025))"}"#, "1024"),
        (#"{"title":" \n "}"#, "the title is empty"),
    ])
    func invalidMetadataIsRefusedWithMessage(body: String, message: String) async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let answer = try await server.ask("PATCH", "/api/archives/file", json: body)
            #expect(answer.status == 400)
            #expect(["bad-body", "invalid-metadata"].contains(try answer.errorCode()))
            #expect(answer.text.contains(message), "\(answer.text)")
            #expect(try server.store.archive(named: "file")?.title == "file")
        }
    }

    @Test func bodyTypeAndSizeAreChecked() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let body = Array(#"{"title":"changed"}"#.utf8)
            for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
                let fields = server.authority + [("Content-Type", type)]
                let answer = try await server.ask("PATCH", "/api/archives/file", fields, body: body)
                #expect(answer.status == 415, "\(type)")
                #expect(try answer.errorCode() == "bad-type")
            }
            let large = #"{"notes":"\#(String(repeating: "n", count: 1 << 20))"}"#
            let answer = try await server.ask("PATCH", "/api/archives/file", json: large)
            #expect(answer.status == 413)
            #expect(try answer.errorCode() == "body-too-large")
            let kept = try server.store.archive(named: "file")
            #expect(kept?.title == "file" && kept?.notes == "")
            let fields = server.authority + [("Content-Type", "Application/JSON; charset=utf-8")]
            #expect(try await server.ask("PATCH", "/api/archives/file", fields, body: body).status == 200)
        }
    }

    @Test func everyChangeRequiresOriginAndToken() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let id = try #require(ArchiveID("file"))
            _ = try server.store.collections.make(title: "Collection", members: [id])
            let type = ("Content-Type", "application/json")
            let (origin, token) = (("Origin", server.origin), ("Replayhost-Token", server.token))
            let archive = ("Origin", "http://file.replayhost.localhost:\(server.port)")
            for fields in [[type], [type, origin], [type, token], [type, archive, token]] {
                for (method, path) in [
                    ("PATCH", "/api/archives/file"), ("POST", "/api/collections"),
                    ("PATCH", "/api/collections/collection"),
                    ("DELETE", "/api/collections/collection"),
                ] {
                    let body = Array(#"{"title":"changed","members":[]}"#.utf8)
                    let answer = try await server.ask(method, path, fields, body: body)
                    #expect(answer.status == 403, "\(method) \(path) \(fields)")
                    #expect(try answer.errorCode() == "forbidden")
                }
            }
            #expect(try server.store.collections.details().map(\.collection.title) == ["Collection"])
            #expect(try server.store.archive(named: "file")?.title == "file")
            // Replay origins don't have these routes.
            let host = server.host(of: "collection")
            #expect(try await server.ask("GET", "/api/collections", host: host).status == 404)
        }
    }
}
