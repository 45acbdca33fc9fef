import CaptureAPI
import CaptureWorker
import EgressGuard
import Foundation

/// When an attempt ends because it takes too long or too much space.
package struct AttemptLimits: Sendable, Hashable {
    /// The least rate while something is fetched, on average over `rateTime`.
    package var bytesPerSecond = 1000
    package var rateTime = Duration.seconds(120)
    /// For a document: a PDF or an e-book.
    package var fileTime = Duration.seconds(30 * 60)
    /// For everything else: media, photos and pages.
    package var mediaTime = Duration.seconds(6 * 3600)
    /// How much of the space that is free at the start of an attempt it can fetch.
    package var spacePercent = 50
    package var bytesMax = EgressRules().bytesMax
    /// How much of this computer's memory all of its processes may have together, but at least `memoryLeast`.
    package var memoryPercent = 25
    static let memoryLeast: UInt64 = 1_000_000_000

    package init() {}

    /// Returns how many bytes an attempt can fetch.
    func bytes(ofFree free: UInt64) -> UInt64 { min(bytesMax, free / 100 * UInt64(spacePercent)) }

    /// Returns how many bytes of memory the processes of an attempt may have.
    ///
    /// - Parameter group: The most that the server and all that it starts may have, in bytes; `nil` if there is no such limit.
    func memory(
        of physical: UInt64 = ProcessInfo.processInfo.physicalMemory, group: UInt64? = ControlGroup.memoryMax
    ) -> UInt64 {
        // If the group used all of its memory, the kernel could end the server.
        max(Self.memoryLeast, min(physical / 100 * UInt64(memoryPercent), (group ?? .max) / 2))
    }
}

/// Judges an attempt by its time, and by what passes its guard.
struct AttemptMeter {
    private let limits: AttemptLimits
    private let start: SuspendingClock.Instant
    private var window: (start: SuspendingClock.Instant, bytes: UInt64)

    /// - Parameter start: The time that the computer sleeps doesn't count.
    init(_ limits: AttemptLimits, start: SuspendingClock.Instant) {
        (self.limits, self.start, window) = (limits, start, (start, 0))
    }

    /// Returns why the attempt must end; `nil` if it can go on.
    ///
    /// - Parameters:
    ///   - bytes: What has passed the guard since the start.
    ///   - stage: What the worker does; `nil` before it said so.
    mutating func failure(
        bytes: UInt64, _ stage: DownloadStage?, _ genre: Genre, now: SuspendingClock.Instant
    ) -> ToolFailure? {
        let time = [.pdf, .ebook].contains(genre) ? limits.fileTime : limits.mediaTime
        if start.duration(to: now) > time {
            return ToolFailure(
                .tooSlow, "the attempt took longer than \(Self.text(time)), the limit in the configuration")
        }
        guard stage == nil || stage == .analysing || stage == .fetching else {
            window = (now, bytes)
            return nil
        }
        guard window.start.duration(to: now) >= limits.rateTime else { return nil }
        defer { window = (now, bytes) }
        let (count, least) = (bytes - window.bytes, UInt64(limits.bytesPerSecond) * limits.rateTime.wholeSeconds)
        // A tool that fetches nothing waits, or converts what it has.
        guard count > 0, count < least else { return nil }
        return ToolFailure(
            .tooSlow,
            "the site sent \(count) bytes in \(Self.text(limits.rateTime)); at least \(limits.bytesPerSecond) in a second are expected"
        )
    }

    private static func text(_ time: Duration) -> String {
        let seconds = time.wholeSeconds
        return seconds.isMultiple(of: 60) ? "\(seconds / 60) minutes" : "\(seconds) seconds"
    }
}

extension Duration {
    fileprivate var wholeSeconds: UInt64 { UInt64(clamping: components.seconds) }
}
