import Foundation
import Logging
import ReplayHostKit
import Synchronization
import TestSupport
import Testing

/// ReplayHostKit as other programs use it.
struct ReplayHostTests {
    private struct Setting {
        let folder: TemporaryFolder
        var configuration: ReplayHost.Configuration

        init() throws {
            folder = try TemporaryFolder()
            for (name, text) in [
                ("index.html", "<!doctype html>library"),
                ("replay/boot.html", "<style>p{}</style><script type=\"module\">1</script>{{boot}}"),
                ("vendor/sw.js", "1"),
            ] { try folder.write(text, to: "www/\(name)") }
            configuration = ReplayHost.Configuration(
                storeFolder: URL(fileURLWithPath: folder.path("store")),
                assetsFolder: URL(fileURLWithPath: folder.path("www")),
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        }

        func archive(_ name: String, pages: Int = 3) throws -> URL {
            let pages = (0..<pages).map { GeneratedArchive.Page(url: "http://example.org/\($0)", title: "Page \($0)") }
            let bytes = GeneratedArchive(title: "\(name) of \(folder.path)", pages: pages).bytes()
            return URL(fileURLWithPath: try folder.write(bytes, to: "\(name).wacz"))
        }
    }

    private func status(_ path: String, port: Int) async throws -> Int {
        try await onThread { try HTTPConnection(port: port).ask("GET", path, host: "localhost:\(port)").status }
    }

    @Test func archiveIsImportedListedServedAndRemoved() async throws {
        let setting = try Setting()
        let host = try ReplayHost(configuration: setting.configuration)
        #expect(host.addresses == nil)
        // Before the first start: no server is needed.
        let steps = Steps()
        let imported = try await host.importArchive(setting.archive("one")) { steps.add($0) }
        #expect(imported.map(\.id) == ["one"])
        #expect(imported[0].pageCount == 3)
        #expect(imported[0].isAvailable)
        #expect(steps.all.contains { if case .copying(let done, _) = $0 { done > 0 } else { false } })
        #expect(try await host.archives == imported)

        let addresses = try await host.start()
        #expect(addresses.library.absoluteString == "http://localhost:\(addresses.port)")
        #expect(host.addresses == addresses)
        #expect(try await host.start() == addresses)
        #expect(try await status("/", port: addresses.port) == 200)
        #expect(try await status("/archives/one.wacz", port: addresses.port) == 200)

        try await host.removeArchive("one")
        #expect(try await host.archives.isEmpty)
        #expect(try await status("/archives/one.wacz", port: addresses.port) == 404)
        await host.stop()
        #expect(host.addresses == nil)
        #expect(try await becomesRefused(port: addresses.port))
    }

    @Test func sameFileIsSameArchive() async throws {
        let setting = try Setting()
        let host = try ReplayHost(configuration: setting.configuration)
        let file = try setting.archive("one")
        let first = try await host.importArchive(file, title: "Mine")
        #expect(try await host.importArchive(file).map(\.id) == first.map(\.id))
        #expect(try await host.archives.map(\.title) == ["Mine"])
    }

    /// URLs for browsers and web views, which `www/app/core/routes.js` parses.
    @Test func pageURLsAreOnLibraryOrigin() async throws {
        var setting = try Setting()
        setting.configuration.port = .fixed(8099)
        let host = try ReplayHost(configuration: setting.configuration)
        _ = try await host.importArchive(setting.archive("one"))
        #expect(try host.replayURL(for: "one").absoluteString == "http://localhost:8099/?archive=/archives/one.wacz")
        let page = try host.replayURL(for: "one", page: "https://example.org/ä?b=1&c#d", timestamp: "2024")
        #expect(
            page.absoluteString
                == "http://localhost:8099/?archive=/archives/one.wacz#url=https%3A%2F%2Fexample.org%2F%C3%A4%3Fb%3D1%26c%23d&ts=2024"
        )
        let error = #expect(throws: ReplayHostError.self) { try host.replayURL(for: "nobody") }
        #expect(error?.code == "not-found")
    }

    @Test func urlIsUnknownBeforeStartWithoutPort() async throws {
        let setting = try Setting()
        let host = try ReplayHost(configuration: setting.configuration)
        _ = try await host.importArchive(setting.archive("one"))
        let error = #expect(throws: ReplayHostError.self) { try host.replayURL(for: "one") }
        #expect(error?.code == "not-running")
    }

