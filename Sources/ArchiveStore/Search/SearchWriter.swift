import GRDB
import WebArchive

/// Adds pages to the search index and removes them, within a transaction, which must end with `finish`.
///
/// Words are written after everything else: FTS5 writes what it has gathered to the file before each statement that could
/// fail halfway, such as one that changes a table with several indexes.
struct SearchWriter {
    let database: Database
    /// The numbers of hosts that were needed.
    private var hosts: [String: Int64] = [:]
    /// Words to add, and to delete, by document.
    private var added: [(document: Int64, words: [String])] = []
    private var deleted: [(document: Int64, words: [String])] = []

    init(_ database: Database) {
        self.database = database
    }

    /// Adds a page of an archive.
    mutating func add(_ page: IndexedPage, archive: Int64) throws {
        let url = try urlRow(page)
        for (part, document) in page.documents.enumerated() {
            let number = try documentNumber(document, url: url)
            try execute(
                "INSERT OR REPLACE INTO capture VALUES (?, ?, ?, ?, ?)",
                [archive, page.position, part, number, page.timestamp])
        }
    }

    /// Writes the words of all documents that were added or removed.
    mutating func finish() throws {
        for (document, words) in added {
            try execute(
                "INSERT INTO word (rowid, title, heading, url, body, facet) VALUES (?, ?, ?, ?, ?, ?)",
                [document] + words)
        }
        for (document, words) in deleted {
            try execute(
                "INSERT INTO word (word, rowid, title, heading, url, body, facet) VALUES ('delete', ?, ?, ?, ?, ?, ?)",
                [document] + words)
        }
        (added, deleted) = ([], [])
    }

    /// Removes documents that no archive has any more: the documents of up to `limit` captures of `archive`.
    ///
    /// - Returns: Whether the archive had any captures left.
    mutating func removeCaptures(of archive: Int64, limit: Int, _ folding: WordFolding) throws -> Bool {
        let documents = try Int64.fetchAll(
            database,
            sql: "SELECT document FROM capture WHERE archive = ? ORDER BY position, part LIMIT ?",
            arguments: [archive, limit])
        guard !documents.isEmpty else { return false }
        try execute(
            """
            DELETE FROM capture WHERE archive = ?1 AND (position, part) IN (
                SELECT position, part FROM capture WHERE archive = ?1 ORDER BY position, part LIMIT ?2)
            """, [archive, limit])
        for document in Set(documents) { try removeIfUnused(document, folding) }
        return true
    }

    private mutating func removeIfUnused(_ number: Int64, _ folding: WordFolding) throws {
        let sql = """
            SELECT document.*, url.key FROM document JOIN url ON url.number = document.url
            WHERE document.number = ?1 AND NOT EXISTS (SELECT 1 FROM capture WHERE document = ?1)
            """
        guard let document = try DocumentRow.fetchOne(database, sql: sql, arguments: [number]) else { return }
        let text = try document.text.map { try SearchText.fetch(database, number: $0) }
        let words = SearchDocument.words(
            key: document.key, title: document.title, type: document.type, language: document.language, text, folding)
        deleted.append((number, words))
        try execute("DELETE FROM document WHERE number = ?", [number])
        if let text = document.text {
            try execute(
                "DELETE FROM text WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM document WHERE text = ?1)", [text])
        }
        let host = try Int64.fetchOne(database, sql: "SELECT host FROM url WHERE number = ?", arguments: [document.url])
        try execute(
            "DELETE FROM url WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM document WHERE url = ?1)", [document.url])
        try execute("DELETE FROM host WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM url WHERE host = ?1)", [host])
    }

    private struct DocumentRow: Decodable, FetchableRecord {
        let url: Int64
        let text: Int64?
        let title: String
        let type: String
        let language: String
        let key: String
    }

    private mutating func documentNumber(_ document: SearchDocument, url: Row) throws -> Int64 {
        let text = try document.text.map { try textRow($0) }
        let values: [(any DatabaseValueConvertible)?] = [
            url.number, text?.number, document.title, document.type, document.language,
        ]
        if !url.isNew, text?.isNew != true {
            let sql = """
                SELECT number FROM document WHERE url = ? AND text IS ? AND title = ? AND type = ? AND language = ?
                """
            if let known = try one(sql, values) { return known }
        }
        try execute("INSERT INTO document (url, text, title, type, language) VALUES (?, ?, ?, ?, ?)", values)
        let number = database.lastInsertedRowID
        added.append((number, document.words))
        return number
    }

    /// A row that was found or added.
    private struct Row {
        let number: Int64
        let isNew: Bool
    }

    private mutating func urlRow(_ page: IndexedPage) throws -> Row {
        try row(
            "INSERT INTO url (key, url, host) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [page.key, page.url, try hostNumber(SearchSite.host(ofKey: page.key))],
            or: "SELECT number FROM url WHERE key = ?", [page.key])
    }

    private mutating func hostNumber(_ name: String) throws -> Int64 {
        if let known = hosts[name] { return known }
        let row = try row(
            "INSERT INTO host (name) VALUES (?) ON CONFLICT DO NOTHING", [name],
            or: "SELECT number FROM host WHERE name = ?", [name])
        hosts[name] = row.number
        return row.number
    }

    /// Adds a text. Equal texts are stored once.
    private func textRow(_ text: SearchDocument.Text) throws -> Row {
        try row(
            "INSERT INTO text (digest, headings, size, compressed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [text.digest, text.headingsSize, text.size, text.compressed],
            or: "SELECT number FROM text WHERE digest = ?", [text.digest])
    }

    /// Adds a row, or finds the one that is there.
    private func row(
        _ insert: String, _ values: [(any DatabaseValueConvertible)?], or select: String,
        _ key: [(any DatabaseValueConvertible)?]
    ) throws -> Row {
        try execute(insert, values)
        if database.changesCount == 1 { return Row(number: database.lastInsertedRowID, isNew: true) }
        guard let number = try one(select, key) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "an index of a table is damaged")
        }
        return Row(number: number, isNew: false)
    }

    private func one(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?]) throws -> Int64? {
        try Int64.fetchOne(database.cachedStatement(sql: sql), arguments: StatementArguments(arguments))
    }

    private func execute(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?]) throws {
        try database.cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
    }
}
