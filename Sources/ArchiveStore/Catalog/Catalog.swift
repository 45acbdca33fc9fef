import Foundation
import GRDB
package import WebArchive

/// The database of archives, their pages and findings: what the store answers questions from.
///
/// It can be rebuilt from `files/`: the files are the truth. One pool per process; SQLite's WAL lets other processes read and
/// write at the same time.
package struct Catalog: Sendable {
    private let pool: DatabasePool

    package init(path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        configuration.label = "catalog"
        // A removal must not come back after a power cut.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
            guard try !pool.read({ try CatalogMigrations.migrator.hasBeenSuperseded($0) }) else {
                throw StoreError(
                    .unusable, "the catalog was written by a newer replayhost", place: path, hint: "use that version")
            }
            try CatalogMigrations.migrator.migrate(pool)
        } catch let error as DatabaseError {
            throw StoreError(
                .unusable, "the catalog cannot be opened (\(error.message ?? error.resultCode.description))",
                place: path,
                hint:
                    "move catalog.sqlite and what begins like it away; the next import or serve makes it anew from files/"
            )
        }
    }

    /// All archives, newest import first.
    package func allArchives() throws -> [Archive] {
        try reading { try ArchiveRow.fetchAll($0, sql: "SELECT * FROM archive ORDER BY importedAt DESC, rowid DESC") }
            .map { try $0.archive() }
    }

    package func archive(id: ArchiveID) throws -> Archive? {
        try reading { try ArchiveRow.fetchOne($0, sql: "SELECT * FROM archive WHERE id = ?", arguments: [id.text]) }?
            .archive()
    }

    package func archive(key: String) throws -> Archive? {
        try reading { try ArchiveRow.fetchOne($0, sql: "SELECT * FROM archive WHERE key = ?", arguments: [key]) }?
            .archive()
    }

    /// Those archives that the catalog has, of at most some thousand keys.
    func archives(keys: Set<String>) throws -> [Archive] {
        guard !keys.isEmpty else { return [] }
        let sql = "SELECT * FROM archive WHERE key IN (\(databaseQuestionMarks(count: keys.count)))"
        return try reading { try ArchiveRow.fetchAll($0, sql: sql, arguments: StatementArguments(keys)) }
            .map { try $0.archive() }
    }

    /// The archive of that id, else the first one that was imported under that file name (with or without its ending).
    package func archive(named name: String) throws -> Archive? {
        try reading { database in
            let sql = """
                SELECT * FROM archive WHERE id = :name OR originalName IN (:name, :name || '.wacz')
                ORDER BY id = :name DESC, importedAt, rowid LIMIT 1
                """
            return try ArchiveRow.fetchOne(database, sql: sql, arguments: ["name": name])
        }?.archive()
    }

    /// Ids that start with `prefix`, at most a few: enough to tell one from several.
    package func ids(startingWith prefix: String) throws -> [ArchiveID] {
        try reading { database in
            let sql = "SELECT id FROM archive WHERE substr(id, 1, length(:p)) = :p ORDER BY id LIMIT 6"
            return try String.fetchAll(database, sql: sql, arguments: ["p": prefix])
        }.compactMap { ArchiveID($0) }
    }

    package func findings(key: String) throws -> [Finding] {
        try reading { database in
            let sql = "SELECT * FROM finding WHERE archiveKey = ? ORDER BY position"
            return try Row.fetchAll(database, sql: sql, arguments: [key]).map(Self.finding)
        }
    }

    /// Pages in the archive's order, those whose title or URL holds every word of `words`.
    package func pages(
        key: String, words: String = "", offset: Int = 0, limit: Int
    ) throws -> (total: Int, pages: [ArchivePage]) {
        let patterns = words.split(whereSeparator: \.isWhitespace).prefix(Self.wordsMax).map {
            "%\(Self.escapedForLike(String($0)))%"
        }
        let filter = patterns.map { _ in " AND (title LIKE ? ESCAPE '\\' OR url LIKE ? ESCAPE '\\')" }.joined()
        let arguments: [any DatabaseValueConvertible] = [key] + patterns.flatMap { [$0, $0] }
        return try reading { database in
            let total = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM page WHERE archiveKey = ?\(filter)",
                arguments: StatementArguments(arguments))
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT * FROM page WHERE archiveKey = ?\(filter) ORDER BY position LIMIT ? OFFSET ?",
                arguments: StatementArguments(arguments + [limit, offset]))
            return (total ?? 0, rows.map(Self.page))
        }
    }

    /// SQLite's own check of the file, as lines; `["ok"]` when nothing is wrong.
    package func integrityCheck() throws -> [String] {
        try reading { try String.fetchAll($0, sql: "PRAGMA quick_check(20)") }
    }

    /// Adds an archive with its findings and pages, all or nothing. `eachPage` hands over the pages one by one.
    package func add(
        _ archive: Archive, findings: [Finding], eachPage: ((ArchivePage) throws -> Void) throws -> Void
    ) throws {
        try writing { database in
            try ArchiveRow(archive).insert(database)
            let finding = try database.makeStatement(
                sql: "INSERT INTO finding VALUES (?, ?, ?, ?, ?, ?, ?)")
            for (position, item) in findings.enumerated() {
                try finding.execute(arguments: [
                    archive.key, position, item.severity.rawValue, item.code, item.what, item.location,
                    item.consequence,
                ])
            }
            let page = try database.makeStatement(sql: "INSERT INTO page VALUES (?, ?, ?, ?, ?, ?)")
            try eachPage { item in
                try page.execute(arguments: [
                    archive.key, item.position, item.list, item.url, item.timestamp, item.title,
                ])
            }
        }
    }

    /// Notes how an archive's captures are looked up.
    func setLookups(_ lookups: ArchiveLookups, key: String) throws {
        let sql = "UPDATE archive SET lookups = ?, lookupsReason = ? WHERE key = ?"
        try writing { try $0.execute(sql: sql, arguments: [lookups.way.rawValue, lookups.reason, key]) }
    }

    package func remove(key: String) throws {
        try writing { try $0.execute(sql: "DELETE FROM archive WHERE key = ?", arguments: [key]) }
    }

    private func reading<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try pool.read(body)
        } catch let error as DatabaseError {
            throw Self.words(for: error)
        }
    }

    private func writing<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do {
            return try pool.write(body)
        } catch let error as DatabaseError {
            throw Self.words(for: error)
        }
    }

    private static func words(for error: DatabaseError) -> StoreError {
        switch error.resultCode {
        case .SQLITE_FULL:
            StoreError(.noSpace, "no space left for the catalog", hint: "free some space where the store is")
        case .SQLITE_BUSY: StoreError(.unusable, "another process has kept the catalog to itself for 30 seconds")
        default:
            StoreError(
                .unusable, "the catalog cannot be used (\(error.message ?? error.resultCode.description))",
                hint: "run `replayhost doctor`")
        }
    }

    /// Words of a search that count; more are not looked at.
    private static let wordsMax = 32

    private static func finding(_ row: Row) -> Finding {
        Finding(
            severity: Finding.Severity(rawValue: row["severity"]) ?? .error, code: row["code"], what: row["what"],
            location: row["location"], consequence: row["consequence"])
    }

    private static func page(_ row: Row) -> ArchivePage {
        ArchivePage(
            position: row["position"], list: row["list"], url: row["url"], timestamp: row["timestamp"],
            title: row["title"])
    }

    private static func escapedForLike(_ word: String) -> String {
        word.reduce(into: "") { escaped, character in
            if "\\%_".contains(character) { escaped += "\\" }
            escaped.append(character)
        }
    }
}

