import CaptureAPI
import GRDB
import Logging

/// What people end: downloads that they cancel, and previews.
extension Runner {
    /// Cancels a download.
    ///
    /// - Returns: Whether it hadn't ended already, and isn't being stored.
    func cancel(_ row: DownloadRow) async throws -> Bool {
        let id = row.downloadID
        var cancelled: DownloadRow?
        do {
            cancelled = try await queue.cancel(id)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            // Its own parts may fill the disk.
            stop(id)
            while isRunning(id) { try await Task.sleep(for: .milliseconds(50)) }
            await handOver.sweep(row)
            cancelled = try await queue.cancel(id)
        }
        guard let cancelled else { return false }
        if !stop(id), cancelled.downloadState == .queued { await handOver.sweep(cancelled) }
        return true
    }

    /// Ends a preview: stops it, or deletes its file.
    ///
    /// - Returns: Whether it hadn't ended already.
    @discardableResult
    func closePreview(_ id: String) async throws -> Bool {
        var isClosed = false
        if let row = try await queue.row(id), row.isPreview, !row.downloadState.hasEnded {
            isClosed = row.downloadState == .previewReady ? false : try await cancel(row)
            // It may have been shown meanwhile.
            if let now = try await queue.row(id), now.downloadState == .previewReady {
                await handOver.sweep(now)
                try await queue.closePreview(id)
                isClosed = true
            }
        }
        previews.remove(id)
        return isClosed
    }

    /// Ends previews that no client looks at any more: the screen was closed, or the browser was killed.
    func closeAbandonedPreviews() async {
        for id in previews.abandoned(for: settings.previewTime) {
            do {
                guard try await closePreview(id) else { continue }
                logger.info("Preview closed, since no client looks at it", metadata: ["download": "\(id)"])
            } catch {
                logger.error("a preview can't be closed yet", metadata: ["error": "\(error)"])
            }
        }
    }
}
