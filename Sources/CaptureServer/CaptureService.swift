package import ArchiveStore
import CaptureAPI
package import CaptureWorker
import Foundation
import Hummingbird
package import Logging
package import ReplayServer
import Synchronization

/// The capture server: its queue, the downloads that run, and its routes on a loopback port and on the network.
package final class CaptureService: Sendable {
    package let layout: CaptureLayout
    package let queue: DownloadQueue
    let store: ArchiveStore
    let assets: Assets
    let logs: DownloadLogs
    let runner: Runner
    let toolbox: Toolbox
    let toolVersions: ToolVersions
    private let current: Current<CaptureSettings>
    private let following = Mutex<ConfigurationUpdates?>(nil)
    let logger: Logger
    let tickets = Tickets()
    private let file: ServerFile
    let sessions = AdministratorSessions()
    let toolUpdates: ToolUpdates
    let keys: APIKeys
    let network: ServerNetwork
    /// What the administrator's programs on this computer send.
    private let token = ReplayServer.randomToken()
    /// One check after the other.
    let checks = SerialQueue()
    private let running = Running()
    private let wrongKeys = WrongKeys()
    /// Who may connect on a loopback port besides root and the user who runs this program; `nil` for everyone.
    private let admitted = Mutex<Set<UInt32>?>([])
    private let front: Mutex<HostPolicy>
    /// Why the configured port isn't in use.
    private let portFault = Mutex<String?>(nil)

    /// Opens the queue of a store.
    ///
    /// - Parameters:
    ///   - port: The port that `start` will be given.
    /// - Throws: `StoreError` `locked` if another capture server uses the store.
    package init(
        store: ArchiveStore, downloads: String, assets: Assets, port: Int, toolbox: Toolbox, settings: CaptureSettings,
        logger: Logger
    ) throws {
        layout = CaptureLayout(store: store.layout, downloads: downloads)
        try layout.makeFolders()
        file = try ServerFile(ofCaptureServerIn: store.layout)
        (self.store, self.assets, self.toolbox) = (store, assets, toolbox)
        let current = Current(settings)
        self.current = current
        self.logger = logger
        toolVersions = ToolVersions(toolbox)
        queue = DownloadQueue(database: try CaptureDatabase(layout: store.layout), rules: current.value.rules)
        keys = APIKeys(queue.database)
        logs = DownloadLogs(layout: layout)
        toolUpdates = ToolUpdates(toolbox, toolVersions)
        front = Mutex(HostPolicy(port: port, origins: .ports))
        network = ServerNetwork(certificatesIn: layout.certificates, logger: logger)
        let steps = settings.onHandOverStep
        let handOver = HandOver(
            store: store, queue: queue, layout: layout, logs: logs, keepsFiles: { current.value.keepsFiles },
            logger: logger
        ) { steps($0.rawValue) }
        runner = Runner(
            queue: queue, layout: layout, handOver: handOver, toolbox: toolbox, versions: toolVersions,
            settings: current, logger: logger)
    }

    var settings: CaptureSettings { current.value }

    /// `nil` without a configuration file.
    var updates: ConfigurationUpdates? { following.withLock { $0 } }

    /// The hosts of requests on the loopback port.
    var hosts: HostPolicy { front.withLock { $0 } }

    /// The URL of the page.
    package var address: String { hosts.controlOrigins[0] }

    /// Starts to accept requests and to run downloads.
    ///
    /// - Parameters:
    ///   - users: The IDs of users who may connect besides root and the user who runs this program; `nil` for everyone.
    ///   - configuration: `nil` for the defaults.
    package func start(
        on port: LoopbackPort, users: Set<UInt32>? = [], configuration: ConfigurationInForce? = nil
    ) async throws {
        let leftovers = try await runner.recover()
        admitted.withLock { $0 = users }
        try await listen(on: port)
        let updates = configuration.map { follow($0) }
        following.withLock { $0 = updates }
        if let configuration { await apply(configuration.values, isPortFixed: true) }
        await network.start { [running] in try await running.respond(to: $0, $1, at: $2) }
        await running.start([
            ManagedTask { [runner] in
                await runner.sweep(leftovers)
                await runner.run()
            },
            ManagedTask { [toolVersions] in await toolVersions.keepUpToDate() },
            ManagedTask { [network] in await network.run() },
            ManagedTask { await updates?.run() },
        ])
        try describe()
    }

    /// Where other computers connect, and what keeps them from it.
    package var reachability: (addresses: [String], faults: [String]) {
        get async {
            (await network.addresses(), [portFault.withLock { $0 }].compactMap { $0 } + (await network.faults()))
        }
    }

    private func follow(_ configuration: ConfigurationInForce) -> ConfigurationUpdates {
        let (overrides, isPortFixed) = (configuration.overrides, configuration.isPortFixed)
        return ConfigurationUpdates(configuration.file, since: configuration.stamp, logger: logger) { [self] values in
            var settings = current.value
            settings.apply(values)
            overrides(&settings, values)
            current.value = settings
            if let downloads = settings.downloads { layout.downloads = downloads }
            await apply(values, isPortFixed: isPortFixed)
            runner.wake()
        }
    }

    /// - Parameter isPortFixed: Whether the port stays, whatever the configuration says.
    private func apply(_ values: CaptureConfiguration, isPortFixed: Bool) async {
        portFault.withLock { $0 = nil }
        if !isPortFixed, values.server.port != hosts.port { await move(to: values.server.port) }
        var values = values
        if values.server.encryptedPort != values.server.port { values.server.port = hosts.port }
        await network.apply(values)
    }

    /// Opens a loopback port, then closes the one before. Responses in progress have some time to finish.
    private func listen(on port: LoopbackPort) async throws {
        let own = try ClientCheck(allowing: admitted.withLock { $0 }, port: port)
        let callers = CallerCheck(keys: keys, token: token, sessions: sessions, own: own, wrongKeys: wrongKeys)
        let routes = CaptureRoutes(service: self, callers: callers)
        let listener = try await RequestListener(on: port, logger: logger) { request, context in
            try await routes.respond(to: request, context, at: .loopback)
        }
        await running.replace(routes, listener)
    }

    /// Listens on another loopback port. If that isn't possible, the one in use stays.
    private func move(to number: Int) async {
        do {
            // The network's listeners have the old number, or the new one for TLS, until the configuration is applied.
            let port = try LoopbackPort(taking: number)
            try await listen(on: port)
            front.withLock { $0 = HostPolicy(port: port.number, origins: .ports) }
            try describe()
            logger.notice("listening on another port", metadata: ["address": "\(address)"])
        } catch {
            let fault = "server.port \(number) can't be used: \(error); \(address) stays"
            portFault.withLock { $0 = fault }
            logger.error("\(fault)")
        }
    }

    /// Writes `capture.json`; on a full disk, into the space that is reserved.
    private func describe() throws {
        let description = ServerDescription(address: address, port: hosts.port, pid: getpid(), token: token)
        do {
            try file.write(description)
        } catch let error as StoreError where error.code == .noSpace {
            guard SpaceReserve(beside: store.layout.captureDatabase).release() else { throw error }
            try file.write(description)
        }
    }

    /// Stops: responses in progress finish, and running downloads go back into the queue.
    package func stop() async {
        queue.database.changes.close()
        async let network: Void = network.stop()
        await toolUpdates.end()
        await running.stop()
        await network
        file.remove()
    }

    /// Returns the download with an ID. Another user's isn't told apart from one that doesn't exist.
    func row(_ id: String, for caller: Caller) async throws -> DownloadRow {
        guard let row = try await queue.row(id.lowercased()), caller.sees(row) else { throw RequestFailure.noDownload }
        runner.previews.note(row.downloadID)
        return row
    }

    /// Returns downloads as clients see them.
    ///
    /// - Parameter caller: Who gets them.
    func downloads(_ rows: [DownloadRow], for caller: Caller) async throws -> [Download] {
        try await BlockingWork().long { [self] in
            let library = caller.isLocal ? libraryAddress : nil
            return try rows.map { try download($0, library: library) }
        }
    }

    func download(_ row: DownloadRow, for caller: Caller) async throws -> Download {
        try await downloads([row], for: caller)[0]
    }

    private func download(_ row: DownloadRow, library: String?) throws -> Download {
        var download = row.download
        if download.state == .downloading, let progress = runner.progress(of: row.downloadID) {
            download.progress = progress
        }
        if download.state == .queued {
            if isOver(download.waitingFor, row) { download.waitingFor = nil }
            download.waitingFor = runner.waitingFor ?? download.waitingFor
        }
        if let library, let id = row.archiveID.flatMap({ ArchiveID($0) }), let archive = try store.archive(id: id) {
            download.replayURL = library + ViewerAddress.path(of: .archive(archive))
        }
        return download
    }

    /// Whether a reason to wait is gone, and the download only waits for its turn.
    private func isOver(_ reason: WaitReason?, _ row: DownloadRow) -> Bool {
        switch reason {
        case .tool: toolbox.missing(for: row.url, row.downloadOptions.mode).isEmpty
        case .disk: runner.waitingFor == nil && row.notBefore.map { $0 <= QueueTime.text() } ?? true
        case .retry, .site, .limit: row.notBefore.map { $0 <= QueueTime.text() } ?? true
        case .paused, nil: true
        }
    }

    /// The URL of the running library; `nil` if it doesn't run.
    var libraryAddress: String? { ServerFile.running(layout: store.layout)?.address }

    /// The loopback listener, and the work that ends with it.
    private actor Running {
        private var front: (routes: CaptureRoutes, listener: RequestListener)?
        private var work: [ManagedTask<Void>] = []

        /// The listener before isn't waited for: the request that changes the port may be one of its own.
        func replace(_ routes: CaptureRoutes, _ listener: RequestListener) {
            if let old = front?.listener {
                work.append(ManagedTask { await old.stop(within: .seconds(5)) })
            }
            front = (routes, listener)
        }

        func respond(
            to request: Request, _ context: ConnectionContext, at arrival: CaptureRoutes.Arrival
        ) async throws -> Response {
            guard let routes = front?.routes else { throw CancellationError() }
            return try await routes.respond(to: request, context, at: arrival)
        }

        func start(_ work: [ManagedTask<Void>]) { self.work += work }

        func stop() async {
            async let responses: Void? = front?.listener.stop(within: .seconds(10))
            for one in work { await one.end() }
            _ = await responses
            (front, work) = (nil, [])
        }
    }
}
