/// A condition on a field or on a whole line, in the syntax of pywb's CDX server: `[!][=|~]field:expr`.
struct CDXFilter: Sendable, Hashable {
    enum Comparison: Sendable, Hashable {
        /// The value contains the text.
        case contains
        /// The value equals the text.
        case equals
        /// The regular expression matches at the start of the value.
        case matches
    }

    /// Whether the filter removes the lines that meet the condition.
    let isInverted: Bool
    let comparison: Comparison
    /// The field to test; `nil` for the whole line as CDXJ.
    let field: CDXField?
    let text: String

    init(_ filter: String) {
        var rest = filter[...]
        isInverted = rest.first == "!"
        if isInverted { rest = rest.dropFirst() }
        switch rest.first {
        case "=": comparison = .equals
        case "~": comparison = .matches
        default: comparison = .contains
        }
        if comparison != .contains { rest = rest.dropFirst() }
        guard let colon = rest.firstIndex(of: ":") else {
            (field, text) = (nil, String(rest))
            return
        }
        field = CDXField(name: String(rest[..<colon]))
        text = String(rest[rest.index(after: colon)...])
    }
}

/// A compiled filter. Use it from one thread at a time.
struct CDXFilterTest {
    private enum Test {
        case contains([UInt8])
        case equals([UInt8])
        case matches(RegularExpression)
    }

    let field: CDXField?
    private let isInverted: Bool
    private let test: Test

    init(_ filter: CDXFilter, limits: Limits) throws(RegularExpression.Problem) {
        field = filter.field
        isInverted = filter.isInverted
        switch filter.comparison {
        case .contains: test = .contains(Array(filter.text.utf8))
        case .equals: test = .equals(Array(filter.text.utf8))
        case .matches:
            test = .matches(try RegularExpression(filter.text, memoryMax: limits.queryPatternMemoryMax))
        }
    }

    func passes(_ value: [UInt8]) throws(WebArchiveError) -> Bool {
        switch test {
        case .contains(let text): (value[...].firstRange(ofBytes: text) != nil) != isInverted
        case .equals(let text): (value == text) != isInverted
        case .matches(let pattern): try pattern.matchesStart(of: value) != isInverted
        }
    }
}
