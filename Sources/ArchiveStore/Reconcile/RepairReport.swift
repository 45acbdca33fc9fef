/// The result of `repair`.
package struct RepairReport: Sendable, Hashable {
    /// The number of deleted leftovers of interrupted imports in `incoming/`.
    package var sweptCopies = 0
    /// The keys of archives whose interrupted removal was completed.
    package var completedRemovals: [String] = []
    /// Archives that were added to the catalog because their file was in place.
    package var adopted: [ArchiveID] = []
    /// Archives and collections that were updated from their sidecar or document.
    package var updated: [ArchiveID] = []
    /// Archives and collections whose lost or damaged sidecar was written from the catalog.
    package var restoredSidecars: [ArchiveID] = []
    /// Linked files that were unavailable when the catalog was rebuilt and were read now.
    package var examined: [ArchiveID] = []
    /// The number of deleted sidecars and index files that no archive needs.
    package var sweptSidecars = 0
    /// Messages about problems that couldn't be repaired.
    package var problems: [String] = []

    package var changedAnything: Bool {
        sweptCopies + sweptSidecars + completedRemovals.count + adopted.count + updated.count + restoredSidecars.count
            + examined.count > 0
    }
}
