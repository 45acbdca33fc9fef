package import ArchiveStore
public import Foundation
import Logging
import ReplayServer
import Synchronization

/// A store of web archives and the server that replays them, inside of your program.
///
/// ```swift
/// let host = try ReplayHost(configuration: .init(storeFolder: folder, assetsFolder: www))
/// try await host.start()
/// let archives = try await host.importArchive(file)
/// webView.load(URLRequest(url: try host.replayURL(for: archives[0].id)))
/// ```
///
/// The server listens on `127.0.0.1` and `::1`, never on another address. It can be stopped and started again, on the same port, as
/// often as needed: pages that are open go on.
public final class ReplayHost: Sendable {
    /// The version of this library and of the program `replayhost`.
    public static let version = "0.1.0"

    /// As it was made.
    public let configuration: Configuration
    package let store: ArchiveStore
    private let assets: Assets
    private let state = Mutex(State())
    private let turns = Turns()
    private let blocking = BlockingWork()

    private struct State {
        var running: Running?
        /// The port of the last start: later ones take the same.
        var port: Int?
        /// The same at each start, so that a page that is open may go on changing things.
        var token: String?
    }

    private struct Running {
        let server: ReplayServer
        /// `nil` for a store that can only be read: several servers may serve it.
        let serverFile: ServerFile?
    }

    /// Opens the store, makes it when it is not there, and completes or undoes what a killed process left behind.
    ///
    /// - Throws: `ReplayHostError`, for example `store-unusable`.
    public convenience init(configuration: Configuration) throws(ReplayHostError) {
        self.init(
            configuration: configuration,
            store: try ReplayHostError.inWords {
                let store = try ArchiveStore(at: configuration.storeFolder.path)
                if !store.isReadOnly { try store.repair() }
                return store
            })
    }

    package init(configuration: Configuration, store: ArchiveStore) {
        self.configuration = configuration
        self.store = store
        assets = Assets(folder: configuration.assetsFolder.path)
    }

    // MARK: The server

    /// Starts to answer. When it runs already, nothing happens.
    ///
    /// After a `stop` the same port is taken again, also where any was to be had at first.
    ///
    /// - Throws: `ReplayHostError`: `store-locked` when another server runs on the store, `port-in-use`, `port-unavailable`,
    ///   `users-unknown` when the system can't tell whose connection it is (Linux).
    @discardableResult
    public func start() async throws(ReplayHostError) -> Addresses {
        try await turns.take { [self] () async throws(ReplayHostError) -> Addresses in
            if let running = state.withLock(\.running) { return addresses(of: running.server) }
            do {
                return try await startServer()
            } catch {
                throw ReplayHostError(error)
            }
        }
    }

