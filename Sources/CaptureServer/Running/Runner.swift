import ArchiveStore
import CaptureAPI
import CaptureWorker
import Foundation
import Logging
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Runs the downloads of the queue, one after the other.
final class Runner: Sendable {
    private let queue: DownloadQueue
    private let layout: CaptureLayout
    private let handOver: HandOver
    private let toolbox: Toolbox
    private let settings: CaptureSettings
    private let logger: Logger

    private struct State {
        /// Of running downloads: ends the attempt.
        var stops: [String: AsyncStream<Void>.Continuation] = [:]
        var progress: [String: DownloadProgress] = [:]
        /// What the queue has of running downloads, and since when.
        var recorded: [String: (stage: DownloadStage?, at: ContinuousClock.Instant)] = [:]
        var wait: WaitReason?
    }
    private let state = Mutex(State())
    private let wakes: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    init(
        queue: DownloadQueue, layout: CaptureLayout, handOver: HandOver, toolbox: Toolbox, settings: CaptureSettings,
        logger: Logger
    ) {
        (self.queue, self.layout, self.handOver) = (queue, layout, handOver)
        (self.toolbox, self.settings, self.logger) = (toolbox, settings, logger)
        (wakes, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Each record is flushed to the disk.
    private static let recordingInterval = Duration.seconds(5)

    /// Looks for work now.
    func wake() { waker.yield() }

    /// The progress of a running download; `nil` before there is any.
    func progress(of id: String) -> DownloadProgress? { state.withLock { $0.progress[id] } }

    /// What all queued downloads wait for.
    var waitingFor: WaitReason? { state.withLock { $0.wait } }

    /// Ends the attempt of a download that was cancelled.
    ///
    /// - Returns: Whether it was running.
    func stop(_ id: String) -> Bool {
        guard let stop = state.withLock({ $0.stops[id] }) else { return false }
        stop.finish()
        return true
    }

    /// Continues what a killed server was doing: ends its tools, and puts its downloads back into the queue.
    func recover() async throws {
        WorkerProcess.endLeftovers(in: layout.sessions)
        try await queue.requeueInterrupted()
        let names = try Folder.names(in: layout.sessions)
        for name in names {
            let row = try await queue.row(name)
            guard row == nil || row?.downloadState.hasEnded == true else { continue }
            // Completed, failed or cancelled, but not yet deleted.
            if let row { try handOver.logs.store(row) }
            try FileManager.default.removeItem(atPath: layout.session(name))
        }
    }

    /// Runs until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.tick() }
            for await _ in wakes {
                if Task.isCancelled { break }
                await claimAll(&group)
            }
            group.cancelAll()
        }
    }

    /// Looks for downloads whose time has come, and for space.
    private func tick() async {
        while !Task.isCancelled {
            wake()
            guard (try? await Task.sleep(for: settings.pollInterval)) != nil else { break }
        }
        waker.finish()
    }

    private func claimAll(_ group: inout DiscardingTaskGroup) async {
        do {
            guard try checkSpace() else { return }
            while state.withLock({ $0.stops.count }) < settings.concurrentMax {
                let toolbox = toolbox
                let row = try await queue.claim { toolbox.missing(for: $0.url).isEmpty ? nil : .tool }
                guard let row else { return }
                let (stops, stop) = AsyncStream<Void>.makeStream()
                state.withLock { $0.stops[row.downloadID] = stop }
                group.addTask {
                    await self.attempt(row, stops)
                    self.state.withLock { state in
                        state.stops[row.downloadID] = nil
                        state.progress[row.downloadID] = nil
                        state.recorded[row.downloadID] = nil
                    }
                    self.wake()
                }
            }
        } catch {
            logger.error("the queue can't be read", metadata: ["error": "\(error)"])
        }
    }

    /// Whether there is enough free space to start. Ends running attempts when it gets too low.
    private func checkSpace() throws -> Bool {
        let places = [layout.root, layout.downloads].filter { Folder.isFolder($0) }
        let free = try places.map { try Folder.freeBytes(at: $0) }.min() ?? .max
        state.withLock { $0.wait = free < settings.freeBytesMin ? .disk : nil }
        return free >= settings.freeBytesMin
    }

