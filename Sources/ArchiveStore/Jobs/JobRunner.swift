import Synchronization

/// Runs the jobs that wait, one after the other. Several runners, in one process or in many, share the work.
package final class JobRunner: Sendable {
    let store: ArchiveStore
    /// Files that were hashed in part, by job, so that a pause costs nothing.
    private let partly = Mutex<[Int64: HashingWork]>([:])
    /// In whose name a job runs, until its end is written down.
    private let current = Mutex<JobOwner?>(nil)

    package init(_ store: ArchiveStore) {
        self.store = store
    }

    /// Runs the next job that can be run, to its end or until it is stopped. One call at a time.
    ///
    /// - Parameters:
    ///   - stop: Asked often. A reason ends the work, and the job waits again for that reason; `nil` lets it go on.
    ///   - progress: Told of the job and how many bytes of it are done.
    /// - Returns: The job as it is then; `nil` when none waits that can be run now.
    /// - Throws: `StoreError` when the catalog fails. The job is begun again once it works.
    package func runNext(
        stop: () -> String? = { nil }, progress: (Job, UInt64) -> Void = { _, _ in }
    ) throws -> Job? {
        try store.jobs.requeueOrphaned()
        try requeueOwn()
        guard stop() == nil, let (job, owner) = try claimNext() else { return nil }
        current.withLock { $0 = owner }
        progress(job, job.done)
        let end: JobEnd?
        switch job.kind {
        case .hash: end = try hash(job, owner, stop: stop) { progress(job, $0) }
        case .import: end = try importAgain(job, owner, stop: stop) { progress(job, $0) }
        }
        if let end { try store.jobs.end(job.id, owner: owner.name, end) }
        let ended = try store.jobs.job(id: job.id)
        current.withLock { $0 = nil }
        return ended
    }

    /// The job that was running here when the catalog failed.
    private func requeueOwn() throws {
        guard let owner = current.withLock({ $0 }) else { return }
        for job in try store.jobs.running(by: owner.name) {
            try store.jobs.end(job.id, owner: owner.name, .waiting(reason: "the catalog could not be written"))
        }
        current.withLock { $0 = nil }
    }

    /// The oldest one that waits and whose file is there.
    private func claimNext() throws -> (job: Job, owner: JobOwner)? {
        var last: Int64 = 0
        var owner: JobOwner?
        while true {
            let waiting = try store.jobs.waiting(after: last, limit: Self.waitingMax)
            for item in waiting where try isPossible(item) {
                let done = partly.withLock { $0[item.job.id]?.done } ?? 0
                let candidate = try owner ?? JobOwner(layout: store.layout)
                owner = candidate
                let claimed = try store.jobs.claim(item.job.id, owner: candidate.name, done: done)
                if let claimed { return (claimed, candidate) }
            }
            guard waiting.count == Self.waitingMax, let end = waiting.last else { return nil }
            last = end.job.id
        }
    }

    /// Whether a job can be run now; why it cannot is written down, once.
    private func isPossible(_ item: Jobs.WaitingJob) throws -> Bool {
        guard item.job.kind == .hash, let path = item.linkedPath, !Folder.holdsFile(path) else { return true }
        if item.job.reason != Self.isUnavailable { try store.jobs.explainWaiting(of: item.job.id, Self.isUnavailable) }
        return false
    }

    func takePartlyDone(_ id: Int64) -> HashingWork? {
        partly.withLock { $0.removeValue(forKey: id) }
    }

    func keepPartlyDone(_ work: HashingWork, _ id: Int64) {
        partly.withLock { partly in
            if partly.count >= Self.partlyMax { partly.removeAll() }
            partly[id] = work
        }
    }

    static let isUnavailable = "its file is unavailable"
    private static let waitingMax = 100
    private static let partlyMax = 64
}

/// Why a run stops before its end.
enum JobStop: Error {
    /// The process wants to end; the reason.
    case asked(String)
    /// Somebody paused or cancelled the job.
    case takenAway
    /// The catalog cannot be written.
    case catalogFailed(any Error)
}
