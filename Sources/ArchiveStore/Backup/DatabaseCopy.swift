import Foundation
import GRDB

/// Copies the capture server's queue, whose tables this library doesn't know, to and from a backup.
enum DatabaseCopy {
    /// Copies a database, if there is one; see `CatalogFile.copy`.
    static func copy(_ source: String, to target: String) throws {
        guard !Folder.isEmptyFile(source) else { return }
        try Folder.create((target as NSString).deletingLastPathComponent)
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(TimeInterval(CatalogFile.busySeconds))
        try CatalogFile.copy(DatabaseQueue(path: source, configuration: configuration), to: target)
    }
}
