import ArchiveStore
import CaptureWorker
import Foundation

extension Runner {
    /// Replays the archive of a completed download once more.
    ///
    /// - Parameter archive: The path of the archive.
    /// - Returns: What was seen; `nil` if it has nothing to compare.
    /// - Throws: `ToolFailure`.
    func replay(_ row: DownloadRow, _ archive: String) async throws -> String? {
        let name = "check-\(row.downloadID)"
        await handOver.removeSession(name)
        do {
            let sentence = try await replay(row, archive, in: layout.session(name))
            await handOver.removeSession(name)
            return sentence
        } catch {
            await handOver.removeSession(name)
            throw error
        }
    }

    private func replay(_ row: DownloadRow, _ archive: String, in session: String) async throws -> String? {
        try Folder.create(session)
        var order = JobOrder(
            downloadID: row.downloadID, url: row.url, options: row.downloadOptions, tools: toolbox.forWorker,
            hasCookies: false, software: settings.software, assets: settings.assets)
        order.archive = archive
        try SessionFolder(session).write(SessionFile.order, Array(JSONEncoder().encode(order)))
        let worker = WorkerProcess(
            program: settings.program, isolation: settings.isolation, folder: session, silenceMax: settings.silenceMax,
            memoryMax: settings.attempt.memory(), reading: archive)
        let end = try await worker.run { _ in
        } onError: { _ in
        }
        WorkerProcess.endLeftovers(of: session)
        guard case .exited(.replayed(let sentence)) = end else {
            throw ToolFailure(.aborted, "the check ended without a result")
        }
        return sentence
    }
}
