import Foundation
import GRDB
import Synchronization
import WebArchive

/// The file `search.sqlite`: the text of all pages, and an index of its words.
///
/// It can be rebuilt from the archives at any time. A damaged file, and one of another version, is deleted and created
/// again; the text of all archives is then read again. Several processes can use it at once.
final class SearchDatabase: Sendable {
    private struct Opened {
        let database: any DatabaseWriter
        /// The file, to notice that another process replaced it.
        let inode: ino_t
    }

    private let path: String
    private let isReadOnly: Bool
    private let opened = Mutex<Opened?>(nil)

    init(path: String, isReadOnly: Bool) {
        self.path = path
        self.isReadOnly = isReadOnly
    }

    /// Whether there is a file. A read-only store can have none.
    var exists: Bool { Folder.hasName(path) }

    func reading<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try using { try $0.read(body) }
    }

    func writing<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try using { try $0.write(body) }
    }

    /// Runs SQLite's integrity check, and that of the word index. Returns its lines; `["ok"]` if the file is intact.
    func integrityCheck() throws -> [String] {
        try using { database in
            let lines = try database.read { try String.fetchAll($0, sql: "PRAGMA integrity_check(20)") }
            guard lines == ["ok"], !isReadOnly else { return lines }
            try database.write { try $0.execute(sql: "INSERT INTO word (word) VALUES ('integrity-check')") }
            return lines
        }
    }

    /// Gives back the memory for writing.
    func releaseMemory() throws {
        try using { database in
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA shrink_memory") }
        }
    }

    /// Deletes the file and creates an empty one.
    ///
    /// - Parameter reason: Why, for people.
    func reset(because reason: String) throws {
        try opened.withLock { opened in
            opened = nil
            opened = try create(replacing: inode(), because: reason)
        }
    }

    private func using<Value>(_ body: (any DatabaseWriter) throws -> Value) throws -> Value {
        do {
            return try body(try open())
        } catch let error as DatabaseError where error.isDamage && !isReadOnly {
            try reset(because: "it was damaged (\(error.message ?? error.resultCode.description))")
            return try translatingErrors { try body(try open()) }
        } catch let error as DatabaseError {
            throw storeError(error)
        }
    }

    private func translatingErrors<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw storeError(error)
        }
    }

    private func storeError(_ error: DatabaseError) -> StoreError {
        let reason = error.message ?? error.resultCode.description
        switch error.resultCode {
        case .SQLITE_FULL:
            return StoreError(
                .noSpace, "can't use the search index (\(reason))", place: path,
                hint: "free some space on that file system")
        case _ where isReadOnly && (error.isDamage || error.resultCode == .SQLITE_SCHEMA):
            return StoreError(
                .unusable, "can't use the search index (\(reason))", place: path,
                hint: "run replayhost where it can change the store; it then makes a new index")
        // The search is wrong, not the file.
        case .SQLITE_ERROR, .SQLITE_TOOBIG, .SQLITE_MISMATCH, .SQLITE_MISUSE, .SQLITE_RANGE:
            return StoreError(.failed, "the search index can't carry out this search (\(reason))")
        case .SQLITE_BUSY:
            return StoreError(
                .unusable, "another process has locked the search index for \(CatalogFile.busySeconds) seconds",
                place: path, hint: "try again")
        default:
            return StoreError(
                .unusable, "can't use the search index (\(reason))", place: path, hint: "run `replayhost doctor`")
        }
    }

    private func open() throws -> any DatabaseWriter {
        try opened.withLock { opened in
            if let known = opened, inode() == known.inode { return known.database }
            opened = nil
            let made = try openExisting()
            opened = made
            return made.database
        }
    }

    private func openExisting() throws -> Opened {
        do {
            let database = try openFile()
            let version = try database.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
            if version == SearchSchema.version { return Opened(database: database, inode: inode() ?? 0) }
            guard !isReadOnly else {
                throw DatabaseError(resultCode: .SQLITE_SCHEMA, message: "it has another version")
            }
            if version == 0 {
                try createTables(in: database)
                return Opened(database: database, inode: inode() ?? 0)
            }
            if version == SearchSchema.previousVersion {
                try database.write { try SearchSchema.convert($0) }
                return Opened(database: database, inode: inode() ?? 0)
            }
        } catch let error as DatabaseError where error.isDamage && !isReadOnly {
            return try create(
                replacing: inode(), because: "it was damaged (\(error.message ?? error.resultCode.description))")
        } catch let error as StoreError where error.code == .notAFile && !isReadOnly {
            return try create(replacing: inode(), because: "it was damaged (\(error.what))")
        }
        return try create(replacing: inode(), because: "it has another version")
    }

    /// Creates the tables, unless another process has done that since the file was opened.
    private func createTables(in database: any DatabaseWriter, because reason: String? = nil) throws {
        try database.write { database in
            let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            guard version != SearchSchema.version else { return }
            try SearchSchema.create(database)
            guard let reason else { return }
            try database.execute(sql: "INSERT OR REPLACE INTO note VALUES ('rebuilt', ?)", arguments: [reason])
        }
    }

    private func openFile() throws -> any DatabaseWriter {
        let database = try CatalogFile.openDerived(path)
        // Texts and URLs are found by digests and keys, which are anywhere in the file.
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA cache_size = -\(Self.cacheKilobytes)") }
        return database
    }

    /// Replaces the file. If another process has just replaced it, uses that one.
    private func create(replacing old: ino_t?, because reason: String) throws -> Opened {
        try CatalogFile.withFolderLock(path) {
            guard inode() == old else { return }
            for file in CatalogFile.files(of: path) { try Folder.delete(file) }
        }
        let database = try openFile()
        try createTables(in: database, because: reason)
        return Opened(database: database, inode: inode() ?? 0)
    }

    /// The most memory for writing; see `releaseMemory`.
    private static let cacheKilobytes = 24 << 10

    private func inode() -> ino_t? { Folder.status(of: path, followsLink: false)?.st_ino }
}

extension DatabaseError {
    /// Whether the file isn't a usable database.
    fileprivate var isDamage: Bool {
        switch resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: true
        // Tables are missing.
        case .SQLITE_ERROR: message?.hasPrefix("no such table") ?? false
        case .SQLITE_IOERR: extendedResultCode == .SQLITE_IOERR_SHORT_READ
        default: false
        }
    }
}
