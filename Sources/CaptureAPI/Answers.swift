package import Foundation

/// The answer to `POST /download`.
package struct DownloadReceipt: Sendable, Hashable, Codable {
    package var success = true
    package var downloadID: String
    package var message: String
    /// `queued` for the older client, else `pending`.
    package var status: String
    package var state: DownloadState
    package var username: String
    package var genre: Genre
    package var service: String
    package var submittedAt: String
    /// Seconds since 1970, for the older client.
    package var timestamp: Int

    package init(of download: Download, isForOlderClient: Bool, at time: Date) {
        downloadID = download.downloadID
        message = isForOlderClient ? "Video queued for download" : "Download queued successfully"
        status = isForOlderClient ? "queued" : download.status.rawValue
        (state, username, genre) = (download.state, download.username, download.genre)
        (service, submittedAt) = (download.service, download.submittedAt)
        timestamp = Int(time.timeIntervalSince1970)
    }

    private enum CodingKeys: String, CodingKey {
        case success, message, status, state, username, genre, service, timestamp
        case downloadID = "download_id"
        case submittedAt = "submitted_at"
    }
}

/// How far the current attempt is.
package struct DownloadProgress: Sendable, Hashable, Codable {
    /// From 0 to 100; `nil` if the total isn't known.
    @NullWritten package var percent: Double?
    package var bytes: UInt64
    /// In bytes; `nil` if it isn't known.
    @NullWritten package var total: UInt64?
    /// In bytes a second.
    @NullWritten package var speed: UInt64?
    /// The time left, in seconds.
    @NullWritten package var eta: Int?

    package init(percent: Double? = nil, bytes: UInt64, total: UInt64?, speed: UInt64? = nil, eta: Int? = nil) {
        (self.percent, self.bytes, self.total, self.speed, self.eta) = (percent, bytes, total, speed, eta)
    }

}

/// A download: the answer of `GET /status/{id}` and an item of `GET /history`. Times are ISO 8601 in UTC, without fractions.
package struct Download: Sendable, Hashable, Codable {
    package var downloadID: String
    package var url: String
    package var status: DownloadStatus
    package var username: String
    package var genre: Genre
    package var submittedAt: String
    @NullWritten package var startedAt: String?
    @NullWritten package var completedAt: String?
    /// The name of the media file or document, without its folder.
    @NullWritten package var filePath: String?
    /// In bytes.
    @NullWritten package var fileSize: UInt64?
    @NullWritten package var errorMessage: String?
    @NullWritten package var genreDetectionError: String?

    // What this server adds to the published contract:

    package var state: DownloadState
    @NullWritten package var stage: DownloadStage?
    @NullWritten package var title: String?
    package var service: String
    @NullWritten package var progress: DownloadProgress?
    /// The number of attempts so far.
    package var attempt: Int
    /// The time before which there is no further attempt.
    @NullWritten package var notBefore: String?
    @NullWritten package var waitingFor: WaitReason?
    /// The ID of the archive in the library.
    @NullWritten package var archive: String?
    /// The URL at which the archive opens.
    @NullWritten package var replayURL: String?
    @NullWritten package var logID: String?
    @NullWritten package var clientID: String?
    @NullWritten package var errorCode: String?
    /// Whether the site refused the wanted quality, so that the default was saved.
    package var qualityFallback: Bool
    /// What is missing: a limit that was reached, or the half that failed. `nil` if nothing is.
    @NullWritten package var incomplete: String?
    /// What was seen when the archive was replayed; `nil` if that wasn't tried.
    @NullWritten package var replayCheck: String?
    package var options: DownloadOptions

    package init(
        id: String, url: String, username: String, genre: Genre, submittedAt: String, service: String,
        state: DownloadState
    ) {
        (downloadID, self.url, self.username, self.genre) = (id, url, username, genre)
        (self.submittedAt, self.service, self.state) = (submittedAt, service, state)
        status = state.status
        (attempt, qualityFallback, options) = (0, false, DownloadOptions())
    }

    private enum CodingKeys: String, CodingKey {
        case url, status, username, genre, state, stage, title, service, progress, attempt, archive, options, incomplete
        case downloadID = "download_id"
        case submittedAt = "submitted_at"
        case startedAt = "started_at"
        case completedAt = "completed_at"
        case filePath = "file_path"
        case fileSize = "file_size"
        case errorMessage = "error_message"
        case genreDetectionError = "genre_detection_error"
        case notBefore = "not_before"
        case waitingFor = "waiting_for"
        case replayURL = "replay_url"
        case logID = "log_id"
        case clientID = "client_id"
        case errorCode = "error_code"
        case qualityFallback = "quality_fallback"
        case replayCheck = "replay_check"
    }
}

