/// The options of a backup.
package struct BackupOptions: Sendable, Hashable {
    /// Whether to read and check the files that the backup already has.
    package var verifies = false
    /// Whether to copy linked files.
    package var includesLinkedFiles = false
    /// Whether to delete files that the new manifest doesn't need.
    package var prunes = false

    package init(verifies: Bool = false, includesLinkedFiles: Bool = false, prunes: Bool = false) {
        self.verifies = verifies
        self.includesLinkedFiles = includesLinkedFiles
        self.prunes = prunes
    }
}

/// The result of a backup. Its JSON is documented in `docs/json.md`.
package struct BackupReport: Sendable, Hashable {
    /// The time of the snapshot. RFC 3339, UTC.
    package var madeAt = ""
    /// The number of archives in the backup, including those whose linked files aren't.
    package var archives = 0
    package var collections = 0
    /// Copied files.
    package var copied = FileTally()
    /// Files that the backup already had.
    package var unchanged = FileTally()
    /// Files of the backup that were read and are intact.
    package var verified = FileTally()
    /// Linked files that the backup doesn't have.
    package var elsewhere = FileTally()
    /// Deleted files.
    package var pruned = FileTally()
    /// Archives of the store that aren't in the backup.
    package var leftOut: [ArchiveID] = []
    /// Remarks that need no action.
    package var notes: [String] = []
    /// Errors that affect single archives, not the rest of the backup.
    package var problems: [StoreError] = []
}

/// The result of a restore. Its JSON is documented in `docs/json.md`.
package struct RestoreReport: Sendable, Hashable {
    /// The time of the snapshot. RFC 3339, UTC.
    package var madeAt = ""
    /// The number of archives of the backup that are in the store now.
    package var archives = 0
    package var collections = 0
    /// Copied files.
    package var restored = FileTally()
    /// The number of archives that the store already had.
    package var alreadyThere = 0
    /// Archives whose linked file is gone and was restored from its copy; the store has the file now.
    package var adopted: [ArchiveID] = []
    /// Archives whose linked file can't be found.
    package var unavailable: [ArchiveID] = []
    /// Archives of the backup that couldn't be restored.
    package var leftOut: [ArchiveID] = []
    /// Remarks that need no action.
    package var notes: [String] = []
    /// Errors that affect single archives, not the rest of the store.
    package var problems: [StoreError] = []
}
