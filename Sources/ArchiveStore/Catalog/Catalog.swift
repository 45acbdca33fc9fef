import Foundation
import GRDB
import WebArchive

/// The database of archives with their pages and findings, collections and jobs.
///
/// `files/` and `collections/` are authoritative: archives and collections can be rebuilt from them. Several processes
/// can use the catalog at once.
struct Catalog: Sendable {
    let database: any DatabaseWriter
    /// How the catalog works around a limitation of its file system, for people; `nil` if it doesn't have to.
    let adaptation: String?
    let isReadOnly: Bool
    private let known = KnownArchives()

    /// Opens the catalog at `path`. Creates it if necessary; updates an older schema, after copying the file.
    ///
    /// - Throws: `StoreError`: `unusable`, `catalogDamaged`, `noSpace`.
    init(path: String) throws {
        do {
            let opened = try CatalogFile.openExclusively(path)
            (database, adaptation, isReadOnly) = (opened.database, opened.adaptation, opened.isReadOnly)
            guard !opened.isReadOnly else {
                try CatalogFile.checkNotOlder(database, path: path)
                return
            }
            try CatalogFile.migrate(database, path: path)
            // Connections that have been used still have the old schema.
            (database as? DatabasePool)?.invalidateReadOnlyConnections()
        } catch let error as DatabaseError {
            throw Self.storeError(for: error, place: path)
        } catch let error as StoreError where error.code == .notAFile {
            throw Self.damaged(error.what, place: error.place)
        }
    }

    /// Returns all archives, newest import first.
    func allArchives() throws -> [Archive] {
        try archives(sql: "SELECT * FROM archive ORDER BY importedAt DESC, id DESC")
    }

    /// Returns the archives that match, newest import first. Doesn't look at their files.
    func archives(_ filter: LibraryFilter) throws -> [Archive] {
        let condition = LibraryCondition(filter, unavailable: "[]")
        return try archives(
            sql: "SELECT * FROM archive WHERE \(condition.sql) ORDER BY importedAt DESC, id DESC", condition.arguments)
    }

    /// Returns the tags of all archives.
    func tags() throws -> [String] {
        let sql = "SELECT DISTINCT tag.value FROM archive, json_each(archive.tags) AS tag"
        return try reading { try String.fetchAll($0, sql: sql) }
    }

    /// Returns the keys, ids and titles of all archives.
    func names() throws -> [ArchiveName] {
        let sql = "SELECT \(ArchiveName.columns) FROM archive"
        return try reading { try ArchiveName.fetchAll($0.cachedStatement(sql: sql)) }
    }

    /// Returns the keys of all archives.
    func keys() throws -> Set<String> {
        try reading { try String.fetchSet($0, sql: "SELECT key FROM archive") }
    }

    func archive(id: ArchiveID) throws -> Archive? {
        // Every request for a capture calls this. Reading the row takes several times as long as checking that nothing has changed.
        try reading { database in
            let revision = try Int.fetchOne(
                database.cachedStatement(sql: "SELECT number FROM revision WHERE subject = 'archives'"))
            if let revision, let archive = known.archive(id, at: revision) { return archive }
            let record = try ArchiveRecord.fetchOne(
                database.cachedStatement(sql: "SELECT * FROM archive WHERE id = ?"), arguments: [id])
            if let revision, let record { known.add(record.archive, at: revision) }
            return record?.archive
        }
    }

    func archive(key: String) throws -> Archive? {
        // Called for each hit of a search.
        try reading {
            try ArchiveRecord.fetchOne(
                $0.cachedStatement(sql: "SELECT * FROM archive WHERE key = ?"), arguments: [key])
        }?.archive
    }

    /// Returns the archives with some keys, in their order.
    func archives(keys: [String]) throws -> [Archive] {
        guard !keys.isEmpty else { return [] }
        let sql = """
            SELECT archive.* FROM json_each(?) AS wanted JOIN archive ON archive.key = wanted.value ORDER BY wanted.key
            """
        let list = try JSONText.text(keys)
        return try reading { try ArchiveRecord.fetchAll($0.cachedStatement(sql: sql), arguments: [list]) }
            .map(\.archive)
    }

    /// Returns the newest archives, newest import first.
    func newestArchives(_ count: Int) throws -> [Archive] {
        try archives(sql: "SELECT * FROM archive ORDER BY importedAt DESC, id DESC LIMIT ?", [count])
    }