/// A program that saving needs.
package struct ToolDescription: Sendable, Hashable, Codable {
    package var name: String
    /// `nil` if it isn't installed, or doesn't start.
    @NullWritten package var version: String?
    @NullWritten package var path: String?

    package init(name: String, version: String?, path: String?) {
        (self.name, self.version, self.path) = (name, version, path)
    }

}

/// The answer of `GET /health`.
package struct CaptureHealth: Sendable, Hashable, Codable {
    package struct Database: Sendable, Hashable, Codable {
        package var connected: Bool
        package var totalDownloads: Int

        package init(connected: Bool, totalDownloads: Int) {
            (self.connected, self.totalDownloads) = (connected, totalDownloads)
        }

        private enum CodingKeys: String, CodingKey {
            case connected
            case totalDownloads = "total_downloads"
        }
    }

    package struct Queue: Sendable, Hashable, Codable {
        package var queued: Int
        package var running: Int
        /// What all queued downloads wait for.
        @NullWritten package var waitingFor: WaitReason?

        package init(queued: Int, running: Int, waitingFor: WaitReason?) {
            (self.queued, self.running, self.waitingFor) = (queued, running, waitingFor)
        }

        private enum CodingKeys: String, CodingKey {
            case queued, running
            case waitingFor = "waiting_for"
        }

    }

    package struct Isolation: Sendable, Hashable, Codable {
        /// Whether tools see nothing of this computer but their programs, and reach nothing but the guard.
        package var confined: Bool
        /// Why not; `nil` if they are confined.
        @NullWritten package var reason: String?

        package init(reason: String?) { (confined, self.reason) = (reason == nil, reason) }

    }

    package var status = "healthy"
    package var timestamp: String
    /// The version of the contract.
    package var version = "2.0.0"
    package var database: Database
    /// The name and version of this program.
    package var software: String
    package var tools: [ToolDescription]
    package var isolation: Isolation
    package var queue: Queue
    /// The URL of the library; `nil` while it doesn't run.
    @NullWritten package var library: String?

    package init(
        timestamp: String, database: Database, software: String, tools: [ToolDescription],
        isolation: Isolation, queue: Queue, library: String?
    ) {
        (self.timestamp, self.database, self.software) = (timestamp, database, software)
        (self.tools, self.isolation, self.queue, self.library) = (tools, isolation, queue, library)
    }

}

/// A page of a download's log.
package struct LogPage: Sendable, Hashable, Codable {
    package var logID: String
    /// The number of lines in the whole log.
    package var total: Int
    package var offset: Int
    package var lines: [String]

    package init(logID: String, total: Int, offset: Int, lines: [String]) {
        (self.logID, self.total, self.offset, self.lines) = (logID, total, offset, lines)
    }

    private enum CodingKeys: String, CodingKey {
        case total, offset, lines
        case logID = "log_id"
    }
}

/// The answer to a request that only succeeds or fails.
package struct DownloadAcknowledgement: Sendable, Hashable, Codable {
    package var success = true
    package var downloadID: String

    package init(downloadID: String) { self.downloadID = downloadID }

    private enum CodingKeys: String, CodingKey {
        case success
        case downloadID = "download_id"
    }
}

/// The answer to `DELETE /history`.
package struct HistoryRemoval: Sendable, Hashable, Codable {
    package var success = true
    /// How many downloads were removed.
    package var removed: Int
    /// How many weren't, because they run.
    package var left: Int

    package init(removed: Int, left: Int) { (self.removed, self.left) = (removed, left) }
}

/// The body of every error: all keys that the published documents name.
package struct CaptureError: Error, Sendable, Hashable, Codable {
    /// `detail`: a list for invalid requests, else a text.
    package enum Detail: Sendable, Hashable, Codable {
        case text(String)
        case problems([FieldProblem])

        package init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let text = try? value.decode(String.self) {
                self = .text(text)
            } else {
                self = .problems(try value.decode([FieldProblem].self))
            }
        }

        package func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .text(let text): try value.encode(text)
            case .problems(let problems): try value.encode(problems)
            }
        }
    }

    package var success = false
    package var status = "error"
    /// The code; for the older client, the message.
    package var error: String
    package var message: String
    package var reason: String?
    package var requestID: String
    /// Seconds since 1970.
    package var timestamp: Int
    package var detail: Detail

    package init(
        error: String, message: String, reason: String? = nil, requestID: String, timestamp: Int, detail: Detail
    ) {
        (self.error, self.message, self.reason) = (error, message, reason)
        (self.requestID, self.timestamp, self.detail) = (requestID, timestamp, detail)
    }

    private enum CodingKeys: String, CodingKey {
        case success, status, error, message, reason, timestamp, detail
        case requestID = "request_id"
    }
}
