import CaptureAPI
import CaptureWorker
import Foundation
import GRDB

/// Downloads whose file is only shown.
extension DownloadQueue {
    /// Records that the file of a preview can be shown.
    ///
    /// - Returns: Whether the download wasn't cancelled before.
    func show(_ id: String, _ file: PreviewFile, size: UInt64, now: Date = Date()) async throws -> Bool {
        try await database.write { database in
            let isShown = try Self.update(
                database, id,
                set: """
                    state = 'preview_ready', stage = NULL, completed_at = :now, waiting_for = NULL, not_before = NULL,
                    progress = NULL, title = :title, genre = \(Self.genre), media_type = :type, file_name = :name,
                    file_size = :size, genre_detection_error = \(Self.genreProblem), incomplete = :incomplete
                    """,
                if: "state IN ('started', 'downloading')",
                [
                    "title": file.title, "genre": file.genre.rawValue, "type": file.mediaType, "name": file.fileName,
                    "size": Int64(clamping: size), "problem": file.genreDetectionError, "incomplete": file.incomplete,
                ], now: now)
            try Self.endAttempt(database, id, nil, now)
            return isShown
        }
    }

    /// Records that the file of a preview was deleted.
    func closePreview(_ id: String) async throws {
        try await database.write { try Self.closePreview(id, $0) }
    }

    private static func closePreview(_ id: String, _ database: Database) throws {
        try update(
            database, id, set: "state = 'completed', file_name = NULL, file_size = NULL", if: "state = 'preview_ready'")
    }

    /// Ends the previews of a server that has ended. They belong to screens that may be gone.
    func endPreviews(now: Date = Date()) async throws {
        try await database.write { database in
            let open = "SELECT * FROM downloads WHERE state IN ('queued', 'started', 'downloading', 'preview_ready')"
            let previews = try DownloadRow.fetchAll(database, sql: open).filter(\.isPreview)
            let failure = ToolFailure(.aborted, "the server was restarted, which ends previews")
            for row in previews {
                if row.downloadState == .previewReady {
                    try Self.closePreview(row.downloadID, database)
                } else {
                    try Self.end(database, row.downloadID, .abortedBySystem, failure, now)
                    try Self.endAttempt(database, row.downloadID, failure, now)
                }
            }
        }
    }
}
