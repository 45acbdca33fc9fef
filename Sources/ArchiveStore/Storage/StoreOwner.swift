import Foundation

/// Checks the owner of a store's folder, who can replace any file in it.
enum StoreOwner {
    /// - Throws: `StoreError` `unusable` if the folder belongs to another user. Also for root, whose files the owner
    ///   couldn't read or delete. Read-only file systems are allowed.
    static func check(_ folder: String) throws(StoreError) {
        guard let owner = Folder.owner(of: folder), owner != geteuid(), !FileSystem(at: folder).isReadOnly,
            ownerOfNewFiles(in: folder) != owner
        else { return }
        let name = getpwuid(owner).map { String(cString: $0.pointee.pw_name) } ?? "\(owner)"
        throw StoreError(
            .unusable, "this store belongs to another user (\(name))", place: folder,
            hint: "run replayhost as that user, or choose another store with --store")
    }

    /// Returns the owner of a new file. Network file systems and disks without owners show the same owner for all
    /// files.
    private static func ownerOfNewFiles(in folder: String) -> uid_t? {
        let path = "\(folder)/\(StoreLayout.ownerTestPrefix)\(UUID().uuidString.lowercased())"
        guard let file = try? Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL) else { return nil }
        defer { unlink(path) }
        return try? file.status().st_uid
    }
}
