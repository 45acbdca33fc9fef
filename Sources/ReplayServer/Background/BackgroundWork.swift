import ArchiveStore
import Logging
import WebArchive

/// The background tasks of a server: running jobs, maintaining the store and announcing changes.
///
/// Errors are logged, without repeating the same one, and the task is tried again.
struct BackgroundWork: Sendable {
    let store: ArchiveStore
    let blocking = BlockingWork()
    let events: EventHub
    let stop: StopSignal
    /// After how many days archives are verified again; `nil` for never.
    let auditDays: Int?
    /// A folder whose archives are imported as they appear.
    let watched: WatchedFolder?
    let logger: Logger

    /// Runs until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await runJobs([.import, .hash]) }
            // Indexing a large archive takes hours, in which verifications go on, but not at the same moment.
            let turns = JobTurns()
            group.addTask { await runJobs([.text], turns) }
            group.addTask { await runJobs([.verify], turns) }
            group.addTask { await audit() }
            group.addTask { await watch() }
            group.addTask { await queueJobs() }
            group.addTask { await maintainStore() }
            group.addTask { await announceChanges() }
        }
    }

    /// Checks for new jobs twice a second, and every few seconds for jobs that can run again.
    private func runJobs(_ kinds: Set<Job.Kind>, _ turns: JobTurns? = nil) async {
        guard !store.isReadOnly else { return }
        let runner = JobRunner(store, kinds: kinds, turns: turns)
        var errors = ErrorThrottle(logger: logger, what: "can't run jobs")
        var seen = -1
        var checkedAt = ContinuousClock.now
        while await keepsRunning(after: .milliseconds(500)) {
            do {
                let revision = try await blocking { try store.revision().jobs }
                guard revision != seen || checkedAt.duration(to: .now) > .seconds(5) else { continue }
                checkedAt = .now
                try await blocking.long { try runAll(runner) }
                seen = revision
                errors.reset()
            } catch {
                errors.log(error)
            }
        }
        withExtendedLifetime(runner) {}
    }

    /// Queues the indexing and the verification of new archives, and deletes the text of removed ones.
    private func queueJobs() async {
        guard !store.isReadOnly else { return }
        var errors = ErrorThrottle(logger: logger, what: "can't queue jobs")
        var seen: Jobs.QueueState?
        while await keepsRunning(after: .milliseconds(500)) {
            do {
                let now = try await blocking { try store.jobs.queueState() }
                guard now != seen else { continue }
                try await blocking.long {
                    try LowPriority.run {
                        try store.jobs.queueTexts()
                        try store.jobs.queueVerifications()
                        try store.purgeRemovedTexts { stop.isRaised }
                    }
                }
                seen = now
                errors.reset()
            } catch {
                errors.log(error)
            }
        }
    }

    private func runAll(_ runner: JobRunner) throws {
        while let job = try runner.runNext(stop: { stop.isRaised ? "the server stopped" : nil }) {
            var metadata: Logger.Metadata = ["job": "\(job.id)", "kind": "\(job.kind.rawValue)"]
            if let reason = job.reason { metadata["reason"] = "\(reason)" }
            logger.info("job is \(job.state.rawValue)", metadata: metadata)
            if job.kind == .verify, job.state == .done { try logVerification(job) }
        }
    }

    /// Logs what a verification found that the one before didn't.
    private func logVerification(_ job: Job) throws {
        guard let id = job.archiveID, let archive = try store.archive(id: id),
            let report = store.verifications.last(of: archive), report.hasChanged, let before = report.previous
        else { return }
        logger.warning(
            "verification of \(id): \(report.summary.outcome), before: \(before.outcome)",
            metadata: ["new": "\(report.newFindings.joined(separator: " "))"])
    }

    /// Queues verifications that are due, once an hour.
    private func audit() async {
        guard let auditDays, !store.isReadOnly else { return }
        var errors = ErrorThrottle(logger: logger, what: "can't queue verifications")
        repeat {
            do {
                try await blocking.long { try store.verifications.queueAudit(days: auditDays) }
                errors.reset()
            } catch {
                errors.log(error)
            }
        } while await keepsRunning(after: .seconds(3600))
    }

    /// Imports what appears in the watched folder.
    private func watch() async {
        guard let watched, !store.isReadOnly else { return }
        var watch = FolderWatch(store, watched)
        var errors = ErrorThrottle(logger: logger, what: "can't import from the watched folder")
        while await keepsRunning(after: .seconds(1)) {
            do {
                let before = watch
                watch = try await blocking.long {
                    var watch = before
                    try watch.look {
                        if stop.isRaised { throw StoreError(.interrupted, "the server is stopping") }
                    } log: { path, problem in
                        guard let problem else {
                            return logger.info("imported a file of the watched folder", metadata: ["path": "\(path)"])
                        }
                        logger.warning(
                            "a file of the watched folder was refused",
                            metadata: ["path": "\(path)", "error": "\(problem)"])
                    }
                    return watch
                }
                errors.reset()
            } catch {
                guard !stop.isRaised else { return }
                errors.log(error)
                // What was imported before the error is noted in the store.
                watch = FolderWatch(store, watched)
            }
        }
    }

    private func maintainStore() async {
        var maintenance = Maintenance(store)
        var errors = ErrorThrottle(logger: logger, what: "can't repair the store")
        var problems: [String] = []
        while await keepsRunning(after: .seconds(1)) {
            do {
                let before = maintenance
                let (after, report) = try await blocking.long {
                    var maintenance = before
                    let report = try maintenance.step {
                        if stop.isRaised { throw StoreError(.interrupted, "the server is stopping") }
                    }
                    return (maintenance, report)
                }
                maintenance = after
                errors.reset()
                guard let report else { continue }
                log(report)
                for problem in report.problems where !problems.contains(problem) { logger.warning("\(problem)") }
                problems = report.problems
            } catch let error as StoreError where error.code == .interrupted {
                return
            } catch {
                errors.log(error)
            }
        }
    }

    private func log(_ report: RepairReport) {
        guard report.changedAnything else { return }
        let counts = [
            ("copies", report.sweptCopies), ("removals", report.completedRemovals.count),
            ("adopted", report.adopted.count), ("updated", report.updated.count),
            ("sidecars", report.restoredSidecars.count + report.sweptSidecars), ("examined", report.examined.count),
        ].filter { $0.1 > 0 }
        logger.info(
            "repaired the store",
            metadata: Logger.Metadata(uniqueKeysWithValues: counts.map { ($0.0, "\($0.1)") }))
    }

    private func announceChanges() async {
        var errors = ErrorThrottle(logger: logger, what: "can't check for changes")
        var seen: CatalogRevision?
        var keptAliveAt = ContinuousClock.now
        while await keepsRunning(after: .milliseconds(250)) {
            guard events.hasListeners else { continue }
            do {
                let revision = try await blocking { try store.revision() }
                errors.reset()
                let isDue = keptAliveAt.duration(to: .now) > EventHub.silence
                guard revision != seen || isDue else { continue }
                (seen, keptAliveAt) = (revision, .now)
                events.wake()
            } catch {
                errors.log(error)
            }
        }
        events.close()
    }

    /// Waits. Returns `false` if the server is stopping.
    private func keepsRunning(after pause: Duration) async -> Bool {
        (try? await Task.sleep(for: pause)) != nil && !stop.isRaised
    }
}

/// Logs an error once, until it changes.
private struct ErrorThrottle {
    let logger: Logger
    let what: String
    private var last: String?

    init(logger: Logger, what: String) {
        self.logger = logger
        self.what = what
    }

    mutating func log(_ error: any Error) {
        guard "\(error)" != last else { return }
        last = "\(error)"
        logger.error("\(what)", metadata: ["error": "\(error)"])
    }

    mutating func reset() { last = nil }
}
