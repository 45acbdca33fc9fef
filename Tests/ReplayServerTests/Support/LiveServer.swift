import Foundation
import Logging
import ServiceLifecycle
import TestSupport

@testable import ArchiveStore
@testable import ReplayServer

/// A server that listens on real sockets while a test talks to it.
struct LiveServer: Sendable {
    let store: ArchiveStore
    let folder: TemporaryFolder
    let assets: TemporaryFolder
    let server: ReplayServer
    fileprivate let group: ServiceGroup

    var port: Int { server.port }
    var token: String { server.token }
    /// The `Host` of the library.
    var host: String { "localhost:\(port)" }
    var origin: String { "http://\(host)" }

    func host(of id: String) -> String { "\(id).replayhost.localhost:\(port)" }

    /// Stops as SIGTERM does: what is under way is finished.
    func stop() async { await group.triggerGracefulShutdown() }

    /// One request on a connection of its own.
    func ask(
        _ method: String = "GET", _ target: String, host: String? = nil, _ fields: [(String, String)] = [],
        body: [UInt8] = [], isIPv6: Bool = false
    ) async throws -> HTTPAnswer {
        let (port, host) = (port, host ?? self.host)
        return try await onThread {
            try HTTPConnection(port: port, isIPv6: isIPv6).ask(method, target, host: host, fields, body: body)
        }
    }

    /// What a change has to bring.
    var authority: [(String, String)] { [("Origin", origin), ("Replayhost-Token", token)] }

    /// Puts a file into the store that no import would take: any bytes, also none. Returns its path.
    @discardableResult
    func place(_ bytes: [UInt8], as id: String, originalName: String? = nil) async throws -> String {
        let copy = try folder.write(bytes, to: "bytes-of-\(id)")
        let key = try await sha256ByOpenSSL(copy)
        try FileManager.default.moveItem(atPath: copy, toPath: store.layout.file(key))
        guard let known = ArchiveID(id) else { throw HTTPConnectionError(description: "\(id) is no id") }
        let archive = Archive(
            key: key, id: known, title: id, sha256: key, size: UInt64(bytes.count),
            originalName: originalName ?? "\(id).wacz", source: "test",
            importedAt: Date(timeIntervalSince1970: 784_111_777), pageCount: 0, captureCount: 0,
            findingCounts: FindingCounts())
        try store.catalog.add(archive, findings: []) { _ in }
        return store.layout.file(key)
    }
}

/// Runs a server on free ports, hands it over, stops it, and waits until it has ended.
///
/// - Parameter prepare: Fills store and assets before the server starts.
func withServer(
    prepare: (ArchiveStore, TemporaryFolder) throws -> Void = { _, _ in },
    _ body: (LiveServer) async throws -> Void
) async throws {
    let (folder, assets) = (try TemporaryFolder(), try TemporaryFolder())
    try TestAssets.write(to: assets)
    let store = try ArchiveStore(at: folder.path("store"))
    try prepare(store, assets)
    var attempt = 0
    while true {
        do {
            return try await serve(store, folder, assets, body)
        } catch is LostPort where attempt < 5 {
            // Somebody else took the free port in the instant before the server did.
            attempt += 1
        }
    }
}

/// The server could not start to listen.
private struct LostPort: Error {}

private func serve(
    _ store: ArchiveStore, _ folder: TemporaryFolder, _ assets: TemporaryFolder,
    _ body: (LiveServer) async throws -> Void
) async throws {
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let server = try ReplayServer(
        store: store, assets: Assets(folder: assets.path), port: 0, version: "9.8.7", logger: logger)
    let (ready, announce) = AsyncStream<Bool>.makeStream()
    let services = server.services { announce.yield(true) }
    let group = ServiceGroup(
        configuration: ServiceGroupConfiguration(services: services.map { .init(service: $0) }, logger: logger))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask {
            defer { announce.yield(false) }
            try await group.run()
        }
        guard await ready.first(where: { _ in true }) == true else { throw LostPort() }
        do {
            try await body(LiveServer(store: store, folder: folder, assets: assets, server: server, group: group))
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
    }
}

/// A small `www` with something of each kind, so that the tests need no engine to be installed.
enum TestAssets {
    static let index = """
        <!doctype html><meta name="replayhost-token" content="{{token}}">
        <meta name="replayhost-version" content="{{version}}"><script src="/app/main.js"></script>

        """
    static let boot = """
        <!doctype html><style>p { color: red }</style><script type="application/json" id="boot">{{boot}}</script>
        <script>start()</script>

        """
    static let engine = "self.addEventListener('fetch', () => {});\n"

    static func write(to folder: TemporaryFolder) throws {
        try folder.write(index, to: "index.html")
        try folder.write(boot, to: "boot.html")
        try folder.write("export const a = 1;\n", to: "app/main.js")
        try folder.write("p { color: red }\n", to: "app/app.css")
        try folder.write("hidden", to: "app/.hidden.js")
        try folder.write("no type", to: "app/README")
        try folder.write(engine, to: "vendor/sw.js")
        try folder.write(
            "{\"name\":\"wabac.js\",\"version\":\"1.2.3\",\"sha256\":\"0\"}", to: "vendor/engine.json")
        try folder.write("notice", to: "vendor/NOTICE.txt")
    }
}
