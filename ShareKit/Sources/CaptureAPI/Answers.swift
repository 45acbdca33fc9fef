public import Foundation

/// The answer to `POST /download`.
public struct DownloadReceipt: Sendable, Hashable, Codable {
    public var success = true
    public var downloadID: String
    public var message: String
    /// `queued` for the older client, else `pending`.
    public var status: String
    public var state: DownloadState
    public var username: String
    public var genre: Genre
    public var service: String
    public var submittedAt: String
    /// Seconds since 1970, for the older client.
    public var timestamp: Int
    /// The time before which it doesn't start.
    @NullWritten public var notBefore: String?
    /// When the same URL was last saved for the same user.
    @NullWritten public var savedBefore: String?

    public init(of download: Download, savedBefore: String?, isForOlderClient: Bool, at time: Date) {
        downloadID = download.downloadID
        message = isForOlderClient ? "Video queued for download" : "Download queued successfully"
        status = isForOlderClient ? "queued" : download.status.rawValue
        (state, username, genre) = (download.state, download.username, download.genre)
        (service, submittedAt) = (download.service, download.submittedAt)
        timestamp = Int(time.timeIntervalSince1970)
        (notBefore, self.savedBefore) = (download.notBefore, savedBefore)
    }

    private enum CodingKeys: String, CodingKey {
        case success, message, status, state, username, genre, service, timestamp
        case downloadID = "download_id"
        case submittedAt = "submitted_at"
        case notBefore = "not_before"
        case savedBefore = "saved_before"
    }
}

/// How far the current attempt is.
public struct DownloadProgress: Sendable, Hashable, Codable {
    /// From 0 to 100; `nil` if the total isn't known.
    @NullWritten public var percent: Double?
    public var bytes: UInt64
    /// In bytes; `nil` if it isn't known.
    @NullWritten public var total: UInt64?
    /// In bytes a second.
    @NullWritten public var speed: UInt64?
    /// The time left, in seconds.
    @NullWritten public var eta: Int?

    public init(percent: Double? = nil, bytes: UInt64, total: UInt64?, speed: UInt64? = nil, eta: Int? = nil) {
        (self.percent, self.bytes, self.total, self.speed, self.eta) = (percent, bytes, total, speed, eta)
    }

}

/// A download: the answer of `GET /status/{id}` and an item of `GET /history`. Times are ISO 8601 in UTC, without fractions.
public struct Download: Sendable, Hashable, Codable {
    public var downloadID: String
    public var url: String
    public var status: DownloadStatus
    public var username: String
    public var genre: Genre
    public var submittedAt: String
    @NullWritten public var startedAt: String?
    @NullWritten public var completedAt: String?
    /// The name of the media file or document, without its folder.
    @NullWritten public var filePath: String?
    /// In bytes.
    @NullWritten public var fileSize: UInt64?
    @NullWritten public var errorMessage: String?
    @NullWritten public var genreDetectionError: String?

    // What this server adds to the published contract:

    public var state: DownloadState
    @NullWritten public var stage: DownloadStage?
    @NullWritten public var title: String?
    public var service: String
    @NullWritten public var progress: DownloadProgress?
    /// The number of attempts so far.
    public var attempt: Int
    /// The time before which there is no further attempt.
    @NullWritten public var notBefore: String?
    @NullWritten public var waitingFor: WaitReason?
    /// The ID of the archive in the library.
    @NullWritten public var archive: String?
    /// The URL at which the archive opens.
    @NullWritten public var replayURL: String?
    @NullWritten public var logID: String?
    @NullWritten public var clientID: String?
    @NullWritten public var errorCode: String?
    /// Whether the site refused the wanted quality, so that the default was saved.
    public var qualityFallback: Bool
    /// What is missing: a limit that was reached, or the half that failed. `nil` if nothing is.
    @NullWritten public var incomplete: String?
    /// What was seen when the archive was replayed; `nil` if that wasn't tried.
    @NullWritten public var replayCheck: String?
    public var options: DownloadOptions

