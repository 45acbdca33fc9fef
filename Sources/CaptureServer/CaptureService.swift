package import ArchiveStore
import CaptureAPI
package import CaptureWorker
import Foundation
package import Logging
package import ReplayServer

/// The capture server: its queue, the downloads that run, and its routes on a loopback port.
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
    let settings: CaptureSettings
    let logger: Logger
    private let file: ServerFile
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
        (self.store, self.assets, self.toolbox, self.settings) = (store, assets, toolbox, settings)
        self.logger = logger
        toolVersions = ToolVersions(toolbox)
        queue = DownloadQueue(database: try CaptureDatabase(layout: store.layout), rules: settings.rules)
        logs = DownloadLogs(layout: layout)
        hosts = HostPolicy(port: port, origins: .ports)
        let steps = settings.onHandOverStep
        let handOver = HandOver(
            store: store, queue: queue, layout: layout, logs: logs, keepsFiles: settings.keepsFiles,
            logger: logger
        ) { steps($0.rawValue) }
        runner = Runner(
            queue: queue, layout: layout, handOver: handOver, toolbox: toolbox, versions: toolVersions,
            settings: settings, logger: logger)
    }

    /// The URL of the page.
    package var address: String { hosts.controlOrigins[0] }

    /// Starts to accept requests and to run downloads.
    ///
    /// - Parameter users: The IDs of users who may connect besides root and the user who runs this program; `nil` for
    ///   everyone.
    package func start(on port: LoopbackPort, users: Set<UInt32>? = []) async throws {
        try await runner.recover()
        let routes = CaptureRoutes(service: self)
        let listener = try await LoopbackListener(on: port, hosts: hosts, users: users, logger: logger) {
            request, context in
            try await routes.respond(to: request, context)
        }
        await running.start(
            listener,
            [
                ManagedTask { [runner] in await runner.run() },
                ManagedTask { [toolVersions] in await toolVersions.keepUpToDate() },
            ])
        try describe(port)
    }

    /// Writes `capture.json`; on a full disk, into the space that is reserved.
    private func describe(_ port: LoopbackPort) throws {
        let description = ServerDescription(address: address, port: port.number, pid: getpid(), token: "")
        do {
            try file.write(description)
        } catch let error as StoreError where error.code == .noSpace {
            guard SpaceReserve(beside: store.layout.captureDatabase).release() else { throw error }
            try file.write(description)
        }
    }

    /// Stops: responses in progress finish, and running downloads go back into the queue.
    package func stop() async {
        await running.stop()
        file.remove()
    }

    /// Returns downloads as clients see them.
    func downloads(_ rows: [DownloadRow]) async throws -> [Download] {
        try await BlockingWork().long { [self] in
            let library = libraryAddress
            return try rows.map { try download($0, library: library) }
        }
    }

    func download(_ row: DownloadRow) async throws -> Download { try await downloads([row])[0] }

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
        private var listener: LoopbackListener?
        private var work: [ManagedTask<Void>] = []

        func start(_ listener: LoopbackListener, _ work: [ManagedTask<Void>]) {
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
