package import ArchiveStore
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Puts the routes together, once, in order, and answers on the loopback addresses from `start` to `stop`.
package struct ReplayServer: Sendable {
    /// What a request that changes something must bring in `Replayhost-Token`.
    package let token: String

    private let site: Site
    private let logger: Logger
    private let stopSignal = StopSignal()
    private let events = EventHub()
    private let running = Running()
    private let limits: ReplayPorts.Limits
    private let users: Set<UInt32>?

    /// - Parameters:
    ///   - port: The one that the library is on. Connections wait there until `start`.
    ///   - origins: How archives are kept apart in the browser.
    ///   - token: `nil` for one that nobody can guess.
    ///   - limits: Of the ports of archives.
    ///   - users: IDs of the users who are answered beside root and the one that runs this program; `nil` for everyone.
    package init(
        store: ArchiveStore, assets: Assets, port: Int, origins: HostPolicy.Origins, token: String? = nil,
        version: String,
        limits: ReplayPorts.Limits = ReplayPorts.Limits(), users: Set<UInt32>? = [], logger: Logger
    ) {
        self.token = token ?? Self.randomToken()
        self.logger = logger
        self.limits = limits
        self.users = users
        site = Site(
            store: store, assets: assets, hosts: HostPolicy(port: port, origins: origins), token: self.token,
            version: version)
    }

    package var port: Int { site.hosts.port }

    /// Where people open it.
    package var address: String { site.hosts.controlOrigins[0] }

    /// Where an archive is replayed, if that is known without opening a port for it.
    package func replayOrigin(of replayable: Replayable) -> String? { site.replayOrigin(of: replayable) }

    /// Answers from now on, also on the ports of archives that a server on this store had open last.
    ///
    /// - Throws: `ClientsUnknown` when not everyone may be answered and the system does not tell users apart.
    package func start(on port: LoopbackPort) async throws {
        let clients = try ClientCheck(allowing: users, port: port)
        let ports = ReplayPorts(store: site.store, limits: limits, logger: logger) { port, own in
            let hosts = HostPolicy(port: site.hosts.port, origins: site.hosts.origins, replaying: own)
            return try await listen(on: port, Dispatch(site: site.on(hosts), control: nil), clients)
        }
        let listener = try await listen(on: port, Dispatch(site: site, control: library(ports)), clients)
        let background = BackgroundWork(store: site.store, events: events, stop: stopSignal, logger: logger)
        await running.begin(
            listener, ports, [ManagedTask { await background.run() }, ManagedTask { await ports.closeUnused() }])
        if site.hosts.origins != .names { await ports.reopen() }
    }

    /// Accepts no more and returns when the last answer was given.
    ///
    /// - Parameter grace: After it whatever is still under way is cut off; `nil` to wait for what moves as long as it does.
    package func stop(within grace: Duration?) async {
        stopSignal.raise()
        await running.end(within: grace)
    }

    /// What the control origins answer.
    private func library(_ ports: ReplayPorts) -> RouterResponder<ConnectionContext> {
        let router = Router(context: ConnectionContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ErrorMiddleware())
        router.addRoutes(ControlRoutes(site: site, ports: ports).routes)
        let api = router.group("/api").add(middleware: SameOriginOnly())
        let origins = OriginRoutes(site: site, ports: ports).routes
        api.get("/openapi.json") { [site] request, _ in try await site.asset("openapi.json", request: request) }
        api.addRoutes(ArchiveRoutes(site: site).routes, atPath: "/archives")
        api.addRoutes(origins, atPath: "/archives")
        api.addRoutes(CollectionRoutes(site: site).routes, atPath: "/collections")
        api.addRoutes(origins, atPath: "/collections")
        api.addRoutes(FormerCollectionRoutes.routes, atPath: "/groups")
        api.addRoutes(JobRoutes(site: site).routes, atPath: "/jobs")
        api.addRoutes(EventRoutes(site: site, events: events).routes, atPath: "/events")
        return router.buildResponder()
    }

    private typealias Dispatch = HostDispatch<RouterResponder<ConnectionContext>>

    private func listen(
        on port: LoopbackPort, _ dispatch: Dispatch, _ clients: ClientCheck
    ) async throws -> PortListener {
        let answering = Answering(dispatch: dispatch, logger: logger)
        let channel = ReplayChannel(
            responder: { try await answering.answer($0, $1, $2) }, archives: site.store.openArchives,
            hosts: dispatch.site.hosts, stop: stopSignal, clients: clients)
        return try await PortListener(on: port, channel: channel, logger: logger)
    }

    /// 64 hex digits that nobody can guess.
    private static func randomToken() -> String {
        (0..<4).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// Answers one request after the other on one port.
private struct Answering: Sendable {
    let dispatch: HostDispatch<RouterResponder<ConnectionContext>>
    let logger: Logger

    func answer(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        var logger = logger
        logger[metadataKey: "request"] = "\(RequestID())"
        let context = ConnectionContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
        var response = try await dispatch.respond(to: request, context: context)
        response.headers[.date] = HTTPDate.text(ofSeconds: time(nil))
        try await writer.write(response: response.head, body: response.body)
    }
}

/// What runs between `start` and `stop`.
private actor Running {
    private var listener: PortListener?
    private var ports: ReplayPorts?
    private var work: [ManagedTask<Void>] = []

    func begin(_ listener: PortListener, _ ports: ReplayPorts, _ work: [ManagedTask<Void>]) {
        (self.listener, self.ports, self.work) = (listener, ports, work)
    }

    func end(within grace: Duration?) async {
        async let library: Void? = listener?.stop(within: grace)
        async let archives: Void? = ports?.stop(within: grace)
        for one in work { await one.end() }
        _ = await (library, archives)
        (listener, ports, work) = (nil, nil, [])
    }
}
