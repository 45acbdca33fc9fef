/// The answer of `GET /admin/state`.
public struct AdministratorState: Sendable, Hashable, Codable {
    /// Something that doesn't work.
    public struct Problem: Sendable, Hashable, Codable {
        public var what: String
        /// What repairs it; `nil` if that isn't known.
        @NullWritten public var repair: String?

        public init(_ what: String, repair: String? = nil) { (self.what, self.repair) = (what, repair) }
    }

    public struct Queue: Sendable, Hashable, Codable {
        public var paused: Bool
        public var queued: Int
        public var running: Int
        /// What all queued downloads wait for.
        @NullWritten public var waitingFor: WaitReason?

        public init(_ queue: CaptureHealth.Queue, paused: Bool) {
            (self.paused, queued, running, waitingFor) = (paused, queue.queued, queue.running, queue.waitingFor)
        }

        private enum CodingKeys: String, CodingKey {
            case paused, queued, running
            case waitingFor = "waiting_for"
        }
    }

    /// A folder, and the space on its disk in bytes.
    public struct Disk: Sendable, Hashable, Codable {
        /// `store` or `downloads`.
        public var what: String
        public var path: String
        public var free: UInt64
        public var total: UInt64

        public init(what: String, path: String, free: UInt64, total: UInt64) {
            (self.what, self.path, self.free, self.total) = (what, path, free, total)
        }
    }

    /// The last update of the tools.
    public struct Update: Sendable, Hashable, Codable {
        public var running = false
        /// What was done, for people.
        public var lines: [String] = []
        @NullWritten public var error: String?

        public init() { error = nil }
    }

    public var software: String
    public var startedAt: String
    public var problems: [Problem]
    /// The URLs at which other computers connect.
    public var addresses: [String]
    /// Whether other computers may connect.
    public var open: Bool
    public var queue: Queue
    public var disks: [Disk]
    public var tools: [ToolDescription]
    public var update: Update
    public var isolation: CaptureHealth.Isolation

    public init(
        software: String, startedAt: String, problems: [Problem], addresses: [String], open: Bool, queue: Queue,
        disks: [Disk], tools: [ToolDescription], update: Update, isolation: CaptureHealth.Isolation
    ) {
        (self.software, self.startedAt, self.problems) = (software, startedAt, problems)
        (self.addresses, self.open, self.queue, self.disks) = (addresses, open, queue, disks)
        (self.tools, self.update, self.isolation) = (tools, update, isolation)
    }

    private enum CodingKeys: String, CodingKey {
        case software, problems, addresses, open, queue, disks, tools, update, isolation
        case startedAt = "started_at"
    }
}

/// A one-time link to the administrator's page.
public struct AdministratorLink: Sendable, Hashable, Codable {
    public var link: String
    public var expiresAt: String

    public init(link: String, expiresAt: String) { (self.link, self.expiresAt) = (link, expiresAt) }

    private enum CodingKeys: String, CodingKey {
        case link
        case expiresAt = "expires_at"
    }
}

/// What a one-time link is exchanged for.
public struct AdministratorSession: Sendable, Hashable, Codable {
    public var token: String
    public var expiresAt: String

    public init(token: String, expiresAt: String) { (self.token, self.expiresAt) = (token, expiresAt) }

    private enum CodingKeys: String, CodingKey {
        case token
        case expiresAt = "expires_at"
    }
}

/// The cookies of a user. What is in them is never shown.
public struct CookieDescription: Sendable, Hashable, Codable {
    public var username: String
    /// How many.
    public var cookies: Int
    public var changedAt: String

    public init(username: String, cookies: Int, changedAt: String) {
        (self.username, self.cookies, self.changedAt) = (username, cookies, changedAt)
    }

    private enum CodingKeys: String, CodingKey {
        case username, cookies
        case changedAt = "changed_at"
    }
}

/// A part of the server's log.
public struct ServerLogPart: Sendable, Hashable, Codable {
    /// Where it begins, in bytes.
    public var offset: UInt64
    /// Where the next part begins.
    public var next: UInt64
    public var lines: [String]

    public init(offset: UInt64, next: UInt64, lines: [String]) {
        (self.offset, self.next, self.lines) = (offset, next, lines)
    }
}

/// The answer of `POST /queue/pause` and `POST /queue/resume`.
public struct QueueSwitch: Sendable, Hashable, Codable {
    public var paused: Bool

    public init(paused: Bool) { self.paused = paused }
}
