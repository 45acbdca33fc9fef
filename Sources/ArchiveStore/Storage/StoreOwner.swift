import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// To whom a store's folder belongs: its owner can replace any file in it at any moment.
enum StoreOwner {
    /// - Throws: `StoreError` `unusable` when the folder belongs to another user, also for root: what root made there the owner
    ///   could neither read nor delete. A file system that can only be read holds what its maker put there, and is fine.
    static func check(_ folder: String) throws(StoreError) {
        guard let owner = Folder.owner(of: folder), owner != geteuid(), !FileSystem(at: folder).isReadOnly,
            ownerOfNewFiles(in: folder) != owner
        else { return }
        let name = getpwuid(owner).map { String(cString: $0.pointee.pw_name) } ?? "\(owner)"
        throw StoreError(
            .unusable, "the store's folder belongs to another user (\(name))", place: folder,
            hint: "run replayhost as that user, or choose another store with --store")
    }

    /// Network file systems and disks without owners show one owner for everything, which then is this user as well.
    private static func ownerOfNewFiles(in folder: String) -> uid_t? {
        let path = "\(folder)/\(StoreLayout.ownerTestPrefix)\(UUID().uuidString.lowercased())"
        guard let file = try? Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL) else { return nil }
        defer { unlink(path) }
        return try? file.status().st_uid
    }
}
