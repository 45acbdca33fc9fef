import Synchronization

/// Records an import as a job: its start, its progress and its end.
final class ImportJob: Sendable {
    private let id: Int64
    let jobs: Jobs
    private let owner: JobOwner
    /// Whether to record progress. Short imports finish before it could be seen.
    private let isTracked: Bool
    private let rate: JobRate
    /// Whether the job has ended.
    let isOver = Atomic(false)

    /// - Parameter total: The file's size in bytes, if known.
    init(id: Int64, jobs: Jobs, owner: JobOwner, total: UInt64?) {
        self.id = id
        self.jobs = jobs
        self.owner = owner
        isTracked = total.map { $0 >= Self.trackedSizeMin } ?? true
        rate = JobRate()
    }

    /// Records progress, at most a few times a second.
    ///
    /// - Throws: `StoreError` `interrupted` if the job was paused or cancelled.
    func track(_ progress: ImportProgress) throws {
        if case .copying(let done, _) = progress { return try advance(to: done) }
        try advance(to: nil)
    }

    /// - Parameter done: Bytes copied; `nil` after copying.
    /// - Throws: Like `track`.
    func advance(to done: UInt64?) throws {
        guard isTracked, let done = rate.progressToWrite(done) else { return }
        owner.heartbeat()
        let isOurs: Bool
        do {
            isOurs = try jobs.setProgress(of: id, owner: owner.name, done: done)
        } catch {
            // Failing to record progress is no reason to stop. The next step tries again.
            return
        }
        if !isOurs { throw try stopped() }
    }

    private func stopped() throws -> StoreError {
        guard try jobs.job(id: id)?.state == .paused else {
            return StoreError(.interrupted, "cancelled (job \(id)); nothing was added")
        }
        return StoreError(
            .interrupted, "paused (job \(id)); nothing was added",
            hint: "run `replayhost jobs resume \(id)` to start it again")
    }

    /// Runs a step of an upload. An error ends the job.
    func attempt<Value>(_ step: () throws -> Value) throws(FailedUpload) -> Value {
        do {
            return try step()
        } catch {
            end(.failure(error))
            throw FailedUpload(job: id, reason: error)
        }
    }

    /// Runs the import and records how it ended.
    func run(_ importer: Importer, _ body: (Importer) throws -> ImportResult) throws -> ImportResult {
        let tracked = Importer(store: importer.store, options: importer.options) {
            try importer.progress($0)
            try self.track($0)
        }
        do {
            let result = try body(tracked)
            end(.success(result))
            return result
        } catch {
            end(.failure(error))
            throw error
        }
    }

    /// Records how the import ended. If that fails, the job is requeued after this process has ended, and finds the
    /// archive already imported.
    func end(_ result: Result<ImportResult, any Error>) {
        isOver.store(true, ordering: .relaxed)
        do {
            try jobs.end(id, owner: owner.name, Self.end(of: result))
        } catch {
            return
        }
    }

    private static func end(of result: Result<ImportResult, any Error>) -> JobEnd {
        switch result {
        case .success(.archive(let outcome)):
            .done(outcome.archive.id, bytes: outcome.archive.size, note: outcome.isDuplicate ? duplicate : nil)
        case .success(.multiWACZ(let outcome)):
            .done(outcome.collection.id, bytes: nil, note: outcome.isDuplicate ? duplicate : nil)
        // The sender stopped: that isn't a failure.
        case .failure(let error as StoreError) where [.interrupted, .uploadCut].contains(error.code):
            .cancelled(reason: JobChange.nothingAdded)
        case .failure(let error): JobEnd(error)
        }
    }

    private static let duplicate = "already in your library; nothing was added"

    /// Recording the progress of smaller files would take longer than importing them.
    private static let trackedSizeMin: UInt64 = 8 << 20
}

/// Limits how often progress is recorded: at most four times a second.
final class JobRate: Sendable {
    private struct State {
        var writtenAt = ContinuousClock.now
        var done: UInt64 = 0
    }
    private let state = Mutex(State())

    /// - Parameter done: `nil` if it didn't change.
    /// - Returns: The progress to write; `nil` if it is too early.
    func progressToWrite(_ done: UInt64?) -> UInt64? {
        state.withLock { state in
            if let done { state.done = done }
            guard state.writtenAt.duration(to: .now) >= Self.interval else { return nil }
            state.writtenAt = .now
            return state.done
        }
    }

    /// Shorter in tests.
    @TaskLocal static var interval = Duration.milliseconds(250)
}
