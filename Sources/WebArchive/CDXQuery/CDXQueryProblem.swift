/// The reason why the parameters of an index query are refused. Servers answer with 400.
public struct CDXQueryProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the parameter as given, for example `matchType`.
    public let parameter: String
    /// The value as given, up to 200 characters; empty if the parameter is missing.
    public let value: String
    /// What is wrong, starting in lower case and without a full stop.
    public let problem: String
    /// What to use instead, starting in lower case and without a full stop.
    public let hint: String

    init(_ parameter: String, _ value: String, _ problem: String, hint: String) {
        self.parameter = parameter
        self.value = String(value.prefix(200))
        self.problem = problem
        self.hint = hint
    }

    /// The parameter and the problem without the hint: `limit "ten": not a whole number`.
    public var what: String { value.isEmpty ? "\(parameter): \(problem)" : "\(parameter) \"\(value)\": \(problem)" }

    /// The whole message: `limit "ten": not a whole number; use 0 or more`.
    public var description: String { "\(what); \(hint)" }
}
