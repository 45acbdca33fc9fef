import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import ReplayServer

/// Replay ports of archives.
struct ReplayPortTests {
    /// A library of two archives and a collection of both. The files differ each time, because identical ones would use
    /// the same ports.
    private static func fill(_ store: ArchiveStore, _ folder: TemporaryFolder) throws {
        for name in ["one", "other"] {
            let file = try folder.write(
                GeneratedArchive(title: "\(name) of \(folder.path)").bytes(), to: "\(name).wacz")
            _ = try store.importFile(at: file)
        }
        let ids = ["one", "other"].compactMap { ArchiveID($0) }
        _ = try store.collections.make(id: ArchiveID("both"), title: "Both", members: ids)
    }

    private func withPorts(
        origins: HostPolicy.Origins = .ports, limits: ReplayPorts.Limits = ReplayPorts.Limits(),
        _ body: (LiveServer) async throws -> Void
    ) async throws {
        try await withServer(origins: origins, limits: limits, prepare: Self.fill, body)
    }

    private func ask(_ path: String, port: Int, host: String? = nil, isIPv6: Bool = false) async throws -> HTTPAnswer {
        try await onThread {
            try HTTPConnection(port: port, isIPv6: isIPv6).ask("GET", path, host: host ?? "localhost:\(port)")
        }
    }

    /// Waits until the port is free, without connecting to it, because that would count as use.
    private func expectClosed(_ port: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let isClosed = try await eventually { (try? LoopbackPort(taking: port)) != nil }
        #expect(isClosed, sourceLocation: sourceLocation)
    }

    @Test func archiveIsOnlyOnItsPort() async throws {
        try await withPorts { server in
            #expect(try await server.ask("GET", "/api/archives/one").object()["replayOrigin"] == nil)
            let port = try await server.openReplayPort("one")
            #expect(try await server.openReplayPort("one") == port)
            let listed = try await server.ask("GET", "/api/archives/one").object()
            #expect(listed["replayOrigin"] as? String == "http://localhost:\(port)")
            for isIPv6 in [false, true] {
                #expect(try await ask("/", port: port, isIPv6: isIPv6).status == 200)
            }
            #expect(try await ask("/sw.js", port: port).status == 200)
            #expect(try await ask("/archives/one.wacz", port: port).status == 200)
            // No other archive, no library, no API.
            for path in [
                "/archives/other.wacz", "/c/other/cdx?url=*", "/c/all/cdx?url=*", "/api/archives", "/api/health",
                "/index.html", "/app/main.js", "/other-0123456789ab/x",
            ] {
                #expect(try await ask(path, port: port).status == 404, "\(path)")
            }
        }
    }

    @Test(arguments: ["replayhost.localhost", "one.replayhost.localhost", "evil.example"])
    func otherHostsAreRefused(name: String) async throws {
        try await withPorts { server in
            let port = try await server.openReplayPort("one")
            #expect(try await ask("/", port: port, host: "\(name):\(port)").status == 421)
            #expect(try await ask("/archives/one.wacz", port: port, host: "\(name):\(port)").status == 421)
        }
    }

    @Test func ipAddressRedirectsToLocalhost() async throws {
        try await withPorts { server in
            let port = try await server.openReplayPort("one")
            for path in ["/x?y=1", "/archives/one.wacz", "/c/one/cdx?url=x"] {
                let answer = try await ask(path, port: port, host: "127.0.0.1:\(port)")
                #expect(answer.status == 307)
                #expect(answer["location"] == "http://localhost:\(port)\(path)")
            }
        }
    }

    @Test func namesAreRefusedInPortsMode() async throws {
        try await withPorts { server in
            for name in ["replayhost.localhost", "one.replayhost.localhost", "stock.replayhost.localhost"] {
                let answer = try await server.ask("GET", "/", host: "\(name):\(server.port)")
                #expect(answer.status == 421)
            }
        }
    }