    /// An app that is suspended and comes back: the same port, the same token, and the same ports of archives.
    @Test func restartKeepsPort() async throws {
        var setting = try Setting()
        setting.configuration.origins = .ports
        let host = try ReplayHost(configuration: setting.configuration)
        _ = try await host.importArchive(setting.archive("one"))
        let port = try await host.start().port
        let own = try await openReplayPort("one", of: setting, port: port)
        for _ in 1...100 {
            // A client that keeps its connection open must not keep the port.
            let kept = try await onThread {
                let connection = try HTTPConnection(port: port)
                _ = try connection.ask("GET", "/api/health", host: "localhost:\(port)")
                return Kept(connection)
            }
            await host.stop()
            #expect(kept.isAtEnd)
            for port in [port, own] { #expect(try await becomesRefused(port: port)) }
            #expect(try await host.start().port == port)
            #expect(try await status("/", port: own) == 200)
        }
        await host.stop()
    }

    @Test func stalledDownloadDoesNotDelayStop() async throws {
        let setting = try Setting()
        let host = try ReplayHost(configuration: setting.configuration)
        _ = try await host.importArchive(setting.archive("large", pages: 20_000))
        let port = try await host.start().port
        let stuck = try await onThread {
            let connection = try HTTPConnection(port: port, receiveBuffer: 4096)
            try connection.send("GET /archives/large.wacz HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
            #expect(try connection.readAnswerHead().status == 200)
            return Kept(connection)
        }
        await host.stop(within: .milliseconds(100))
        #expect(try await becomesRefused(port: port))
        withExtendedLifetime(stuck) {}
    }

    /// A connection that is closed with an incomplete request gets no response, and only the connection ends.
    @Test func incompleteRequestDoesNotDelayStop() async throws {
        let setting = try Setting()
        let host = try ReplayHost(configuration: setting.configuration)
        let port = try await host.start().port
        let half = try await onThread {
            let connection = try HTTPConnection(port: port)
            _ = try connection.ask("GET", "/api/health", host: "localhost:\(port)")
            try connection.send("GET / HTTP/1.1\r\nHost: x\r\n")
            return Kept(connection)
        }
        await host.stop()
        #expect(half.isAtEnd)
        #expect(try await host.start().port == port)
        await host.stop()
    }

    /// Its pages would share the library's origin.
    @Test func libraryNeverUsesPortOfArchive() async throws {
        var setting = try Setting()
        setting.configuration.origins = .ports
        let host = try ReplayHost(configuration: setting.configuration)
        _ = try await host.importArchive(setting.archive("one"))
        let own = try await openReplayPort("one", of: setting, port: host.start().port)
        await host.stop()
        setting.configuration.port = .fixed(own)
        let error = await #expect(throws: ReplayHostError.self) {
            try await ReplayHost(configuration: setting.configuration).start()
        }
        #expect(error?.code == "taken")
    }

    @Test func twoHostsCannotShareStore() async throws {
        let setting = try Setting()
        let (one, other) = (
            try ReplayHost(configuration: setting.configuration), try ReplayHost(configuration: setting.configuration)
        )
        try await one.start()
        let error = await #expect(throws: ReplayHostError.self) { try await other.start() }
        #expect(error?.code == "store-locked")
        await one.stop()
        try await other.start()
        await other.stop()
    }

    @Test func portInUseIsReported() async throws {
        let used = try TakenPort(isIPv6: false)
        var setting = try Setting()
        setting.configuration.port = .fixed(used.port)
        let host = try ReplayHost(configuration: setting.configuration)
        let error = await #expect(throws: ReplayHostError.self) { try await host.start() }
        #expect(error?.code == "port-in-use")
        #expect(error?.hint != nil)
        // The failed attempt leaves no lock.
        setting.configuration.port = .any
        let second = try ReplayHost(configuration: setting.configuration)
        try await second.start()
        await second.stop()
    }

    @Test func invalidFileIsRefusedWithMessage() async throws {
        let setting = try Setting()
        let host = try ReplayHost(configuration: setting.configuration)
        let file = URL(fileURLWithPath: try setting.folder.write("no archive", to: "x.wacz"))
        let refused = await #expect(throws: ReplayHostError.self) { try await host.importArchive(file) }
        #expect(refused?.code == "archive-refused")
        let missing = await #expect(throws: ReplayHostError.self) {
            try await host.importArchive(URL(fileURLWithPath: setting.folder.path("nothing.wacz")))
        }
        #expect(missing?.code == "not-found")
        #expect(try await host.archives.isEmpty)
    }

    @Test func cancelledImportLeavesNothing() async throws {
        let setting = try Setting()
        let host = try ReplayHost(configuration: setting.configuration)
        let file = try setting.archive("large", pages: 20_000)
        let (isUnderWay, isCancelled) = (Flag(), Flag())
        try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                do throws(ReplayHostError) {
                    // Waits during progress until cancelled, so that it is always in the middle.
                    try await host.importArchive(file) { _ in
                        isUnderWay.raise()
                        while !isCancelled.isRaised { usleep(1000) }
                    }
                    return nil
                } catch {
                    return error.code
                }
            }
            let hasBegun = try await eventually(within: .seconds(60)) { isUnderWay.isRaised }
            group.cancelAll()
            isCancelled.raise()
            let code = try await group.next()
            #expect(hasBegun)
            #expect(code == "interrupted")
        }
        #expect(try await host.archives.isEmpty)
    }

    /// Like the library's page.
    private func openReplayPort(_ id: String, of setting: Setting, port: Int) async throws -> Int {
        struct Running: Decodable { let token: String }
        struct Origin: Decodable { let replayOrigin: String }
        let file = URL(fileURLWithPath: setting.folder.path("store/server.json"))
        let token = try JSONDecoder().decode(Running.self, from: Data(contentsOf: file)).token
        let answer = try await onThread {
            try HTTPConnection(port: port).ask(
                "POST", "/api/archives/\(id)/origin", host: "localhost:\(port)",
                [("Origin", "http://localhost:\(port)"), ("Replayhost-Token", token)])
        }
        let origin = try JSONDecoder().decode(Origin.self, from: Data(answer.body)).replayOrigin
        return try #require(origin.split(separator: ":").last.flatMap { Int($0) })
    }
}

private final class Steps: Sendable {
    private let steps = Mutex<[ReplayHost.ImportProgress]>([])

    var all: [ReplayHost.ImportProgress] { steps.withLock { $0 } }

    func add(_ step: ReplayHost.ImportProgress) { steps.withLock { $0.append(step) } }
}

private final class Flag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .sequentiallyConsistent) }

    func raise() { value.store(true, ordering: .sequentiallyConsistent) }
}

/// An open connection.
private final class Kept: Sendable {
    private let connection: Mutex<HTTPConnection>

    init(_ connection: sending HTTPConnection) { self.connection = Mutex(connection) }

    /// Whether the other side has closed it.
    var isAtEnd: Bool { connection.withLock { (try? $0.isAtEnd()) ?? true } }
}
