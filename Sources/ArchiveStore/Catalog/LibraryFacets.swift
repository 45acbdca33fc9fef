import GRDB

/// What archives have in common, counted. Its JSON is documented in `docs/json.md`.
package struct LibraryFacets: Sendable, Hashable, Encodable {
    /// A value, and the number of archives that have it.
    package struct Count: Sendable, Hashable, Encodable, Decodable, FetchableRecord {
        package let value: String
        package let count: Int
    }

    /// The whole library, without a filter.
    package struct Whole: Sendable, Hashable, Codable, FetchableRecord {
        package let archives: Int
        package let collections: Int
        /// The size of all archives.
        package let bytes: Int64
    }

    /// The number of archives that match.
    package let total: Int
    /// Their size.
    package let bytes: Int64
    /// What is free for the store; `nil` if that can't be determined.
    package let freeBytes: UInt64?
    /// The most frequent tags.
    package let tags: [Count]
    /// The sites that the most archives have.
    package let sites: [Count]
    /// The years that archives have captures of, latest first.
    package let years: [Count]
    /// The states that archives have, by their names.
    package let states: [String: Int]
    package let library: Whole

    private struct Sums: Decodable, FetchableRecord {
        let total: Int
        let bytes: Int64
        let issues: Int
    }

    init(
        _ condition: LibraryCondition, unavailable: String, _ database: Database, freeBytes: UInt64?
    ) throws {
        self.freeBytes = freeBytes
        // The archives that match are chosen once. Without a condition, they are all.
        let (listed, list) = try Self.chosen(by: condition, database)
        let sums = try Sums.fetchOne(
            database,
            sql: """
                SELECT count(*) AS total, coalesce(sum(size), 0) AS bytes,
                    count(CASE WHEN \(LibraryCondition.hasIssues) THEN 1 END) AS issues FROM archive WHERE \(listed)
                """, arguments: list)
        (total, bytes) = (sums?.total ?? 0, sums?.bytes ?? 0)
        let results = try Count.fetchAll(
            database,
            sql: """
                SELECT \(LibraryCondition.result) AS value, count(*) AS count FROM archive WHERE \(listed) GROUP BY value
                """, arguments: [unavailable] + list)
        states = Dictionary(uniqueKeysWithValues: results.map { ($0.value, $0.count) })
            .merging(sums.map { $0.issues > 0 ? ["issues": $0.issues] : [:] } ?? [:]) { $1 }
        tags = try Count.fetchAll(
            database,
            sql: """
                SELECT tag.value AS value, count(*) AS count FROM archive, json_each(archive.tags) AS tag
                WHERE \(listed) GROUP BY tag.value ORDER BY count DESC, tag.value LIMIT \(Self.tagsMax)
                """, arguments: list)
        sites = try Count.fetchAll(
            database,
            sql: """
                SELECT host AS value, count(*) AS count FROM archiveSite
                WHERE \(condition.isForAll ? "TRUE" : "archiveKey IN (SELECT key FROM archive WHERE \(listed))")
                GROUP BY host ORDER BY count DESC, host LIMIT \(Self.sitesMax)
                """, arguments: list)
        years = try Count.fetchAll(
            database,
            sql: """
                SELECT printf('%04d', year.value) AS value, count(*) AS count
                FROM archive, json_each(\(LibraryCondition.years)) AS year WHERE \(listed) AND year.value > 0
                GROUP BY year.value ORDER BY year.value DESC LIMIT \(Self.yearsMax)
                """, arguments: list)
        let whole = try Whole.fetchOne(
            database,
            sql: """
                SELECT count(*) AS archives, coalesce(sum(size), 0) AS bytes,
                    (SELECT count(*) FROM archiveCollection) AS collections FROM archive
                """)
        library = whole ?? Whole(archives: 0, collections: 0, bytes: 0)
    }

    /// Returns a condition for the archives that meet another one, with its arguments.
    private static func chosen(
        by condition: LibraryCondition, _ database: Database
    ) throws -> (sql: String, arguments: StatementArguments) {
        guard !condition.isForAll else { return ("TRUE", []) }
        let numbers = try Int64.fetchAll(
            database, sql: "SELECT rowid FROM archive WHERE \(condition.sql)", arguments: condition.arguments)
        let list = "[\(numbers.map(String.init).joined(separator: ","))]"
        return ("archive.rowid IN (SELECT value FROM json_each(?))", [list])
    }

    /// The maximum numbers of values that are listed.
    private static let (tagsMax, sitesMax, yearsMax) = (100, 50, 100)
}
