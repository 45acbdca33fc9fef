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

    /// Looks for jobs that can run twice a second, and every few seconds for those that couldn't.
    private func runJobs(_ kinds: Set<Job.Kind>, _ turns: JobTurns? = nil) async {
        guard !store.isReadOnly else { return }
        let runner = JobRunner(store, kinds: kinds, turns: turns)
        var checkedAt: ContinuousClock.Instant?
        await repeating(every: .milliseconds(500), "can't run jobs") {
            let isDue = checkedAt.map { $0.duration(to: .now) > .seconds(5) } ?? true
            guard try await blocking({ try isDue || store.jobs.hasNext(kinds) }) else { return }
            checkedAt = .now
            try await blocking.long { try runAll(runner) }
        }
        withExtendedLifetime(runner) {}
    }

    /// Queues the indexing and the verification of new archives, and deletes the text of removed ones.
    private func queueJobs() async {
        guard !store.isReadOnly else { return }
        var seen: Jobs.QueueState?
        await repeating(every: .milliseconds(500), "can't queue jobs") {
            let now = try await blocking { try store.jobs.queueState() }
            guard now != seen else { return }
            let isFirst = seen == nil
            try await blocking.long {
                try LowPriority.run {
                    if isFirst { try store.verifications.forgetChanged() }
                    try store.jobs.queueNew { stop.isRaised }
                }
            }
            seen = now
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
            "verification of \(id): \(report.summary.code.rawValue), before: \(before.code.rawValue)",
            metadata: ["new": "\(report.newFindings.joined(separator: " "))"])
    }

    /// Queues verifications that are due, once an hour.
    private func audit() async {
        guard let auditDays, !store.isReadOnly else { return }
        await repeating(every: .seconds(3600), startsNow: true, "can't queue verifications") {
            try await blocking.long { try store.verifications.queueAudit(days: auditDays) }
        }
    }

    /// Imports what appears in the watched folder.
    private func watch() async {
        guard let watched, !store.isReadOnly else { return }
        var watch: FolderWatch?
        await repeating(every: .seconds(1), "can't import from the watched folder") {
            let before = watch
            // After an error it begins again, with what was noted in the store.
            watch = nil
            watch = try await blocking.long {
                var watch = before ?? FolderWatch(store, watched)
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
        }
    }

    private func maintainStore() async {
        var maintenance = Maintenance(store)
        var problems: [String] = []
        await repeating(every: .seconds(1), "can't repair the store") {
            let before = maintenance
            let (after, report) = try await blocking.long {
                var maintenance = before
                let report = try maintenance.step {
                    if stop.isRaised { throw StoreError(.interrupted, "the server is stopping") }
                }
                return (maintenance, report)
            }
            maintenance = after
            guard let report else { return }
            log(report)
            for problem in report.problems where !problems.contains(problem) { logger.warning("\(problem)") }
            problems = report.problems
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
        var seen: CatalogRevision?
        var keptAliveAt = ContinuousClock.now
        await repeating(every: .milliseconds(250), "can't check for changes") {
            guard events.hasListeners else { return }
            let revision = try await blocking { try store.revision() }
            let isDue = keptAliveAt.duration(to: .now) > EventHub.silence
            guard revision != seen || isDue else { return }
            (seen, keptAliveAt) = (revision, .now)
            events.wake()
        }
        events.close()
    }

    /// Runs a step again and again, until the server is stopping. Logs an error once, until it changes.
    private func repeating(
        every pause: Duration, startsNow: Bool = false, _ problem: String, _ step: () async throws -> Void
    ) async {
        var last: String?
        var pauses = !startsNow
        while true {
            if pauses, (try? await Task.sleep(for: pause)) == nil { return }
            pauses = true
            guard !stop.isRaised else { return }
            do {
                try await step()
                last = nil
            } catch {
                guard !stop.isRaised, "\(error)" != last else { continue }
                last = "\(error)"
                logger.error("\(problem)", metadata: ["error": "\(error)"])
            }
        }
    }
}
