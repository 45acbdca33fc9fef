import GRDB

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
            add(
                "? BETWEEN CAST(substr(firstCapture, 1, 4) AS INTEGER) AND CAST(substr(lastCapture, 1, 4) AS INTEGER)",
                [year])
        }
        guard !filter.states.isEmpty else { return }
        let states = LibraryFilter.State.allCases.filter(filter.states.contains)
        add(
            states.map(Self.condition).joined(separator: " OR "),
            states.contains(.unavailable) ? [unavailable] : [])
    }

    /// The condition for a state. That for `unavailable` has an argument.
    static func condition(_ state: LibraryFilter.State) -> String {
        switch state {
        case .issues: "json_extract(findings, '$.error') + json_extract(findings, '$.warning') > 0"
        case .unavailable: "archive.key IN (SELECT value FROM json_each(?))"
        case .unverified: "verification IS NULL"
        }
    }

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
            case .pages: "CASE WHEN pageCount > 0 THEN pageCount ELSE detectedPageCount END"
            }
        return isDescending ? "\(value) DESC, id DESC" : "\(value), id"
    }
}
