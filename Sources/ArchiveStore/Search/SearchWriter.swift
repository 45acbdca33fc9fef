import Foundation
import GRDB
import WebArchive

/// Adds pages to the search index and removes them, within a transaction, which must end with `finish`.
///
/// Words are written after everything else: FTS5 writes what it has gathered to the file before each statement that could
/// fail halfway, such as one that changes a table with several indexes.
///
/// The words of a long text are added for a few pages of an archive only. Other pages with that text share its row, and
/// are found by their titles and URLs: an index of 50 kB can name the same record thousands of times.
struct SearchWriter {
    let database: Database
    /// About how much was added, in bytes.
    private(set) var bytesAdded: UInt64 = 0
    /// The numbers of hosts that were needed.
    private var hosts: [String: Int64] = [:]
    /// Words to add, and to delete, by document.
    private var added: [(document: Int64, words: DocumentWords)] = []
    private var deleted: [(document: Int64, words: DocumentWords)] = []

    init(_ database: Database) {
        self.database = database
    }

    /// Adds a page of an archive.
    mutating func add(_ page: IndexedPage, archive: Int64) throws {
        let url = try urlRow(page, archive: archive)
        if url.isNew { count(2 * (page.url.utf8.count + page.key.utf8.count)) }
        let number = try documentNumber(page.document, key: page.key, url: url, archive: archive)
        try execute(
            "INSERT OR REPLACE INTO capture VALUES (?, ?, ?, ?, ?)",
            [archive, page.position, page.part, number, page.timestamp])
        count(Self.rowBytes)
    }

    private mutating func count(_ bytes: Int) { bytesAdded += UInt64(bytes) }

    /// Writes the words of all documents that were added or removed.
    mutating func finish() throws {
        var vocabulary = VocabularyChanges()
        for (document, words) in added {
            try execute(
                "INSERT INTO word (rowid, title, heading, url, body, facet) VALUES (?, ?, ?, ?, ?, ?)",
                [document] + words.columns)
            vocabulary.count(words, 1)
            try vocabulary.writeIfLarge(database)
        }
        for (document, words) in deleted {
            try execute(
                "INSERT INTO word (word, rowid, title, heading, url, body, facet) VALUES ('delete', ?, ?, ?, ?, ?, ?)",
                [document] + words.columns)
            if words.isInVocabulary { vocabulary.count(words, -1) }
            try vocabulary.writeIfLarge(database)
        }
        try vocabulary.write(database)
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
        let words = DocumentWords(
            key: document.key, title: document.title, type: document.type, language: document.language,
            document.sharesWords ? nil : text, folding, contents: document.contents)
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
        let sharesWords: Bool
        let contents: Int
        let key: String
    }

    private mutating func documentNumber(
        _ document: SearchDocument, key: String, url: Row, archive: Int64
    ) throws -> Int64 {
        let text = try document.text.flatMap { try textRow($0) }
        var values: [(any DatabaseValueConvertible)?] = [
            url.number, text?.number, document.title, document.type, document.language, false,
        ]
        if !url.isNew, text?.isNew != true, let known = try known(values) { return known }
        let sharesWords = try text.map { try isShared($0, document, in: archive) } ?? false
        if sharesWords {
            values[values.count - 1] = true
            if !url.isNew, let known = try known(values) { return known }
        }
        try execute(
            """
            INSERT INTO document (url, text, title, type, language, sharesWords, contents)
            VALUES (?, ?, ?, ?, ?, ?, \(SearchSchema.contents))
            """, values)
        let number = database.lastInsertedRowID
        let words = try words(of: document, key: key, text: sharesWords ? nil : text)
        added.append((number, words))
        count(document.title.utf8.count + words.size + Self.rowBytes)
        return number
    }

    private func known(_ values: [(any DatabaseValueConvertible)?]) throws -> Int64? {
        let sql = """
            SELECT number FROM document
            WHERE url = ? AND text IS ? AND title = ? AND type = ? AND language = ? AND sharesWords = ?
                AND contents = \(SearchSchema.contents)
            """
        return try one(sql, values)
    }

    /// Returns the words to add for a document.
    ///
    /// - Parameter text: The row of its text; `nil` if the words of the text aren't added.
    private func words(of document: SearchDocument, key: String, text: Row?) throws -> DocumentWords {
        if let words = document.words, try text.map({ try isSplit($0, like: document) }) ?? (document.text == nil) {
            return words
        }
        return DocumentWords(
            key: key, title: document.title, type: document.type, language: document.language,
            try text.map { try SearchText.fetch(database, number: $0.number) }, WordFolding())
    }

    /// Whether the text that is stored has the same lines beside its content. That depends on the pages that were read
    /// before it.
    private func isSplit(_ text: Row, like document: SearchDocument) throws -> Bool {
        if text.isNew { return true }
        let sql = "SELECT beside FROM text WHERE number = ?"
        return try Data.fetchOne(database.cachedStatement(sql: sql), arguments: [text.number]) == document.text?.beside
    }

    /// Whether the archive has pages enough with the words of a text.
    private func isShared(_ row: Row, _ document: SearchDocument, in archive: Int64) throws -> Bool {
        guard !row.isNew, let size = document.text?.size, size >= Self.sharedBytesMin else { return false }
        let sql = """
            SELECT count(*) FROM (
                SELECT 1 FROM document WHERE text = ?1 AND sharesWords = 0
                    AND EXISTS (SELECT 1 FROM capture WHERE document = document.number AND archive = ?2)
                LIMIT ?3)
            """
        let copies = Self.copiesBytesMax / size
        return try one(sql, [row.number, archive, copies + 1]) ?? 0 > copies
    }

    /// The size of a text from which its words are shared.
    private static let sharedBytesMin = 4 << 10
    /// The maximum size of a text times the number of pages of an archive, besides the first, that have its words.
    private static let copiesBytesMax = 4 << 20
    /// About the size of a row with its entries in indexes.
    private static let rowBytes = 150

    /// A row that was found or added.
    private struct Row {
        let number: Int64
        let isNew: Bool
    }

    private mutating func urlRow(_ page: IndexedPage, archive: Int64) throws -> Row {
        let owner = SURT.host(ofKey: page.key) == nil ? archive : 0
        return try row(
            "INSERT INTO url (key, archive, url, host) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [page.key, owner, page.url, try hostNumber(SearchSite.host(ofKey: page.key))],
            or: "SELECT number FROM url WHERE key = ? AND archive = ?", [page.key, owner])
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
    ///
    /// - Returns: `nil` if the index should have the text already and doesn't.
    private mutating func textRow(_ text: SearchDocument.Text) throws -> Row? {
        let find = "SELECT number FROM text WHERE digest = ?"
        guard let compressed = text.compressed else {
            return try one(find, [text.digest]).map { Row(number: $0, isNew: false) }
        }
        let row = try row(
            "INSERT INTO text (digest, headings, size, beside, compressed) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [text.digest, text.headingsSize, text.size, text.beside, compressed], or: find, [text.digest])
        if row.isNew { count(compressed.count) }
        return row
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