    /// Returns the archives that have one of these hashes, of which there may be a few thousand.
    func archives(sha256 hashes: Set<String>) throws -> [Archive] {
        guard !hashes.isEmpty else { return [] }
        return try archives(
            sql: "SELECT * FROM archive WHERE sha256 IN (\(databaseQuestionMarks(count: hashes.count)))",
            StatementArguments(hashes))
    }

    /// Returns the archives that are linked to the file at `path`.
    func archives(linkedPath path: String) throws -> [Archive] {
        try archives(sql: "SELECT * FROM archive WHERE linkedPath = ? ORDER BY importedAt, id", [path])
    }

    /// Returns the archives that were imported from `source`.
    func archives(source: String) throws -> [Archive] {
        try archives(sql: "SELECT * FROM archive WHERE source = ? ORDER BY importedAt, id", [source])
    }

    /// Returns the archives that were imported from files of some names, the oldest import first.
    func archives(originalNames names: [String]) throws -> [Archive] {
        guard !names.isEmpty else { return [] }
        let marks = databaseQuestionMarks(count: names.count)
        return try archives(
            sql: "SELECT * FROM archive WHERE originalName IN (\(marks)) ORDER BY importedAt, id LIMIT 50",
            StatementArguments(names))
    }

    /// Returns what the catalog knows of each archive's files, by key.
    func knownFiles() throws -> [String: KnownFile] {
        let rows = try reading { try KnownFile.fetchAll($0, sql: "SELECT \(KnownFile.columns) FROM archive") }
        // A damaged table can contain a key twice.
        return Dictionary(rows.map { ($0.key, $0) }) { $1 }
    }

    /// Returns the archives whose file was unavailable when the catalog was rebuilt.
    func unexaminedArchives() throws -> [Archive] {
        try archives(sql: "SELECT * FROM archive WHERE isExamined = 0 ORDER BY importedAt DESC, id DESC")
    }

    /// Returns the archives that a query for all columns of `archive` finds.
    func archives(sql: String, _ arguments: StatementArguments = []) throws -> [Archive] {
        try reading { try ArchiveRecord.fetchAll($0, sql: sql, arguments: arguments) }.map(\.archive)
    }

    /// Returns counters of changes, a cheap way to notice them.
    func revision() throws -> CatalogRevision {
        try reading { database in
            let rows = try RevisionRow.fetchAll(database, sql: "SELECT subject, number FROM revision")
            let numbers = Dictionary(rows.map { ($0.subject, $0.number) }) { $1 }
            return CatalogRevision(
                archives: numbers["archives"] ?? 0, jobs: numbers["jobs"] ?? 0, files: numbers["files"] ?? 0)
        }
    }

    /// Returns the archive with that id, else the first one imported from a file of that name, with or without `.wacz`.
    func archive(named name: String) throws -> Archive? {
        // The id, from memory: every range of a linked file asks.
        if let id = ArchiveID(name), let archive = try archive(id: id) { return archive }
        return try reading { database in
            let sql = """
                SELECT * FROM archive WHERE originalName IN (:name, :name || '.wacz') ORDER BY importedAt, id LIMIT 1
                """
            return try ArchiveRecord.fetchOne(database, sql: sql, arguments: ["name": name])
        }?.archive
    }

    /// Whether no archive or collection has the id.
    func isFree(_ id: ArchiveID) throws -> Bool {
        try reading { database in
            let sql =
                "SELECT (SELECT count(*) FROM archive WHERE id = :id) + (SELECT count(*) FROM archiveCollection WHERE id = :id)"
            return try Int.fetchOne(database, sql: sql, arguments: ["id": id]) == 0
        }
    }

    func findings(key: String) throws -> [Finding] {
        try reading { database in
            let sql = "SELECT * FROM finding WHERE archiveKey = ? ORDER BY position"
            return try FindingRow.fetchAll(database, sql: sql, arguments: [key]).map(\.finding)
        }
    }

    /// Runs SQLite's integrity check, and counts what it doesn't notice: rows that belong to no archive, and archives
    /// whose pages or findings are gone. Returns its lines; `["ok"]` if the catalog is intact.
    func integrityCheck() throws -> [String] {
        try reading { database in
            let lines = try String.fetchAll(database, sql: "PRAGMA integrity_check(20)")
            guard lines == ["ok"] else { return lines }
            let orphans = try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").count
            let emptied =
                try Int.fetchOne(
                    database,
                    sql: """
                        SELECT count(*) FROM archive WHERE isExamined
                            AND (pageCount > 0 AND NOT EXISTS (SELECT 1 FROM page WHERE archiveKey = key)
                            OR (SELECT sum(value) FROM json_each(findings)) > 0
                                AND NOT EXISTS (SELECT 1 FROM finding WHERE archiveKey = key))
                        """) ?? 0
            var problems: [String] = []
            if orphans > 0 { problems.append("\(orphans) rows belong to no archive") }
            if emptied > 0 { problems.append("archives whose pages or findings are gone: \(emptied)") }
            return problems.isEmpty ? lines : problems
        }
    }

