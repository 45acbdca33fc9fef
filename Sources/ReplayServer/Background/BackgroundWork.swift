import ArchiveStore
import Logging

/// What a server does without being asked: it runs the jobs that wait, keeps house, and tells listeners what has changed.
///
/// Nothing that goes wrong here ends the server: it is logged, once as long as it stays the same, and tried again.
struct BackgroundWork: Sendable {
    let store: ArchiveStore
    let blocking = BlockingWork()
    let events: EventHub
    let stop: StopSignal
    let logger: Logger

    /// Works until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await runJobs() }
            group.addTask { await keepHouse() }
            group.addTask { await announceChanges() }
        }
    }

    /// Looks for new jobs twice a second, and every few seconds for those whose volume is back or whose process has died.
    private func runJobs() async {
        guard !store.isReadOnly else { return }
        let runner = JobRunner(store)
        var trouble = ErrorThrottle(logger: logger, what: "jobs cannot be run")
        var seen = -1
        var lookedAt = ContinuousClock.now
        while await isGoingOn(after: .milliseconds(500)) {
            do {
                let revision = try await blocking { try store.revision().jobs }
                guard revision != seen || lookedAt.duration(to: .now) > .seconds(5) else { continue }
                lookedAt = .now
                try await blocking.long { try runAll(runner) }
                seen = revision
                trouble.isOver()
            } catch {
                trouble.happened(error)
            }
        }
        withExtendedLifetime(runner) {}
    }

    private func runAll(_ runner: JobRunner) throws {
        while let job = try runner.runNext(stop: { stop.isRaised ? "the server stopped" : nil }) {
            var metadata: Logger.Metadata = ["job": "\(job.id)", "kind": "\(job.kind.rawValue)"]
            if let reason = job.reason { metadata["reason"] = "\(reason)" }
            logger.info("a job is \(job.state.rawValue)", metadata: metadata)
        }
    }

    private func keepHouse() async {
        var housekeeping = Housekeeping(store)
        var trouble = ErrorThrottle(logger: logger, what: "the store cannot be repaired")
        var problems: [String] = []
        while await isGoingOn(after: .seconds(1)) {
            do {
                let before = housekeeping
                let (after, report) = try await blocking.long {
                    var housekeeping = before
                    let report = try housekeeping.step {
                        if stop.isRaised { throw StoreError(.interrupted, "the server stops") }
                    }
                    return (housekeeping, report)
                }
                housekeeping = after
                trouble.isOver()
                guard let report else { continue }
                log(report)
                for problem in report.problems where !problems.contains(problem) { logger.warning("\(problem)") }
                problems = report.problems
            } catch let error as StoreError where error.code == .interrupted {
                return
            } catch {
                trouble.happened(error)
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
            "put the store in order",
            metadata: Logger.Metadata(uniqueKeysWithValues: counts.map { ($0.0, "\($0.1)") }))
    }

    private func announceChanges() async {
        var trouble = ErrorThrottle(logger: logger, what: "changes cannot be seen")
        var seen: CatalogRevision?
        var keptAliveAt = ContinuousClock.now
        while await isGoingOn(after: .milliseconds(250)) {
            guard events.hasListeners else { continue }
            do {
                let revision = try await blocking { try store.revision() }
                trouble.isOver()
                let isDue = keptAliveAt.duration(to: .now) > EventHub.silence
                guard revision != seen || isDue else { continue }
                (seen, keptAliveAt) = (revision, .now)
                events.wake()
            } catch {
                trouble.happened(error)
            }
        }
        events.close()
    }

    /// Waits; `false` when the server stops.
    private func isGoingOn(after pause: Duration) async -> Bool {
        (try? await Task.sleep(for: pause)) != nil && !stop.isRaised
    }
}

/// Something that does not work, said once for as long as it is the same.
private struct ErrorThrottle {
    let logger: Logger
    let what: String
    private var said: String?

    init(logger: Logger, what: String) {
        self.logger = logger
        self.what = what
    }

    mutating func happened(_ error: any Error) {
        guard "\(error)" != said else { return }
        said = "\(error)"
        logger.error("\(what)", metadata: ["error": "\(error)"])
    }

    mutating func isOver() { said = nil }
}
