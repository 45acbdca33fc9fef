import ArchiveStore
import Foundation
import TestSupport
import Testing

@testable import ReplayServer

/// `/api/events`, as documented in docs/json.md, through raw connections.
struct EventTests {
    @Test func importByAnotherProcessIsAnnounced() async throws {
        try await withServer { server in
            let (port, store) = (server.port, server.store)
            let file = try server.folder.write(GeneratedArchive().bytes(), to: "a.wacz")
            let (head, names, job) = try await onThread {
                let events = try EventConnection(port: port)
                let first = try #require(try events.next())
                // Another process changes the catalog without this server's store.
                _ = try ArchiveStore(at: store.layout.root).jobs.importAny(at: file)
                var names: [String] = []
                var last = first.object["revision"] as? Int ?? 0
                var job: [String: String] = [:]
                // Work in the background changes the archive later, which is announced too.
                while try !(names.contains("archives") && job["state"] == "done" && last == store.revision().archives) {
                    let event = try #require(try events.next())
                    names.append(event.name)
                    last = event.object["revision"] as? Int ?? last
                    if event.name == "job" {
                        job = ["state", "kind", "archive"].reduce(into: [:]) { $0[$1] = event.object[$1] as? String }
                    }
                }
                return (events.head, [first.name] + names, job)
            }
            #expect(head.status == 200)
            #expect(head["content-type"] == "text/event-stream")
            #expect(head["cache-control"] == "no-store")
            #expect(names.first == "archives")
            #expect(Set(names) == ["archives", "job"])
            #expect(job == ["state": "done", "kind": "import", "archive": "a"])
        }
    }

    @Test func reconnectingClientGetsMissedEvents() async throws {
        try await withServer { server in
            let (port, store) = (server.port, server.store)
            let (one, two) = (
                try server.folder.write(GeneratedArchive(seed: 1).bytes(), to: "one.wacz"),
                try server.folder.write(GeneratedArchive(seed: 2).bytes(), to: "two.wacz")
            )
            let missed = try await onThread {
                let events = try EventConnection(port: port)
                _ = try store.jobs.importAny(at: one)
                let isDone = { (event: EventConnection.Event) in event.object["state"] as? String == "done" }
                let last = try #require(try events.next(where: isDone)?.id)
                events.abort()
                _ = try store.jobs.importAny(at: two)
                let again = try EventConnection(port: port, lastID: last)
                let first = try #require(try again.next())
                let second = try #require(try again.next(where: { $0.object["kind"] as? String == "import" }))
                return [first.name, second.name, second.object["archive"] as? String ?? ""]
            }
            #expect(missed == ["archives", "job", "two"])
        }
    }

    @Test func invalidLastEventIDIsTolerated() async throws {
        try await withServer { server in
            let port = server.port
            for id in ["", "x", "1", "-1.-1", "1.2.3", "9223372036854775808.0", "999999.999999"] {
                let name = try await onThread { try EventConnection(port: port, lastID: id).next()?.name }
                #expect(name == "archives", "\(id)")
            }
        }
    }

    @Test func stopEndsStreamImmediately() async throws {
        try await withServer { server in
            let port = server.port
            let (began, told) = AsyncStream<Void>.makeStream()
            async let ended = onThread {
                let events = try EventConnection(port: port)
                _ = try events.next()
                told.yield()
                // The connection itself waits 30 seconds at most, and a comment would come after 15.
                return try events.next() == nil
            }
            _ = await began.first { true }
            server.stop()
            let wasEnded = try await ended
            #expect(wasEnded)
        }
    }

    @Test func listenersAreLimitedAndReleased() async throws {
        try await withServer { server in
            let port = server.port
            let (refused, last) = try await onThread {
                var listeners: [EventConnection] = []
                for _ in 0..<64 {
                    let listener = try EventConnection(port: port)
                    #expect(listener.head.status == 200)
                    _ = try listener.next()
                    listeners.append(listener)
                }
                let refused = try HTTPConnection(port: port).ask("GET", "/api/events", host: "localhost:\(port)")
                listeners[7].abort()
                var status = 503
                // The disconnect is noticed although nothing is sent.
                for _ in 0..<200 where status == 503 {
                    status = try EventConnection(port: port).head.status
                    usleep(20_000)
                }
                withExtendedLifetime(listeners) {}
                return (refused, status)
            }
            #expect(refused.status == 503)
            #expect(refused.text.contains("too-many-listeners"))
            #expect(last == 200)
        }
    }

    @Test func headRequestUsesNoListener() async throws {
        try await withServer { server in
            for _ in 0..<70 {
                let answer = try await server.ask("HEAD", "/api/events")
                #expect(answer.status == 200)
            }
        }
    }

    @Test func otherSitesCannotListen() async throws {
        try await withServer { server in
            let cross = try await server.ask("GET", "/api/events", [("Sec-Fetch-Site", "cross-site")])
            #expect(cross.status == 403)
            let archive = try await server.ask("GET", "/api/events", host: server.host(of: "a"))
            #expect(archive.status == 404)
        }
    }

    @Test(arguments: [("0.0", true), ("12.34", true), ("", false), ("1", false), ("1.", false), ("a.b", false)])
    func positionsAreParsed(text: String, isOne: Bool) {
        #expect((EventPosition(text) != nil) == isOne)
        if isOne { #expect(EventPosition(text)?.text == text) }
    }
}
