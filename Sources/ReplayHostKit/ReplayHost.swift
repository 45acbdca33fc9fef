package import ArchiveStore
public import Foundation
import Logging
import ReplayServer
import Synchronization

/// A library of web archives and a server that replays them.
///
/// ```swift
/// let host = try ReplayHost(configuration: .init(storeFolder: folder, assetsFolder: www))
/// try await host.start()
/// let archives = try await host.importArchive(file)
/// webView.load(URLRequest(url: try host.replayURL(for: archives[0].id)))
/// ```
///
/// The server listens on `127.0.0.1` and `::1` only. You can stop and start it as often as needed. It keeps its port,
/// so open pages keep working.
public final class ReplayHost: Sendable {
    /// The version of this library and of the program `replayhost`.
    public static let version = ArchiveStore.version

    /// The configuration that the host was created with.
    public let configuration: Configuration
    package let store: ArchiveStore
    private let assets: Assets
    private let state = Mutex(State())
    private let queue = SerialQueue()
    private let blocking = BlockingWork()

    private struct State {
        var running: Running?
        /// The port of the last start, which later starts use again.
        var port: Int?
        /// Kept across starts, so that open pages can still make changes.
        var token: String?
    }

    private struct Running {
        let server: ReplayServer
        /// `nil` for a read-only store, which several servers can use.
        let serverFile: ServerFile?
    }

    /// Opens the store. Creates it if necessary, and completes or undoes what a killed process left unfinished.
    ///
    /// - Throws: `ReplayHostError`, for example `store-unusable`.
    public convenience init(configuration: Configuration) throws(ReplayHostError) {
        self.init(
            configuration: configuration,
            store: try ReplayHostError.converting {
                let store = try ArchiveStore(at: configuration.storeFolder.path)
                if !store.isReadOnly { try store.repair() }
                return store
            })
    }

    package init(configuration: Configuration, store: ArchiveStore) {
        self.configuration = configuration
        var store = store
        store.readsPDFsWithoutSandbox = configuration.readsPDFsWithoutSandbox
        self.store = store
        assets = Assets(folder: configuration.assetsFolder.path)
    }

    // MARK: The server

    /// Starts the server. Does nothing if it is running.
    ///
    /// After a `stop`, it uses the same port again, even with `Port.any`.
    ///
    /// - Throws: `ReplayHostError`: `store-locked` if another server is using the store, `port-in-use`,
    ///   `port-unavailable`,
    ///   `users-unknown` if the system can't tell which user a connection comes from (Linux).
    @discardableResult
    public func start() async throws(ReplayHostError) -> Addresses {
        try await queue.run { [self] () async throws(ReplayHostError) -> Addresses in
            if let running = state.withLock(\.running) { return addresses(of: running.server) }
            do {
                return try await startServer()
            } catch {
                throw ReplayHostError(error)
            }
        }
    }

    private func startServer() async throws -> Addresses {
        // Lock the store first: if another server uses both the store and the port, report the store.
        let serverFile = store.isReadOnly ? nil : try ServerFile(layout: store.layout)
        do {
            let (former, token) = state.withLock { ($0.port, $0.token) }
            let port = try openPort(former)
            let server = ReplayServer(
                store: store, assets: assets, port: port.number, origins: configuration.origins.policy, token: token,
                version: Self.version, startCommand: configuration.startCommand, auditDays: configuration.auditDays,
                watched: configuration.watchedFolder.map {
                    WatchedFolder(path: $0.path, links: configuration.linksWatchedFiles)
                },
                users: configuration.allowedUsers.identifiers,
                logger: configuration.logger)
            let number = port.number
            if !store.isReadOnly, configuration.origins != .names { try store.ports.reserveForLibrary(number) }
            try serverFile?.write(
                ServerDescription(
                    address: server.address, port: number, pid: ProcessInfo.processInfo.processIdentifier,
                    token: server.token))
            try await server.start(on: port)
            state.withLock { state in
                state.running = Running(server: server, serverFile: serverFile)
                (state.port, state.token) = (number, server.token)
            }
            return addresses(of: server)
        } catch {
            serverFile?.remove()
            throw error
        }
    }

    private func openPort(_ former: Int?) throws -> LoopbackPort {
        if former == nil, !configuration.inheritedSockets.isEmpty {
            return try LoopbackPort(inheriting: configuration.inheritedSockets)
        }
        switch configuration.port {
        case .fixed(let number): return try LoopbackPort(taking: number)
        case .any: return try former.map { try LoopbackPort(taking: $0) } ?? LoopbackPort.any()
        }
    }

    /// Stops the server and closes its sockets. Does nothing if it isn't running.
    ///
    /// - Parameter grace: How long responses in progress may continue; `nil` for as long as they make progress.
    public func stop(within grace: Duration? = .seconds(2)) async {
        await queue.run { [self] () async throws(Never) in
            guard let running = state.withLock(\.running) else { return }
            await running.server.stop(within: grace)
            running.serverFile?.remove()
            state.withLock { $0.running = nil }
        }
    }

