import GRDB

extension Catalog {
    /// Returns pages in the archive's order whose title or URL contains every word of `query`.
    func pages(
        key: String, matching query: String = "", offset: Int = 0, limit: Int
    ) throws -> (total: Int, pages: [ArchivePage]) {
        let source = PageSource(
            columns: "page.*", tables: "page WHERE archiveKey = ?", order: "page.position", owner: key)
        return try pages(from: source, matching: query, offset: offset, limit: limit)
    }

    /// Returns pages of all members of a collection, member by member.
    func pages(
        of collection: ArchiveCollection, matching query: String = "", offset: Int = 0, limit: Int
    ) throws -> (total: Int, pages: [ArchivePage]) {
        let source = PageSource(
            columns: "page.*, collectionMember.archiveID",
            tables: """
                collectionMember JOIN archive ON archive.id = collectionMember.archiveID JOIN page ON page.archiveKey = archive.key
                WHERE collectionMember.collectionID = ?
                """,
            order: "collectionMember.position, page.position", owner: collection.id.text)
        return try pages(from: source, matching: query, offset: offset, limit: limit)
    }

    /// The parts of a query that select whose pages to return.
    private struct PageSource {
        let columns: String
        /// With a condition that has one argument, `owner`.
        let tables: String
        let order: String
        let owner: String
    }

    private func pages(
        from source: PageSource, matching query: String, offset: Int, limit: Int
    ) throws -> (total: Int, pages: [ArchivePage]) {
        let patterns = query.split(whereSeparator: \.isWhitespace).prefix(Self.wordsMax).map {
            "%\(Self.escapedForLike(String($0)))%"
        }
        let filter = patterns.map { _ in " AND (page.title LIKE ? ESCAPE '\\' OR page.url LIKE ? ESCAPE '\\')" }
        let tables = source.tables + filter.joined()
        let arguments: [any DatabaseValueConvertible] = [source.owner] + patterns.flatMap { [$0, $0] }
        return try reading { database in
            let total = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM \(tables)", arguments: StatementArguments(arguments))
            let rows = try PageRow.fetchAll(
                database,
                sql: "SELECT \(source.columns) FROM \(tables) ORDER BY \(source.order) LIMIT ? OFFSET ?",
                arguments: StatementArguments(arguments + [limit, offset]))
            return (total ?? 0, rows.map(\.page))
        }
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