    @Test func portsAreNotOpenedInNamesMode() async throws {
        try await withPorts(origins: .names) { server in
            let answer = try await server.ask("POST", "/api/archives/one/origin", server.authority)
            #expect(
                try answer.object()["replayOrigin"] as? String == "http://one.replayhost.localhost:\(server.port)")
        }
    }

    @Test func openingPortRequiresToken() async throws {
        try await withPorts { server in
            for fields in [[], [("Origin", server.origin)], [("Replayhost-Token", server.token)]] {
                #expect(try await server.ask("POST", "/api/archives/one/origin", fields).status == 403)
            }
            let own = try await server.openReplayPort("one")
            let foreign = [("Origin", "http://localhost:\(own)"), ("Replayhost-Token", server.token)]
            #expect(try await server.ask("POST", "/api/archives/other/origin", foreign).status == 403)
            #expect(try await server.ask("POST", "/api/archives/nobody/origin", server.authority).status == 404)
        }
    }

    /// A capture that is navigated to at the library is shown by the viewer, which opens the port.
    @Test func navigationToCaptureOpensViewer() async throws {
        try await withPorts { server in
            let answer = try await server.ask(
                "GET", "/c/one/20240102030405/https://example.org/a?b=1", [("Sec-Fetch-Mode", "navigate")])
            #expect(answer.status == 302)
            #expect(
                answer["location"]
                    == "\(server.origin)/?archive=/archives/one.wacz#url=https%3A%2F%2Fexample.org%2Fa%3Fb%3D1&ts=20240102030405"
            )
        }
    }

    @Test func collectionsHaveReplayPorts() async throws {
        try await withPorts { server in
            let answer = try await server.ask("POST", "/api/collections/both/origin", server.authority)
            let origin = try #require(try answer.object()["replayOrigin"] as? String)
            let port = try #require(origin.split(separator: ":").last.flatMap { Int($0) })
            #expect(try await ask("/", port: port).status == 200)
            #expect(try await ask("/archives/one.wacz", port: port).status == 404)
        }
    }

    @Test func stockInterfaceHasOwnPort() async throws {
        try await withServer(
            origins: .ports,
            prepare: { store, assets in
                try Self.fill(store, assets)
                for name in ["ui.js", "sw.js"] { try assets.write("\(name)", to: "vendor/stock/\(name)") }
            }
        ) { server in
            let answer = try await server.ask("GET", "/stock?source=/archives/one.wacz")
            #expect(answer.status == 307)
            let address = try #require(answer["location"].flatMap { URLComponents(string: $0) })
            let port = try #require(address.port)
            #expect(answer["location"] == "http://localhost:\(port)/?source=/archives/one.wacz")
            #expect(try await ask("/ui.js", port: port).text == "ui.js")
            #expect(try await ask("/archives/one.wacz", port: port).status == 200)
            #expect(try await ask("/archives/other.wacz", port: port).status == 200)
            #expect(try await ask("/api/archives", port: port).status == 404)
            let again = try await server.ask("GET", "/stock")
            #expect(again["location"] == "http://localhost:\(port)/")
            #expect(try await server.openReplayPort("one") != port)
        }
    }

    @Test func missingStockInterfaceIsReported() async throws {
        try await withPorts { server in
            let answer = try await server.ask("GET", "/stock")
            #expect(answer.status == 404)
        }
    }

    @Test func portUsedByAnotherProgramIsReplaced() async throws {
        // A free port in the range of archives.
        let found = Ports.range.shuffled().lazy.compactMap { try? LoopbackPort(taking: $0) }.first
        let taken = try #require(found)
        try await withServer(
            origins: .ports,
            prepare: { store, folder in
                try Self.fill(store, folder)
                try store.ports.assign(taken.number, to: try #require(ArchiveID("one")))
            }
        ) { server in
            let port = try await server.openReplayPort("one")
            #expect(port != taken.number)
            #expect(Ports.range.contains(port))
            #expect(try await ask("/", port: port).status == 200)
            #expect(try server.store.catalog.archive(id: try #require(ArchiveID("one")))?.port == port)
            let other = try await server.openReplayPort("other")
            #expect(other != taken.number && other != port)
        }
    }

    /// The new archive must not see data that the first one stored in the browser.
    @Test func newArchiveWithSameIDGetsNewPort() async throws {
        try await withPorts { server in
            let before = try await server.openReplayPort("one")
            let id = try #require(ArchiveID("one"))
            try server.store.remove(id)
            let answer = try await ask("/", port: before)
            #expect(answer.status == 404)
            #expect(answer["clear-site-data"] == "\"cache\", \"storage\"")
            let file = try server.folder.write(
                GeneratedArchive(title: "Another of \(server.folder.path)").bytes(), to: "new/one.wacz")
            #expect(try server.store.importFile(at: file).archive.id == id)
            for path in ["/", "/archives/one.wacz", "/c/one/cdx?url=*"] {
                let answer = try await ask(path, port: before)
                #expect(answer.status == 404, "\(path)")
            }
            #expect(try await server.openReplayPort("one") != before)
            try await expectClosed(before)
        }
    }

    @Test func idlePortIsClosedAndReopened() async throws {
        var limits = ReplayPorts.Limits()
        (limits.idle, limits.checkInterval) = (.milliseconds(200), .milliseconds(10))
        try await withPorts(limits: limits) { server in
            let port = try await server.openReplayPort("one")
            try await expectClosed(port)
            var wasConnected = false
            for _ in 0..<100 where !wasConnected {
                #expect(try await server.openReplayPort("one") == port)
                wasConnected = try await onThread {
                    func ask(_ connection: HTTPConnection) throws -> Int {
                        try connection.ask("GET", "/", host: "localhost:\(port)").status
                    }
                    // On a busy machine it may be closed again before the connection is there, or at the same moment.
                    guard let connection = try? HTTPConnection(port: port), (try? ask(connection)) == 200 else {
                        return false
                    }
                    // It stays open while there is a connection.
                    usleep(500_000)
                    let status = try ask(connection)
                    #expect(status == 200)
                    return true
                }
            }
            #expect(wasConnected)
        }
    }

    @Test func leastRecentlyUsedPortIsClosed() async throws {
        var limits = ReplayPorts.Limits()
        limits.openMax = 1
        try await withPorts(limits: limits) { server in
            let first = try await server.openReplayPort("one")
            _ = try await server.openReplayPort("other")
            try await expectClosed(first)
        }
    }
}
