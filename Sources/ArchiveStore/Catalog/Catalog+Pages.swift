import GRDB

extension Catalog {
    /// Returns pages in the archive's order whose title or URL contains every word of `query`.
    func pages(
        key: String, matching query: String = "", offset: Int = 0, limit: Int
    ) throws -> (total: Int, pages: [ArchivePage]) {
        let patterns = Self.patterns(of: query)
        let filter = patterns.map { _ in " AND (page.title LIKE ? ESCAPE '\\' OR page.url LIKE ? ESCAPE '\\')" }
        let tables = "page WHERE archiveKey = ?" + filter.joined()
        let arguments: [any DatabaseValueConvertible] = [key] + patterns.flatMap { [$0, $0] }
        return try reading { database in
            let total = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM \(tables)", arguments: StatementArguments(arguments))
            let rows = try PageRow.fetchAll(
                database,
                sql: "SELECT * FROM \(tables) ORDER BY position LIMIT ? OFFSET ?",
                arguments: StatementArguments(arguments + [limit, offset]))
            return (total ?? 0, rows.map(\.page))
        }
    }

    /// Returns a pattern for `LIKE … ESCAPE '\'` for each word of a search.
    static func patterns(of query: String) -> [String] {
        query.split(whereSeparator: \.isWhitespace).prefix(wordsMax).map { "%\(escapedForLike(String($0)))%" }
    }

    /// The number of words of a search that are used; the rest is ignored.
    private static let wordsMax = 32

    private static func escapedForLike(_ word: String) -> String {
        word.reduce(into: "") { escaped, character in
            if "\\%_".contains(character) { escaped += "\\" }
            escaped.append(character)
        }
    }
}
