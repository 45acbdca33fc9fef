/// How a backup is to be done.
package struct BackupOptions: Sendable, Hashable {
    /// Read the files through that the backup has already.
    package var verifies = false
    /// Copy the files that the store only refers to.
    package var includesLinkedFiles = false
    /// Delete the files that the new manifest does not need.
    package var prunes = false

    package init(verifies: Bool = false, includesLinkedFiles: Bool = false, prunes: Bool = false) {
        self.verifies = verifies
        self.includesLinkedFiles = includesLinkedFiles
        self.prunes = prunes
    }
}

/// What became of a backup. Its JSON is documented in `docs/json.md`.
package struct BackupReport: Sendable, Hashable {
    /// RFC 3339, UTC: the moment that the backup shows.
    package var madeAt = ""
    /// Archives that the backup has, those included whose files are elsewhere.
    package var archives = 0
    package var collections = 0
    /// Files that were copied.
    package var copied = FileTally()
    /// Files that the backup had already.
    package var unchanged = FileTally()
    /// Files of the backup that were read through and are whole.
    package var verified = FileTally()
    /// Files that the store refers to and that the backup does not have.
    package var elsewhere = FileTally()
    /// Files that were deleted.
    package var pruned = FileTally()
    /// Archives that the store had and the backup has not.
    package var leftOut: [ArchiveID] = []
    /// Worth knowing, and no fault.
    package var notes: [String] = []
    /// What is wrong. The rest of the backup is not touched by it.
    package var problems: [StoreError] = []
}

/// What became of a restoration. Its JSON is documented in `docs/json.md`.
package struct RestoreReport: Sendable, Hashable {
    /// RFC 3339, UTC: the moment that the backup shows.
    package var madeAt = ""
    /// Archives and collections of the backup that are in the store now.
    package var archives = 0
    package var collections = 0
    /// Files that were copied.
    package var restored = FileTally()
    /// Archives that the store had already.
    package var alreadyThere = 0
    /// Archives whose file was referred to, is not there, and was restored from its copy: now it is the store's own.
    package var adopted: [ArchiveID] = []
    /// Archives whose file is referred to and not there.
    package var unavailable: [ArchiveID] = []
    /// Archives of the backup that the store has not.
    package var leftOut: [ArchiveID] = []
    /// Worth knowing, and no fault.
    package var notes: [String] = []
    /// What is wrong. The rest of the store is not touched by it.
    package var problems: [StoreError] = []
}
