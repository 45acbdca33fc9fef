import ArchiveStore
import CaptureAPI
import CaptureWorker
import Logging

/// What a server does first: an earlier one may have been killed.
extension Runner {
    /// Continues what a killed server was doing: ends its tools, and puts its downloads back into the queue.
    ///
    /// - Returns: What it left, for `sweep`: once the server answers, since a tool can have left millions of files.
    func recover() async throws -> Leftovers {
        WorkerProcess.endLeftovers(of: layout.sessions)
        try await queue.endPreviews()
        try await queue.requeueInterrupted()
        return Leftovers(
            sessions: try Folder.names(in: layout.sessions), received: try Folder.names(in: layout.received))
    }

    /// The names of folders of downloads.
    struct Leftovers: Sendable {
        let sessions, received: [String]
    }

    /// Deletes what downloads left that have ended: completed, failed or cancelled.
    func sweep(_ leftovers: Leftovers) async {
        do {
            for name in leftovers.sessions {
                if Task.isCancelled { return }
                guard let row = try await queue.row(name) else {
                    await handOver.removeSession(name)
                    continue
                }
                if row.downloadState.hasEnded { await handOver.sweep(row) }
            }
            for name in leftovers.received {
                if try await queue.row(name)?.downloadState.hasEnded ?? true { await handOver.removeReceived(name) }
            }
        } catch {
            logger.error("the rest of downloads can't be deleted", metadata: ["error": "\(error)"])
        }
    }
}
