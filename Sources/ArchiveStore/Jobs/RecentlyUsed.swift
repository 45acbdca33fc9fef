import Synchronization

/// The archives and collections that people opened or searched last, whose jobs run before others. Thread-safe.
final class RecentlyUsed: Sendable {
    private let ids = Mutex<[ArchiveID]>([])

    func note(_ id: ArchiveID) {
        ids.withLock { ids in
            guard ids.first != id else { return }
            ids.removeAll { $0 == id }
            ids.insert(id, at: 0)
            if ids.count > Self.countMax { ids.removeLast() }
        }
    }

    /// Returns their ids, the last used first.
    func all() -> [ArchiveID] { ids.withLock { $0 } }

    private static let countMax = 32
}
