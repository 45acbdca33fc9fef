package import ArchiveStore
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
package import ServiceLifecycle
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Puts the routes together, once, in order, and runs them on the loopback addresses.
package struct ReplayServer: Sendable {
    package let listeners: [Listener]
    /// What a request that changes something must bring in `Replayhost-Token`.
    package let token: String

    private let store: ArchiveStore
    private let logger: Logger
    private let site: Site
    private let stop = StopSignal()
    private let events = EventHub()
    private let threads = NIOThreadPool.singleton

    /// - Parameter port: 0 for any free one.
    /// - Throws: `PortInUse` or `ListenFailure`.
    package init(store: ArchiveStore, assets: Assets, port: Int, version: String, logger: Logger) throws {
        listeners = try Listener.plan(port: port)
        self.store = store
        self.logger = logger
        token = Self.randomToken()
        site = Site(
            store: store, assets: assets, hosts: listeners[0].hosts, token: token, version: version,
            blocking: BlockingReads(threads: threads))
    }

    /// Where people open it.
    package var address: String { site.hosts.controlOrigins[0] }

    package var port: Int { site.hosts.port }

    /// Every route, listed once, in order.
    private func responder() -> HostDispatch<some HTTPResponder<ConnectionContext>> {
        let router = Router(context: ConnectionContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ErrorsInOurWords())
        let api = APIRoutes(site: site)
        ControlRoutes(site: site).add(to: router)
        api.add(to: router, events: events)
        let captures = CaptureRoutes(site: site)
        return HostDispatch(
            site: site, control: router.buildResponder(), replay: ReplayRoutes(site: site, captures: captures),
            stock: StockRoutes(site: site), api: api, captures: captures)
    }

    /// The parts to run in a service group: a listener for each address, the work in the background, and what makes a graceful
    /// stop end.
    ///
    /// - Parameter onReady: Called once, when all listeners accept connections.
    package func services(onReady: @escaping @Sendable () async -> Void) -> [any Service] {
        let responder = responder()
        let waiting = Waiting(count: listeners.count)
        let accepting: [any Service] = listeners.map { listener in
            let application = Application(
                responder: responder,
                server: HTTPServerBuilder { responder in
                    ReplayChannel(
                        responder: responder, archives: store.openArchives, hosts: listener.hosts, threads: threads,
                        stop: stop)
                },
                configuration: ApplicationConfiguration(
                    address: .hostname(listener.address.rawValue, port: listener.port), backlog: 512),
                onServerRunning: { _ in
                    if waiting.oneLess() { await onReady() }
                },
                logger: logger)
            return Accepting(listener: listener) { try await application.run() }
        }
        let background = BackgroundWork(
            store: store, blocking: site.blocking, events: events, stop: stop, logger: logger)
        return accepting + [background, StopWatch(stop: stop)]
    }

    /// 64 hex digits that nobody can guess.
    private static func randomToken() -> String {
        (0..<4).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// Accepts connections on one address until it is stopped.
private struct Accepting: Service {
    let listener: Listener
    let serve: @Sendable () async throws -> Void

    func run() async throws {
        do {
            try await serve()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            // Somebody took the port after it was found free.
            throw PortInUse(
                port: listener.port, address: listener.address,
                holder: PortHolder.name(port: listener.port, address: listener.address))
        }
    }
}

/// How many listeners have not come up yet.
private final class Waiting: Sendable {
    private let count: Mutex<Int>

    init(count: Int) {
        self.count = Mutex(count)
    }

    /// Whether that was the last one.
    func oneLess() -> Bool {
        count.withLock {
            $0 -= 1
            return $0 == 0
        }
    }
}

/// Tells the connections that the server is stopping, so that one of which nothing moves does not keep it.
private struct StopWatch: Service {
    let stop: StopSignal

    func run() async throws {
        do {
            try await gracefulShutdown()
        } catch is CancellationError {
            // Stopped at once instead: the connections end as well.
        }
        stop.raise()
    }
}
