/// Linked files are hashed.
extension JobRunner {
    /// - Returns: How it ended; `nil` when somebody paused or cancelled it.
    /// - Throws: What the catalog throws.
    func hash(_ job: Job, _ owner: JobOwner, stop: () -> String?, progress: (UInt64) -> Void) throws -> JobEnd? {
        guard let id = job.archiveID, let archive = try store.catalog.archive(id: id),
            let file = archive.storage.linkedFile
        else {
            return .cancelled(
                reason: "there is nothing to hash: the archive was removed, or its file is the store's own")
        }
        guard archive.sha256 == nil else { return .done(id, bytes: archive.size) }
        var work = HashingWork(key: archive.key, file: file)
        if let before = takePartlyDone(job.id), before.key == work.key, before.file == file { work = before }
        do {
            let file = try archive.openFile(in: store.layout)
            let rate = JobRate()
            try work.run(file) { done in
                if let reason = stop() { throw JobStop.asked(reason) }
                progress(done)
                guard let written = rate.isDue(done) else { return }
                try self.write(written, of: job, owner)
            }
            try archive.checkAvailability(in: store.layout)
            let hashed = try store.committer.finishHashing(key: work.key, sha256: work.sha256)
            return .done(hashed.id, bytes: hashed.size)
        } catch JobStop.catalogFailed(let error) {
            keepPartlyDone(work, job.id)
            throw error
        } catch JobStop.takenAway {
            keepPartlyDone(work, job.id)
            return nil
        } catch JobStop.asked(let reason) {
            keepPartlyDone(work, job.id)
            return .waiting(reason: reason)
        } catch {
            return try failed(job, archive, work, error)
        }
    }

    private func write(_ done: UInt64, of job: Job, _ owner: JobOwner) throws {
        owner.heartbeat()
        let isOurs: Bool
        do {
            isOurs = try store.jobs.setProgress(of: job.id, owner: owner.name, done: done)
        } catch {
            throw JobStop.catalogFailed(error)
        }
        if !isOurs { throw JobStop.takenAway }
    }

    /// What an error means: the volume may be away, and the file or the archive another one by now.
    private func failed(_ job: Job, _ archive: Archive, _ work: HashingWork, _ error: any Error) throws -> JobEnd {
        let current = try store.catalog.archive(id: archive.id)
        guard let current, current.storage.isLinked else {
            return .cancelled(reason: "the archive was removed while it was hashed")
        }
        if current.key != archive.key || current.storage != archive.storage {
            return .notBegun(reason: "the file was read anew, so that it is hashed anew")
        }
        guard current.availability(in: store.layout) != .unavailable else {
            keepPartlyDone(work, job.id)
            return .notBegun(reason: Self.isUnavailable)
        }
        // With nothing wrong with the file all that was read counts, should somebody try again.
        if current.availability(in: store.layout) == .available { keepPartlyDone(work, job.id) }
        return JobEnd(error)
    }
}
