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

    /// Opens the catalog, one process at a time: of several that switch a new one to its log SQLite fails all but one, without
    /// waiting.
    ///
    /// - Throws: `StoreError` `unusable` for one of a newer version.
    static func openInTurn(_ path: String) throws -> Opened {
        let folder = try Descriptor(
            path: (path as NSString).deletingLastPathComponent, flags: O_RDONLY | O_DIRECTORY)
        defer { withExtendedLifetime(folder) {} }
        let end = ContinuousClock.now + .seconds(busySeconds)
        while folder.lock() == .heldByAnother, ContinuousClock.now < end { usleep(5_000) }
        keepPrivate(path)
        try refuseNewer(path)
        return try open(path)
    }

    /// Takes the catalog's files from everybody but their owner. SQLite makes new files beside the catalog with the catalog's mode.
    ///
    /// None of them is opened when it is there: closing it would end SQLite's locks in this process (fcntl(2)).
    static func keepPrivate(_ path: String) {
        // Where it is there, or can't be made, SQLite says what there is to say.
        _ = try? Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL)
        for file in [path, path + "-wal", path + "-shm", path + "-journal"] {
            var status = stat()
            guard lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else {
                continue
            }
            // Where that fails, the file system has no modes, or the file is another user's, whom its folder keeps out.
            _ = chmod(file, 0o600)
        }
    }

    private static func open(_ path: String) throws -> Opened {
        let kind = FileSystem(at: (path as NSString).deletingLastPathComponent)
        if kind.isReadOnly { return try readOnly(path, "its file system can only be read") }
        do {
            return try open(path, kind)
        } catch let error as DatabaseError where isFull(path) {
            // What was kept for this moment: enough to remove something.
            if SpaceReserve(beside: path).release(), let opened = try? open(path, kind) { return opened }
            // Without a log that somebody may be writing, the file is all there is.
            guard error.resultCode != .SQLITE_CORRUPT, Folder.isEmptyFile(path + "-wal") else { throw error }
            return try readOnly(path, "its file system is full")
        }
    }

    /// Opening a catalog to change it changes it already, if by a counter only: one of a newer version is not opened that way.
    ///
    /// - Throws: `StoreError` `unusable` for such a one.
    private static func refuseNewer(_ path: String) throws {
        guard !Folder.isEmptyFile(path) else { return }
        var configuration = configuration()
        configuration.readonly = true
        let isAlone = Folder.isEmptyFile(path + "-wal")
        let queue = try DatabaseQueue(path: isAlone ? address(path, "immutable=1") : path, configuration: configuration)
        guard try !queue.read({ try CatalogMigrations.migrator.hasBeenSuperseded($0) }) else {
            throw StoreError(
                .unusable, "the catalog was written by a newer replayhost; nothing was changed", place: path,
                hint: "use that version")
        }
    }

    /// - Throws: `StoreError` `unusable` for a catalog that has to be updated, where that can't be done.
    static func refuseOlder(_ database: any DatabaseReader, path: String) throws {
        guard try !database.read(CatalogMigrations.migrator.hasCompletedMigrations) else { return }
        throw StoreError(
            .unusable, "the catalog was written by an older replayhost and can't be updated here", place: path,
            hint: "open the store once where it can be written")
    }

    /// Whether there is no space left for what SQLite has to write beside the catalog.
    static func isFull(_ path: String) -> Bool {
        let folder = (path as NSString).deletingLastPathComponent
        return (try? Folder.freeBytes(at: folder)).map { $0 < 1 << 16 } ?? false
    }

    private static func readOnly(_ path: String, _ reason: String) throws -> Opened {
        guard Folder.exists(path) else {
            throw StoreError(
                .unusable, "the store has no catalog, and none can be written", place: path,
                hint: "free some space, or copy the store to where it can be written")
        }
        var configuration = configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: address(path, "immutable=1"), configuration: configuration)
        return Opened(database: queue, adaptation: reason, isReadOnly: true)
    }

    private static func open(_ path: String, _ kind: FileSystem) throws -> Opened {
        if !FileSystem.canLock(in: (path as NSString).deletingLastPathComponent) {
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
            let pool = try DatabasePool(path: path, configuration: configuration())
            // The pool lowers this when it switches to the log.
            try pool.writeWithoutTransaction { try $0.execute(sql: Self.flushingEachChange) }
            return Opened(database: pool, adaptation: nil)
        } catch let error as DatabaseError
            where [.SQLITE_IOERR, .SQLITE_ERROR].contains(error.resultCode) && !isFull(path)
        {
            // No shared memory here, though the file system's name did not tell.
            return Opened(
                database: try queue(path),
                adaptation: "its file system (\(kind.name)) has no shared memory: the catalog has a rollback journal, "
                    + "so that readers wait for writers")
        }
    }

    /// A removal must not come back after a power cut.
    private static let flushingEachChange = "PRAGMA synchronous = FULL"

    private static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(TimeInterval(busySeconds))
        configuration.label = "catalog"
        configuration.prepareDatabase { try $0.execute(sql: Self.flushingEachChange) }
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

    /// Brings the schema up to date; one process at a time, since what is missing is found out before it is done.
    static func migrate(_ database: any DatabaseWriter, path: String) throws {
        let migrator = CatalogMigrations.migrator
        if try database.read(migrator.hasCompletedMigrations) { return }
        let folder = (path as NSString).deletingLastPathComponent
        let lock = try Descriptor(path: folder, flags: O_RDONLY | O_DIRECTORY)
        while lock.lock() == .heldByAnother { usleep(10_000) }
        defer { withExtendedLifetime(lock) {} }
        try keepCopyBeforeMigration(of: database, path: path)
        try migrator.migrate(database)
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
            keepPrivate(temporary)
            try database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [temporary]) }
            try Descriptor(path: temporary, flags: O_RDONLY).synchronize()
            try Folder.move(temporary, to: copy)
        } catch {
            unlink(temporary)
            throw error
        }
    }
}