    public init(
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
public struct ToolDescription: Sendable, Hashable, Codable {
    public var name: String
    /// `nil` if it isn't installed, or doesn't start.
    @NullWritten public var version: String?
    @NullWritten public var path: String?

    public init(name: String, version: String?, path: String?) {
        (self.name, self.version, self.path) = (name, version, path)
    }

}

/// The answer of `GET /health`.
public struct CaptureHealth: Sendable, Hashable, Codable {
    public struct Database: Sendable, Hashable, Codable {
        public var connected: Bool
        public var totalDownloads: Int

        public init(connected: Bool, totalDownloads: Int) {
            (self.connected, self.totalDownloads) = (connected, totalDownloads)
        }

        private enum CodingKeys: String, CodingKey {
            case connected
            case totalDownloads = "total_downloads"
        }
    }

    public struct Queue: Sendable, Hashable, Codable {
        public var queued: Int
        public var running: Int
        /// What all queued downloads wait for.
        @NullWritten public var waitingFor: WaitReason?

        public init(queued: Int, running: Int, waitingFor: WaitReason?) {
            (self.queued, self.running, self.waitingFor) = (queued, running, waitingFor)
        }

        private enum CodingKeys: String, CodingKey {
            case queued, running
            case waitingFor = "waiting_for"
        }

    }

    public struct Isolation: Sendable, Hashable, Codable {
        /// Whether tools see nothing of this computer but their programs, and reach nothing but the guard.
        public var confined: Bool
        /// Why not; `nil` if they are confined.
        @NullWritten public var reason: String?

        public init(reason: String?) { (confined, self.reason) = (reason == nil, reason) }

    }

    public var status = "healthy"
    public var timestamp: String
    /// The version of the contract.
    public var version = "2.0.0"
    public var database: Database
    /// The name and version of this program.
    public var software: String
    public var tools: [ToolDescription]
    public var isolation: Isolation
    public var queue: Queue
    /// The URL of the library; `nil` while it doesn't run.
    @NullWritten public var library: String?

    public init(
        timestamp: String, database: Database, software: String, tools: [ToolDescription],
        isolation: Isolation, queue: Queue, library: String?
    ) {
        (self.timestamp, self.database, self.software) = (timestamp, database, software)
        (self.tools, self.isolation, self.queue, self.library) = (tools, isolation, queue, library)
    }

}

/// A page of a download's log.
public struct LogPage: Sendable, Hashable, Codable {
    public var logID: String
    /// The number of lines in the whole log.
    public var total: Int
    public var offset: Int
    public var lines: [String]

    public init(logID: String, total: Int, offset: Int, lines: [String]) {
        (self.logID, self.total, self.offset, self.lines) = (logID, total, offset, lines)
    }

    private enum CodingKeys: String, CodingKey {
        case total, offset, lines
        case logID = "log_id"
    }
}

/// The answer of `GET /download/{id}/page`: what was saved of a page, without its files.
public struct SavedPage: Sendable, Hashable, Codable {
    public var url: String
    @NullWritten public var title: String?
    /// ISO 8601 in UTC.
    public var capturedAt: String
    /// The words of the page; `nil` if there are none, or more than 1 MiB.
    @NullWritten public var text: String?

    public init(url: String, title: String?, capturedAt: String, text: String?) {
        (self.url, self.title, self.capturedAt, self.text) = (url, title, capturedAt, text)
    }

    private enum CodingKeys: String, CodingKey {
        case url, title, text
        case capturedAt = "captured_at"
    }
}

/// The answer to a request that only succeeds or fails.
public struct DownloadAcknowledgement: Sendable, Hashable, Codable {
    public var success = true
    public var downloadID: String

    public init(downloadID: String) { self.downloadID = downloadID }

    private enum CodingKeys: String, CodingKey {
        case success
        case downloadID = "download_id"
    }
}

/// The answer to `DELETE /history`.
public struct HistoryRemoval: Sendable, Hashable, Codable {
    public var success = true
    /// How many downloads were removed.
    public var removed: Int
    /// How many weren't, because they run.
    public var left: Int

    public init(removed: Int, left: Int) { (self.removed, self.left) = (removed, left) }
}

/// The body of every error: all keys that the published documents name.
public struct CaptureError: Error, Sendable, Hashable, Codable {
    /// `detail`: a list for invalid requests, else a text.
    public enum Detail: Sendable, Hashable, Codable {
        case text(String)
        case problems([FieldProblem])

        public init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let text = try? value.decode(String.self) {
                self = .text(text)
            } else {
                self = .problems(try value.decode([FieldProblem].self))
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var value = encoder.singleValueContainer()
            switch self {
            case .text(let text): try value.encode(text)
            case .problems(let problems): try value.encode(problems)
            }
        }
    }

    public var success = false
    public var status = "error"
    /// The code; for the older client, the message.
    public var error: String
    public var message: String
    public var reason: String?
    public var requestID: String
    /// Seconds since 1970.
    public var timestamp: Int
    public var detail: Detail

    public init(
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
