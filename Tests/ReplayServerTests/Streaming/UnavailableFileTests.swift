import ArchiveStore
import Foundation
import TestSupport
import Testing

/// Requests for linked files that are unavailable or changed.
struct UnavailableFileTests {
    /// Not 503 on the replay origin, because the engine would retry for minutes.
    @Test func unavailableOrChangedFileIsReportedOnAllOrigins() async throws {
        try await withServer { server in
            let file = try server.folder.write(GeneratedArchive().bytes(), to: "tide.wacz")
            _ = try server.store.importLink(to: file)
            let away = file + ".away"
            func statuses() async throws -> [Int] {
                var statuses: [Int] = []
                for host in [server.host, server.host(of: "tide")] {
                    for method in ["HEAD", "GET"] {
                        statuses.append(try await server.ask(method, "/archives/tide.wacz", host: host).status)
                    }
                }
                return statuses
            }
            #expect(try await statuses() == [200, 200, 200, 200])
            try FileManager.default.moveItem(atPath: file, toPath: away)
            #expect(try await statuses() == [503, 503, 404, 404])
            let answer = try await server.ask("GET", "/archives/tide.wacz", host: server.host(of: "tide"))
            #expect(answer.text.contains("can't find the linked file"))
            #expect(answer["Replayhost-Error"] == "archive-unavailable")
            #expect(!answer.text.contains(server.folder.path))
            try FileManager.default.moveItem(atPath: away, toPath: file)
            #expect(try await statuses() == [200, 200, 200, 200])
            let longer = try contents(of: file) + [0]
            try Data(longer).write(to: URL(fileURLWithPath: file))
            #expect(try await statuses() == [409, 409, 409, 409])
            let changed = try await server.ask("HEAD", "/archives/tide.wacz", host: server.host(of: "tide"))
            #expect(changed["Replayhost-Error"] == "archive-changed")
            // An origin reports nothing about other archives' files.
            try await server.place(patternBytes(10), as: "other")
            #expect(try await server.ask("GET", "/archives/tide.wacz", host: server.host(of: "other")).status == 404)
            #expect(try await server.ask("DELETE", "/archives/tide.wacz", host: server.host(of: "tide")).status == 405)
        }
    }

    /// For a page that was opened before the file was replaced, or before a linked file was hashed.
    @Test func anotherVersionIsReportedAsReplaced() async throws {
        try await withServer { server in
            let file = try server.folder.write(GeneratedArchive().bytes(), to: "tide.wacz")
            _ = try server.store.importLink(to: file)
            let target = "/archives/tide.wacz?version=1-1&view=replay"
            let answer = try await server.ask("HEAD", target, host: server.host(of: "tide"))
            #expect(answer.status == 404)
            #expect(answer["Replayhost-Error"] == "another-file")
        }
    }

    @Test func collectionOriginServesNoFile() async throws {
        try await withServer { server in
            // The archive `coast` was imported under the name that is the collection's id.
            try await server.place(patternBytes(10), as: "coast", originalName: "tide.wacz")
            let (coast, tide) = (try #require(ArchiveID("coast")), try #require(ArchiveID("tide")))
            _ = try server.store.collections.make(id: tide, title: "Tide", members: [coast])
            let host = server.host(of: "tide")
            let boot = try await server.ask("GET", "/", host: host)
            #expect(boot.status == 200)
            #expect(boot.text.contains("\"title\":\"Tide\"") && !boot.text.contains("\"source\""))
            for name in ["tide", "coast"] {
                #expect(try await server.ask("GET", "/archives/\(name).wacz", host: host).status == 404)
            }
            #expect(try await server.ask("GET", "/archives/tide.wacz").status == 200)
        }
    }
}
