import ArchiveStore
import HTTPTypes
import Logging

/// The ports on which archives and collections (and the stock interface) are when each has one to itself: opened when somebody wants to look at it, closed
/// when nobody has for a while.
package actor ReplayPorts {
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
    typealias Start = @Sendable (LoopbackPort, HostPolicy.ReplayPort) async throws -> PortListener

    private struct Open {
        let port: Int
        let listener: PortListener
    }

    private let store: ArchiveStore
    private let blocking = BlockingWork()
    private let limits: Limits
    private let logger: Logger
    private let start: Start
    private var open: [HostPolicy.Tenant: Open] = [:]
    /// Those that are about to be opened: whoever asks meanwhile waits for the same.
    private var opening: [HostPolicy.Tenant: ManagedTask<Int>] = [:]
    /// Those that are about to be closed: their ports are ours until then.
    private var closing: [HostPolicy.Tenant: ManagedTask<Void>] = [:]
    /// What a store that cannot be written would have been told.
    private var unwritten: [HostPolicy.Tenant: Int] = [:]
    private var isStopped = false
    private var isReopening = false

    init(store: ArchiveStore, limits: Limits, logger: Logger, start: @escaping Start) {
        self.store = store
        self.limits = limits
        self.logger = logger
        self.start = start
    }

    /// Opens the port of an archive or a collection, or leaves it open.
    ///
    /// - Returns: Its number: the one that the store keeps for it, or another when that belongs to another program now.
    /// - Throws: `ErrorResponse` `no-port`, `StoreError`.
    func port(for replayable: Replayable) async throws -> Int {
        try await port(for: .archive(replayable.id), kept: replayable.port) { [store] in
            try store.ports.choices(for: replayable)
        }
    }

    /// Opens the port of the stock interface, or leaves it open.
    func stockPort() async throws -> Int {
        let choices = try await blocking { [store] in try store.ports.stockChoices() }
        return try await port(for: .stock, kept: choices.own) { choices }
    }

    private func port(
        for tenant: HostPolicy.Tenant, kept: Int?, choices: @escaping @Sendable () throws -> PortChoices
    ) async throws -> Int {
        if let known = open[tenant], known.port == unwritten[tenant] ?? kept {
            known.listener.connections.touch()
            return known.port
        }
        if let other = opening[tenant] { return try await other.value }
        let work = ManagedTask { try await self.openPort(for: tenant, kept: kept, choices: choices) }
        opening[tenant] = work
        defer { opening[tenant] = nil }
        return try await work.value
    }

    private func openPort(
        for tenant: HostPolicy.Tenant, kept: Int?, choices: @escaping @Sendable () throws -> PortChoices
    ) async throws -> Int {
        guard !isStopped else { throw ErrorResponse.stopping }
        await close(tenant)
        await closing[tenant]?.finish()
        await makeRoom()
        let choices = try await blocking(choices)
        let own = unwritten[tenant] ?? choices.own
        let others = choices.others.filter { !unwritten.values.contains($0) }
        for number in [own].compactMap({ $0 }) + others {
            let port: LoopbackPort
            do {
                port = try LoopbackPort(taking: number)
            } catch let error where error is PortInUse || error is ListenFailure {
                logger.debug("a port is not to be had", metadata: ["port": "\(number)", "error": "\(error)"])
                continue
            }
            if number != own { try await keep(number, for: tenant, former: kept) }
            let listener = try await start(
                port, HostPolicy.ReplayPort(tenant: tenant, port: number, isKept: !store.isReadOnly))
            // The server may have stopped while the listener came up.
            guard !isStopped else {
                await listener.stop(within: .zero)
                throw ErrorResponse.stopping
            }
            open[tenant] = Open(port: number, listener: listener)
            await writeDown()
            return number
        }
        throw ErrorResponse(
            .serviceUnavailable, code: "no-port", "no port of this computer is free for this archive",
            hint: "run `replayhost serve --origins names`, which needs one port only")
    }

    private func keep(_ number: Int, for tenant: HostPolicy.Tenant, former: Int?) async throws {
        if let former {
            logger.notice(
                "another program has the port of an archive, which gets another",
                metadata: ["archive": "\(tenant)", "port": "\(former)", "now": "\(number)"])
        }
        guard !store.isReadOnly else {
            unwritten[tenant] = number
            return
        }
        try await blocking.long { [store] in
            switch tenant {
            case .archive(let id): try store.ports.keep(number, for: id)
            case .stock: try store.ports.keepStock(number)
            }
        }
    }

    /// Closes those that were used longest ago until another one fits.
    private func makeRoom() async {
        let idle = open.compactMap { tenant, one in one.listener.connections.idleTime.map { (tenant, $0) } }
        for (tenant, _) in idle.sorted(by: { $0.1 > $1.1 }) where open.count >= limits.openMax {
            // Somebody may have come while another one was closed.
            if open[tenant]?.listener.connections.idleTime != nil { await close(tenant) }
        }
    }

    /// For a server that comes after this one: pages that are open then go on.
    private func writeDown() async {
        guard !store.isReadOnly, !isStopped, !isReopening else { return }
        do {
            let names = open.keys.map(\.description)
            try await blocking.long { [store] in try store.ports.keepOpen(names) }
        } catch {
            logger.error("which ports are open cannot be written down", metadata: ["error": "\(error)"])
        }
    }

    /// Opens what a server before this one had open.
    func reopen() async {
        do {
            for name in try await blocking({ [store] in try store.ports.open() }).prefix(limits.openMax) {
                isReopening = true
                await reopen(name)
            }
            isReopening = false
            await writeDown()
        } catch {
            logger.error("ports that were open cannot be opened again", metadata: ["error": "\(error)"])
        }
    }

    private func reopen(_ name: String) async {
        do {
            if name == HostPolicy.Tenant.stock.description {
                _ = try await stockPort()
                return
            }
            let found = try await blocking { [store] in
                try ArchiveID(name).flatMap { try store.resolver.replayable(id: $0) }
            }
            if let found, found.port != nil { _ = try await port(for: found) }
        } catch {
            logger.error(
                "a port that was open cannot be opened again", metadata: ["archive": "\(name)", "error": "\(error)"])
        }
    }

    private func close(_ tenant: HostPolicy.Tenant) async {
        guard let one = open.removeValue(forKey: tenant) else { return }
        logger.debug("a port is closed", metadata: ["archive": "\(tenant)", "port": "\(one.port)"])
        let work = ManagedTask { await one.listener.stop(within: .zero) }
        closing[tenant] = work
        await work.finish()
        closing[tenant] = nil
    }

    /// Closes what nobody uses, until the task is cancelled.
    func closeUnused() async {
        while (try? await Task.sleep(for: limits.pause)) != nil {
            let before = open.count
            for (tenant, one) in open {
                if let idle = one.listener.connections.idleTime, idle > limits.idle { await close(tenant) }
            }
            if open.count != before { await writeDown() }
        }
    }

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
