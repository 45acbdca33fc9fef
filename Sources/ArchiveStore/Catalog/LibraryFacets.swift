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
    /// The years that archives were captured in, latest first.
    package let years: [Count]
    package let states: [String: Int]
    package let library: Whole

    private struct Sums: Decodable, FetchableRecord {
        let total: Int
        let bytes: Int64
        let issues: Int
        let unavailable: Int
        let unverified: Int
    }

    private struct Years: Decodable, FetchableRecord {
        let first: Int
        let last: Int
        let count: Int
    }

    init(
        _ condition: LibraryCondition, unavailable: String, _ database: Database, freeBytes: UInt64?
    ) throws {
        self.freeBytes = freeBytes
        // The archives that match are chosen once. Without a condition, they are all.
        let (listed, list) = try Self.chosen(by: condition, database)
        let states = LibraryFilter.State.allCases.map {
            "count(CASE WHEN \(LibraryCondition.condition($0)) THEN 1 END) AS \($0.rawValue)"
        }.joined(separator: ", ")
        let sums = try Sums.fetchOne(
            database,
            sql: "SELECT count(*) AS total, coalesce(sum(size), 0) AS bytes, \(states) FROM archive WHERE \(listed)",
            arguments: [unavailable] + list)
        (total, bytes) = (sums?.total ?? 0, sums?.bytes ?? 0)
        self.states = [
            "issues": sums?.issues ?? 0, "unavailable": sums?.unavailable ?? 0, "unverified": sums?.unverified ?? 0,
        ]
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
        let years = try Years.fetchAll(
            database,
            sql: """
                SELECT CAST(substr(firstCapture, 1, 4) AS INTEGER) AS first,
                    CAST(substr(lastCapture, 1, 4) AS INTEGER) AS last, count(*) AS count
                FROM archive WHERE \(listed) AND firstCapture IS NOT NULL AND lastCapture IS NOT NULL
                GROUP BY first, last
                """, arguments: list)
        self.years = Self.counts(of: years)
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

    /// Counts the archives of each year. Of files that name impossible years, the latest years are listed.
    private static func counts(of ranges: [Years]) -> [Count] {
        var changes = [Int](repeating: 0, count: 10_001)
        for range in ranges where (0...9999).contains(range.first) && (range.first...9999).contains(range.last) {
            changes[range.first] += range.count
            changes[range.last + 1] -= range.count
        }
        var archives = 0
        var counts: [Count] = []
        for (year, change) in changes.enumerated() {
            archives += change
            if archives > 0 { counts.append(Count(value: String(year), count: archives)) }
        }
        return counts.reversed().prefix(yearsMax).map { $0 }
    }

    /// The maximum numbers of values that are listed.
    private static let (tagsMax, sitesMax, yearsMax) = (100, 50, 100)
}