    /// Runs one attempt to its end.
    private func attempt(_ row: DownloadRow, _ stops: AsyncStream<Void>) async {
        let id = row.downloadID
        // Once it can be stopped: a person may have cancelled it since it was claimed.
        guard let now = try? await queue.row(id), now.downloadState == .started else { return sweepEnded(row) }
        logger.info("Processing download", metadata: ["download": "\(id)", "attempt": "\(row.attempt)"])
        do {
            guard let result = try await result(of: row, stops) else { return try await interrupted(row) }
            switch result {
            case .success(let files):
                if let problem = files.genreDetectionError {
                    logger.notice("Genre detection failed", metadata: ["download": "\(id)", "reason": "\(problem)"])
                }
                try await handOver.run(row, files)
                logger.info("Download completed", metadata: ["download": "\(id)"])
            case .failure(let failure):
                try await fail(row, failure)
            }
        } catch let error as StoreError where error.code != .failed {
            // The store or the folder can't be used now; what was made waits for it.
            logger.error("the saved files can't be stored yet", metadata: ["error": "\(error)"])
            await postpone(row, error)
        } catch {
            logger.error("the attempt failed", metadata: ["download": "\(id)", "error": "\(error)"])
            await recordFailure(row, error)
        }
    }

    private func recordFailure(_ row: DownloadRow, _ error: any Error) async {
        let message = (error as? StoreError)?.what ?? "an unexpected error occurred; the server's log has details"
        do {
            try await fail(row, ToolFailure(.toolFailed, message))
        } catch {
            logger.error("the queue can't be changed", metadata: ["error": "\(error)"])
        }
    }

    /// Returns the result of a session: that of an earlier attempt whose hand-over was interrupted, else of a worker.
    ///
    /// - Returns: `nil` if the attempt was stopped.
    private func result(of row: DownloadRow, _ stops: AsyncStream<Void>) async throws -> WorkerResult? {
        let session = layout.session(row.sessionID)
        if let result = try readResult(session) { return result }
        try Folder.create(session)
        let cookies = layout.cookies(of: row.username)
        let order = JobOrder(
            downloadID: row.downloadID, url: row.url,
            options: row.qualityFallback ? row.downloadOptions.withoutLimits : row.downloadOptions,
            tools: toolbox.forWorker, cookies: Folder.isFile(cookies) ? cookies : nil, software: settings.software)
        try JSONEncoder().encode(order).write(to: URL(fileURLWithPath: "\(session)/\(SessionFile.order)"))
        let worker = WorkerProcess(program: settings.program, folder: session, silenceMax: settings.silenceMax)
        let end = try await withThrowingTaskGroup(of: WorkerProcess.End?.self) { group in
            group.addTask {
                try await worker.run {
                    await self.receive($0, row)
                } onError: { line in
                    self.logger.warning(
                        "worker", metadata: ["download": "\(row.downloadID)", "line": "\(line.prefix(500))"])
                }
            }
            group.addTask {
                for await _ in stops {}
                return nil
            }
            let first = try await group.next() ?? nil
            group.cancelAll()
            while await group.nextResult() != nil {}
            return first
        }
        guard let end, !Task.isCancelled else { return nil }
        if let result = try readResult(session) { return result }
        switch end {
        case .silent:
            return .failure(
                ToolFailure(.silent, "nothing happened for \(settings.silenceMax.components.seconds) seconds"))
        case .died(let how): return .failure(ToolFailure(.aborted, "the worker died (\(how))"))
        case .exited: return .failure(ToolFailure(.aborted, "the worker ended without a result"))
        }
    }

