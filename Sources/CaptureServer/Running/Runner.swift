import ArchiveStore
import CaptureAPI
package import CaptureWorker
package import EgressGuard
import Foundation
import Logging
import ReplayServer
import Synchronization

/// Runs the downloads of the queue, one after the other.
final class Runner: Sendable {
    let queue: DownloadQueue
    let previews = Previews()
    let layout: CaptureLayout
    let handOver: HandOver
    let toolbox: Toolbox
    private let versions: ToolVersions
    private let current: Current<CaptureSettings>
    var settings: CaptureSettings { current.value }
    let logger: Logger

    private struct State {
        /// Of running downloads: ends the attempt.
        var stops: [String: AsyncStream<Void>.Continuation] = [:]
        /// Why attempts were ended by this server; none if a person cancelled them, or the server stops.
        var failures: [String: ToolFailure] = [:]
        var progress: [String: DownloadProgress] = [:]
        /// What running downloads turned out to be.
        var genres: [String: Genre] = [:]
        /// What the queue has of running downloads, and since when.
        var recorded: [String: (stage: DownloadStage?, at: ContinuousClock.Instant)] = [:]
        /// The free space when running attempts started, and what was in their sessions, in bytes.
        var starts: [String: (free: UInt64, own: UInt64)] = [:]
        var isDiskFull = false
        var isPaused: Bool
    }
    private let state: Mutex<State>
    private let wakes: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    init(
        queue: DownloadQueue, layout: CaptureLayout, handOver: HandOver, toolbox: Toolbox, versions: ToolVersions,
        settings: Current<CaptureSettings>, logger: Logger
    ) {
        (self.queue, self.layout, self.handOver) = (queue, layout, handOver)
        (self.toolbox, self.versions, current, self.logger) = (toolbox, versions, settings, logger)
        state = Mutex(State(isPaused: Folder.exists(layout.pauseMark)))
        (wakes, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Each record is flushed to the disk.
    private static let recordingInterval = Duration.seconds(5)

    /// Looks for work now.
    func wake() { waker.yield() }

    /// The progress of a running download; `nil` before there is any.
    func progress(of id: String) -> DownloadProgress? { state.withLock { $0.progress[id] } }

    /// What all queued downloads wait for.
    var waitingFor: WaitReason? {
        state.withLock { $0.isDiskFull ? .disk : $0.isPaused ? .paused : nil }
    }

    /// Whether nothing new starts.
    var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Pauses or resumes the queue, also for later starts of the server. Running downloads end normally.
    func setPaused(_ paused: Bool) throws {
        if paused {
            try Descriptor(path: layout.pauseMark, flags: O_WRONLY | O_CREAT).synchronize()
        } else {
            try Folder.delete(layout.pauseMark)
        }
        state.withLock { $0.isPaused = paused }
        queue.database.changes.wake()
        wake()
    }

    /// Ends the attempt of a download that was cancelled.
    ///
    /// - Returns: Whether it was running.
    @discardableResult
    func stop(_ id: String) -> Bool {
        guard let stop = state.withLock({ $0.stops[id] }) else { return false }
        stop.finish()
        return true
    }

    /// Whether a download's attempt hasn't ended yet.
    func isRunning(_ id: String) -> Bool { state.withLock { $0.stops[id] != nil } }

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
            await closeAbandonedPreviews()
            guard (try? await Task.sleep(for: settings.pollInterval)) != nil else { break }
        }
        waker.finish()
    }

    private func claimAll(_ group: inout DiscardingTaskGroup) async {
        do {
            queue.database.renewReserve()
            try await queue.requeueInterrupted(except: state.withLock { Set($0.stops.keys) })
            guard try checkSpace(), !isPaused else { return }
            while state.withLock({ $0.stops.count }) < settings.concurrentMax {
                let toolbox = toolbox
                let row = try await queue.claim {
                    toolbox.missing(for: $0.url, $0.downloadOptions.mode).isEmpty ? nil : .tool
                }
                guard let row else { return }
                let (stops, stop) = AsyncStream<Void>.makeStream()
                state.withLock { $0.stops[row.downloadID] = stop }
                group.addTask {
                    await self.attempt(row, stops)
                    self.state.withLock { state in
                        state.stops[row.downloadID] = nil
                        state.failures[row.downloadID] = nil
                        state.progress[row.downloadID] = nil
                        state.genres[row.downloadID] = nil
                        state.recorded[row.downloadID] = nil
                        state.starts[row.downloadID] = nil
                    }
                    self.wake()
                }
            }
        } catch {
            logger.error("the queue can't be read", metadata: ["error": "\(error)"])
        }
    }

