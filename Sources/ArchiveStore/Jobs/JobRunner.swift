package import ArchiveSignature
import Synchronization

/// Runs queued jobs one after the other. Several runners, in one or more processes, share the work.
package final class JobRunner: Sendable {
    let store: ArchiveStore
    private let kinds: Set<Job.Kind>
    /// The turns of this runner and others; `nil` if it needn't wait for others.
    private let turns: JobTurns?
    /// The roots for signatures.
    let trust: TrustRoots?
    /// Partial hashes by job, so that a paused job continues where it stopped.
    private let partialHashes = Mutex<[Int64: HashingWork]>([:])
    private struct Ownership {
        /// The owner of the jobs that run here; `nil` when the last one has ended and no other can run.
        var owner: JobOwner?
        /// Whether the end of the last job isn't recorded yet.
        var hasJob = false
    }
    private let ownership = Mutex(Ownership())
    /// Called often with the number of bytes done, and their total if the job doesn't have it. Throws `JobStop`.
    typealias Step = (_ done: UInt64, _ total: UInt64?) throws -> Void

    /// - Parameters:
    ///   - kinds: The kinds of jobs to run.
    ///   - trust: The roots that signatures must lead to; `nil` for the system's.
    ///   - turns: Lets runners take turns; `nil` to run beside others.
    package init(
        _ store: ArchiveStore, kinds: Set<Job.Kind> = Set(Job.Kind.allCases), trust: TrustRoots? = nil,
        turns: JobTurns? = nil
    ) {
        (self.store, self.kinds, self.trust, self.turns) = (store, kinds, trust, turns)
    }

    /// Runs the next job that can run, until it ends or is stopped. Not reentrant.
    ///
    /// - Parameters:
    ///   - stop: Called often. Returns a reason to stop, with which the job is queued again, or `nil`.
    ///   - progress: Called with the job, which has the total if it's known, and the number of bytes done.
    /// - Returns: The job after the run; `nil` if no job can run now.
    /// - Throws: `StoreError` if the catalog fails. The job is started again later.
    package func runNext(
        stop: () -> String? = { nil }, progress: (Job, UInt64) -> Void = { _, _ in }
    ) throws -> Job? {
        try requeueOwn()
        turns?.begin()
        defer { turns?.end() }
        guard stop() == nil, let (job, owner) = try claimNext() else { return nil }
        func stopOrPass() -> String? {
            turns?.pass()
            return stop()
        }
        progress(job, job.done)
        let rate = JobRate()
        func step(_ done: UInt64, _ total: UInt64?) throws {
            if let reason = stopOrPass() { throw JobStop.requested(reason) }
            var current = job
            current.total = total ?? job.total
            progress(current, done)
            guard let done = rate.progressToWrite(done) else { return }
            try write(done, total, of: job, owner)
        }
        let end: JobEnd?
        switch job.kind {
        case .hash: end = try hash(job, step: step)
        case .text: end = try indexText(job, stop: stopOrPass, step: step)
        case .verify: end = try verify(job, step: step)
        case .import: end = try repeatImport(job, owner, stop: stopOrPass) { progress(job, $0) }
        }
        let ended = try end.map { try store.jobs.end(job.id, owner: owner.name, $0) } ?? store.jobs.job(id: job.id)
        ownership.withLock { $0.hasJob = false }
        return ended
    }

    /// Records progress.
    ///
    /// - Throws: `JobStop`.
    private func write(_ done: UInt64, _ total: UInt64?, of job: Job, _ owner: JobOwner) throws {
        owner.heartbeat()
        let isOurs: Bool
        do {
            isOurs = try store.jobs.setProgress(of: job.id, owner: owner.name, done: done, total: total)
        } catch {
            throw JobStop.catalogFailed(error)
        }
        if !isOurs { throw JobStop.noLongerOwned }
    }

    /// Requeues the job that was running here when the catalog failed.
    private func requeueOwn() throws {
        guard let owner = ownership.withLock({ $0.hasJob ? $0.owner : nil }) else { return }
        for job in try store.jobs.running(by: owner.name) {
            try store.jobs.end(job.id, owner: owner.name, .waiting(reason: "the catalog couldn't be written"))
        }
        ownership.withLock { $0.hasJob = false }
    }

    /// Claims the next job. Looks for jobs of processes that died before the first job and after the last one.
    private func claimNext() throws -> (job: Job, owner: JobOwner)? {
        var owner = ownership.withLock { $0.owner }
        if owner == nil { try store.jobs.requeueOrphaned() }
        let isFirst = owner == nil
        var job = try claimOldest(&owner)
        if job == nil, !isFirst, try store.jobs.requeueOrphaned() > 0 { job = try claimOldest(&owner) }
        guard let job, let owner else {
            ownership.withLock { $0.owner = nil }
            return nil
        }
        ownership.withLock { $0 = Ownership(owner: owner, hasJob: true) }
        return (job, owner)
    }

    /// Claims the oldest queued job whose file is available, first of those of archives that people use. Jobs whose process
    /// died come last.
    private func claimOldest(_ owner: inout JobOwner?) throws -> Job? {
        var last: Jobs.WaitingJob?
        var used = try store.jobs.waiting(kinds, of: store.recentlyUsed.all(), limit: Self.waitingMax)
        while true {
            // Nearly always, the first one can run.
            let limit = last == nil ? Self.firstMax : Self.waitingMax
            let waiting = used.isEmpty ? try store.jobs.waiting(kinds, after: last, limit: limit) : used
            for item in waiting where try canRun(item) {
                let done = partialHashes.withLock { $0[item.id]?.done } ?? 0
                let claiming = try owner ?? JobOwner(layout: store.layout)
                owner = claiming
                claiming.heartbeat()
                if let claimed = try store.jobs.claim(item.id, owner: claiming.name, done: done) { return claimed }
            }
            if !used.isEmpty {
                used = []
                continue
            }
            guard waiting.count == limit, let end = waiting.last else { return nil }
            last = end
        }
    }

    /// Whether a job can run now. Records the reason if it can't.
    private func canRun(_ item: Jobs.WaitingJob) throws -> Bool {
        guard item.kind != Job.Kind.import.rawValue, let path = item.linkedPath, !Folder.isFile(path) else {
            return true
        }
        if item.reason != Self.fileUnavailable {
            try store.jobs.setWaitingReason(of: item.id, Self.fileUnavailable)
        }
        return false
    }

    func takePartialHash(_ id: Int64) -> HashingWork? {
        partialHashes.withLock { $0.removeValue(forKey: id) }
    }

    /// Does nothing if nothing was hashed.
    func keepPartialHash(_ work: HashingWork?, _ id: Int64) {
        guard let work else { return }
        partialHashes.withLock { hashes in
            if hashes.count >= Self.partialHashesMax { hashes.removeAll() }
            hashes[id] = work
        }
    }

    /// The catalog's column `turn` depends on this text.
    static let fileUnavailable = "its file is unavailable"
    private static let firstMax = 4
    private static let waitingMax = 100
    private static let partialHashesMax = 64
}

/// Why a job stops early.
enum JobStop: Error {
    /// The process is stopping, with the reason.
    case requested(String)
    /// The job was paused or cancelled.
    case noLongerOwned
    /// The catalog can't be written.
    case catalogFailed(any Error)
}
