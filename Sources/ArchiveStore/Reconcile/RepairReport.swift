/// What `repair` found and did.
package struct RepairReport: Sendable, Hashable {
    /// Copies that a stopped import left in `incoming/`, deleted.
    package var sweptCopies = 0
    /// Removals that were stopped half way, completed.
    package var completedRemovals: [String] = []
    /// Archives whose import was stopped after their file was in place, now in the catalog.
    package var adopted: [ArchiveID] = []
    /// Archives and collections of which the catalog had not what their sidecar or document says.
    package var updated: [ArchiveID] = []
    /// Archives whose sidecar was lost or damaged, written anew from the catalog.
    package var restoredSidecars: [ArchiveID] = []
    /// Linked files that were away when the catalog was made anew, read now.
    package var examined: [ArchiveID] = []
    /// Sidecars and index files without an archive, and index files that their archive does not need, deleted.
    package var sweptSidecars = 0
    /// What could not be put right, in words.
    package var problems: [String] = []

    package var changedAnything: Bool {
        sweptCopies + sweptSidecars + completedRemovals.count + adopted.count + updated.count + restoredSidecars.count
            + examined.count > 0
    }
}