/// An archive as a row of the table `archive`.
private struct ArchiveRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "archive"

    var key: String
    var id: String
    var sha256: String?
    var storage: String
    var title: String
    var size: Int64
    var originalName: String
    var source: String
    var importedAt: String
    var createdAt: String?
    var description: String?
    var software: String?
    var waczVersion: String?
    var mainPageURL: String?
    var mainPageTimestamp: String?
    var pageCount: Int
    var captureCount: Int
    var firstCapture: String?
    var lastCapture: String?
    var notices: Int
    var warnings: Int
    var errors: Int
    var lookups: String?
    var lookupsReason: String?

    init(_ archive: Archive) {
        key = archive.key
        id = archive.id.text
        sha256 = archive.sha256
        storage = "managed"
        title = archive.title
        size = Int64(clamping: archive.size)
        originalName = archive.originalName
        source = archive.source
        importedAt = RFC3339.text(of: archive.importedAt)
        createdAt = archive.createdAt.map(RFC3339.text)
        description = archive.description
        software = archive.software
        waczVersion = archive.waczVersion
        mainPageURL = archive.mainPageURL
        mainPageTimestamp = archive.mainPageTimestamp
        pageCount = archive.pageCount
        captureCount = archive.captureCount
        firstCapture = archive.firstCapture
        lastCapture = archive.lastCapture
        notices = archive.findingCounts.notice
        warnings = archive.findingCounts.warning
        errors = archive.findingCounts.error
        lookups = archive.lookups?.way.rawValue
        lookupsReason = archive.lookups?.reason
    }

    func archive() throws -> Archive {
        guard let id = ArchiveID(id), let importedAt = RFC3339.date(importedAt) else {
            throw StoreError(
                .unusable, "the catalog holds a row that no version of replayhost wrote (id \"\(id)\")",
                hint: "run `replayhost doctor`")
        }
        return Archive(
            key: key, id: id, title: title, sha256: sha256 ?? key, size: UInt64(clamping: size),
            originalName: originalName,
            source: source, importedAt: importedAt, createdAt: createdAt.flatMap(RFC3339.date),
            description: description,
            software: software, waczVersion: waczVersion, mainPageURL: mainPageURL,
            mainPageTimestamp: mainPageTimestamp,
            pageCount: pageCount, captureCount: captureCount, firstCapture: firstCapture, lastCapture: lastCapture,
            findingCounts: FindingCounts(notice: notices, warning: warnings, error: errors),
            lookups: lookups.flatMap(ArchiveLookups.Way.init).map { ArchiveLookups(way: $0, reason: lookupsReason) })
    }
}