    private func startServer() async throws -> Addresses {
        // That another server runs on the store is said first, also when it has the port as well.
        let serverFile = store.isReadOnly ? nil : try ServerFile(layout: store.layout)
        do {
            let (former, token) = state.withLock { ($0.port, $0.token) }
            let port = try takePort(former)
            let server = ReplayServer(
                store: store, assets: assets, port: port.number, origins: configuration.origins.policy, token: token,
                version: Self.version, users: configuration.allowedUsers.identifiers, logger: configuration.logger)
            let number = port.number
            if !store.isReadOnly, configuration.origins != .names { try store.ports.keepLibrary(number) }
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

    private func takePort(_ former: Int?) throws -> LoopbackPort {
        if former == nil, !configuration.inheritedSockets.isEmpty {
            return try LoopbackPort(inheriting: configuration.inheritedSockets)
        }
        switch configuration.port {
        case .fixed(let number): return try LoopbackPort(taking: number)
        case .any: return try former.map { try LoopbackPort(taking: $0) } ?? LoopbackPort.any()
        }
    }

    /// Stops to answer; what listens is closed when this returns. When it does not run, nothing happens.
    ///
    /// - Parameter grace: How long answers that are under way may still take; `nil` for as long as they move.
    public func stop(within grace: Duration? = .seconds(2)) async {
        await turns.take { [self] () async throws(Never) in
            guard let running = state.withLock(\.running) else { return }
            await running.server.stop(within: grace)
            running.serverFile?.remove()
            state.withLock { $0.running = nil }
        }
    }

    /// Where the server answers; `nil` while it does not run.
    public var addresses: Addresses? { state.withLock(\.running).map { addresses(of: $0.server) } }

    private func addresses(of server: ReplayServer) -> Addresses {
        Addresses(library: Self.url(server.address), port: server.port)
    }

    /// Whether the replay engine is among the assets: without it archives can be kept and listed, not visited.
    public var hasEngine: Bool { ((try? assets.engine()) ?? nil) != nil }

    // MARK: Archives

    /// Copies a WACZ file into the store, checks it and makes it replayable. A file that is there already is no error, and changes
    /// nothing. Works while the server runs, and while it does not.
    ///
    /// - Parameters:
    ///   - file: Stays as it is.
    ///   - title: What people call it; `nil` for what the file says of itself.
    ///   - progress: Called now and then, from another thread.
    /// - Returns: What the store has then: one archive, or those that a package of several holds.
    /// - Throws: `ReplayHostError`: `archive-refused` when it cannot be replayed or is an attack, `no-space`, `not-found`, `failed`;
    ///   `interrupted` when the task was cancelled, which leaves nothing behind.
    @discardableResult
    public func importArchive(
        _ file: URL, title: String? = nil, progress: @escaping @Sendable (ImportProgress) -> Void = { _ in }
    ) async throws(ReplayHostError) -> [HostedArchive] {
        do {
            return try await blocking.long { [store] isCancelled in
                let result = try store.jobs.importAny(at: file.path, options: ImportOptions(title: title)) { step in
                    if isCancelled() {
                        throw StoreError(.interrupted, "interrupted; nothing of it was kept", place: file.path)
                    }
                    progress(ImportProgress(step))
                }
                switch result {
                case .archive(let outcome): return [HostedArchive(outcome.archive, in: store)]
                case .package(let outcome): return outcome.members.map { HostedArchive($0.archive, in: store) }
                }
            }
        } catch {
            throw ReplayHostError(error)
        }
    }

    /// What is in the store, newest first.
    public var archives: [HostedArchive] {
        get async throws(ReplayHostError) {
            do {
                return try await blocking.long { [store] in try store.archives().map(HostedArchive.init) }
            } catch {
                throw ReplayHostError(error)
            }
        }
    }

    /// Takes an archive out of the store. The file that it was imported from is not touched.
    ///
    /// - Throws: `ReplayHostError` `not-found`.
    public func removeArchive(_ id: HostedArchive.ID) async throws(ReplayHostError) {
        do {
            try await blocking.long { [self] in
                guard case .archive(let archive) = try known(id) else {
                    throw StoreError(.notFound, "no archive has the id \"\(id)\"")
                }
                try store.remove(archive.id)
            }
        } catch {
            throw ReplayHostError(error)
        }
    }

    /// Where an archive (or a collection of archives) is looked at, in a web view or a browser.
    ///
    /// - Parameters:
    ///   - id: Of an archive or a collection.
    ///   - page: The address of a page as it was captured; `nil` for the archive's own choice.
    ///   - timestamp: Of the capture wanted, 4 to 17 digits; `nil` for the latest.
    /// - Returns: An address of the library's own origin, `http://localhost:PORT/…`.
    /// - Throws: `ReplayHostError` `not-found`; `not-running` before the first start, when nobody knows the port yet.
    public func replayURL(
        for id: HostedArchive.ID, page: String? = nil, timestamp: String? = nil
    ) throws(ReplayHostError) -> URL {
        let replayable = try ReplayHostError.inWords { try known(id) }
        guard let port = state.withLock(\.port) ?? configuration.port.number else {
            throw ReplayHostError(
                code: "not-running", what: "the server was not started yet, so that its port is not known")
        }
        let hosts = HostPolicy(port: port, origins: configuration.origins.policy)
        let path = ViewerAddress.path(of: replayable, url: page, timestamp: timestamp ?? "")
        return Self.url(hosts.controlOrigins[0] + path)
    }

    private func known(_ id: String) throws -> Replayable {
        guard let replayable = try ArchiveID(id).flatMap({ try store.resolver.replayable(id: $0) }) else {
            throw StoreError(.notFound, "no archive and no collection has the id \"\(id)\"")
        }
        return replayable
    }

    /// Every address that is made here is one.
    private static func url(_ text: String) -> URL {
        guard let url = URL(string: text) else { preconditionFailure("\(text) is no address") }
        return url
    }
}

/// One after the other, in the order in which they came.
private actor Turns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take<Value: Sendable, Failure: Error>(
        _ body: @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if isTaken { await withCheckedContinuation { waiting.append($0) } }
        isTaken = true
        defer {
            if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
        }
        return try await body()
    }
}
