package import ArchiveStore
import CaptureAPI
package import CaptureWorker
import Foundation
package import Logging
package import ReplayServer
import Synchronization

/// The capture server: its queue, the downloads that run, and its routes on a loopback port and on the network.
package final class CaptureService: Sendable {
    package let layout: CaptureLayout
    package let queue: DownloadQueue
    let store: ArchiveStore
    let assets: Assets
    let hosts: HostPolicy
    let logs: DownloadLogs
    let runner: Runner
    let toolbox: Toolbox
    let toolVersions: ToolVersions
    private let current: CurrentSettings
    private let following = Mutex<ConfigurationUpdates?>(nil)
    let logger: Logger
    let tickets = Tickets()
    private let file: ServerFile
    let keys: APIKeys
    let network: ServerNetwork
    /// What the administrator's programs on this computer send.
    private let token = ReplayServer.randomToken()
    /// One check after the other.
    let checks = SerialQueue()
    private let running = Running()

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
        let current = CurrentSettings(settings)
        self.current = current
        self.logger = logger
        toolVersions = ToolVersions(toolbox)
        queue = DownloadQueue(database: try CaptureDatabase(layout: store.layout), rules: current.value.rules)
        keys = APIKeys(queue.database)
        logs = DownloadLogs(layout: layout)
        hosts = HostPolicy(port: port, origins: .ports)
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
        try await runner.recover()
        let callers = CallerCheck(
            keys: keys, token: token, own: try OwnUsers(allowing: users, port: port), wrongKeys: WrongKeys())
        let routes = CaptureRoutes(service: self, callers: callers)
        let listener = try await RequestListener(on: port, logger: logger) { request, context in
            try await routes.respond(to: request, context, at: .loopback)
        }
        let updates = configuration.map { follow($0, port: port.number) }
        following.withLock { $0 = updates }
        if let values = configuration?.values { await apply(values, port: port.number) }
        await network.start { try await routes.respond(to: $0, $1, at: $2) }
        await running.start(
            listener,
            [
                ManagedTask { [runner] in await runner.run() },
                ManagedTask { [toolVersions] in await toolVersions.keepUpToDate() },
                ManagedTask { [network] in await network.run() },
                ManagedTask { await updates?.run() },
            ])
        try describe(port)
    }

    /// Where other computers connect, and what keeps them from it.
    package var reachability: (addresses: [String], faults: [String]) {
        get async { (await network.addresses(), await network.faults()) }
    }

    private func follow(_ configuration: ConfigurationInForce, port: Int) -> ConfigurationUpdates {
        let overrides = configuration.overrides
        return ConfigurationUpdates(configuration.file, since: configuration.stamp, logger: logger) { [self] values in
            var settings = current.value
            settings.apply(values)
            overrides(&settings)
            current.value = settings
            await apply(values, port: port)
            runner.wake()
        }
    }

    /// The port can be another one than the configuration's, which changes at the next start only.
    private func apply(_ values: CaptureConfiguration, port: Int) async {
        var values = values
        if values.server.encryptedPort != values.server.port { values.server.port = port }
        await network.apply(values)
    }

    /// Writes `capture.json`; on a full disk, into the space that is reserved.
    private func describe(_ port: LoopbackPort) throws {
        let description = ServerDescription(address: address, port: port.number, pid: getpid(), token: token)
        do {
            try file.write(description)
        } catch let error as StoreError where error.code == .noSpace {
            guard SpaceReserve(beside: store.layout.captureDatabase).release() else { throw error }
            try file.write(description)
        }
    }

    /// Stops: responses in progress finish, and running downloads go back into the queue.
    package func stop() async {
        async let network: Void = network.stop()
        await running.stop()
        await network
        file.remove()
    }

    /// Returns the download with an ID. Another user's isn't told apart from one that doesn't exist.
    func row(_ id: String, for caller: Caller) async throws -> DownloadRow {
        guard let row = try await queue.row(id.lowercased()), caller.sees(row) else { throw RequestFailure.noDownload }
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
        case .retry, .site: row.notBefore.map { $0 <= QueueTime.text() } ?? true
        case nil: true
        }
    }

    /// The URL of the running library; `nil` if it doesn't run.
    var libraryAddress: String? { ServerFile.running(layout: store.layout)?.address }

    private actor Running {
        private var listener: RequestListener?
        private var work: [ManagedTask<Void>] = []

        func start(_ listener: RequestListener, _ work: [ManagedTask<Void>]) {
            (self.listener, self.work) = (listener, work)
        }

        func stop() async {
            async let responses: Void? = listener?.stop(within: .seconds(10))
            for one in work { await one.end() }
            _ = await responses
            (listener, work) = (nil, [])
        }
    }
}
