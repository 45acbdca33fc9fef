package import CaptureAPI
package import Foundation
import GRDB

/// A row of the table `downloads`. Times are ISO 8601 in UTC, without fractions.
package struct DownloadRow: Codable, Sendable, Hashable, FetchableRecord {
    package let id: Int64
    package let downloadID: String
    package let url: String
    package let host: String
    package let username: String
    package let clientID: String?
    package let request: String
    package let genre: String
    package let service: String
    package let title: String?
    /// The JSON of `DownloadOptions`.
    package let options: String
    package let state: String
    package let stage: String?
    package let waitingFor: String?
    package let notBefore: String?
    package let progress: Double?
    package let bytesDone: Int64?
    package let bytesTotal: Int64?
    package let attempt: Int
    package let qualityFallback: Bool
    package let createdAt: String
    package let startedAt: String?
    package let completedAt: String?
    package let fileName: String?
    package let fileSize: Int64?
    package let mediaType: String?
    package let errorCode: String?
    package let errorMessage: String?
    package let genreDetectionError: String?
    package let archiveID: String?
    package let archiveSHA256: String?
    package let logID: String?
    package let sessionID: String
    package let incomplete: String?
    package let replayCheck: String?
    /// Grows with each change of any download.
    package let revision: Int64
    /// The name of the file's folder; `nil` if it's the genre.
    package let folder: String?

    package enum CodingKeys: String, CodingKey {
        case id, url, host, username, request, genre, service, title, options, state, stage, progress, attempt
        case incomplete, revision, folder
        case downloadID = "download_id"
        case clientID = "client_id"
        case waitingFor = "waiting_for"
        case notBefore = "not_before"
        case bytesDone = "bytes_done"
        case bytesTotal = "bytes_total"
        case qualityFallback = "quality_fallback"
        case createdAt = "created_at"
        case startedAt = "started_at"
        case completedAt = "completed_at"
        case fileName = "file_name"
        case fileSize = "file_size"
        case mediaType = "media_type"
        case errorCode = "error_code"
        case errorMessage = "error_message"
        case genreDetectionError = "genre_detection_error"
        case archiveID = "archive_id"
        case archiveSHA256 = "archive_sha256"
        case logID = "log_id"
        case sessionID = "session_id"
        case replayCheck = "replay_check"
    }

    package var downloadState: DownloadState { DownloadState(rawValue: state) ?? .failed }

    package var downloadOptions: DownloadOptions {
        (try? JSONDecoder().decode(DownloadOptions.self, from: Data(options.utf8))) ?? DownloadOptions()
    }

    /// Whether the file is only shown, and not kept.
    var isPreview: Bool { downloadOptions.disposition == .preview }

    /// Returns the download as clients see it, without what only the running server knows.
    package var download: Download {
        var download = Download(
            id: downloadID, url: url, username: username, genre: Genre(rawValue: genre) ?? .unknown,
            submittedAt: createdAt, service: service, state: downloadState)
        (download.startedAt, download.completedAt) = (startedAt, completedAt)
        (download.filePath, download.fileSize) = (fileName, fileSize.map { UInt64(clamping: $0) })
        (download.errorCode, download.errorMessage) = (errorCode, errorMessage)
        (download.genreDetectionError, download.title) = (genreDetectionError, title)
        download.stage = downloadState == .downloading ? stage.flatMap(DownloadStage.init) : nil
        if downloadState == .downloading, let bytesDone {
            download.progress = DownloadProgress(
                percent: progress, bytes: UInt64(clamping: bytesDone), total: bytesTotal.map { UInt64(clamping: $0) })
        }
        (download.attempt, download.notBefore) = (attempt, notBefore)
        download.waitingFor = downloadState == .queued ? waitingFor.flatMap(WaitReason.init) : nil
        (download.archive, download.logID, download.clientID) = (archiveID, logID, clientID)
        (download.qualityFallback, download.options) = (qualityFallback, downloadOptions)
        (download.incomplete, download.replayCheck) = (incomplete, replayCheck)
        return download
    }
}

/// Times in the queue.
package enum QueueTime {
    package static func text(_ date: Date = Date()) -> String { date.formatted(.iso8601) }

    package static func date(_ text: String) -> Date? { try? Date(text, strategy: .iso8601) }
}

extension DownloadOptions {
    /// The JSON for the column `options`.
    var json: String { Self.json(of: self) }
}
