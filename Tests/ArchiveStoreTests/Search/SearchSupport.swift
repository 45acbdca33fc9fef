import GRDB
import TestSupport
import Testing

@testable import ArchiveStore

extension TestStore {
    typealias Record = RecordedArchive.Record

    /// Imports an archive with these records and index its text.
    @discardableResult
    func add(_ records: [Record], pages: String = "", id: String, indexes: Bool = true) throws -> Archive {
        var archive = RecordedArchive(records)
        archive.pages = pages.split(separator: "\n").map(String.init)
        let path = try folder.write(archive.bytes(), to: "\(id).wacz")
        let options = ImportOptions(title: "Title of \(id)", id: ArchiveID(id))
        let result = try store.jobs.importAny(at: path, options: options)
        guard case .archive(let outcome) = result else { throw StoreError(.failed, "not an archive") }
        if indexes { try indexAll() }
        return outcome.archive
    }

    /// Runs all jobs, as a server does.
    func indexAll() throws {
        try store.jobs.queueTexts()
        try store.purgeRemovedTexts()
        let runner = JobRunner(store)
        while try runner.runNext() != nil {}
    }

    func search(_ text: String, limit: Int = 20) throws -> SearchResults {
        try store.searcher.search(SearchQuery(text), limit: limit)
    }

    /// The URLs found, without scheme.
    func found(_ text: String) throws -> [String] {
        try search(text, limit: 100).hits.map { String($0.url.dropFirst(7)) }
    }

    /// Everything in the search index apart from internal numbers.
    func searchContents() throws -> [String] {
        try store.search.database.reading { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT archive.key || ' ' || archive.state || ' ' || archive.source || ' ' || archive.position || ' '
                        || capture.position || ' ' || part || ' ' || timestamp || ' ' || url.key || ' ' || host.name || ' '
                        || title || ' ' || type || ' ' || language || ' ' || coalesce(hex(digest), '-')
                    FROM capture JOIN archive ON archive.number = capture.archive
                    JOIN document ON document.number = capture.document JOIN url ON url.number = document.url
                    JOIN host ON host.number = url.host LEFT JOIN text ON text.number = document.text ORDER BY 1
                    """)
        }
    }

    /// The words of the search index, each with the number of its documents and occurrences in a column.
    func searchWords() throws -> [String] {
        try store.search.database.writing { database in
            try database.execute(sql: "CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, word, col)")
            defer { try? database.execute(sql: "DROP TABLE temp.words") }
            return try String.fetchAll(
                database, sql: "SELECT term || ' ' || col || ' ' || doc || ' ' || cnt FROM words ORDER BY 1")
        }
    }

    /// The words of the vocabulary, each with how it is written and the number of its documents.
    func vocabulary() throws -> [String] {
        try store.search.database.reading { database in
            try String.fetchAll(
                database, sql: "SELECT word || ' ' || written || ' ' || pages FROM vocabulary ORDER BY word")
        }
    }

    /// The number of rows of each table, and of different words.
    func searchCounts() throws -> [String: Int] {
        try store.search.database.reading { database in
            var counts: [String: Int] = [:]
            for table in ["archive", "host", "url", "text", "document", "capture", "word"] {
                counts[table] = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)")
            }
            return counts
        }
    }
}

/// A page of HTML.
func page(_ title: String, _ body: String) -> String { "<!doctype html><title>\(title)</title><body>\(body)" }

extension Searcher {
    func facets(_ query: SearchQuery) throws -> SearchFacets {
        try #require(search(query, limit: 1, hasFacets: true).facets)
    }
}