    /// Whether there is enough free space to start. Ends running attempts when there isn't.
    private func checkSpace() throws -> Bool {
        let isEnough = try freeBytes() >= settings.freeBytesMin
        let (running, isNews): ([AsyncStream<Void>.Continuation], Bool) = state.withLock { state in
            let isNews = state.isDiskFull == isEnough
            state.isDiskFull = !isEnough
            guard !isEnough else { return ([], isNews) }
            for id in state.stops.keys { state.failures[id] = Self.diskIsFull }
            return (Array(state.stops.values), isNews)
        }
        for stop in running { stop.finish() }
        if isNews { queue.database.changes.wake() }
        return isEnough
    }

    private func freeBytes() throws -> UInt64 {
        let places = [layout.root, layout.downloads].filter { Folder.isFolder($0) }
        return try places.map { try Folder.freeBytes(at: $0) }.min() ?? .max
    }

    /// Whether the disk is full mainly because of what an attempt wrote.
    private func hasFilledDisk(_ row: DownloadRow) async throws -> Bool {
        guard let start = state.withLock({ $0.starts[row.downloadID] }) else { return false }
        let session = layout.session(row.sessionID)
        let own = try await BlockingWork().long { try SessionFolder(session).allocatedBytes() }
        let free = try Folder.freeBytes(at: layout.root)
        guard free < settings.freeBytesMin, free < start.free else { return false }
        return own.map { $0 > start.own && $0 - start.own > (start.free - free) / 2 } ?? true
    }

    private static let diskIsFull = ToolFailure(.diskFull, "the disk is nearly full")

    /// Errors of the store and of folders that can be mended while what was made waits.
    private static let temporary: Set<StoreError.Code> = [
        .noSpace, .unusable, .notAFile, .locked, .catalogDamaged, .documentDamaged,
    ]

    /// Runs one attempt to its end.
    private func attempt(_ row: DownloadRow, _ stops: AsyncStream<Void>) async {
        let id = row.downloadID
        do {
            // Once it can be stopped: a person may have cancelled it since it was claimed.
            guard let now = try await queue.row(id), now.downloadState == .started else {
                return await handOver.sweep(row)
            }
            logger.info("Processing download", metadata: ["download": "\(id)", "attempt": "\(row.attempt)"])
            guard let result = try await result(of: row, stops) else {
                guard let failure = state.withLock({ $0.failures[id] }) else { return try await interrupted(row) }
                return try await fail(row, failure)
            }
            switch result {
            case .preview(let file) where row.isPreview:
                try await handOver.show(row, file)
                logger.info("Preview ready", metadata: ["download": "\(id)"])
            case .success(let files) where !row.isPreview:
                if let problem = files.genreDetectionError {
                    logger.notice("Genre detection failed", metadata: ["download": "\(id)", "reason": "\(problem)"])
                }
                try await handOver(files, of: row)
            case .failure(let failure): try await fail(row, failure)
            case .success, .preview, .replayed: throw StoreError(.failed, "the worker did something else")
            }
        } catch let error as StoreError where Self.temporary.contains(error.code) {
            // The store or the folder can't be used now; what was made waits for it.
            logger.error("the saved files can't be stored yet", metadata: ["error": "\(error)"])
            await postpone(row, error)
        } catch {
            logger.error("the attempt failed", metadata: ["download": "\(id)", "error": "\(error)"])
            await recordFailure(row, error)
        }
    }

