import Foundation

/// Copies the capture server's queue, whose tables this library doesn't know, to and from a backup.
enum DatabaseCopy {
    /// Copies a database, if there is one; see `CatalogFile.copy`.
    ///
    /// - Throws: `StoreError` `notAFile`.
    static func copy(_ source: String, to target: String) throws {
        guard Folder.hasName(source), Folder.fileSize(source) != 0 else { return }
        let database = try CatalogFile.forCopying(source)
        try Folder.create((target as NSString).deletingLastPathComponent)
        try CatalogFile.copy(database, to: target)
    }
}
