import GRDB
import WebArchive

/// The archives and times in which to search.
struct SearchScope {
    /// The archives that may be found.
    let archives: [ArchiveName]
    let after: String?
    let before: String?
    private var byNumber: [Int64: ArchiveName] = [:]
    private var isEverything = false

    init(archives: [ArchiveName], after: String?, before: String?) {
        (self.archives, self.after, self.before) = (archives, after, before)
    }

    /// Whether nothing can be found.
    var isNowhere: Bool { byNumber.isEmpty }

    /// Finds the numbers that the index has for the archives.
    mutating func resolve(_ database: Database, _ index: SearchIndex) throws {
        let numbers = try index.numbers(database)
        byNumber = Dictionary(archives.compactMap { archive in numbers[archive.key].map { ($0, archive) } }) { $1 }
        isEverything = try byNumber.count == numbers.count && !index.hasRemoved(database)
    }

    func archive(_ number: Int64) -> ArchiveName? { byNumber[number] }

    /// Prepares a statement. It is kept if it has no condition, since others differ from search to search.
    func statement(_ sql: String, _ database: Database) throws -> Statement {
        captureCondition == "1" ? try database.cachedStatement(sql: sql) : try database.makeStatement(sql: sql)
    }

    /// A condition on rows of `capture`.
    var captureCondition: String {
        var conditions: [String] = []
        if !isEverything {
            conditions.append("archive IN (\(byNumber.keys.sorted().map(String.init).joined(separator: ",")))")
        }
        // Both have digits only.
        if let after { conditions.append("timestamp >= '\(after)'") }
        if let before { conditions.append("timestamp < '\(before)' AND timestamp != ''") }
        return conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")
    }

    /// A condition on documents, whose number is in `column`.
    func condition(_ column: String) -> String {
        let condition = captureCondition
        return condition == "1"
            ? "1" : "EXISTS (SELECT 1 FROM capture WHERE capture.document = \(column) AND \(condition))"
    }
}
