import Foundation
import TestSupport
import Testing

@testable import ReplayServer

/// What pages of other sites and archives get, and learn.
struct OtherSitesTests {
    /// Paths with `ID`, for an archive that the library has and for one that it doesn't have.
    private static let pathsWithID = [
        "/archives/ID.wacz", "/c/ID/2024/http://a.example/", "/c/ID/cdx?url=a.example", "/api/archives/ID",
        "/api/archives/ID/thumbnail", "/pdf/c/ID/2024/http://a.example/", "/ID", "/app/ID.js",
        "/?archive=/archives/ID.wacz", "/stock?source=/archives/ID.wacz", "/opensearch.xml?ID",
    ]
    private static let replayPaths = [
        "/", "/clear", "/mark", "/sw.js", "/engine.js", "/archives/ID.wacz",
        "/ID-000000000000/2024mp_/http://a.example/",
        "/c/ID/2024/http://a.example/", "/none", "/api/health",
    ]

    /// Neither the response nor its time tells another site whether there is an archive: nothing is looked up.
    @Test(arguments: ["cross-site", "same-site"])
    func otherSitesGetOneAnswerWhateverIsThere(site: String) async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "reef1")
            let another = "http://\(server.host(of: "other"))/"
            let requests = [
                ("navigate", "document", nil), ("navigate", "iframe", another), ("no-cors", "image", nil),
                ("cors", "empty", another),
            ]
            for (mode, destination, referrer) in requests {
                let fields =
                    [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", destination)]
                    + (referrer.map { [("Referer", $0)] } ?? [])
                func described(_ path: String, _ id: String, at host: String) async throws -> [String] {
                    let target = path.replacingOccurrences(of: "ID", with: id)
                    let answer = try await server.ask("GET", target, host: host, fields)
                    let lines = answer.fields.map { "\($0.name): \($0.value)" }.filter {
                        !$0.hasPrefix("Date: ") && !$0.hasPrefix("date: ")
                    }
                    return (["\(answer.status)"] + lines + [answer.text])
                        .map { $0.replacingOccurrences(of: id, with: "ID") }
                }
                for path in Self.pathsWithID {
                    for name in ["localhost", "127.0.0.1", "replayhost.localhost"] {
                        let host = "\(name):\(server.port)"
                        let place = Comment(rawValue: "\(host) \(path) \(mode) \(destination)")
                        let found = try await described(path, "reef1", at: host)
                        #expect(try await described(path, "reef2", at: host) == found, place)
                        let isRedirect = name == "127.0.0.1" && found.first == "307"
                        let isApp = path.hasPrefix("/?") && site == "same-site" && destination == "document"
                        #expect(found.first == (isRedirect ? "307" : isApp ? "200" : "403"), place)
                    }
                }
                for path in Self.replayPaths {
                    let place = Comment(rawValue: "\(path) \(mode) \(destination)")
                    let found = try await described(path, "reef1", at: server.host(of: "reef1"))
                    #expect(try await described(path, "reef2", at: server.host(of: "reef2")) == found, place)
                    #expect(found.first == "403", place)
                }
            }
            let health = try await server.ask("GET", "/api/health", [("Sec-Fetch-Site", site)])
            #expect(health.status == 200)
        }
    }

    /// The viewer opens it on another host, without a referrer. Only the library can have it in a frame.
    @Test func pageForPrintingOpensInAFrameOfTheLibrary() async throws {
        try await withServer { server in
            let fields = [
                ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe"),
            ]
            let answer = try await server.ask("GET", "/print", host: "127.0.0.1:\(server.port)", fields)
            #expect(answer.status == 200)
            #expect(answer["content-security-policy"]?.contains("frame-ancestors http://localhost:") == true)
        }
    }

    @Test func otherSitesLearnNothingFromOpenedWindows() async throws {
        try await withServer { server in
            try await server.place(patternBytes(10), as: "file")
            let elsewhere = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")]
            for id in ["file", "none"] {
                for (host, target) in [
                    (server.host, "/archives/\(id).wacz"), (server.host, "/c/\(id)/2024/http://a.example/"),
                    (server.host, "/\(id)"), (server.host(of: id), "/"), (server.host(of: id), "/archives/\(id).wacz"),
                ] {
                    let answer = try await server.ask("GET", target, host: host, elsewhere)
                    #expect(answer["cross-origin-opener-policy"] == "same-origin", "\(host)\(target)")
                    // A file would be a download, which doesn't change the window.
                    if target.hasPrefix("/archives/"), host == server.host { #expect(answer.status == 403) }
                }
            }
            let own = [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Mode", "navigate")]
            #expect(try await server.ask("GET", "/archives/file.wacz", own).status == 200)
        }
    }
}
