import Foundation
import GRDB

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// How the catalog's file is opened, on file systems that have what SQLite wants and on those that don't.
///
/// With a write-ahead log others read while one writes; that needs memory that processes share, which network file systems do not
/// have (sqlite.org/wal.html, "Advantages"): there it is a rollback journal. Where files cannot be locked at all a lock file
/// stands in, and what can only be read is read as it is.
enum CatalogFile {
    struct Opened {
        let database: any DatabaseWriter
        let adaptation: String?
        var isReadOnly = false
    }

    static let busySeconds = 30

    static func open(_ path: String) throws -> Opened {
        let folder = (path as NSString).deletingLastPathComponent
        let kind = FileSystem(at: folder)
        if kind.isReadOnly {
            guard Folder.exists(path) else {
                throw StoreError(
                    .unusable, "the store has no catalog, and its file system can only be read", place: path,
                    hint: "copy the store to where it can be written")
            }
            var configuration = configuration()
            configuration.readonly = true
            let queue = try DatabaseQueue(path: address(path, "immutable=1"), configuration: configuration)
            return Opened(
                database: queue, adaptation: "its file system can only be read: nothing can be changed",
                isReadOnly: true)
        }
        if !FileSystem.canLock(in: folder) {
            let queue = try queue(address(path, "vfs=unix-dotfile"))
            return Opened(
                database: queue,
                adaptation:
                    "its file system (\(kind.name)) has no locks: a lock file keeps the catalog's writers apart, "
                    + "and imports of a killed process are swept a day later")
        }
        if kind.isRemote {
            return Opened(
                database: try queue(path),
                adaptation: "its file system (\(kind.name)) is on a network: the catalog has a rollback journal, "
                    + "so that readers wait for writers")
        }
        do {
            return Opened(database: try DatabasePool(path: path, configuration: configuration()), adaptation: nil)
        } catch let error as DatabaseError where [.SQLITE_IOERR, .SQLITE_ERROR].contains(error.resultCode) {
            // No shared memory here, though the file system's name did not tell.
            return Opened(
                database: try queue(path),
                adaptation: "its file system (\(kind.name)) has no shared memory: the catalog has a rollback journal, "
                    + "so that readers wait for writers")
        }
    }

    private static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(TimeInterval(busySeconds))
        configuration.label = "catalog"
        // A removal must not come back after a power cut.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return configuration
    }

    private static func queue(_ path: String) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: path, configuration: configuration())
        try queue.writeWithoutTransaction { database in
            _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
        }
        return queue
    }

    /// SQLite's URI form of a path. sqlite.org/uri.html
    private static func address(_ path: String, _ parameters: String) -> String {
        let safe = CharacterSet(charactersIn: "/-_.~").union(.alphanumerics)
        return "file:\(path.addingPercentEncoding(withAllowedCharacters: safe) ?? path)?\(parameters)"
    }

    /// Copies a catalog that is about to be changed to a newer schema, beside it, under the last step that it has.
    static func keepCopyBeforeMigration(of database: any DatabaseWriter, path: String) throws {
        let (isComplete, applied) = try database.read { database in
            (
                try CatalogMigrations.migrator.hasCompletedMigrations(database),
                try CatalogMigrations.migrator.appliedMigrations(database).last
            )
        }
        guard !isComplete, let applied, let number = applied.split(separator: " ").first else { return }
        let copy = "\(path).schema-\(number)"
        guard !Folder.exists(copy) else { return }
        let temporary = "\(copy).\(UUID().uuidString)"
        do {
            try database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [temporary]) }
            try Descriptor(path: temporary, flags: O_RDONLY).synchronize()
            try Folder.move(temporary, to: copy)
        } catch {
            unlink(temporary)
            throw error
        }
    }
}
