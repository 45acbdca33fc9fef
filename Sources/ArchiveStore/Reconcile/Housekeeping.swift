#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a process that runs for long does every second, so that the store stays as its files say.
package struct Housekeeping: Sendable {
    private let store: ArchiveStore
    private var repairedAt: ContinuousClock.Instant?
    /// When the folders had been changed last, as of the last repair.
    private var seen: [Int64] = []

    package init(_ store: ArchiveStore) {
        self.store = store
    }

    /// Lets go of deleted files, and of files elsewhere that nobody reads. Repairs when somebody left something half done, or changed files of the store by
    /// hand; not more often than every ten seconds.
    ///
    /// - Parameter checkCancellation: As of `repair`.
    /// - Returns: What a repair did; `nil` when there was none.
    package mutating func step(
        now: ContinuousClock.Instant = .now, checkCancellation: @escaping () throws -> Void = {}
    ) throws -> RepairReport? {
        store.openArchives.releaseUnused(now: now)
        guard !store.isReadOnly else { return nil }
        if let repairedAt, repairedAt.duration(to: now) < Self.pause { return nil }
        // Looked at before the repair: what comes during it is seen the next time.
        let changes = [store.layout.files, store.layout.collections].map(Self.changedAt)
        guard
            try changes != seen
                || IncomingFolder(layout: store.layout).hasAbandoned(olderThanSeconds: Self.graceSeconds)
        else { return nil }
        repairedAt = now
        let report = try store.repair(checkCancellation: checkCancellation)
        seen = changes
        return report
    }

    private static func changedAt(_ folder: String) -> Int64 {
        var status = stat()
        return stat(folder, &status) == 0 ? status.modifiedAtNanoseconds : 0
    }

    private static let pause = Duration.seconds(10)
    private static let graceSeconds = 10
}
