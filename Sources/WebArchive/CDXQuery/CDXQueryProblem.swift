/// Why the parameters of an index query cannot be used: which one, and what would be possible. For a server a 400.
public struct CDXQueryProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name as it was given: `matchType`.
    public let parameter: String
    /// The value as it was given, cut after 200 characters; empty when the parameter is missing.
    public let value: String
    /// What is wrong. Lower-case start, no full stop.
    public let problem: String
    /// What is possible. Lower-case start, no full stop.
    public let hint: String

    init(_ parameter: String, _ value: String, _ problem: String, hint: String) {
        self.parameter = parameter
        self.value = String(value.prefix(200))
        self.problem = problem
        self.hint = hint
    }

    /// What and where: `limit "ten": this is not a whole number`, without the hint.
    public var what: String { value.isEmpty ? "\(parameter): \(problem)" : "\(parameter) \"\(value)\": \(problem)" }

    /// `limit "ten": this is not a whole number; give 0 or more`.
    public var description: String { "\(what); \(hint)" }
}
