/// The periodic maintenance of a store in a long-running process.
package struct Maintenance: Sendable {
    private let store: ArchiveStore
    private var repairedAt: ContinuousClock.Instant?
    /// The modification times of the folders before the last repair.
    private var seenTimes: [Int64] = []

    package init(_ store: ArchiveStore) {
        self.store = store
    }

    /// Closes deleted files and unused linked files, then repairs the store if another process left something
    /// unfinished or files were changed by hand. Repairs at most every ten seconds. Call this about once a second.
    ///
    /// - Parameter checkCancellation: See `ArchiveStore.repair`.
    /// - Returns: The report of a repair; `nil` if there was none.
    package mutating func step(
        now: ContinuousClock.Instant = .now, checkCancellation: @escaping () throws -> Void = {}
    ) throws -> RepairReport? {
        store.openArchives.releaseUnused(now: now)
        guard !store.isReadOnly else { return nil }
        if let repairedAt, repairedAt.duration(to: now) < Self.interval { return nil }
        // Read before the repair, so that changes during it are noticed next time.
        let times = [store.layout.files, store.layout.collections].map {
            Folder.status(of: $0)?.modifiedAtNanoseconds ?? 0
        }
        guard
            try times != seenTimes
                || IncomingFolder(layout: store.layout).hasAbandoned(olderThanSeconds: Self.graceSeconds)
        else { return nil }
        repairedAt = now
        let report = try store.repair(checkCancellation: checkCancellation)
        seenTimes = times
        return report
    }

    private static let interval = Duration.seconds(10)
    private static let graceSeconds = 10
}
