import ArchiveStore
import HTTPTypes
import Logging

/// The replay ports of archives, collections and the stock interface, in origin mode `ports`. They are opened on demand
/// and closed when idle.
package actor ReplayPorts {
    package struct Limits: Sendable {
        /// The number of open ports above which the least recently used idle ones are closed.
        package var openMax = 100
        /// The time without a connection after which a port is closed.
        package var idle = Duration.seconds(15 * 60)
        /// The interval of checks for idle ports.
        package var checkInterval = Duration.seconds(30)

        package init() {}
    }

    /// Starts serving a replay port.
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
    /// Ports that are being opened. Further requests wait for the same task.
    private var opening: [HostPolicy.Tenant: ManagedTask<Int>] = [:]
    /// Ports that are being closed and can't be reopened until then.
    private var closing: [HostPolicy.Tenant: ManagedTask<Void>] = [:]
    /// Ports that can't be recorded because the store is read-only.
    private var unwritten: [HostPolicy.Tenant: Int] = [:]
    private var isStopped = false
    private var isReopening = false

    init(store: ArchiveStore, limits: Limits, logger: Logger, start: @escaping Start) {
        self.store = store
        self.limits = limits
        self.logger = logger
        self.start = start
    }

    /// Opens the port of an archive or a collection, if it isn't open.
    ///
    /// - Returns: The port: the one in the store, or a new one if another program uses that.
    /// - Throws: `ErrorResponse` `no-port`, `StoreError`.
    func port(for replayable: Replayable) async throws -> Int {
        try await port(for: .archive(replayable.id), assigned: replayable.port) { [store] in
            try store.ports.choices(for: replayable)
        }
    }

    /// Opens the port of the stock interface, if it isn't open.
    func stockPort() async throws -> Int {
        let choices = try await blocking { [store] in try store.ports.stockChoices() }
        return try await port(for: .stock, assigned: choices.assigned) { choices }
    }

    private func port(
        for tenant: HostPolicy.Tenant, assigned: Int?, choices: @escaping @Sendable () throws -> PortChoices
    ) async throws -> Int {
        if let known = open[tenant], known.port == unwritten[tenant] ?? assigned {
            known.listener.connections.touch()
            return known.port
        }
        if let other = opening[tenant] { return try await other.value }
        let work = ManagedTask { try await self.openPort(for: tenant, assigned: assigned, choices: choices) }
        opening[tenant] = work
        defer { opening[tenant] = nil }
        return try await work.value
    }

    private func openPort(
        for tenant: HostPolicy.Tenant, assigned: Int?, choices: @escaping @Sendable () throws -> PortChoices
    ) async throws -> Int {
        guard !isStopped else { throw ErrorResponse.stopping }
        await close(tenant)
        await closing[tenant]?.finish()
        await makeRoom()
        let choices = try await blocking(choices)
        let current = unwritten[tenant] ?? choices.assigned
        let others = choices.others.filter { !unwritten.values.contains($0) }
        for number in [current].compactMap({ $0 }) + others {
            let port: LoopbackPort
            do {
                port = try LoopbackPort(taking: number)
            } catch let error where error is PortInUse || error is ListenFailure {
                logger.debug("port is not available", metadata: ["port": "\(number)", "error": "\(error)"])
                continue
            }
            if number != current { try await assign(number, to: tenant, former: assigned) }
            let listener = try await start(
                port, HostPolicy.ReplayPort(tenant: tenant, port: number, isKept: !store.isReadOnly))
            // The server may have been stopped meanwhile.
            guard !isStopped else {
                await listener.stop(within: .zero)
                throw ErrorResponse.stopping
            }
            open[tenant] = Open(port: number, listener: listener)
            await saveOpen()
            return number
        }
        throw ErrorResponse(
            .serviceUnavailable, code: "no-port", "no free port for this archive on this computer",
            hint: "run `replayhost serve --origins names`, which needs only one port")
    }

    private func assign(_ number: Int, to tenant: HostPolicy.Tenant, former: Int?) async throws {
        if let former {
            logger.notice(
                "archive gets a new port because another program uses the old one",
                metadata: ["archive": "\(tenant)", "port": "\(former)", "now": "\(number)"])
        }
        guard !store.isReadOnly else {
            unwritten[tenant] = number
            return
        }
        try await blocking.long { [store] in
            switch tenant {
            case .archive(let id): try store.ports.assign(number, to: id)
            case .stock: try store.ports.assignToStock(number)
            }
        }
    }

    /// Closes the least recently used ports until another one fits.
    private func makeRoom() async {
        let idle = open.compactMap { tenant, one in one.listener.connections.idleTime.map { (tenant, $0) } }
        for (tenant, _) in idle.sorted(by: { $0.1 > $1.1 }) where open.count >= limits.openMax {
            // It may have been used while another one was closed.
            if open[tenant]?.listener.connections.endIfIdle() == true { await close(tenant) }
        }
    }

    /// Saves which ports are open, so that the next server can reopen them and open pages keep working.
    private func saveOpen() async {
        guard !store.isReadOnly, !isStopped, !isReopening else { return }
        do {
            let names = open.keys.map(\.description)
            try await blocking.long { [store] in try store.ports.saveOpen(names) }
        } catch {
            logger.error("can't save the list of open ports", metadata: ["error": "\(error)"])
        }
    }

    /// Opens the ports that the previous server had open.
    func reopen() async {
        do {
            for name in try await blocking({ [store] in try store.ports.lastOpen() }).prefix(limits.openMax) {
                isReopening = true
                await reopen(name)
            }
            isReopening = false
            await saveOpen()
        } catch {
            logger.error("can't reopen ports", metadata: ["error": "\(error)"])
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
                "can't reopen port", metadata: ["archive": "\(name)", "error": "\(error)"])
        }
    }

    private func close(_ tenant: HostPolicy.Tenant) async {
        guard let one = open.removeValue(forKey: tenant) else { return }
        logger.debug("closed port", metadata: ["archive": "\(tenant)", "port": "\(one.port)"])
        let work = ManagedTask { await one.listener.stop(within: .zero) }
        closing[tenant] = work
        await work.finish()
        closing[tenant] = nil
    }

    /// Closes idle ports, until the task is cancelled.
    func closeUnused() async {
        while (try? await Task.sleep(for: limits.checkInterval)) != nil {
            let before = open.count
            for (tenant, one) in open {
                if one.listener.connections.endIfIdle(for: limits.idle) { await close(tenant) }
            }
            if open.count != before { await saveOpen() }
        }
    }

    /// Closes all ports permanently.
    func stop(within grace: Duration?) async {
        isStopped = true
        let all = open.values
        open = [:]
        await withTaskGroup(of: Void.self) { group in
            for one in all { group.addTask { await one.listener.stop(within: grace) } }
        }
    }
}
