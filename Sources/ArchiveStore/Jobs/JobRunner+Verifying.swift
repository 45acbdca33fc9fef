import ArchiveSignature
import WebArchive

extension JobRunner {
    /// Verifies an archive at low priority. It continues where it stopped.
    ///
    /// - Returns: How the job ended; `nil` if it was paused or cancelled.
    /// - Throws: What the catalog throws.
    func verify(_ job: Job, step: Step) throws -> JobEnd? {
        try runOnArchive(job) { archive in
            let report = try LowPriority.run {
                try store.verifications.verify(archive, trust: trust) { try step($0, archive.size) }
            }
            return report == nil ? .notStarted(reason: Self.archiveChanged) : .done(archive.id, bytes: archive.size)
        }
    }
}
