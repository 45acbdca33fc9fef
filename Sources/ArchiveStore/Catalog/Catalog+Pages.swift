import Foundation
import GRDB
import WebArchive

extension Catalog {
    /// Returns pages in the archive's order whose title or URL contains every word of `query`.
    func pages(
        key: String, matching query: String = "", offset: Int = 0, limit: Int
    ) throws -> (total: Int, pages: [ArchivePage]) {
        let filter = PageFilter(query)
        let tables = "page WHERE archiveKey = ?\(filter.condition(title: "page.title", url: "page.url"))"
        let arguments: [any DatabaseValueConvertible] = [key] + filter.arguments
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

}

/// Selects the pages whose title or URL contains every word of a search.
///
/// Letters that aren't ASCII are percent-encoded in most URLs, and not in titles, so both spellings match.
struct PageFilter {
    private let words: [String]

    init(_ query: String) {
        words = query.split(whereSeparator: \.isWhitespace).prefix(Self.wordsMax).map(String.init)
    }

    /// Returns a condition that continues a `WHERE` clause.
    func condition(title: String, url: String) -> String {
        words.map { _ in
            " AND (\(title) LIKE ? ESCAPE '\\' OR \(url) LIKE ? ESCAPE '\\' OR \(url) LIKE ? ESCAPE '\\')"
        }.joined()
    }

    /// The values for `condition`.
    var arguments: [String] {
        words.flatMap { word in
            let plain = "%\(Self.escapedForLike(word.removingPercentEncoding ?? word))%"
            return [plain, plain, "%\(Self.escapedForLike(Self.encoded(word)))%"]
        }
    }

    private static func encoded(_ word: String) -> String {
        word.utf8.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "%" + [$0].hexadecimal.uppercased() }.joined()
    }

    /// The number of words of a search that are used; the rest is ignored.
    private static let wordsMax = 32

    static func escapedForLike(_ word: String) -> String {
        word.reduce(into: "") { escaped, character in
            if "\\%_".contains(character) { escaped += "\\" }
            escaped.append(character)
        }
    }
}
