/// Imports whose process ended are begun again.
extension JobRunner {
    /// - Returns: How it ended; `nil` when somebody paused or cancelled it.
    /// - Throws: What the catalog throws.
    func importAgain(_ job: Job, _ owner: JobOwner, stop: () -> String?, progress: (UInt64) -> Void) throws -> JobEnd? {
        guard let order = try store.jobs.importOrder(of: job.id), let path = order.path else {
            return .failed(
                reason: "the job does not say what to import", code: StoreError.Code.failed.rawValue)
        }
        if let archive = try moved(order, since: job) { return .done(archive.id, bytes: archive.size) }
        let followed = ImportJob(id: job.id, jobs: store.jobs, owner: owner, total: nil)
        var reason: String?
        do {
            let result = try store.withImporter(
                order.options,
                { now in
                    reason = stop()
                    if reason != nil { throw StoreError(.interrupted, "stopped") }
                    if case .copying(let done, _) = now { progress(done) }
                    try followed.follow(now)
                }, { try $0.importFile(at: path, mode: order.mode) })
            followed.end(.success(result))
            return nil
        } catch {
            if let reason { return .waiting(reason: reason) }
            // Paused or cancelled by somebody: that is written down already.
            guard try store.jobs.job(id: job.id)?.state == .running else { return nil }
            return JobEnd(error)
        }
    }

    /// The archive that a move had become before its process ended: then the original is gone.
    private func moved(_ order: ImportOrder, since job: Job) throws -> Archive? {
        guard order.mode == .move, let path = order.path, !Folder.exists(path) else { return nil }
        return try store.catalog.allArchives().first { $0.source == path && $0.importedAt >= job.createdAt }
    }
}
