import GRDB
import WebArchive

/// The archives and times in which to search, and the database of the index. Valid only while that is read.
struct SearchScope {
    let database: Database
    private let byNumber: [Int64: ArchiveName]
    private let isEverything: Bool
    private let after: String?
    private let before: String?

    /// Finds the numbers that the index has for the archives that may be found.
    ///
    /// - Returns: `nil` if nothing can be found.
    init?(
        _ database: Database, _ index: SearchIndex, _ archives: [ArchiveName], after: String? = nil,
        before: String? = nil
    ) throws {
        (self.database, self.after, self.before) = (database, after, before)
        let numbers = try index.numbers(database)
        byNumber = Dictionary(archives.compactMap { archive in numbers[archive.key].map { ($0, archive) } }) { $1 }
        isEverything = try byNumber.count == numbers.count && !index.hasRemoved(database)
        if byNumber.isEmpty { return nil }
    }

    func archive(_ number: Int64) -> ArchiveName? { byNumber[number] }

    /// Prepares a statement. It is kept if it has no condition, since others differ from search to search.
    func statement(_ sql: String) throws -> Statement {
        captureCondition == "1" ? try database.cachedStatement(sql: sql) : try database.makeStatement(sql: sql)
    }

    /// A condition on rows of `capture`, with the names of its columns in full: other tables have columns of the same names.
    var captureCondition: String {
        var conditions: [String] = []
        if !isEverything {
            conditions.append("capture.archive IN (\(byNumber.keys.sorted().map(String.init).joined(separator: ",")))")
        }
        // Both have digits only.
        if let after { conditions.append("capture.timestamp >= '\(after)'") }
        if let before { conditions.append("capture.timestamp < '\(before)' AND capture.timestamp != ''") }
        return conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")
    }

    /// A condition on documents, whose number is in `column`.
    func condition(_ column: String) -> String {
        let condition = captureCondition
        return condition == "1"
            ? "1" : "EXISTS (SELECT 1 FROM capture WHERE capture.document = \(column) AND \(condition))"
    }
}
