extension JobRunner {
    /// Repeats an import that was interrupted or is retried.
    ///
    /// - Returns: How the job ended; `nil` if it was paused or cancelled.
    /// - Throws: What the catalog throws.
    func repeatImport(
        _ job: Job, _ owner: JobOwner, stop: () -> String?, progress: (UInt64) -> Void
    ) throws -> JobEnd? {
        guard let order = try store.jobs.importOrder(of: job.id), let path = order.path else {
            return .failed(
                reason: "the job doesn't name a file to import", code: StoreError.Code.failed.rawValue)
        }
        if let archive = try moved(order, since: job) { return .done(archive.id, bytes: archive.size) }
        let tracked = ImportJob(id: job.id, jobs: store.jobs, owner: owner, total: nil)
        var reason: String?
        do {
            let result = try store.withImporter(
                order.options,
                { now in
                    reason = stop()
                    if reason != nil { throw StoreError(.interrupted, "stopped") }
                    if case .copying(let done, _) = now { progress(done) }
                    try tracked.track(now)
                }, { try $0.importFile(at: path, with: order.others ?? [], mode: order.mode) })
            tracked.end(.success(result))
            return nil
        } catch {
            if let reason { return .waiting(reason: reason) }
            // If the job was paused or cancelled, that is already recorded.
            guard try store.jobs.job(id: job.id)?.state == .running else { return nil }
            return JobEnd(error)
        }
    }

    /// Returns the archive of a move that was complete when its process ended: the original is gone.
    private func moved(_ order: ImportOrder, since job: Job) throws -> Archive? {
        guard order.mode == .move, let path = order.path, !Folder.exists(path) else { return nil }
        return try store.catalog.archives(source: path).last { $0.importedAt >= job.createdAt }
    }
}