    /// Adds an archive with its findings and pages, and removes those that it replaces, in one transaction. `eachPage`
    /// passes the pages one by one.
    func add(
        _ archive: Archive, sidecarStamp: String? = nil, findings: [Finding], replacing oldKeys: [String] = [],
        eachPage: ((ArchivePage) throws -> Void) throws -> Void, addFilter: (Database) throws -> Void = { _ in }
    ) throws {
        try writing { database in
            for key in oldKeys { try database.execute(sql: "DELETE FROM archive WHERE key = ?", arguments: [key]) }
            try ArchiveRecord(archive, sidecarStamp: sidecarStamp).insert(database)
            try Self.insert(findings, key: archive.key, database)
            try Self.insertPages(of: archive, database, eachPage)
            try addFilter(database)
        }
    }

    /// Updates an archive, and replaces its pages and what was noted of its content, in one transaction. `eachPage` passes the
    /// pages one by one.
    func replaceContents(
        of archive: Archive, sidecarStamp: String?, eachPage: ((ArchivePage) throws -> Void) throws -> Void,
        addFilter: (Database) throws -> Void
    ) throws {
        try writing { database in
            try ArchiveRecord(archive, sidecarStamp: sidecarStamp).update(database)
            for table in ["page", "archiveSite", "captureFilter", "endedWork"] {
                try database.execute(sql: "DELETE FROM \(table) WHERE archiveKey = ?", arguments: [archive.key])
            }
            try database.execute(
                sql: "UPDATE archive SET siteCount = NULL, years = NULL, thumbnail = NULL WHERE key = ?",
                arguments: [archive.key])
            try Self.insertPages(of: archive, database, eachPage)
            try addFilter(database)
        }
    }

    private static func insertPages(
        of archive: Archive, _ database: Database, _ eachPage: ((ArchivePage) throws -> Void) throws -> Void
    ) throws {
        let page = try database.makeStatement(sql: "INSERT INTO page VALUES (?, ?, ?, ?, ?, ?)")
        try eachPage { item in
            try page.execute(arguments: [archive.key, item.position, item.list, item.url, item.timestamp, item.title])
        }
        try noteMainPage(archive.summary.mainPageURL, key: archive.key, database)
    }

    private static func insert(_ findings: [Finding], key: String, _ database: Database) throws {
        let finding = try database.makeStatement(sql: "INSERT INTO finding VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        for (position, item) in findings.enumerated() {
            try finding.execute(arguments: [
                key, position, item.severity.rawValue, item.code, item.what, item.location, item.consequence,
                try item.urls.map { try JSONText.text($0) }, item.urlCount,
                item.total,
            ])
        }
    }

    /// Replaces an archive's findings by those of a verification, which include what was lost at its import.
    ///
    /// - Returns: `false` if there is no archive with that key.
    func setVerification(
        _ summary: VerificationSummary, of state: String, findings: [Finding], key: String
    ) throws -> Bool {
        try writing { database in
            let row = try ArchiveRecord.fetchOne(
                database, sql: "SELECT * FROM archive WHERE key = ?", arguments: [key])
            guard let row else { return false }
            var archive = row.archive
            archive.lastReading = Archive.Reading(state: state, verified: summary)
            archive.summary.findingCounts = FindingCounts(findings)
            try ArchiveRecord(archive, sidecarStamp: row.sidecarStamp).update(database)
            try database.execute(sql: "DELETE FROM finding WHERE archiveKey = ?", arguments: [key])
            try Self.insert(findings, key: key, database)
            return true
        }
    }

    /// Forgets the results of verifications of files that are in another state now, so that they are verified again.
    func forgetVerifications(of keys: [String]) throws {
        guard !keys.isEmpty else { return }
        let sql = "UPDATE archive SET verification = NULL WHERE key IN (SELECT value FROM json_each(?))"
        try writing { try $0.execute(sql: sql, arguments: [try JSONText.text(keys)]) }
    }

    /// Saves how an archive's captures are looked up.
    func setLookups(_ lookups: ArchiveLookups, key: String) throws {
        let sql = "UPDATE archive SET lookups = ?, lookupsReason = ? WHERE key = ?"
        try writing { try $0.execute(sql: sql, arguments: [lookups.strategy.rawValue, lookups.reason, key]) }
    }

