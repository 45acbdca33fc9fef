import ArchiveSignature
import WebArchive

extension JobRunner {
    /// Verifies an archive at low priority. It continues where it stopped.
    ///
    /// - Returns: How the job ended; `nil` if it was paused or cancelled.
    /// - Throws: What the catalog throws.
    func verify(
        _ job: Job, _ owner: JobOwner, stop: () -> String?, progress: (_ done: UInt64, _ total: UInt64) -> Void
    ) throws -> JobEnd? {
        try runOnArchive(job) { archive in
            let rate = JobRate()
            let report = try LowPriority.run {
                try store.verifications.verify(archive, trust: trust) { done in
                    if let reason = stop() { throw JobStop.requested(reason) }
                    progress(done, archive.size)
                    guard let done = rate.progressToWrite(done) else { return }
                    try self.write(done, total: archive.size, of: job, owner)
                }
            }
            return report == nil ? .notStarted(reason: Self.archiveChanged) : .done(archive.id, bytes: archive.size)
        }
    }
}
