public import Foundation

/// Sends the queue: in its order, one share at a time, a second apart. Only one process sends at a time.
public struct ShareSender: Sendable {
    /// Why nothing more is sent for now.
    public enum Result: Sendable, Hashable {
        /// All are confirmed, have failed, or were refused.
        case empty
        /// Some wait, the first one for this reason.
        ///
        /// - Parameter next: When the next one is due.
        case waiting(Share.Reason?, next: Date?)
        /// A person has to act.
        case stopped(Share.Reason)

        /// Why shares wait; `nil` if none does, or if that isn't known.
        public var reason: Share.Reason? {
            switch self {
            case .empty: nil
            case .waiting(let reason, _): reason
            case .stopped(let reason): reason
            }
        }
    }

    private let queue: ShareQueue
    /// `nil` if no server is connected.
    private let client: ShareClient?
    private let settings: ShareSettings
    private let now: @Sendable () -> Date
    private let pause: @Sendable (_ seconds: Double) async throws -> Void

    /// Creates a sender for a queue.
    ///
    /// - Parameter client: `nil` if no server is connected.
    public init(queue: ShareQueue, client: ShareClient?, settings: ShareSettings) {
        self.init(
            queue: queue, client: client, settings: settings, now: { Date() },
            pause: { try await Task.sleep(nanoseconds: UInt64($0 * 1_000_000_000)) })
    }

    init(
        queue: ShareQueue, client: ShareClient?, settings: ShareSettings, now: @escaping @Sendable () -> Date,
        pause: @escaping @Sendable (_ seconds: Double) async throws -> Void
    ) {
        (self.queue, self.client, self.settings) = (queue, client, settings)
        (self.now, self.pause) = (now, pause)
    }

    /// Sends what is due. If shares wait for the server, it's asked first whether it responds again.
    ///
    /// - Throws: `ShareError` for the folder, and `CancellationError`. A share that was being sent is sent again later.
    public func send() async throws -> Result {
        let lock = try await lock()
        defer { lock.unlock() }
        try await queue.tidy(now: now(), clearConfirmedAfter: Double(settings.clearConfirmedAfter))
        var isReachable = false
        var hasAsked = false
        var isFirst = true
        while true {
            let pending = try await queue.all().filter { $0.status == .pending }
            guard let first = pending.first else { return .empty }
            guard let client else { return .stopped(.notConfigured) }
            if let reason = first.reason, reason.stops { return .stopped(reason) }
            guard let share = due(pending, isReachable) else {
                if !hasAsked, first.reason?.blocks == true {
                    hasAsked = true
                    isReachable = await client.responds()
                    if isReachable { continue }
                }
                return .waiting(first.reason, next: pending.compactMap(\.notBefore).min())
            }
            if !isFirst { try await pause(1) }
            isFirst = false
            let time = now()
            try await queue.change(share.id) { share in
                (share.status, share.lastAttempt) = (.uploading, time)
                share.attemptCount += 1
            }
            let outcome = await client.submit(share)
            try await note(outcome, of: share)
            if case .postponed(let reason, _, _) = outcome, reason.blocks { (isReachable, hasAsked) = (false, true) }
        }
    }

    private func lock() async throws -> FolderLock {
        while true {
            if let lock = try FolderLock(in: queue.folder, named: "sending.lock", waits: false) { return lock }
            try await pause(0.1)
        }
    }

    /// Returns the first share that is due; `nil` if the first ones must not be overtaken.
    private func due(_ pending: [Share], _ isReachable: Bool) -> Share? {
        let time = now()
        for share in pending {
            let seconds = share.notBefore?.timeIntervalSince(time) ?? 0
            // No wait is longer than a day: the clock was set back.
            if seconds <= 0 || seconds > ShareClient.retryAfterSecondsMax { return share }
            if isReachable, share.reason?.blocks == true { return share }
            // The server is there, but has a problem with this one.
            guard share.reason == .failed else { return nil }
        }
        return nil
    }

    /// Keeps what became of an attempt.
    private func note(_ outcome: ShareClient.Outcome, of share: Share) async throws {
        let time = now()
        switch outcome {
        case .confirmed(let id):
            try await queue.change(share.id) { share in
                (share.status, share.serverDownloadId, share.lastAttempt) = (.confirmed, id, time)
                (share.reason, share.message, share.notBefore) = (nil, nil, nil)
            }
        case .refused(let message):
            try await queue.refuse(share, message)
        case .postponed(let reason, let seconds, let message):
            // What is no attempt to reach the server costs none.
            let isFree = reason.stops || reason == .rateLimited
            let attempts = share.attemptCount + (isFree ? 0 : 1)
            let wait = isFree ? seconds : max(seconds, Share.secondsToWait(after: attempts))
            let hasFailed = !isFree && attempts >= settings.maxRetries
            try await queue.change(share.id) { share in
                (share.status, share.attemptCount) = (hasFailed ? .failed : .pending, attempts)
                (share.reason, share.message) = (reason, message.isEmpty ? nil : message)
                share.notBefore = reason.stops ? nil : time.addingTimeInterval(Double(wait))
            }
        }
    }
}
