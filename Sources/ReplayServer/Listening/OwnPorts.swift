import ArchiveStore
import HTTPTypes
import Logging

/// The ports on which archives and groups are replayed when each has one to itself: opened when somebody wants to look at it, closed
/// when nobody has for a while.
package actor OwnPorts {
    package struct Limits: Sendable {
        /// With more of them open, those that were used longest ago are closed, if nobody is connected to them.
        package var openMax = 100
        /// How long nobody was connected until one is closed.
        package var idle = Duration.seconds(15 * 60)
        /// How often that is looked at.
        package var pause = Duration.seconds(30)

        package init() {}
    }

    /// Starts to answer on a port, for what is replayed there alone.
    typealias Start = @Sendable (LoopbackPort, HostPolicy.OwnPort) async throws -> PortListener

    private struct Open {
        let port: Int
        let listener: PortListener
    }

    private let store: ArchiveStore
    private let blocking: BlockingReads
    private let limits: Limits
    private let logger: Logger
    private let start: Start
    private var open: [ArchiveID: Open] = [:]
    /// Those that are about to be opened: whoever asks meanwhile waits for the same.
    private var opening: [ArchiveID: OwnedWork<Int>] = [:]
    /// What a store that cannot be written would have been told.
    private var unwritten: [ArchiveID: Int] = [:]
    private var isStopped = false

    init(store: ArchiveStore, blocking: BlockingReads, limits: Limits, logger: Logger, start: @escaping Start) {
        self.store = store
        self.blocking = blocking
        self.limits = limits
        self.logger = logger
        self.start = start
    }

    /// Opens the port of an archive or a group, or leaves it open.
    ///
    /// - Returns: Its number: the one that the store keeps for it, or another when that belongs to another program now.
    /// - Throws: `ErrorResponse` `no-port`, `StoreError`.
    func port(for replayable: Replayable) async throws -> Int {
        let id = replayable.id
        if let known = open[id], known.port == unwritten[id] ?? replayable.port {
            known.listener.connections.touch()
            return known.port
        }
        if let other = opening[id] { return try await other.value }
        let work = OwnedWork { try await self.openPort(for: replayable) }
        opening[id] = work
        defer { opening[id] = nil }
        return try await work.value
    }

    private func openPort(for replayable: Replayable) async throws -> Int {
        guard !isStopped else { throw ErrorResponse.stopping }
        if let former = open.removeValue(forKey: replayable.id) { await former.listener.stop(within: .zero) }
        await makeRoom()
        let choices = try await blocking { [store] in try store.portChoices(for: replayable) }
        let own = unwritten[replayable.id] ?? choices.own
        for number in [own].compactMap({ $0 }) + choices.others {
            let port: LoopbackPort
            do {
                port = try LoopbackPort(taking: number)
            } catch let error where error is PortInUse || error is ListenFailure {
                logger.debug("a port is not to be had", metadata: ["port": "\(number)", "error": "\(error)"])
                continue
            }
            if number != own { try await keep(number, for: replayable) }
            let listener = try await start(port, HostPolicy.OwnPort(id: replayable.id, port: number))
            // The server may have stopped while the listener came up.
            guard !isStopped else {
                await listener.stop(within: .zero)
                throw ErrorResponse.stopping
            }
            open[replayable.id] = Open(port: number, listener: listener)
            await writeDown()
            return number
        }
        throw ErrorResponse(
            .serviceUnavailable, code: "no-port", "no port of this computer is free for this archive",
            hint: "run `replayhost serve --origins names`, which needs one port only")
    }

    private func keep(_ number: Int, for replayable: Replayable) async throws {
        let id = replayable.id
        if let former = replayable.port {
            logger.notice(
                "another program has the port of an archive, which gets another",
                metadata: ["archive": "\(id)", "port": "\(former)", "now": "\(number)"])
        }
        guard !store.isReadOnly else {
            unwritten[id] = number
            return
        }
        try await blocking.long { [store] in try store.keepPort(number, for: id) }
    }

    /// Closes those that were used longest ago until another one fits.
    private func makeRoom() async {
        let idle = open.compactMap { id, one in one.listener.connections.idleTime.map { (id, $0) } }
        for (id, _) in idle.sorted(by: { $0.1 > $1.1 }) where open.count >= limits.openMax { await close(id) }
    }

    /// For a server that comes after this one: pages that are open then go on.
    private func writeDown() async {
        guard !store.isReadOnly, !isStopped else { return }
        do {
            let ids = Array(open.keys)
            try await blocking.long { [store] in try store.keepOpenPorts(ids) }
        } catch {
            logger.error("which ports are open cannot be written down", metadata: ["error": "\(error)"])
        }
    }

    /// Opens what a server before this one had open.
    func reopen() async {
        do {
            for replayable in try await blocking({ [store] in try store.openPorts() }).prefix(limits.openMax) {
                _ = try await port(for: replayable)
            }
        } catch {
            logger.error("a port that was open cannot be opened again", metadata: ["error": "\(error)"])
        }
    }

    private func close(_ id: ArchiveID) async {
        guard let one = open.removeValue(forKey: id) else { return }
        logger.debug("a port is closed", metadata: ["archive": "\(id)", "port": "\(one.port)"])
        await one.listener.stop(within: .zero)
    }

    /// Closes what nobody uses, until the task is cancelled.
    func closeUnused() async {
        while (try? await Task.sleep(for: limits.pause)) != nil {
            let before = open.count
            for (id, one) in open {
                if let idle = one.listener.connections.idleTime, idle > limits.idle { await close(id) }
            }
            if open.count != before { await writeDown() }
        }
    }

    var count: Int { open.count }

    /// Closes all of them, for good.
    func stop(within grace: Duration?) async {
        isStopped = true
        let all = open.values
        open = [:]
        await withTaskGroup(of: Void.self) { group in
            for one in all { group.addTask { await one.listener.stop(within: grace) } }
        }
    }
}