    /// The URL and the port of the server; `nil` if it isn't running.
    public var addresses: Addresses? { state.withLock(\.running).map { addresses(of: $0.server) } }

    private func addresses(of server: ReplayServer) -> Addresses {
        Addresses(library: Self.url(server.address), port: server.port)
    }

    /// Whether the replay engine is installed. Without it, archives can be managed but not replayed.
    public var hasEngine: Bool { ((try? assets.engine()) ?? nil) != nil }

    // MARK: Archives

    /// Imports a WACZ file: checks it and copies it to the store. If the store already has the file, returns the
    /// existing archive. The server needn't be running.
    ///
    /// - Parameters:
    ///   - file: The file, which isn't changed.
    ///   - title: A title; `nil` for the one in the file.
    ///   - progress: Called from time to time, on another thread.
    /// - Returns: The imported archive, or several for a multi-WACZ file.
    /// - Throws: `ReplayHostError`: `archive-refused` if the file can't be replayed or exceeds the limits, `no-space`,
    ///   `not-found`,
    ///   `failed`, `interrupted` if the task was cancelled, in which case nothing was added.
    @discardableResult
    public func importArchive(
        _ file: URL, title: String? = nil, progress: @escaping @Sendable (ImportProgress) -> Void = { _ in }
    ) async throws(ReplayHostError) -> [HostedArchive] {
        do {
            return try await blocking.long { [store] isCancelled in
                let result = try store.jobs.importAny(at: file.path, options: ImportOptions(title: title)) { step in
                    if isCancelled() {
                        throw StoreError(.interrupted, "cancelled; nothing was added", place: file.path)
                    }
                    progress(ImportProgress(step))
                }
                switch result {
                case .archive(let outcome): return [HostedArchive(outcome.archive, in: store)]
                case .multiWACZ(let outcome): return outcome.members.map { HostedArchive($0.archive, in: store) }
                }
            }
        } catch {
            throw ReplayHostError(error)
        }
    }

    /// Adds a WACZ file that stays where it is. Its text isn't indexed.
    ///
    /// - Returns: The archive's ID.
    /// - Throws: As `importArchive`.
    package func linkArchive(_ path: String) throws(ReplayHostError) -> HostedArchive.ID {
        try ReplayHostError.converting {
            let result = try store.jobs.importAny(at: path, mode: .link, options: ImportOptions(indexesText: false))
            guard case .archive(let outcome) = result else {
                throw StoreError(.refused, "this file has several archives", place: path)
            }
            return outcome.archive.id.text
        }
    }

    /// All archives in the store, newest import first.
    public var archives: [HostedArchive] {
        get async throws(ReplayHostError) {
            do {
                return try await blocking.long { [store] in try store.archives().map(HostedArchive.init) }
            } catch {
                throw ReplayHostError(error)
            }
        }
    }

    /// Removes an archive from the store. The file that it was imported from isn't deleted.
    ///
    /// - Throws: `ReplayHostError` `not-found`.
    public func removeArchive(_ id: HostedArchive.ID) async throws(ReplayHostError) {
        do {
            try await blocking.long { [self] in
                guard case .archive(let archive) = try find(id) else {
                    throw StoreError(.notFound, "no archive has the id \"\(id)\"")
                }
                try store.remove(archive.id)
            }
        } catch {
            throw ReplayHostError(error)
        }
    }

    /// Returns the URL that shows an archive or a collection in a web view or a browser.
    ///
    /// - Parameters:
    ///   - id: The id of an archive or a collection.
    ///   - page: The captured URL to open; `nil` for the main page.
    ///   - timestamp: The time of the capture, 4 to 17 digits; `nil` for the latest.
    /// - Returns: A URL on the library's origin, `http://localhost:PORT/…`.
    /// - Throws: `ReplayHostError`: `not-found`; `not-running` before the first start, when the port isn't known yet.
    public func replayURL(
        for id: HostedArchive.ID, page: String? = nil, timestamp: String? = nil
    ) throws(ReplayHostError) -> URL {
        let replayable = try ReplayHostError.converting { try find(id) }
        guard let port = state.withLock(\.port) ?? configuration.port.number else {
            throw ReplayHostError(
                code: "not-running", what: "the port isn't known yet because the server was never started",
                hint: "call start() first, or configure a fixed port")
        }
        let hosts = HostPolicy(port: port, origins: configuration.origins.policy)
        let path = ViewerAddress.path(of: replayable, url: page, timestamp: timestamp ?? "")
        return Self.url(hosts.controlOrigins[0] + path)
    }

    private func find(_ id: String) throws -> Replayable {
        guard let replayable = try ArchiveID(id).flatMap({ try store.resolver.replayable(id: $0) }) else {
            throw StoreError(.notFound, "no archive or collection has the id \"\(id)\"")
        }
        return replayable
    }

    /// Creates a URL from a text that is known to be valid.
    private static func url(_ text: String) -> URL {
        guard let url = URL(string: text) else { preconditionFailure("\(text) isn't a URL") }
        return url
    }
}
