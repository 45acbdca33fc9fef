import Synchronization

/// The collections that were used since the catalog last changed, with their members. Thread-safe.
final class CollectionCache: Sendable {
    private struct State {
        /// The `CatalogRevision.archives` of what was read.
        var revision = -1
        var collections: [ArchiveID: (collection: ArchiveCollection, members: [Archive])] = [:]
        /// The number of all their members.
        var memberCount = 0
    }
    private let state = Mutex(State())

    /// Returns a collection with its members; `nil` if there is none with that id.
    ///
    /// - Parameters:
    ///   - revision: The `CatalogRevision.archives` before the call.
    ///   - read: Reads them from the catalog.
    func collection(
        id: ArchiveID, revision: Int, read: () throws -> (collection: ArchiveCollection, members: [Archive])?
    ) rethrows -> (collection: ArchiveCollection, members: [Archive])? {
        let known = state.withLock { $0.revision == revision ? $0.collections[id] : nil }
        if let known { return known }
        guard let found = try read() else { return nil }
        state.withLock { state in
            // Another request may have read a later revision meanwhile.
            guard revision >= state.revision else { return }
            if revision > state.revision || state.memberCount + found.members.count > Self.membersMax {
                state = State(revision: revision)
            }
            guard state.collections.updateValue(found, forKey: id) == nil else { return }
            state.memberCount += found.members.count
        }
        return found
    }

    /// About 20 MB of memory.
    private static let membersMax = 20_000
}
