import Foundation
import Logging
import TestSupport

@testable import ArchiveStore
@testable import ReplayServer

/// A server that listens on real sockets while a test talks to it.
struct LiveServer: Sendable {
    let store: ArchiveStore
    let folder: TemporaryFolder
    let assets: TemporaryFolder
    let server: ReplayServer

    var port: Int { server.port }
    var token: String { server.token }
    /// The `Host` of the library.
    var host: String { "localhost:\(port)" }
    var origin: String { "http://\(host)" }

    func host(of id: String) -> String { "\(id).replayhost.localhost:\(port)" }

    /// Stops like SIGTERM does, finishing responses in progress.
    func stop() {
        Task { await server.stop(within: nil) }
    }

    /// Opens the replay port of an archive.
    func openReplayPort(_ id: String) async throws -> Int {
        let answer = try await ask("POST", "/api/archives/\(id)/origin", authority)
        let origin = try answer.object()["replayOrigin"] as? String
        guard let port = origin?.split(separator: ":").last.flatMap({ Int($0) }), answer.status == 200 else {
            throw HTTPConnectionError(description: "no port was opened: \(answer.status)")
        }
        return port
    }

    /// One request on a separate connection.
    func ask(
        _ method: String = "GET", _ target: String, host: String? = nil, _ fields: [(String, String)] = [],
        body: [UInt8] = [], isIPv6: Bool = false
    ) async throws -> HTTPAnswer {
        let (port, host) = (port, host ?? self.host)
        return try await onThread {
            try HTTPConnection(port: port, isIPv6: isIPv6).ask(method, target, host: host, fields, body: body)
        }
    }

    /// The fields that changes require.
    var authority: [(String, String)] { [("Origin", origin), ("Replayhost-Token", token)] }

    /// Waits until all archives are verified and no job is left. What the jobs find changes answers.
    func finishJobs() async throws {
        let isQuiet = try await eventually { [store] in
            try store.archives().allSatisfy { $0.archive.verified != nil }
                && store.jobs.all(in: [.waiting, .running], limit: 1).isEmpty
        }
        guard isQuiet else { throw HTTPConnectionError(description: "the jobs don't end") }
    }

    /// Puts a file with any content into the store, bypassing the import. Returns its path.
    @discardableResult
    func place(_ bytes: [UInt8], as id: String, originalName: String? = nil) async throws -> String {
        let copy = try folder.write(bytes, to: "bytes-of-\(id)")
        let key = try await sha256ByOpenSSL(copy)
        try FileManager.default.moveItem(atPath: copy, toPath: store.layout.file(key))
        guard let known = ArchiveID(id) else { throw HTTPConnectionError(description: "\(id) is no id") }
        let archive = Archive(
            key: key, id: known, sha256: key, size: UInt64(bytes.count), storage: .managed,
            entry: LibraryEntry(
                title: id, originalName: originalName ?? "\(id).wacz", source: "test",
                importedAt: Date(timeIntervalSince1970: 784_111_777)),
            summary: ArchiveSummary())
        try store.catalog.add(archive, findings: []) { _ in }
        return store.layout.file(key)
    }
}

/// Runs `body` with a server on free ports, then stops the server.
///
/// - Parameter prepare: Fills store and assets before the server starts.
func withServer(
    origins: HostPolicy.Origins = .auto, limits: ReplayPorts.Limits = ReplayPorts.Limits(),
    prepare: (ArchiveStore, TemporaryFolder) throws -> Void = { _, _ in },
    _ body: (LiveServer) async throws -> Void
) async throws {
    let (folder, assets) = (try TemporaryFolder(), try TemporaryFolder())
    try TestAssets.write(to: assets)
    let store = try ArchiveStore(at: folder.path("store"))
    try prepare(store, assets)
    let port = try LoopbackPort(taking: 0)
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let server = ReplayServer(
        store: store, assets: Assets(folder: assets.path), port: port.number, origins: origins, version: "9.8.7",
        startCommand: "replayhost serve --store '/a \"b\"'", limits: limits, logger: logger)
    try await server.start(on: port)
    do {
        try await body(LiveServer(store: store, folder: folder, assets: assets, server: server))
    } catch {
        await server.stop(within: .seconds(5))
        throw error
    }
    await server.stop(within: nil)
}

/// A minimal `www`, so that the tests don't need an installed engine.
enum TestAssets {
    static let index = """
        <!doctype html><meta name="replayhost-token" content="{{token}}">
        <meta name="replayhost-start" content="{{start}}">
        <meta name="replayhost-setup" content="{{setup}}">
        <script type="application/json" id="target">{{target}}</script>
        <meta name="replayhost-version" content="{{version}}">{{app}}<script src="/app/main.js"></script>{{/app}}

        """
    static let boot = """
        <!doctype html><style>p { color: red }</style><script type="application/json" id="boot">{{boot}}</script>
        <script type="module">
        {{app/texts.js}}
        {{replay/boot.js}}
        </script>

        """
    static let worker = "const { address, fields } = {{worker}};\n"

    static let engine = "self.addEventListener('fetch', () => {});\n"

    static func write(to folder: TemporaryFolder) throws {
        try folder.write(index, to: "index.html")
        try folder.write(boot, to: "replay/boot.html")
        try folder.write("export const a = 1;\n", to: "app/main.js")
        try folder.write("export const text = 1;", to: "app/texts.js")
        try folder.write("start();\n", to: "bundle/app.js")
        try folder.write("start(text);", to: "replay/boot.js")
        try folder.write("<!doctype html><script>print()</script>", to: "replay/print.html")
        try folder.write("<!doctype html><script>mark()</script>", to: "replay/mark.html")
        try folder.write("p { color: red }\n", to: "app/core/app.css")
        try folder.write("<!doctype html><title>API</title>", to: "app/api-docs.html")
        try folder.write("hidden", to: "app/.hidden.js")
        try folder.write("no type", to: "app/README")
        try folder.write(worker, to: "replay/sw.js")
        try folder.write(engine, to: "vendor/sw.js")
        try folder.write(
            "{\"name\":\"wabac.js\",\"version\":\"1.2.3\",\"sha256\":\"0\"}", to: "vendor/engine.json")
        try folder.write("notice", to: "vendor/NOTICE.txt")
    }
}

extension ArchiveStore {
    /// Imports a single archive.
    func importFile(
        at path: String, mode: ImportMode = .copy, options: ImportOptions = ImportOptions()
    ) throws -> ImportOutcome {
        let result = try withImporter(options, { _ in }, { try $0.importFile(at: path, mode: mode) })
        guard case .archive(let outcome) = result else { throw StoreError(.failed, "a package, not an archive") }
        return outcome
    }

    func importLink(to path: String) throws -> ImportOutcome { try importFile(at: path, mode: .link) }
}
