import Foundation
import GRDB
import WebArchive

/// Which archives can be searched, and how much of them.
package struct SearchCoverage: Sendable, Hashable, Encodable {
    /// Archives whose pages are all indexed.
    package var complete = 0
    /// Archives that are still to be indexed.
    package var pending = 0
    /// Why the index is being made again; `nil` if it isn't.
    package var rebuildReason: String?
}

/// What the search index has of an archive.
package struct IndexedText: Sendable, Hashable, Encodable {
    package enum Source: String, Sendable, Hashable, Codable {
        /// Pages are those of the archive's page lists.
        case listed
        /// The archive has no page list; pages were detected among its captures.
        case detected
    }

    package let isComplete: Bool
    package let source: Source
    /// The number of pages.
    package let pages: Int
    /// The number of pages with text.
    package let withText: Int
    /// The number of pages without text, by reason.
    package let withoutText: [String: Int]

    /// Says that PDFs couldn't be read on this system, and why; `nil` if there are none.
    var unreadPDFs: String? {
        let obstacles = [
            MissingText.noPDFReader: "pdftotext isn't installed",
            .noPDFSandbox: "no sandbox for pdftotext works on this system",
        ]
        for (obstacle, reason) in obstacles {
            guard let count = withoutText[obstacle.rawValue] else { continue }
            return "\(count) \(count == 1 ? "PDF wasn't" : "PDFs weren't") read: \(reason)"
        }
        return nil
    }
}

/// The pages of an archive without a page list.
struct DetectedPageSummary {
    let count: Int
    /// The most likely page to start from.
    let mainPage: Page?
}

/// The full-text index of a store. See `SearchDatabase`.
///
/// The catalog says which archives there are. An archive that was removed isn't found any more from that moment; its text
/// is deleted soon after.
struct SearchIndex: Sendable {
    let database: SearchDatabase

    /// The progress of indexing an archive.
    struct Progress: Sendable {
        let number: Int64
        var source: IndexedText.Source
        /// The number of pages that were read.
        var position: Int
        var withText: Int
        var reasons: [MissingText: Int]
        /// About what the archive has added to the index, in bytes.
        var size: UInt64
        var isComplete: Bool

        /// Counts a page that was read.
        ///
        /// - Parameter missing: Why it has no text, or not all of it.
        mutating func count(_ missing: MissingText?, at position: Int) {
            self.position = position + 1
            if let missing { reasons[missing, default: 0] += 1 }
            if missing == nil || missing == .rest { withText += 1 }
        }
    }

    private struct ArchiveRow: Decodable, FetchableRecord {
        let number: Int64
        let key: String
        let state: String
        let source: String
        let position: Int
        let withText: Int
        let reasons: String
        let size: Int64

        var progress: Progress {
            let counts = try? JSONDecoder().decode([String: Int].self, from: Data(reasons.utf8))
            let pairs = (counts ?? [:]).compactMap { name, count in MissingText(rawValue: name).map { ($0, count) } }
            return Progress(
                number: number, source: IndexedText.Source(rawValue: source) ?? .listed, position: position,
                withText: withText, reasons: Dictionary(pairs) { $1 }, size: UInt64(clamping: size),
                isComplete: state == State.complete.rawValue)
        }
    }

    private enum State: String {
        case partial, complete, removed
    }

    /// Returns the numbers of archives by key, without those that were removed.
    func numbers(_ database: Database) throws -> [String: Int64] {
        let rows = try ArchiveRow.fetchAll(database, sql: "SELECT * FROM archive WHERE state != 'removed'")
        return Dictionary(rows.map { ($0.key, $0.number) }) { $1 }
    }

