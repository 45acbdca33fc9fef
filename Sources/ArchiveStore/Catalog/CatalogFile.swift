import Foundation
import GRDB

/// Opens the catalog's file in the way that its file system supports.
///
/// With a write-ahead log, readers and a writer don't block each other. It needs shared memory, which network file
/// systems lack (sqlite.org/wal.html): there, a rollback journal is used. Without file locks, a lock file is used. A
/// read-only catalog is opened as immutable.
enum CatalogFile {
    struct Opened {
        let database: any DatabaseWriter
        let adaptation: String?
        var isReadOnly = false
    }

    static let busySeconds = 30

    /// Opens the catalog, one process at a time: when several switch a new catalog to its log, all but one fail without
    /// waiting.
    ///
    /// - Throws: `StoreError` `unusable` for a catalog of a newer version, `notAFile`.
    static func openExclusively(_ path: String) throws -> Opened {
        try withFolderLock(path) {
            try checkFiles(of: path)
            makePrivate(path)
            return try open(path) { try checkNotNewer($0, path) }
        }
    }

    /// Runs `body` with a lock on the database's folder, or without it after a while.
    static func withFolderLock<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        let folder = try Descriptor(
            path: (path as NSString).deletingLastPathComponent, flags: O_RDONLY | O_DIRECTORY)
        defer { withExtendedLifetime(folder) {} }
        let end = ContinuousClock.now + .seconds(busySeconds)
        while folder.lock() == .heldByAnother, ContinuousClock.now < end { usleep(5_000) }
        return try body()
    }

    /// Opens a database of derived data in the way that its file system supports, like the catalog.
    static func openDerived(_ path: String) throws -> any DatabaseWriter {
        let database = try withFolderLock(path) {
            try checkFiles(of: path)
            makePrivate(path)
            return try open(path).database
        }
        // It can be rebuilt, so it may lose its last transactions in a power failure.
        try? database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        return database
    }

    /// Makes the catalog's files accessible to their owner only. SQLite creates further files with the catalog's mode.
    ///
    /// Existing files aren't opened: closing them would release SQLite's locks in this process (fcntl(2)).
    static func makePrivate(_ path: String) {
        // If it exists or can't be created, opening the catalog reports the error.
        _ = try? Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_EXCL)
        for file in files(of: path) {
            guard let status = Folder.status(of: file, followsLink: false), status.isFile, status.st_mode & 0o077 != 0
            else { continue }
            // Fails without modes, and for another user's file, which the folder protects.
            _ = chmod(file, 0o600)
        }
    }

    /// Returns the files that a database can have, its main file first.
    static func files(of path: String) -> [String] { ["", "-wal", "-shm", "-journal"].map { path + $0 } }

    /// Checks that SQLite opens nothing but regular files: it follows links, and waits for FIFOs.
    ///
    /// - Throws: `StoreError` `notAFile`.
    private static func checkFiles(of path: String) throws(StoreError) {
        for file in files(of: path) where Folder.hasName(file) && Folder.fileSize(file) == nil { throw .notAFile(file) }
    }

    /// - Parameter check: Checks the database before it's opened for writing, which already changes the file.
    private static func open(_ path: String, check: (any DatabaseReader) throws -> Void = { _ in }) throws -> Opened {
        let kind = FileSystem(at: (path as NSString).deletingLastPathComponent)
        if kind.isReadOnly { return try readOnly(path, "its file system is read-only", check) }
        func openForWriting() throws -> Opened {
            // Only writing can undo an unfinished change.
            let isUnfinished = !Folder.isEmptyFile(path + "-journal")
            if !Folder.isEmptyFile(path), !isUnfinished { try check(forReading(path)) }
            let opened = try open(path, kind)
            if isUnfinished { try check(opened.database) }
            return opened
        }
        do {
            return try openForWriting()
        } catch let error as DatabaseError where isFull(path) {
            // The reserve is enough to remove an archive.
            if SpaceReserve(beside: path).release(), let opened = try? openForWriting() { return opened }
            guard error.resultCode != .SQLITE_CORRUPT else { throw error }
            // No other process uses the log, or there would be the shared memory for it.
            return try readOnly(path, "its file system is full", check)
        }
    }

    /// Opens a database to read it while other processes may change it.
    private static func forReading(_ path: String) throws -> DatabaseQueue {
        var configuration = configuration()
        configuration.readonly = true
        let hasNoLog = Folder.isEmptyFile(path + "-wal")
        return try DatabaseQueue(path: hasNoLog ? uri(path, "immutable=1") : path, configuration: configuration)
    }

    /// Opens a database to copy it, also one on a read-only file system.
    ///
    /// - Throws: `StoreError` `notAFile`.
    static func forCopying(_ path: String) throws -> DatabaseQueue {
        try checkFiles(of: path)
        let isReadOnly = FileSystem(at: (path as NSString).deletingLastPathComponent).isReadOnly
        return isReadOnly ? try unchanging(path, "its file system is read-only") : try forReading(path)
    }

    /// - Throws: `StoreError` `unusable` for a catalog of a newer version.
    private static func checkNotNewer(_ database: any DatabaseReader, _ path: String) throws {
        guard try !database.read({ try CatalogMigrations.migrator.hasBeenSuperseded($0) }) else {
            throw StoreError(
                .unusable, "this catalog was written by a newer version of replayhost; nothing was changed",
                place: path,
                hint: "use that version or a newer one")
        }
    }

    /// - Throws: `StoreError` `unusable` for a read-only catalog that would have to be updated.
    static func checkNotOlder(_ database: any DatabaseReader, path: String) throws {
        guard try !database.read(CatalogMigrations.migrator.hasCompletedMigrations) else { return }
        throw StoreError(
            .unusable, "this catalog was written by an older version and can't be updated: the store is read-only",
            place: path, hint: "open the store once where it can be written")
    }

    /// Whether there is no space left for SQLite's files next to the catalog.
    static func isFull(_ path: String) -> Bool {
        let folder = (path as NSString).deletingLastPathComponent
        return (try? Folder.freeBytes(at: folder)).map { $0 < 1 << 16 } ?? false
    }

    private static func readOnly(
        _ path: String, _ reason: String, _ check: (any DatabaseReader) throws -> Void
    ) throws -> Opened {
        guard Folder.exists(path) else {
            throw StoreError(
                .unusable, "the store has no catalog, and none can be created: \(reason)", place: path,
                hint: "free some space, or copy the store to a writable place")
        }
        let queue = try unchanging(path, reason)
        try check(queue)
        return Opened(database: queue, adaptation: reason, isReadOnly: true)
    }

    /// Opens a database where no file can be created or changed, with its write-ahead log.
    ///
    /// - Throws: `StoreError` `unusable` if the file is in the middle of a change, which its journal would undo.
    private static func unchanging(_ path: String, _ reason: String) throws -> DatabaseQueue {
        guard Folder.isEmptyFile(path + "-journal") else {
            let name = (path as NSString).lastPathComponent
            throw StoreError(
                .unusable, "\(name) has an unfinished change, which can't be undone here: \(reason)", place: path,
                hint: "copy the store to a writable disk and open it there once")
        }
        let hasNoLog = Folder.isEmptyFile(path + "-wal")
        var configuration = configuration(isAlone: !hasNoLog)
        configuration.readonly = true
        return try DatabaseQueue(
            path: uri(path, hasNoLog ? "immutable=1" : "vfs=unix-none"), configuration: configuration)
    }

    private static func open(_ path: String, _ kind: FileSystem) throws -> Opened {
        if !FileSystem.canLock(in: (path as NSString).deletingLastPathComponent) {
            let queue = try queue(uri(path, "vfs=unix-dotfile"))
            return Opened(
                database: queue,
                adaptation:
                    "its file system (\(kind.name)) has no file locks; the catalog uses a lock file, "
                    + "and leftovers of killed imports are deleted after a day")
        }
        if kind.isRemote {
            return Opened(
                database: try queue(path),
                adaptation: "its file system (\(kind.name)) is on a network; the catalog uses a rollback journal, "
                    + "so readers wait for writers")
        }
        do {
            let pool = try DatabasePool(path: path, configuration: configuration())
            // The pool lowers this when it switches to the log.
            try pool.writeWithoutTransaction { try $0.execute(sql: Self.fullSync) }
            return Opened(database: pool, adaptation: nil)
        } catch let error as DatabaseError
            where [.SQLITE_IOERR, .SQLITE_ERROR].contains(error.resultCode) && !isFull(path)
        {
            // This file system has no shared memory, although it isn't a known network file system.
            return Opened(
                database: try queue(path),
                adaptation: "its file system (\(kind.name)) has no shared memory; the catalog uses a rollback journal, "
                    + "so readers wait for writers")
        }
    }

    /// A removed archive must not reappear after a power failure.
    private static let fullSync = "PRAGMA synchronous = FULL"

    /// - Parameter isAlone: Whether to keep the index of the log in memory that belongs to this process alone, because no
    ///   file can be created for it. sqlite.org/wal.html, "Use of WAL Without Shared-Memory"
    private static func configuration(isAlone: Bool = false) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(TimeInterval(busySeconds))
        configuration.label = "catalog"
        if isAlone { configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") } }
        configuration.prepareDatabase { try $0.execute(sql: Self.fullSync) }
        return configuration
    }

    private static func queue(_ path: String) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: path, configuration: configuration())
        try queue.writeWithoutTransaction { database in
            _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
        }
        return queue
    }

    /// Returns SQLite's URI form of a path. sqlite.org/uri.html
    private static func uri(_ path: String, _ parameters: String) -> String {
        let safe = CharacterSet(charactersIn: "/-_.~").union(.alphanumerics)
        return "file:\(path.addingPercentEncoding(withAllowedCharacters: safe) ?? path)?\(parameters)"
    }

    /// Updates the schema, one process at a time.
    static func migrate(_ database: any DatabaseWriter, path: String) throws {
        let migrator = CatalogMigrations.migrator
        if try database.read(migrator.hasCompletedMigrations) { return }
        let folder = (path as NSString).deletingLastPathComponent
        let lock = try Descriptor(path: folder, flags: O_RDONLY | O_DIRECTORY)
        while lock.lock() == .heldByAnother { usleep(10_000) }
        defer { withExtendedLifetime(lock) {} }
        try copyBeforeMigration(of: database, path: path)
        try migrator.migrate(database)
    }

    /// Copies a catalog that is about to be migrated to `catalog.sqlite.schema-N`, N being its current schema.
    static func copyBeforeMigration(of database: any DatabaseWriter, path: String) throws {
        let (isComplete, applied) = try database.read { database in
            (
                try CatalogMigrations.migrator.hasCompletedMigrations(database),
                try CatalogMigrations.migrator.appliedMigrations(database).last
            )
        }
        guard !isComplete, let applied, let number = applied.split(separator: " ").first else { return }
        let copy = "\(path).schema-\(number)"
        if !Folder.exists(copy) { try self.copy(database, to: copy) }
    }

    /// Copies a database as it is at one moment, also while another process writes it. Replaces `target` atomically.
    static func copy(_ database: any DatabaseWriter, to target: String) throws {
        let temporary = "\(target).\(UUID().uuidString)"
        do {
            makePrivate(temporary)
            try database.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [temporary]) }
            try Descriptor(path: temporary, flags: O_RDONLY).synchronize()
            try Folder.move(temporary, to: target)
        } catch {
            unlink(temporary)
            throw error
        }
    }
}
