/// A condition on one field of a line, or on the whole line: `[!][=|~]field:expr`, as pywb's CDX server has it.
struct CDXFilter: Sendable, Hashable {
    enum Comparison: Sendable, Hashable {
        /// The value holds the text.
        case contains
        /// The value is the text.
        case equals
        /// The value begins with a match of the regular expression.
        case matches
    }

    /// Whether lines that meet the condition are left out.
    let isInverted: Bool
    let comparison: Comparison
    /// `nil`: the whole line in the form of CDXJ.
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

/// A filter ready to be used. Belongs to one thread.
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