    private func readResult(_ session: String) throws -> WorkerResult? {
        let path = "\(session)/\(SessionFile.result)"
        guard Folder.isFile(path) else { return nil }
        return try JSONDecoder().decode(WorkerResult.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func receive(_ message: WorkerMessage, _ row: DownloadRow) async {
        let id = row.downloadID
        if let progress = message.progress { state.withLock { $0.progress[id] = progress } }
        let isNews: Bool = state.withLock { state in
            let recorded = state.recorded[id]
            let changes =
                message.stage.map { $0 != recorded?.stage } == true || message.title != nil || message.genre != nil
            let isOld = recorded.map { $0.at.duration(to: .now) > Self.recordingInterval } ?? true
            guard changes || isOld && message.progress != nil else { return false }
            state.recorded[id] = (message.stage ?? recorded?.stage, .now)
            return true
        }
        guard isNews else { return }
        do {
            try await queue.advance(id, message)
        } catch {
            logger.error("progress can't be recorded", metadata: ["error": "\(error)"])
        }
    }

    private func fail(_ row: DownloadRow, _ failure: ToolFailure) async throws {
        let failure = await withHint(failure)
        try Folder.delete("\(layout.session(row.sessionID))/\(SessionFile.result)")
        let consequence = try await queue.fail(row.downloadID, failure)
        logger.warning(
            "Download failed",
            metadata: [
                "download": "\(row.downloadID)", "code": "\(failure.code.rawValue)", "reason": "\(failure.message)",
                "next": consequence == .again ? "another attempt" : "none",
            ])
        if consequence != .again, let ended = try await queue.row(row.downloadID) { sweepEnded(ended) }
    }

    /// Adds what a person can do about a failure.
    private func withHint(_ failure: ToolFailure) async -> ToolFailure {
        var hint: String?
        switch failure.code {
        case .loginRequired, .isPrivate:
            hint = "The site wants a log-in: `replayhost-capture cookies set --user USER cookies.txt`."
        case .toolFailed, .unsupported, .notFound, .removed, .rateLimited, .network:
            guard let path = toolbox.path(of: .ytdlp), failure.code == .toolFailed || failure.code == .unsupported,
                let version = await Toolbox.version(of: path, "--version"), let age = Toolbox.age(ofMediaTool: version),
                age > Toolbox.oldAfterDays
            else { break }
            hint = "yt-dlp is \(age) days old: `replayhost-capture tools update`."
        default: break
        }
        guard let hint else { return failure }
        return ToolFailure(
            failure.code, "\(failure.message) \(hint)", retryAfterSeconds: failure.retryAfterSeconds)
    }

    /// The server is stopping, or a person cancelled the download.
    private func interrupted(_ row: DownloadRow) async throws {
        // Its parts are kept, unless a person cancelled it.
        try await queue.interrupt(row.downloadID)
        if let now = try await queue.row(row.downloadID), now.downloadState.hasEnded { sweepEnded(now) }
    }

    /// Deletes the session of a download that has ended. If that fails, the next start does it.
    func sweepEnded(_ row: DownloadRow) {
        do {
            try handOver.sweep(row)
        } catch {
            logger.warning("a session folder can't be deleted", metadata: ["error": "\(error)"])
        }
    }

    /// Keeps what a worker made, until the store or the folder can be written again.
    private func postpone(_ row: DownloadRow, _ error: StoreError) async {
        do {
            _ = try await queue.fail(row.downloadID, ToolFailure(.diskFull, error.what))
        } catch {
            logger.error("the queue can't be changed", metadata: ["error": "\(error)"])
        }
    }
}

/// How the capture server works.
package struct CaptureSettings: Sendable {
    /// The program that runs workers: this one.
    package var program: String
    /// The name and version that archives name.
    package var software: String
    /// How many downloads run at once.
    package var concurrentMax = 1
    /// Nothing starts with less free space, in bytes.
    package var freeBytesMin: UInt64 = 200_000_000
    package var silenceMax = Duration.seconds(60)
    package var pollInterval = Duration.seconds(1)
    /// Whether media files and documents are kept beside their archives.
    package var keepsFiles = true
    package var rules = QueueRules()
    /// Called after each step of a hand-over.
    package var onHandOverStep: @Sendable (String) -> Void = { _ in }

    package init(program: String, software: String) {
        (self.program, self.software) = (program, software)
    }
}
