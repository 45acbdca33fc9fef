public import CaptureAPI
public import Foundation

/// A URL that a person shared, until the server has it. Published as `CachedURL`.
public struct Share: Sendable, Hashable, Codable, Identifiable {
    /// How far a share is.
    public enum Status: String, Sendable, Hashable, Codable, CaseIterable {
        case pending
        /// A request is on its way.
        case uploading
        /// The server has it.
        case confirmed
        /// All attempts to reach the server failed. A person can retry it.
        case failed
    }

    /// Why a share wasn't accepted yet.
    public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
        /// The server doesn't respond.
        case unreachable
        /// Another program answered.
        case foreign
        /// The server has a problem.
        case failed
        /// The server limits how many URLs it accepts in an hour.
        case rateLimited
        /// The server wants another key.
        case key
        /// The server refuses this device, or the address at which it was asked.
        case forbidden
        /// The server's certificate isn't of the root that this device knows.
        case untrusted
        /// No server is connected.
        case notConfigured

        /// Whether no other share can be sent either, until the server responds.
        public var blocks: Bool { self == .unreachable || self == .foreign }

        /// Whether nothing is sent until a person acts.
        public var stops: Bool { [.key, .forbidden, .untrusted, .notConfigured].contains(self) }
    }

    /// Also the `Idempotency-Key` of its requests: however often it's sent, there is one download.
    public let id: UUID
    /// The URL, as it was shared.
    public let url: String
    /// The user to save for; `nil` for that of the key.
    public var username: String?
    /// How to save it; `nil` for the choice of the server.
    public var options: DownloadOptions?
    /// The app from which it was shared.
    public let sourceApp: String
    /// When it was shared, to the second.
    public let cachedAt: Date
    /// How far it is.
    public var status = Status.pending
    /// The ID of its download, once the server has it.
    public var serverDownloadId: String?
    /// When it was last sent.
    public var lastAttempt: Date?
    /// The attempts that failed, and the one that runs.
    public var attemptCount = 0
    /// The time of the next attempt; `nil` for at once.
    public var notBefore: Date?
    /// Why it wasn't accepted yet.
    public var reason: Reason?
    /// What the server said.
    public var message: String?

    /// Creates a share that is pending.
    public init(
        url: WebURL, username: String? = nil, options: DownloadOptions? = nil, sourceApp: String,
        at time: Date = Date()
    ) {
        (id, self.url, self.username, self.options) = (UUID(), url.text, username, options)
        (self.sourceApp, cachedAt) = (sourceApp, Date(timeIntervalSince1970: time.timeIntervalSince1970.rounded(.down)))
    }

    /// Makes it pending again, as if it had never been tried.
    mutating func reset() {
        (status, attemptCount, notBefore, reason, message) = (.pending, 0, nil, nil, nil)
    }

    /// The seconds to wait after a number of failed attempts: 30 s, 2 min, then 5 min.
    public static func secondsToWait(after attempts: Int) -> Int {
        [0, 30, 120, 300][min(max(attempts, 0), 3)]
    }
}

/// What became of a share. It stays until a person deletes it.
public struct HistoryEntry: Sendable, Hashable, Codable, Identifiable {
    /// Published states.
    public enum Status: String, Sendable, Hashable, Codable, CaseIterable {
        case queued, confirmed, failed
    }

    /// The ID of the share.
    public let id: UUID
    /// The URL, as it was shared.
    public let url: String
    /// When it was shared.
    public let sharedAt: Date
    /// The ID of its download, once the server has it.
    public let serverDownloadId: String?
    /// How far it is.
    public let status: Status
    /// The app from which it was shared.
    public let sourceApp: String
    /// Why it failed, if the server said so.
    public let message: String?

    init(_ share: Share) {
        (id, url, sharedAt, sourceApp) = (share.id, share.url, share.cachedAt, share.sourceApp)
        (serverDownloadId, message) = (share.serverDownloadId, share.message)
        status = share.status == .confirmed ? .confirmed : share.status == .failed ? .failed : .queued
    }
}
