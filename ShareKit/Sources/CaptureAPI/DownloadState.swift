/// The state of a download, from the request to its end.
public enum DownloadState: String, Sendable, Hashable, Codable, CaseIterable {
    case queued
    /// A worker is starting.
    case started
    case downloading
    /// The file is there to be looked at, until a person closes the preview.
    case previewReady = "preview_ready"
    case completed
    case failed
    /// A person cancelled it.
    case cancelled
    /// Its processes died, and no attempt is left.
    case abortedBySystem = "aborted_by_system"

    /// The published status. Clients know no other.
    public var status: DownloadStatus {
        switch self {
        case .queued: .pending
        case .started, .downloading: .downloading
        case .previewReady, .completed: .completed
        case .failed, .cancelled, .abortedBySystem: .failed
        }
    }

    /// Whether nothing more will happen unless a person retries it.
    public var hasEnded: Bool { ![.queued, .started, .downloading, .previewReady].contains(self) }
}

/// The published states.
public enum DownloadStatus: String, Sendable, Hashable, Codable, CaseIterable {
    case pending, downloading, completed, failed
}

/// What a worker is doing, while the state is `downloading`.
public enum DownloadStage: String, Sendable, Hashable, Codable, CaseIterable {
    case analysing, fetching, merging, checking, storing
}

/// What a queued download waits for.
public enum WaitReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// A program that isn't installed.
    case tool
    /// Free space.
    case disk
    /// The time of the next attempt.
    case retry
    /// The site, which limits the rate of requests.
    case site
    /// The administrator, who paused the queue.
    case paused
    /// The hourly limit.
    case limit
}
