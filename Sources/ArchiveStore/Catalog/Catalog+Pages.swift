import Foundation
import GRDB
import WebArchive

extension Catalog {
    /// Returns pages of an archive's page list.
    func pages(key: String, _ request: PageListRequest) throws -> PageList {
        try reading { try PageQuery(request, key: key, from: "SELECT * FROM page WHERE archiveKey = ?").list($0) }
    }
}

/// Reads a `PageListRequest` from a source of pages.
struct PageQuery {
    private let request: PageListRequest
    private let tables: String
    private let arguments: StatementArguments

    /// - Parameter source: A query for all pages of an archive, with the columns of `PageRow`, and the archive's key as its
    ///   argument.
    init(_ request: PageListRequest, key: String, from source: String) {
        self.request = request
        let filter = PageFilter(request.query)
        var conditions = filter.condition
        var arguments = StatementArguments([key] + filter.arguments)
        for (time, comparison) in [(request.after, ">="), (request.before, "<")] {
            guard let time else { continue }
            conditions += " AND timestamp \(comparison) ?"
            arguments += [time.digits14]
        }
        tables = "(\(source)) WHERE \(conditions)"
        self.arguments = arguments
    }

    func list(_ database: Database) throws -> PageList {
        let counted = request.collapsesURLs ? "DISTINCT url" : "*"
        let total = try Int.fetchOne(
            database, sql: "SELECT count(\(counted)) FROM \(tables)", arguments: arguments)
        // With max(), SQLite takes the other columns from the row that has the maximum.
        let rows =
            request.collapsesURLs
            ? "SELECT position, list, url, max(timestamp) AS timestamp, title, count(*) AS copies FROM \(tables) GROUP BY url"
            : "SELECT position, list, url, timestamp, title FROM \(tables)"
        let pages = try PageRow.fetchAll(
            database, sql: "\(rows) ORDER BY \(request.order.terms) LIMIT ? OFFSET ?",
            arguments: arguments + [request.limit, request.offset])
        return PageList(total: total ?? 0, pages: pages.map(\.page))
    }
}

extension PageListRequest.Order {
    /// The terms of `ORDER BY`.
    fileprivate var terms: String {
        switch self {
        case .archive: "position"
        case .title: "swiftLowercaseString(coalesce(nullif(title, ''), url)), position"
        case .newest: "timestamp DESC, position"
        case .oldest: "timestamp IS NULL, timestamp, position"
        case .url: "url, position"
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

    /// A condition on the columns `title` and `url`.
    var condition: String {
        words.reduce("TRUE") { condition, _ in
            condition + " AND (title LIKE ? ESCAPE '\\' OR url LIKE ? ESCAPE '\\' OR url LIKE ? ESCAPE '\\')"
        }
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
