extension JobRunner {
    /// Hashes a linked file.
    ///
    /// - Returns: How the job ended; `nil` if it was paused or cancelled.
    /// - Throws: What the catalog throws.
    func hash(_ job: Job, step: Step) throws -> JobEnd? {
        guard let id = job.archiveID, let archive = try store.catalog.archive(id: id), archive.storage.isLinked else {
            return .cancelled(
                reason: "nothing to hash: the archive was removed, or its file is in the store now")
        }
        guard archive.sha256 == nil else { return .done(id, bytes: archive.size) }
        var work = takePartialHash(job.id)
        do {
            let file = try archive.openFile(in: store.layout)
            let state = try file.state()
            var hashing = HashingWork(key: archive.key, state: state)
            if let work, work.key == hashing.key, work.state == state { hashing = work }
            defer { work = hashing }
            try hashing.run(file) { try step($0, nil) }
            let hashed = try store.committer.finishHashing(key: archive.key, sha256: hashing.sha256, of: state)
            return .done(hashed.id, bytes: hashed.size)
        } catch JobStop.catalogFailed(let error) {
            keepPartialHash(work, job.id)
            throw error
        } catch JobStop.noLongerOwned {
            keepPartialHash(work, job.id)
            return nil
        } catch JobStop.requested(let reason) {
            keepPartialHash(work, job.id)
            return .waiting(reason: reason)
        } catch {
            return try failed(job, archive, work, error)
        }
    }

    /// Returns the end for an error: the file may be unavailable, and the file or the archive may have changed.
    private func failed(_ job: Job, _ archive: Archive, _ work: HashingWork?, _ error: any Error) throws -> JobEnd {
        let current = try store.catalog.archive(id: archive.id)
        guard let current, current.storage.isLinked else {
            return .cancelled(reason: "the archive was removed")
        }
        if current.key != archive.key || current.storage != archive.storage {
            return .notStarted(reason: "the file has changed and will be hashed again")
        }
        let availability = current.availability(in: store.layout)
        // Another program changed it and set its modification time back, or changed only its attributes.
        if availability == .available, (error as? StoreError)?.code == .changed {
            return .notStarted(reason: "the file changed while it was hashed and will be hashed again")
        }
        // A retry continues from here if the file is in the same state.
        if availability != .changed { keepPartialHash(work, job.id) }
        return availability == .unavailable ? .notStarted(reason: Self.fileUnavailable) : JobEnd(error)
    }
}