    /// Whether there are captures of archives that were removed.
    func hasRemoved(_ database: Database) throws -> Bool {
        try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM archive WHERE state = 'removed')") ?? false
    }

    /// Returns the keys of the archives that are completely indexed.
    ///
    /// - Parameter isCurrent: Whether to leave out those that an earlier version has indexed, which are to be indexed again.
    func completeKeys(isCurrent: Bool = false) throws -> Set<String> {
        guard database.exists else { return [] }
        let condition = isCurrent ? "AND contents = \(SearchSchema.contents)" : ""
        return try database.reading {
            try String.fetchSet($0, sql: "SELECT key FROM archive WHERE state = 'complete' \(condition)")
        }
    }

    /// Returns the keys of the archives without a page list that have detected pages.
    func keysWithDetectedPages() throws -> Set<String> {
        guard database.exists else { return [] }
        let sql = """
            SELECT key FROM archive WHERE state = 'complete' AND source = 'detected'
                AND EXISTS (SELECT 1 FROM capture WHERE capture.archive = archive.number)
            """
        return try database.reading { try String.fetchSet($0, sql: sql) }
    }

    /// Why the index was made again; `nil` if it wasn't, or if that is complete.
    func rebuildReason() throws -> String? {
        try database.reading { try String.fetchOne($0, sql: "SELECT value FROM note WHERE name = 'rebuilt'") }
    }

    /// Forgets why the index was made again.
    func forgetRebuild() throws {
        guard database.exists, try rebuildReason() != nil else { return }
        try database.writing { try $0.execute(sql: "DELETE FROM note WHERE name = 'rebuilt'") }
    }

    func progress(key: String) throws -> Progress? {
        guard database.exists else { return nil }
        return try database.reading {
            try ArchiveRow.fetchOne($0, sql: "SELECT * FROM archive WHERE key = ?", arguments: [key])
        }?.progress
    }

    /// Returns detected pages of an archive.
    func pages(key: String, _ request: PageListRequest) throws -> PageList {
        guard database.exists else { return PageList(total: 0, pages: []) }
        let source = """
            SELECT capture.position AS position, 'detected' AS list, url.url AS url,
                nullif(timestamp, '') AS timestamp, nullif(substr(title, 1, 1000), '') AS title
            FROM archive JOIN capture ON capture.archive = archive.number AND capture.part = 0
            JOIN document ON document.number = capture.document JOIN url ON url.number = document.url
            WHERE archive.key = ?
            """
        return try database.reading { try PageQuery(request, key: key, from: source).list($0) }
    }

    /// Returns what was detected in an archive without a page list; `nil` if it isn't completely indexed, or has pages of
    /// its own or none at all.
    func detectedPages(key: String) throws -> DetectedPageSummary? {
        guard let progress = try progress(key: key), progress.isComplete, progress.source == .detected else {
            return nil
        }
        let tables = """
            capture JOIN document ON document.number = capture.document JOIN url ON url.number = document.url
            WHERE capture.archive = ? AND capture.part = 0
            """
        return try database.reading { database in
            let count =
                try Int.fetchOne(
                    database, sql: "SELECT count(*) FROM \(tables)", arguments: [progress.number]) ?? 0
            // The site of the earliest capture is probably what was crawled.
            let sql = """
                SELECT 0 AS position, 'detected' AS list, url.url AS url, timestamp, NULL AS title FROM \(tables)
                ORDER BY timestamp, capture.position LIMIT \(MainPageChoice.pagesMax)
                """
            let pages = try PageRow.fetchAll(database, sql: sql, arguments: [progress.number])
            var choice = MainPageChoice()
            for page in pages {
                _ = choice.add(
                    Page(url: page.url, captureTime: page.timestamp.flatMap { CaptureTimestamp(digits: $0) }))
            }
            return count > 0 ? DetectedPageSummary(count: count, mainPage: choice.page) : nil
        }
    }

    /// Starts or continues the indexing of an archive.
    ///
    /// What an earlier version has indexed is found until the archive is indexed again: the new rows have another key
    /// until then.
    func begin(key: String) throws -> Progress {
        try database.writing { database in
            let isOld = "SELECT EXISTS (SELECT 1 FROM archive WHERE key = ? AND contents != \(SearchSchema.contents))"
            let key = try Bool.fetchOne(database, sql: isOld, arguments: [key]) == true ? Self.nextPrefix + key : key
            let sql = """
                INSERT OR IGNORE INTO archive (key, state, source, position, withText, reasons, contents)
                VALUES (?, 'partial', 'listed', 0, 0, '{}', \(SearchSchema.contents))
                """
            try database.execute(sql: sql, arguments: [key])
            let row = try ArchiveRow.fetchOne(database, sql: "SELECT * FROM archive WHERE key = ?", arguments: [key])
            guard let row else { throw StoreError(.failed, "the search index doesn't keep archives") }
            return row.progress
        }
    }

    /// Saves pages and the progress of an archive in one transaction.
    ///
    /// - Returns: About what the archive has added to the index, in bytes; `nil` if the archive was removed meanwhile, and
    ///   nothing is saved.
    func save(_ pages: [IndexedPage], _ progress: Progress) throws -> UInt64? {
        let reasons = try JSONEncoder().encode(
            Dictionary(progress.reasons.map { ($0.key.rawValue, $0.value) }) { $1 })
        return try database.writing { database in
            let state: State = progress.isComplete ? .complete : .partial
            try database.execute(
                sql: """
                    UPDATE archive SET state = ?, source = ?, position = ?, withText = ?, reasons = ?
                    WHERE number = ? AND state != 'removed'
                    """,
                arguments: [
                    state.rawValue, progress.source.rawValue, progress.position, progress.withText,
                    String(decoding: reasons, as: UTF8.self), progress.number,
                ])
            guard database.changesCount == 1 else { return nil }
            if progress.isComplete { try replaceOld(progress.number, database) }
            var writer = SearchWriter(database)
            for page in pages { try writer.add(page, archive: progress.number) }
            try writer.finish()
            try database.execute(
                sql: "UPDATE archive SET size = size + ? WHERE number = ?",
                arguments: [Int64(clamping: writer.bytesAdded), progress.number])
            return try Int64.fetchOne(
                database, sql: "SELECT size FROM archive WHERE number = ?", arguments: [progress.number]
            ).map { UInt64(clamping: $0) }
        }
    }

    /// Puts an archive that was indexed again in the place of what an earlier version has indexed.
    private func replaceOld(_ number: Int64, _ database: Database) throws {
        let sql = "SELECT key FROM archive WHERE number = ?"
        guard let key = try String.fetchOne(database, sql: sql, arguments: [number]), key.hasPrefix(Self.nextPrefix)
        else { return }
        let name = String(key.dropFirst(Self.nextPrefix.count))
        try database.execute(
            sql: "UPDATE archive SET state = 'removed', key = 'removed ' || number WHERE key = ?", arguments: [name])
        try database.execute(sql: "UPDATE archive SET key = ? WHERE number = ?", arguments: [name, number])
    }

    private static let nextPrefix = "next "

    /// Moves an archive to a new key.
    func rekey(_ old: String, to new: String) throws {
        guard database.exists else { return }
        try database.writing { database in
            for prefix in ["", Self.nextPrefix] {
                try database.execute(
                    sql: """
                        UPDATE archive SET key = ?2 WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM archive WHERE key = ?2)
                        """, arguments: [prefix + old, prefix + new])
            }
        }
    }

    /// Marks all archives but these as removed. `purge` deletes what they leave.
    func keepOnly(_ keys: Set<String>) throws {
        guard database.exists else { return }
        let known = try database.reading {
            try String.fetchSet($0, sql: "SELECT key FROM archive WHERE state != 'removed'")
        }
        let removed = known.filter { key in
            !keys.contains(key.hasPrefix(Self.nextPrefix) ? String(key.dropFirst(Self.nextPrefix.count)) : key)
        }
        guard !removed.isEmpty else { return }
        try database.writing { database in
            // A key can come back: its archive is then indexed again.
            let statement = try database.makeStatement(
                sql: "UPDATE archive SET state = 'removed', key = 'removed ' || number WHERE key = ?")
            for key in removed { try statement.execute(arguments: [key]) }
        }
    }

    /// Marks an archive as removed, so that it's indexed again.
    func forget(key: String) throws {
        guard database.exists else { return }
        try database.writing { database in
            for key in [key, Self.nextPrefix + key] {
                try database.execute(
                    sql: "UPDATE archive SET state = 'removed', key = 'removed ' || number WHERE key = ?",
                    arguments: [key])
            }
        }
    }

    /// Marks archives as removed, so that they are indexed again, if they have PDFs that can be read now.
    func forgetUnreadPDFs(canRead: () -> Bool) throws {
        guard database.exists else { return }
        let condition = "state = 'complete' AND (reasons LIKE '%noPDFReader%' OR reasons LIKE '%noPDFSandbox%')"
        let sql = "SELECT EXISTS (SELECT 1 FROM archive WHERE \(condition))"
        guard try database.reading({ try Bool.fetchOne($0, sql: sql) }) == true, canRead() else { return }
        try database.writing {
            try $0.execute(
                sql: "UPDATE archive SET state = 'removed', key = 'removed ' || number WHERE \(condition)")
        }
    }

    /// Deletes everything of archives that were removed, in small transactions.
    ///
    /// - Parameter stop: Returns whether to stop; the next call continues.
    func purge(stop: () -> Bool = { false }) throws {
        guard database.exists else { return }
        let folding = WordFolding()
        var hasChanged = false
        while !stop() {
            let isDone = try database.writing { database in
                let next = try Int64.fetchOne(
                    database, sql: "SELECT number FROM archive WHERE state = 'removed' LIMIT 1")
                guard let next else { return true }
                hasChanged = true
                var writer = SearchWriter(database)
                if try !writer.removeCaptures(of: next, limit: Self.purgeBatch, folding) {
                    try database.execute(sql: "DELETE FROM archive WHERE number = ?", arguments: [next])
                }
                try writer.finish()
                return false
            }
            guard isDone else { continue }
            if hasChanged { try forgetDeletedWords(stop: stop) }
            return
        }
    }

    /// Deleted words stay in the index until its segments are merged. sqlite.org/fts5.html §6.8
    private func forgetDeletedWords(stop: () -> Bool) throws {
        while !stop() {
            let changes = try database.writing { database in
                let before = database.totalChangesCount
                try database.execute(sql: "INSERT INTO word (word, rank) VALUES ('merge', -2000)")
                return database.totalChangesCount - before
            }
            if changes < 2 { return }
        }
    }

    private static let purgeBatch = 200
}
