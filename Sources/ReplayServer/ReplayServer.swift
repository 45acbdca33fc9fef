package import ArchiveStore
import Foundation
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import WebArchive

/// The HTTP server, which listens on the loopback addresses between `start` and `stop`.
package struct ReplayServer: Sendable {
    /// The value of `Replayhost-Token` that requests need to change anything.
    package let token: String

    let site: Site
    private let logger: Logger
    private let stopSignal = StopSignal()
    private let events = EventHub()
    private let running = Running()
    private let limits: ReplayPorts.Limits
    private let users: Set<UInt32>?
    private let auditDays: Int?
    private let watched: WatchedFolder?

    /// - Parameters:
    ///   - port: The port of the library.
    ///   - origins: How archives are isolated from each other in the browser.
    ///   - token: `nil` for a random one.
    ///   - startCommand: The command that starts this server again.
    ///   - limits: The limits for replay ports.
    ///   - auditDays: After how many days archives are verified again; `nil` for never.
    ///   - watched: A folder whose archives are imported as they appear.
    ///   - users: The IDs of users who may connect besides root and the user who runs this program; `nil` for everyone.
    package init(
        store: ArchiveStore, assets: Assets, port: Int, origins: HostPolicy.Origins, token: String? = nil,
        version: String, startCommand: String = "replayhost serve",
        limits: ReplayPorts.Limits = ReplayPorts.Limits(), auditDays: Int? = nil, watched: WatchedFolder? = nil,
        users: Set<UInt32>? = [], logger: Logger
    ) {
        self.token = token ?? Self.randomToken()
        self.logger = logger
        self.limits = limits
        self.auditDays = auditDays
        self.watched = watched
        self.users = users
        site = Site(
            store: store, assets: assets, hosts: HostPolicy(port: port, origins: origins), token: self.token,
            version: version, startCommand: startCommand)
    }

    package var port: Int { site.hosts.port }

    /// The URL of the app.
    package var address: String { site.hosts.controlOrigins[0] }

    /// Returns the replay origin, if it is known without opening a port.
    package func replayOrigin(of replayable: Replayable) -> String? { site.replayOrigin(of: replayable) }

    /// Starts the server, and reopens the replay ports that the store's previous server had open.
    ///
    /// - Throws: `ClientsUnknown` if access is limited to some users and the system can't determine them.
    package func start(on port: LoopbackPort) async throws {
        let clients = try ClientCheck(allowing: users, port: port)
        let ports = ReplayPorts(store: site.store, limits: limits, logger: logger) { port, own in
            let hosts = HostPolicy(port: site.hosts.port, origins: site.hosts.origins, replaying: own)
            return try await listen(on: port, Dispatch(site: site.on(hosts), control: nil), clients)
        }
        let control = library(ports).buildResponder()
        let listener = try await listen(on: port, Dispatch(site: site, control: control), clients)
        let background = BackgroundWork(
            store: site.store, events: events, stop: stopSignal, auditDays: auditDays, watched: watched, logger: logger)
        await running.start(
            listener, ports,
            [
                ManagedTask { await background.run() }, ManagedTask { await ports.closeUnused() },
                ManagedTask { [exports = site.exports] in await exports.deleteUnused() },
                ManagedTask { await FreedMemory.returnToSystem() },
            ])
        if site.hosts.origins != .names { await ports.reopen() }
    }

    /// Stops accepting connections and waits for responses in progress.
    ///
    /// - Parameter grace: The time after which remaining connections are closed; `nil` to wait as long as they make
    ///   progress.
    package func stop(within grace: Duration?) async {
        stopSignal.raise()
        await running.stop(within: grace)
    }

    /// Returns the routes of the control origins.
    func library(_ ports: ReplayPorts) -> Router<ConnectionContext> {
        let router = Router(context: ConnectionContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ErrorMiddleware())
        router.addRoutes(ControlRoutes(site: site, ports: ports).routes)
        router.addRoutes(OpenSearchRoutes(site: site).routes)
        let api = router.group("/api").add(middleware: SameOriginOnly())
        let origins = OriginRoutes(site: site, ports: ports).routes
        api.get("/openapi.json") { [site] request, _ in try await site.asset("openapi.json", request: request) }
        api.get("/docs") { [site] request, _ in
            let policy = SecurityHeaders.controlPage(site.hosts, at: request.targetOrigin)
            return try await site.asset("app/api-docs.html", policy: policy, request: request)
        }
        api.addRoutes(ArchiveRoutes(site: site).routes, atPath: "/archives")
        api.addRoutes(origins, atPath: "/archives")
        api.addRoutes(CollectionRoutes(site: site).routes, atPath: "/collections")
        api.addRoutes(origins, atPath: "/collections")
        api.addRoutes(FormerCollectionRoutes.routes, atPath: RouterPath(FormerCollectionRoutes.path))
        api.addRoutes(SearchRoutes(site: site).routes)
        api.addRoutes(ExportRoutes(site: site).routes)
        api.addRoutes(ImportRoute(site: site).routes, atPath: "/imports")
        api.addRoutes(JobRoutes(site: site).routes, atPath: "/jobs")
        api.addRoutes(EventRoutes(site: site, events: events).routes, atPath: "/events")
        return router
    }

    private typealias Dispatch = HostDispatch<RouterResponder<ConnectionContext>>

    private func listen(
        on port: LoopbackPort, _ dispatch: Dispatch, _ clients: ClientCheck
    ) async throws -> PortListener {
        let handler = RequestHandler(logger: logger) { try await dispatch.respond(to: $0, context: $1) }
        let channel = ReplayChannel(
            responder: { try await handler.respond($0, $1, $2) }, archives: site.store.openArchives,
            hosts: dispatch.site.hosts, stop: stopSignal, clients: clients)
        return try await PortListener(taking: port.takeSockets(), channel: channel, logger: logger)
    }

    /// Returns 64 random hex digits: 256 bits of the system's generator, which can't be predicted.
    package static func randomToken() -> String {
        (0..<4).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// Responds to the requests on one port.
struct RequestHandler: Sendable {
    let logger: Logger
    let answer: @Sendable (Request, ConnectionContext) async throws -> Response

    func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        var logger = logger
        logger[metadataKey: "request"] = "\(RequestID())"
        let context = ConnectionContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
        var response = try await answer(request, context)
        response.headers[.date] = HTTPDate.text(ofSeconds: time(nil))
        try await writer.write(response: response.head, body: response.body)
    }
}

/// The running parts of a server.
private actor Running {
    private var listener: PortListener?
    private var ports: ReplayPorts?
    private var work: [ManagedTask<Void>] = []

    func start(_ listener: PortListener, _ ports: ReplayPorts, _ work: [ManagedTask<Void>]) {
        (self.listener, self.ports, self.work) = (listener, ports, work)
    }

    func stop(within grace: Duration?) async {
        async let library: Void? = listener?.stop(within: grace)
        async let archives: Void? = ports?.stop(within: grace)
        for one in work { await one.end() }
        _ = await (library, archives)
        (listener, ports, work) = (nil, nil, [])
    }
}
