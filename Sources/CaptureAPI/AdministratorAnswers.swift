/// The answer of `GET /admin/state`.
package struct AdministratorState: Sendable, Hashable, Codable {
    /// Something that doesn't work.
    package struct Problem: Sendable, Hashable, Codable {
        package var what: String
        /// What repairs it; `nil` if that isn't known.
        @NullWritten package var repair: String?

        package init(_ what: String, repair: String? = nil) { (self.what, self.repair) = (what, repair) }
    }

    package struct Queue: Sendable, Hashable, Codable {
        package var paused: Bool
        package var queued: Int
        package var running: Int
        /// What all queued downloads wait for.
        @NullWritten package var waitingFor: WaitReason?

        package init(_ queue: CaptureHealth.Queue, paused: Bool) {
            (self.paused, queued, running, waitingFor) = (paused, queue.queued, queue.running, queue.waitingFor)
        }

        private enum CodingKeys: String, CodingKey {
            case paused, queued, running
            case waitingFor = "waiting_for"
        }
    }

    /// A folder, and the space on its disk in bytes.
    package struct Disk: Sendable, Hashable, Codable {
        /// `store` or `downloads`.
        package var what: String
        package var path: String
        package var free: UInt64
        package var total: UInt64

        package init(what: String, path: String, free: UInt64, total: UInt64) {
            (self.what, self.path, self.free, self.total) = (what, path, free, total)
        }
    }

    /// The last update of the tools.
    package struct Update: Sendable, Hashable, Codable {
        package var running = false
        /// What was done, for people.
        package var lines: [String] = []
        @NullWritten package var error: String?

        package init() { error = nil }
    }

    package var software: String
    package var startedAt: String
    package var problems: [Problem]
    /// The URLs at which other computers connect.
    package var addresses: [String]
    /// Whether other computers may connect.
    package var open: Bool
    package var queue: Queue
    package var disks: [Disk]
    package var tools: [ToolDescription]
    package var update: Update
    package var isolation: CaptureHealth.Isolation

    package init(
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
package struct AdministratorLink: Sendable, Hashable, Codable {
    package var link: String
    package var expiresAt: String

    package init(link: String, expiresAt: String) { (self.link, self.expiresAt) = (link, expiresAt) }

    private enum CodingKeys: String, CodingKey {
        case link
        case expiresAt = "expires_at"
    }
}

/// What a one-time link is exchanged for.
package struct AdministratorSession: Sendable, Hashable, Codable {
    package var token: String
    package var expiresAt: String

    package init(token: String, expiresAt: String) { (self.token, self.expiresAt) = (token, expiresAt) }

    private enum CodingKeys: String, CodingKey {
        case token
        case expiresAt = "expires_at"
    }
}

/// The cookies of a user. What is in them is never shown.
package struct CookieDescription: Sendable, Hashable, Codable {
    package var username: String
    /// How many.
    package var cookies: Int
    package var changedAt: String

    package init(username: String, cookies: Int, changedAt: String) {
        (self.username, self.cookies, self.changedAt) = (username, cookies, changedAt)
    }

    private enum CodingKeys: String, CodingKey {
        case username, cookies
        case changedAt = "changed_at"
    }
}

/// A part of the server's log.
package struct ServerLogPart: Sendable, Hashable, Codable {
    /// Where it begins, in bytes.
    package var offset: UInt64
    /// Where the next part begins.
    package var next: UInt64
    package var lines: [String]

    package init(offset: UInt64, next: UInt64, lines: [String]) {
        (self.offset, self.next, self.lines) = (offset, next, lines)
    }
}

/// The answer of `POST /queue/pause` and `POST /queue/resume`.
package struct QueueSwitch: Sendable, Hashable, Codable {
    package var paused: Bool

    package init(paused: Bool) { self.paused = paused }
}