    /// Hands over what a worker made. Unless that can't be used, it waits until it can be stored: it's never thrown away because
    /// of a fault elsewhere.
    private func handOver(_ files: SavedFiles, of row: DownloadRow) async throws {
        do {
            try await handOver.run(row, files)
            logger.info("Download completed", metadata: ["download": "\(row.downloadID)"])
        } catch let error as StoreError where [.refused, .archiveDamaged].contains(error.code) {
            throw error
        } catch {
            logger.error("the saved files can't be stored yet", metadata: ["error": "\(error)"])
            await postpone(row, (error as? StoreError) ?? StoreError(.failed, "the saved files can't be stored yet"))
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
        if let files = try handOver.files(of: row) { return .success(files) }
        let session = layout.session(row.sessionID)
        try Folder.create(session)
        let folder = SessionFolder(session)
        let own = try await BlockingWork().long {
            try folder.prepare()
            return try folder.allocatedBytes() ?? 0
        }
        let free = try Folder.freeBytes(at: session)
        state.withLock { $0.starts[row.downloadID] = (free, own) }
        var limits = settings.pageLimits
        limits.memory = settings.attempt.memory()
        let order = JobOrder(
            downloadID: row.downloadID, url: row.url,
            options: row.qualityFallback ? row.downloadOptions.withoutLimits : row.downloadOptions,
            tools: toolbox.forWorker, hasCookies: try giveCookies(of: row.username, to: folder),
            software: settings.software, limits: limits, isLast: queue.isLast(row),
            assets: settings.assets)
        try folder.write(SessionFile.order, Array(JSONEncoder().encode(order)))
        let worker = WorkerProcess(
            program: settings.program, isolation: settings.isolation, folder: session, silenceMax: settings.silenceMax,
            memoryMax: limits.memory / 4 * 5)
        let egress = try egressGuard(folder, bytesMax: settings.attempt.bytes(ofFree: freeBytes()))
        let end = try await egress.serve(in: session, name: SessionFile.egressSocket) {
            try await self.end(of: worker, row, egress, stops)
        }
        WorkerProcess.endLeftovers(of: session)
        guard let end, !Task.isCancelled else { return nil }
        // Whatever a tool makes of it: to curl, it can look like the end of a file.
        if egress.isUsedUp { return .failure(Self.tooLarge(egress)) }
        if case .exited(let result?) = end {
            if case .success(let files) = result, !row.isPreview { try await handOver.keep(files, of: row) }
            return result
        }
        if try freeBytes() < settings.freeBytesMin { return .failure(Self.diskIsFull) }
        switch end {
        case .silent:
            return .failure(
                ToolFailure(.silent, "the tool was silent for \(settings.silenceMax.components.seconds) seconds"))
        case .tooLarge: return .failure(limits.memoryFailure)
        case .died(let how):
            return .failure(ToolFailure(.aborted, "the download's process ended unexpectedly (\(how))"))
        case .exited: return .failure(ToolFailure(.aborted, "the download's process ended without a result"))
        }
    }

    /// Copies a user's cookies into a session folder: a worker can't read the store.
    ///
    /// - Returns: Whether there are any.
    private func giveCookies(of user: String, to session: SessionFolder) throws -> Bool {
        let source = layout.cookies(of: user)
        guard Folder.hasName(source) else { return false }
        try session.write(SessionFile.cookies, Descriptor.contents(of: source, bytesMax: CookieFiles.bytesMax))
        return true
    }

    /// The way to the network for one attempt.
    private func egressGuard(_ session: SessionFolder, bytesMax: UInt64) throws -> EgressGuard {
        var rules = EgressRules()
        rules.ports = settings.egress.ports
        rules.bytesMax = bytesMax
        rules.allowed = EgressAllowFile.allowed(at: layout.egressAllow, logger).union(settings.egress.allowed)
        let log = EgressLog(try session.create(SessionFile.egressRecord))
        return EgressGuard(rules: rules, names: settings.names) { log.add($0) }
    }

    /// Runs a worker to its end; `nil` if it was stopped.
    private func end(
        of worker: WorkerProcess, _ row: DownloadRow, _ egress: EgressGuard, _ stops: AsyncStream<Void>
    ) async throws -> WorkerProcess.End? {
        try await withThrowingTaskGroup(of: WorkerProcess.End?.self) { group in
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
            group.addTask {
                let failure = try await self.limitReached(by: row, egress)
                self.state.withLock { $0.failures[row.downloadID] = failure }
                return nil
            }
            let first = try await group.next() ?? nil
            group.cancelAll()
            while await group.nextResult() != nil {}
            return first
        }
    }

    /// Waits until an attempt takes too long or too much space. Returns its failure.
    private func limitReached(by row: DownloadRow, _ egress: EgressGuard) async throws -> ToolFailure {
        let id = row.downloadID
        var meter = AttemptMeter(settings.attempt, start: .now)
        while true {
            if egress.isUsedUp { return Self.tooLarge(egress) }
            let (stage, genre) = state.withLock { ($0.recorded[id]?.stage, $0.genres[id]) }
            let known = genre ?? Genre(rawValue: row.genre) ?? .unknown
            if let failure = meter.failure(bytes: egress.bytes, stage, known, now: .now) { return failure }
            try await Task.sleep(for: .seconds(1))
        }
    }

    private static func tooLarge(_ egress: EgressGuard) -> ToolFailure {
        ToolFailure(
            .tooLarge,
            "the attempt fetched more than \(egress.bytes / 1_000_000) MB, its part of the free space; free some space first"
        )
    }

    private func receive(_ message: WorkerMessage, _ row: DownloadRow) async {
        let id = row.downloadID
        if let progress = message.progress {
            state.withLock { $0.progress[id] = progress }
            queue.database.changes.wake()
        }
        if let genre = message.genre { state.withLock { $0.genres[id] = genre } }
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
        var failure = await withHint(failure, for: row.username)
        if failure.code == .diskFull, try await hasFilledDisk(row) {
            failure = ToolFailure(.tooLarge, "the attempt filled the disk; free some space first")
        }
        await handOver.discardResult(row)
        let consequence = try await queue.fail(row.downloadID, failure)
        logger.warning(
            "Download failed",
            metadata: [
                "download": "\(row.downloadID)", "code": "\(failure.code.rawValue)", "reason": "\(failure.message)",
                "next": consequence == .again ? "another attempt" : "none",
            ])
        if consequence != .again, let ended = try await queue.row(row.downloadID) { await handOver.sweep(ended) }
    }

    /// Adds what a person can do about a failure.
    private func withHint(_ failure: ToolFailure, for user: String) async -> ToolFailure {
        var hint: String?
        switch failure.code {
        case .loginRequired, .isPrivate:
            hint = "This site needs a log-in. Run `replayhost-capture cookies set --user \(user) cookies.txt`."
        case .toolFailed where failure.isOfExtractor:
            guard let version = await versions.version(of: .ytdlp), let age = Toolbox.days(ofOldMediaTool: version)
            else { break }
            hint = "yt-dlp is \(age) days old. Update it with `replayhost-capture tools update`."
        default: break
        }
        guard let hint else { return failure }
        return failure.saying("\(failure.message)\(failure.message.hasSuffix(".") ? "" : ".") \(hint)")
    }

    /// The server is stopping, or a person cancelled the download.
    private func interrupted(_ row: DownloadRow) async throws {
        // Its parts are kept, unless a person cancelled it.
        try await queue.interrupt(row.downloadID)
        if let now = try await queue.row(row.downloadID), now.downloadState.hasEnded { await handOver.sweep(now) }
    }

    /// Keeps what a worker made, until the store or the folder can be written again.
    private func postpone(_ row: DownloadRow, _ error: StoreError) async {
        do {
            _ = try await queue.fail(
                row.downloadID, ToolFailure(error.code == .noSpace ? .diskFull : .storage, error.what))
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
    package var isolation = Isolation.none(reason: "not tried")
    /// The folder for saved files; `nil` for the one that the server was started with.
    package var downloads: String?
    /// How many downloads run at once.
    package var concurrentMax = 1
    /// Nothing starts with less free space, in bytes.
    package var freeBytesMin: UInt64 = 200_000_000
    package var silenceMax = Duration.seconds(60)
    /// How long a preview stays that no client looks at.
    package var previewTime = Duration.seconds(60)
    package var pageLimits = RecordingLimits()
    package var attempt = AttemptLimits()
    /// The folder `www`, with which archives are seen to replay; `nil` if that isn't tried.
    package var assets: String?
    package var pollInterval = Duration.seconds(1)
    /// Whether media files and documents are kept beside their archives.
    package var keepsFiles = true
    package var rules = QueueRules()
    /// What the guard lets through, besides the hosts in `egress.allow`.
    package var egress = CaptureConfiguration.Egress()
    /// Where the guard gets the addresses of hosts from.
    package var names = EgressNames.system
    /// Called after each step of a hand-over.
    package var onHandOverStep: @Sendable (String) -> Void = { _ in }

    package init(program: String, software: String) {
        (self.program, self.software) = (program, software)
    }
}