    /// Saves which pages were detected in an archive without a page list. Its main page stays if it has one.
    func setDetectedPages(_ pages: DetectedPageSummary, key: String) throws {
        let sql = """
            UPDATE archive SET detectedPageCount = :count,
                mainPageTimestamp = CASE WHEN mainPageURL IS NULL THEN :timestamp ELSE mainPageTimestamp END,
                mainPageURL = coalesce(mainPageURL, :url) WHERE key = :key
            """
        try writing {
            try $0.execute(
                sql: sql,
                arguments: [
                    "count": pages.count, "url": pages.mainPage?.url,
                    "timestamp": pages.mainPage?.captureTime?.digits14, "key": key,
                ])
            try Self.noteMainPage(pages.mainPage?.url, key: key, $0)
        }
    }

    /// Updates an archive, except for its pages and findings.
    func update(_ archive: Archive, sidecarStamp: String?) throws {
        try writing { try ArchiveRecord(archive, sidecarStamp: sidecarStamp).update($0) }
    }

    /// Updates an archive whose key was `oldKey`, and moves its pages and findings to the new key.
    func update(_ archive: Archive, from oldKey: String, sidecarStamp: String?) throws {
        try writing { database in
            try database.execute(sql: "PRAGMA defer_foreign_keys = ON")
            for table in ["finding", "page", "endedWork", "archiveSite"] {
                try database.execute(
                    sql: "UPDATE \(table) SET archiveKey = ? WHERE archiveKey = ?", arguments: [archive.key, oldKey])
            }
            // It contains the key, and is made again.
            try database.execute(sql: "DELETE FROM captureFilter WHERE archiveKey = ?", arguments: [oldKey])
            try database.execute(sql: "UPDATE archive SET key = ? WHERE key = ?", arguments: [archive.key, oldKey])
            try ArchiveRecord(archive, sidecarStamp: sidecarStamp).update(database)
        }
    }

    func remove(key: String) throws {
        try writing { try $0.execute(sql: "DELETE FROM archive WHERE key = ?", arguments: [key]) }
    }

    func reading<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try Self.translatingErrors { try database.read(body) }
    }

    func writing<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try Self.translatingErrors { try database.write(body) }
    }

    private static func translatingErrors<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw storeError(for: error)
        } catch let error where error is RowDecodingError || error is DecodingError {
            throw damaged("a value has the wrong type")
        }
    }

    static func damaged(_ reason: String, place: String? = nil) -> StoreError {
        StoreError(
            .catalogDamaged, "the catalog is damaged (\(reason)); your archives are not affected", place: place,
            hint: "run `replayhost doctor --rebuild` to rebuild it from the archives")
    }

    private static func storeError(for error: DatabaseError, place: String? = nil) -> StoreError {
        let reason = error.message ?? error.resultCode.description
        let noSpace = StoreError(
            .noSpace, "no space left for the catalog", place: place,
            hint: "free some space on that file system")
        switch error.resultCode {
        case .SQLITE_FULL:
            return noSpace
        case .SQLITE_IOERR where place.map(CatalogFile.isFull) ?? false:
            return noSpace
        case .SQLITE_CANTOPEN:
            return StoreError(
                .unusable, "can't open the catalog (\(reason))", place: place,
                hint: "check who owns it, or choose another store with --store")
        case .SQLITE_BUSY:
            return StoreError(
                .unusable, "another process has locked the catalog for \(CatalogFile.busySeconds) seconds",
                place: place,
                hint: "try again")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_ERROR:
            return damaged(reason, place: place)
        case .SQLITE_READONLY:
            return StoreError(
                .unusable, "the store is read-only (\(reason))", place: place,
                hint: "check who owns it and whether its file system is read-only, or choose another with --store")
        case .SQLITE_IOERR:
            return StoreError(
                .failed, "the disk failed while using the catalog (\(reason))", place: place,
                hint: "check the disk, then run `replayhost doctor`")
        default:
            return StoreError(
                .unusable, "can't use the catalog (\(reason))", place: place, hint: "run `replayhost doctor`")
        }
    }
}

/// Counters of changes: of archives and collections, and of jobs.
package struct CatalogRevision: Sendable, Hashable {
    package let archives: Int
    package let jobs: Int
    /// Counts the archives that were added or removed, or got another key, file, times of captures or filter, and those in
    /// which errors were found.
    package let files: Int
}
