package import CaptureAPI
import Foundation
import GRDB

/// The parameters of `GET /history`.
package struct HistoryQuery: Sendable, Hashable {
    package var limit = 50
    package var offset = 0
    /// Columns that must have a value.
    package var equal: [String: String] = [:]
    /// Words in URL, title or message.
    package var text: String?
    package var domain: String?
    /// Times of submission, ISO 8601.
    package var since: String?
    package var until: String?

    /// Parses the parameters of a request.
    ///
    /// - Parameter user: The only user whose downloads are shown, whatever the parameters say; `nil` for all.
    /// - Throws: `FieldProblem` for an invalid value.
    package init(_ parameters: [String: String], only user: Username? = nil) throws(FieldProblem) {
        limit = try Self.number(parameters["limit"], "limit", in: 1...100) ?? limit
        offset = try Self.number(parameters["offset"], "offset", in: 0...Int(Int32.max)) ?? 0
        for name in ["username", "client_id", "service"] { equal[name] = parameters[name] }
        equal["username"] = user?.text ?? equal["username"]?.lowercased()
        try add("status", parameters, DownloadStatus.allCases.map(\.rawValue))
        try add("state", parameters, DownloadState.allCases.map(\.rawValue))
        try add("genre", parameters, Genre.allCases.map(\.rawValue))
        text = parameters["q"].flatMap { $0.isEmpty ? nil : $0 }
        domain = parameters["domain"]?.lowercased()
        since = try Self.time(parameters["since"], "since")
        until = try Self.time(parameters["until"], "until")
    }

    private mutating func add(
        _ name: String, _ parameters: [String: String], _ known: [String]
    ) throws(FieldProblem) {
        guard let value = parameters[name] else { return }
        guard known.contains(value) else {
            throw FieldProblem(["query", name], "Input should be one of: \(known.joined(separator: ", "))")
        }
        equal[name] = value
    }

    private static func number(
        _ text: String?, _ name: String, in range: ClosedRange<Int>
    ) throws(FieldProblem) -> Int? {
        guard let text else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw FieldProblem(
                ["query", name], "Input should be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func time(_ text: String?, _ name: String) throws(FieldProblem) -> String? {
        guard let text else { return nil }
        if let date = QueueTime.date(text) { return QueueTime.text(date) }
        if text.count == 10, let day = QueueTime.date(text + "T00:00:00Z") { return QueueTime.text(day) }
        throw FieldProblem(["query", name], "Input should be a time such as 2025-11-18T02:30:00Z")
    }

    /// Returns the number of all matching downloads, and those of this page, newest first.
    func run(_ database: Database) throws -> (total: Int, rows: [DownloadRow]) {
        let (filter, arguments) = filter()
        let rows = try DownloadRow.fetchAll(
            database, sql: "SELECT * FROM downloads WHERE \(filter) ORDER BY id DESC LIMIT ? OFFSET ?",
            arguments: arguments + [limit, offset])
        return (try count(database), rows)
    }

    /// Returns the number of all matching downloads.
    func count(_ database: Database) throws -> Int {
        let (filter, arguments) = filter()
        let sql = "SELECT count(*) FROM downloads WHERE \(filter)"
        return try Int.fetchOne(database, sql: sql, arguments: arguments) ?? 0
    }

    /// Returns matching downloads that don't run, the newest first.
    ///
    /// - Parameter id: Only older ones than the one with this number; `nil` for all.
    func removable(_ database: Database, before id: Int64?) throws -> [DownloadRow] {
        let (filter, arguments) = filter()
        let sql = """
            SELECT * FROM downloads WHERE \(filter) AND status <> 'downloading' AND id < ? ORDER BY id DESC LIMIT ?
            """
        return try DownloadRow.fetchAll(database, sql: sql, arguments: arguments + [id ?? .max, Self.removedAtOnce])
    }

    private static let removedAtOnce = 200

    private func filter() -> (sql: String, arguments: StatementArguments) {
        var conditions: [String] = []
        var arguments = StatementArguments()
        func add(_ condition: String, _ values: StatementArguments) {
            conditions.append(condition)
            arguments += values
        }
        for (name, value) in equal.sorted(by: { $0.key < $1.key }) { add("\(name) = ?", [value]) }
        for word in (text ?? "").split(separator: " ").prefix(10) {
            let pattern = "%\(Self.escaped(String(word)))%"
            let fields = ["url", "title", "error_message"].map { "\($0) LIKE ? ESCAPE '\\'" }
            add("(\(fields.joined(separator: " OR ")))", [pattern, pattern, pattern])
        }
        if let domain { add("(host = ? OR host LIKE ? ESCAPE '\\')", [domain, "%.\(Self.escaped(domain))"]) }
        if let since { add("created_at >= ?", [since]) }
        if let until { add("created_at < ?", [until]) }
        return (conditions.isEmpty ? "true" : conditions.joined(separator: " AND "), arguments)
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { $0 += "%_\\".contains($1) ? "\\\($1)" : String($1) }
    }
}
