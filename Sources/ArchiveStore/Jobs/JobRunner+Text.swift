import WebArchive

extension JobRunner {
    /// Makes the text of an archive searchable, and counts what its index lists, at low priority. What was done stays
    /// when the job stops.
    ///
    /// - Returns: How the job ended; `nil` if it was paused or cancelled.
    /// - Throws: What the catalog throws.
    func indexText(_ job: Job, stop: () -> String?, step: Step) throws -> JobEnd? {
        try runOnArchive(job) { archive in
            let end = try LowPriority.run {
                let end = try TextWork(store: store, archive: archive).run { try step($0, $1) }
                guard end == .done else { return end }
                try store.jobs.noteDetectedPages(of: archive)
                try withoutActuallyEscaping(stop) { stop in
                    try store.resolver.noteContents(of: archive, isWanted: { stop() == nil })
                }
                return end
            }
            guard end == .done else { return .notStarted(reason: Self.archiveChanged) }
            let note = try store.searcher.indexedText(of: archive)?.unreadPDFs
            return .done(archive.id, bytes: archive.size, note: note)
        }
    }

    /// Runs a job that reads an archive, and returns how it ended.
    func runOnArchive(_ job: Job, _ body: (Archive) throws -> JobEnd) throws -> JobEnd? {
        guard let id = job.archiveID, let archive = try store.catalog.archive(id: id) else {
            return .cancelled(reason: "the archive was removed")
        }
        do {
            return try body(archive)
        } catch JobStop.catalogFailed(let error) {
            throw error
        } catch JobStop.noLongerOwned {
            return nil
        } catch JobStop.requested(let reason) {
            return .waiting(reason: reason)
        } catch {
            return try failed(archive, error)
        }
    }

    static let archiveChanged = "the archive has changed"

    private func failed(_ archive: Archive, _ error: any Error) throws -> JobEnd {
        guard let current = try store.catalog.archive(id: archive.id) else {
            return .cancelled(reason: "the archive was removed")
        }
        if current.key != archive.key { return .notStarted(reason: Self.archiveChanged) }
        guard current.availability(in: store.layout) != .unavailable else {
            return .notStarted(reason: Self.fileUnavailable)
        }
        return JobEnd(error)
    }
}
