import Synchronization

/// An import as a job: written down before it begins, followed while it runs, and ended.
final class ImportJob: Sendable {
    private let id: Int64
    let jobs: Jobs
    private let owner: JobOwner
    /// Short ones are over before anybody could look.
    private let isFollowed: Bool
    private let rate: JobRate
    /// Whether it has ended here.
    let isOver = Atomic(false)

    /// - Parameter total: Bytes of the file, where they are known.
    init(id: Int64, jobs: Jobs, owner: JobOwner, total: UInt64?) {
        self.id = id
        self.jobs = jobs
        self.owner = owner
        isFollowed = total.map { $0 >= Self.followedSize } ?? true
        rate = JobRate()
    }

    /// Notes how far it is, not more often than anybody could look.
    ///
    /// - Throws: `StoreError` `interrupted` when somebody paused or cancelled it.
    func follow(_ progress: ImportProgress) throws {
        if case .copying(let done, _) = progress { return try advance(to: done) }
        try advance(to: nil)
    }

    /// - Parameter done: Bytes copied; `nil` when that is behind it.
    /// - Throws: As `follow`.
    func advance(to done: UInt64?) throws {
        guard isFollowed, let done = rate.isDue(done) else { return }
        owner.heartbeat()
        let isOurs: Bool
        do {
            isOurs = try jobs.setProgress(of: id, owner: owner.name, done: done)
        } catch {
            // How far it is can't be written down: no reason to give up hours of work. It is tried again with the next step.
            return
        }
        if !isOurs { throw try stopped() }
    }

    private func stopped() throws -> StoreError {
        guard try jobs.job(id: id)?.state == .paused else {
            return StoreError(.interrupted, "the import was cancelled as job \(id); nothing of it was kept")
        }
        return StoreError(
            .interrupted, "the import was paused as job \(id); nothing of it was kept",
            hint: "`replayhost jobs resume \(id)` begins it again")
    }

    /// Does a part of an upload; an error ends the job.
    func attempt<Value>(_ part: () throws -> Value) throws(FailedUpload) -> Value {
        do {
            return try part()
        } catch {
            end(.failure(error))
            throw FailedUpload(job: id, reason: error)
        }
    }

    /// Does the import and writes down how it ended.
    func run(_ importer: Importer, _ body: (Importer) throws -> ImportResult) throws -> ImportResult {
        let followed = Importer(store: importer.store, options: importer.options) {
            try importer.progress($0)
            try self.follow($0)
        }
        do {
            let result = try body(followed)
            end(.success(result))
            return result
        } catch {
            end(.failure(error))
            throw error
        }
    }

    /// Writes down how it ended. What the import itself did counts: when even that cannot be written, the job is taken from this
    /// process after its end, and done again by whoever does so finds the archive there.
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
        case .success(.archive(let outcome)): .done(outcome.archive.id, bytes: outcome.archive.size)
        case .success(.package(let outcome)): .done(outcome.collection.id, bytes: nil)
        // Whoever sent a file that was cut has stopped: that is no failure.
        case .failure(let error as StoreError) where [.interrupted, .uploadCut].contains(error.code):
            .cancelled(reason: "interrupted")
        case .failure(let error): JobEnd(error)
        }
    }

    /// Smaller files are only begun and ended: writing more down would take longer than the import.
    private static let followedSize: UInt64 = 8 << 20
}

/// Says when progress is to be written down: at most four times a second.
final class JobRate: Sendable {
    private struct State {
        var writtenAt = ContinuousClock.now
        var done: UInt64 = 0
    }
    private let state = Mutex(State())

    /// - Parameter done: `nil` for as much as before.
    /// - Returns: What to write; `nil` when something was written a moment ago.
    func isDue(_ done: UInt64?) -> UInt64? {
        state.withLock { state in
            if let done { state.done = done }
            guard state.writtenAt.duration(to: .now) >= Self.pause else { return nil }
            state.writtenAt = .now
            return state.done
        }
    }

    /// Shorter in tests, that then need not wait.
    @TaskLocal static var pause = Duration.milliseconds(250)
}
