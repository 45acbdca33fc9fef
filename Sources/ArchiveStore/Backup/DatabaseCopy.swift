import Foundation
import GRDB

/// Copies the capture server's queue, whose tables this library doesn't know, to and from a backup.
enum DatabaseCopy {
    /// Copies a database as it is at one moment, also while another process writes it. Replaces `target` atomically.
    ///
    /// - Returns: Whether there was a database.
    @discardableResult
    static func copy(_ source: String, to target: String) throws -> Bool {
        guard !Folder.isEmptyFile(source) else { return false }
        try Folder.create((target as NSString).deletingLastPathComponent)
        let temporary = "\(target).\(UUID().uuidString)"
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(TimeInterval(CatalogFile.busySeconds))
            CatalogFile.makePrivate(temporary)
            try DatabaseQueue(path: source, configuration: configuration).writeWithoutTransaction {
                try $0.execute(sql: "VACUUM INTO ?", arguments: [temporary])
            }
            try Descriptor(path: temporary, flags: O_RDONLY).synchronize()
            try Folder.move(temporary, to: target)
        } catch {
            unlink(temporary)
            throw error
        }
        return true
    }
}
