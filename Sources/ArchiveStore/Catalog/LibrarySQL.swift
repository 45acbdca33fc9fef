import GRDB
import WebArchive

/// A `LibraryFilter` as a condition on the table `archive`.
struct LibraryCondition {
    private(set) var sql = "TRUE"
    private(set) var arguments = StatementArguments()
    /// Whether all archives meet it.
    private(set) var isForAll = true

    /// - Parameter unavailable: The keys of the linked archives whose file can't be read, as a JSON array.
    init(_ filter: LibraryFilter, unavailable: String) {
        for word in filter.query.split(whereSeparator: \.isWhitespace).prefix(Self.wordsMax) { add(String(word)) }
        for tag in filter.tags {
            add("EXISTS (SELECT 1 FROM json_each(archive.tags) WHERE value = ?)", [tag])
        }
        if let site = filter.site {
            add("EXISTS (SELECT 1 FROM archiveSite WHERE archiveKey = archive.key AND host = ?)", [site])
        }
        if let year = filter.year {
            add("EXISTS (SELECT 1 FROM json_each(\(Self.years)) WHERE value = ?)", [year])
        }
        if let saved = filter.saved { add("\(Self.savedURL) = ?", [saved]) }
        guard !filter.states.isEmpty else { return }
        let results = filter.states.subtracting([.issues]).map { "'\($0.name)'" }.joined(separator: ", ")
        let conditions =
            (filter.states.contains(.issues) ? [Self.hasIssues] : []) + ["\(Self.result) IN (\(results))"]
        add(conditions.joined(separator: " OR "), [unavailable])
    }

    /// The URL that the archive was saved from.
    static let savedURL = "json_extract(saved, '$.url')"
    /// Whether there are errors or warnings.
    static let hasIssues = "json_extract(findings, '$.error') + json_extract(findings, '$.warning') > 0"
    /// A JSON array of the years with captures. Until these were counted: the years of the first and the last one.
    static let years = """
        CASE WHEN years IS NOT NULL THEN years
            WHEN substr(firstCapture, 1, 4) = substr(lastCapture, 1, 4) THEN json_array(\(year(of: "firstCapture")))
            ELSE json_array(\(year(of: "firstCapture")), \(year(of: "lastCapture"))) END
        """
    private static func year(of column: String) -> String { "CAST(substr(\(column), 1, 4) AS INTEGER)" }

    /// The code of the last verification.
    static let code = "coalesce(json_extract(verification, '$.code'), '\(VerificationCode.notVerified.rawValue)')"
    /// The name of the state: that of the last verification, or `unavailable` for the keys in the argument, a JSON array.
    static let result = "CASE WHEN archive.key IN (SELECT value FROM json_each(?)) THEN 'unavailable' ELSE \(code) END"

    private mutating func add(_ condition: String, _ values: StatementArguments) {
        isForAll = false
        sql += " AND (\(condition))"
        arguments += values
    }

    /// SQLite's LIKE ignores the case of ASCII letters only, and is faster than converting each text. Hosts are in lower
    /// case.
    private mutating func add(_ word: String) {
        let isASCII = word.utf8.allSatisfy { $0 < 0x80 }
        func matches(_ text: String) -> String {
            "\(isASCII ? text : "swiftLowercaseString(\(text))") LIKE ? ESCAPE '\\'"
        }
        let columns = ["title", "originalName", "archive.id", "notes"].map(matches)
        let lists = [
            "EXISTS (SELECT 1 FROM json_each(archive.tags) WHERE \(matches("value")))",
            "EXISTS (SELECT 1 FROM archiveSite WHERE archiveKey = archive.key AND host LIKE ? ESCAPE '\\')",
        ]
        let pattern = "%\(PageFilter.escapedForLike(word.lowercased()))%"
        let conditions = columns + lists
        add(conditions.joined(separator: " OR "), StatementArguments(conditions.map { _ in pattern }))
    }

    /// The number of words of a search that are used; the rest is ignored.
    private static let wordsMax = 32
}

extension LibraryOrder {
    /// The terms of `ORDER BY`.
    var sql: String {
        let value =
            switch key {
            case .added: "importedAt"
            case .title: "swiftLowercaseString(title)"
            case .size: "size"
            case .captured: "lastCapture"
            case .trust:
                "CASE \(LibraryCondition.code) "
                    + VerificationCode.byTrust.enumerated().map { "WHEN '\($1.rawValue)' THEN \($0) " }.joined() + "END"
            case .pages: "CASE WHEN pageCount > 0 THEN pageCount ELSE detectedPageCount END"
            }
        return isDescending ? "\(value) DESC, id DESC" : "\(value), id"
    }
}
