import Synchronization

/// A cache of archives by ID, valid until an archive or a collection changes. Thread-safe.
final class KnownArchives: Sendable {
    private let state = Mutex<(revision: Int, archives: [ArchiveID: Archive])>((0, [:]))
    private static let countMax = 64

    /// - Parameter revision: `CatalogRevision.archives`, read in the same transaction.
    func archive(_ id: ArchiveID, at revision: Int) -> Archive? {
        state.withLock { $0.revision == revision ? $0.archives[id] : nil }
    }

    /// - Parameter revision: `CatalogRevision.archives`, read in the same transaction.
    func add(_ archive: Archive, at revision: Int) {
        state.withLock { state in
            // Another connection may have read a newer revision.
            guard state.revision <= revision else { return }
            if state.revision != revision || state.archives.count >= Self.countMax { state.archives = [:] }
            state.revision = revision
            state.archives[archive.id] = archive
        }
    }
}
