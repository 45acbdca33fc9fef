import GRDB

/// A query of the search index in the language of FTS5, which can't have syntax errors.
///
/// Words from outside are always in a quoted phrase. Operators are only added by the functions below.
/// Source: sqlite.org/fts5.html §3.
struct MatchExpression: Sendable, Hashable {
    /// A column that a phrase can be restricted to.
    enum Column: String {
        case title
    }

    private let text: String

    /// Matches documents with the words of a text side by side. Everything in the text is a word or a separator.
    ///
    /// - Parameter isPrefix: Whether the last word is the beginning of a word.
    init(phrase: String, isPrefix: Bool = false, in column: Column? = nil) {
        // FTS5 reads a query up to the first NUL. In the index, NUL is a separator.
        let quoted = phrase.replacing("\"", with: "\"\"").replacing("\0", with: " ")
        text = "\(column.map { "\($0) : " } ?? "")\"\(quoted)\"\(isPrefix ? "*" : "")"
    }

    private init(_ expressions: [MatchExpression], separator: String) {
        text = "(\(expressions.map(\.text).joined(separator: separator)))"
    }

    /// Returns an expression that matches what one of these matches; `nil` if there are none.
    static func any(_ expressions: [MatchExpression]) -> MatchExpression? { joined(expressions, separator: " OR ") }

    /// Returns an expression that matches what each of these matches; `nil` if there are none.
    static func all(_ expressions: [MatchExpression]) -> MatchExpression? { joined(expressions, separator: " AND ") }

    /// Returns an expression that matches what this one matches and `other` doesn't.
    func excluding(_ other: MatchExpression?) -> MatchExpression {
        other.map { MatchExpression([self, $0], separator: " NOT ") } ?? self
    }

    private static func joined(_ expressions: [MatchExpression], separator: String) -> MatchExpression? {
        expressions.count > 1 ? MatchExpression(expressions, separator: separator) : expressions.first
    }

    /// The argument of `MATCH`.
    var argument: DatabaseValue { text.databaseValue }
}
