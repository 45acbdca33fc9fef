import Foundation
import GRDB
import WebArchive

/// What a person may mean while typing.
package struct Suggestion: Sendable, Hashable, Encodable {
    package enum Kind: String, Sendable, Hashable, Codable {
        /// A page whose title has the words.
        case page
        /// A site whose host begins so.
        case site
        /// A page whose URL begins so.
        case url
        /// An archive whose title has the words.
        case archive
    }

    package let kind: Kind
    /// A title, a host or a URL.
    package let text: String
    package var url: String?
    package var archive: ArchiveID?
    /// 14 digits.
    package var timestamp: String?
}

extension Searcher {
    /// Returns suggestions for a text that is being typed: archives, sites, URLs and page titles.
    package func suggestions(for text: String, limit: Int) throws -> [Suggestion] {
        let query = try SearchQuery(String(text.prefix(Self.suggestionTextMax)))
        let typed = text.trimmingCharacters(in: .whitespaces)
        guard !typed.isEmpty else { return [] }
        let archives = try store.catalog.names()
        var found = archives.filter { $0.title.range(of: typed, options: Self.textOptions) != nil }.prefix(2).map {
            Suggestion(kind: .archive, text: $0.title, archive: $0.id)
        }
        guard store.search.database.exists else { return Array(found.prefix(limit)) }
        try store.search.database.reading { database in
            guard let scope = try SearchScope(database, store.search, archives) else { return }
            if !typed.contains(where: \.isWhitespace) {
                found += try sites(startingWith: typed, database)
                found += try urls(startingWith: typed, scope)
            }
            let wanted = limit - min(limit, found.count)
            if wanted > 0 { found += try pages(query, scope, limit: wanted) }
        }
        return Array(found.prefix(limit))
    }

    private struct PageRow: Decodable, FetchableRecord {
        let title: String
        let number: Int64
        let url: String
        let timestamp: String
    }

    private func suggestion(_ kind: Suggestion.Kind, _ page: PageRow, _ scope: SearchScope) throws -> Suggestion? {
        let copies = try archives(withURL: page.number, at: page.timestamp, scope)
        return copies.first.map {
            Suggestion(
                kind: kind, text: kind == .url ? page.url : String(page.title.prefix(200)), url: page.url,
                archive: $0.archive.id, timestamp: page.timestamp)
        }
    }

    private func sites(startingWith text: String, _ database: Database) throws -> [Suggestion] {
        let host = SearchSite.host(of: text)
        guard !host.isEmpty, !text.contains("/") || text.hasSuffix("://\(host)") else { return [] }
        let sql = "SELECT name FROM host WHERE name >= ? AND name < ? ORDER BY name LIMIT 2"
        return try String.fetchAll(
            database.cachedStatement(sql: sql), arguments: [host, host + "\u{10FFFF}"]
        ).map { Suggestion(kind: .site, text: $0) }
    }

    /// Returns pages whose key begins like that of the text, if it has a host with a dot.
    private func urls(startingWith text: String, _ scope: SearchScope) throws -> [Suggestion] {
        guard text.contains("://") || text.contains("."), text.contains("/") else { return [] }
        let key = SURT.key(for: text.contains("://") ? text : "http://\(text)")
        let sql = """
            SELECT '' AS title, url.number AS number, url.url AS url, max(capture.timestamp) AS timestamp
            FROM (SELECT number, url FROM url WHERE key >= ? AND key < ? ORDER BY key LIMIT 20) AS url
            JOIN document ON document.url = url.number JOIN capture ON capture.document = document.number
            WHERE \(scope.captureCondition) GROUP BY url.number LIMIT 3
            """
        return try PageRow.fetchAll(scope.database, sql: sql, arguments: [key, key + "\u{10FFFF}"])
            .compactMap { try suggestion(.url, $0, scope) }
    }

    /// Returns pages whose title has the words, the last of which may be incomplete.
    private func pages(_ query: SearchQuery, _ scope: SearchScope, limit: Int) throws -> [Suggestion] {
        guard let expression = query.titleExpression else { return [] }
        let sql = """
            SELECT document.title AS title, url.number AS number, url.url AS url, max(capture.timestamp) AS timestamp
            FROM (SELECT rowid FROM word WHERE word MATCH ? LIMIT 200) AS found
            JOIN document ON document.number = found.rowid JOIN url ON url.number = document.url
            JOIN capture ON capture.document = document.number
            WHERE \(scope.captureCondition) GROUP BY url.number ORDER BY length(document.title), url.number LIMIT ?
            """
        return try PageRow.fetchAll(scope.database, sql: sql, arguments: [expression.argument, limit])
            .compactMap { try suggestion(.page, $0, scope) }
    }

    private static let textOptions: String.CompareOptions = [.caseInsensitive, .diacriticInsensitive]
    private static let suggestionTextMax = 200
}
