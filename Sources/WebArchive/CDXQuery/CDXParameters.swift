/// The parameters of a query by name, with a reader for each kind of value.
struct CDXParameters {
    private let values: [String: [(name: String, value: String)]]
    private let limits: Limits

    /// Alternative names of parameters.
    private static let aliases = ["fl": "fields", "from_ts": "from"]
    private static let repeatable: Set<String> = ["filter", "collapse"]

    init(_ parameters: [(name: String, value: String)], limits: Limits) throws(CDXQueryProblem) {
        var values: [String: [(name: String, value: String)]] = [:]
        for (name, value) in parameters where !value.isEmpty {
            guard value.utf8.count <= limits.queryValueBytesMax else {
                throw CDXQueryProblem(
                    name, value, "the value has \(value.utf8.count) bytes",
                    hint: "use at most \(limits.queryValueBytesMax)")
            }
            let known = Self.aliases[name] ?? name
            if !Self.repeatable.contains(known), let first = values[known]?.first {
                guard first.value != value else { continue }
                throw CDXQueryProblem(
                    name, value, "a second value, after \"\(first.value.prefix(200))\"", hint: "use one value")
            }
            values[known, default: []].append((name, value))
            guard values[known, default: []].count <= limits.queryRepetitionsMax else {
                throw CDXQueryProblem(
                    name, value, "repeated more than \(limits.queryRepetitionsMax) times", hint: "use fewer")
            }
        }
        self.values = values
        self.limits = limits
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    private func text(_ name: String) -> (name: String, value: String)? { values[name]?.first }

    /// Returns a whole number of at least `least`.
    func number(_ name: String, from least: Int) throws(CDXQueryProblem) -> Int? {
        guard let (name, value) = text(name) else { return nil }
        guard let number = Int(value), value.utf8.allSatisfy(\.isASCIIDigit) else {
            throw CDXQueryProblem(name, value, "not a whole number", hint: "use \(least) or more")
        }
        guard number >= least else {
            throw CDXQueryProblem(name, value, "too small", hint: "use \(least) or more")
        }
        return number
    }

    func flag(_ name: String) throws(CDXQueryProblem) -> Bool? {
        guard let (name, value) = text(name) else { return nil }
        switch value.lowercased() {
        case "1", "true", "t", "on", "yes": return true
        case "0", "false", "f", "off", "no": return false
        default: throw CDXQueryProblem(name, value, "not a Boolean value", hint: "use true or false")
        }
    }

    func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ name: String, _ type: Choice.Type
    ) throws(CDXQueryProblem) -> Choice? {
        guard let (name, value) = text(name) else { return nil }
        guard let choice = Choice(rawValue: value) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw CDXQueryProblem(name, value, "unknown value", hint: "use one of \(names)")
        }
        return choice
    }

    /// Returns a partial timestamp, padded to 17 digits with `padding`.
    func time(_ name: String, padding: Character) throws(CDXQueryProblem) -> String? {
        guard let (name, value) = text(name) else { return nil }
        guard value.utf8.count <= 17, value.utf8.allSatisfy(\.isASCIIDigit) else {
            throw CDXQueryProblem(
                name, value, "not a timestamp", hint: "use 1 to 14 digits of YYYYMMDDhhmmss, or 17")
        }
        return value + String(repeating: padding, count: 17 - value.utf8.count)
    }

    func order() throws(CDXQueryProblem) -> CDXQuery.Order {
        enum Sort: String, CaseIterable {
            case reverse
            case closest
        }
        let sort = try choice("sort", Sort.self)
        // As in pywb, `closest` implies its sort order and overrides `sort=reverse` and `reverse`.
        if let (name, value) = text("closest") {
            let year = value.utf8.count < 4 ? value + String(repeating: "9", count: 4 - value.utf8.count) : value
            guard let time = CaptureTimestamp(endOf: year) else {
                throw CDXQueryProblem(
                    name, value, "not a timestamp", hint: "use 1 to 14 digits of YYYYMMDDhhmmss, or 17")
            }
            return .closest(time)
        }
        if sort == .closest {
            throw CDXQueryProblem("sort", "closest", "no time to sort by", hint: "add closest=TIMESTAMP")
        }
        let isReversed = try flag("reverse") ?? false
        return isReversed || sort == .reverse ? .descending : .ascending
    }

    /// Returns URL and match type. Without `matchType`, a leading `*.` means a domain, a trailing `*` a prefix, and `*`
    /// all captures.
    func captures() throws(CDXQueryProblem) -> CaptureQuery {
        let hint = "use a URL, http://example.org/* for a prefix, *.example.org for a domain, or * for all captures"
        guard let (_, value) = text("url") else {
            throw CDXQueryProblem("url", "", "missing", hint: hint)
        }
        var url = value.drop { $0.isWhitespace }
        while url.last?.isWhitespace == true { url.removeLast() }
        var matchType = try choice("matchType", CaptureQuery.MatchType.self)
        if url == "*", matchType == nil { return CaptureQuery(url: CaptureQuery.everything, matchType: .prefix) }
        if matchType == nil {
            if url.hasPrefix("*.") {
                (url, matchType) = (url.dropFirst(2), .domain)
            } else if url.hasSuffix("*") {
                (url, matchType) = (url.dropLast(), .prefix)
            }
        }
        guard !url.isEmpty, !url.allSatisfy({ "./:*".contains($0) }) else {
            throw CDXQueryProblem("url", value, "not a URL", hint: hint)
        }
        return CaptureQuery(url: CaptureQuery.withScheme(String(url)), matchType: matchType ?? .exact)
    }

    func filters() throws(CDXQueryProblem) -> [CDXFilter] {
        var filters: [CDXFilter] = []
        for (name, value) in values["filter"] ?? [] {
            let filter = CDXFilter(value)
            if filter.comparison == .matches { try check(filter.text, of: name, value) }
            filters.append(filter)
        }
        return filters
    }

    private func check(_ pattern: String, of name: String, _ value: String) throws(CDXQueryProblem) {
        guard pattern.utf8.count <= limits.queryPatternBytesMax else {
            throw CDXQueryProblem(
                name, value, "the regular expression has \(pattern.utf8.count) bytes",
                hint: "use at most \(limits.queryPatternBytesMax)")
        }
        do throws(RegularExpression.Problem) {
            _ = try RegularExpression(pattern, memoryMax: limits.queryPatternMemoryMax)
        } catch {
            throw CDXQueryProblem(
                name, value, "the regular expression can't be used: \(error.what)",
                hint: error.hint ?? "use RE2 syntax, which has no back references or look-around")
        }
    }

    func fields() throws(CDXQueryProblem) -> [CDXQuery.Field]? {
        guard let (name, value) = text("fields") else { return nil }
        let names = value.split(separator: ",").map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
        guard (1...limits.queryFieldsMax).contains(names.count) else {
            throw CDXQueryProblem(
                name, value, "the value names \(names.count) fields", hint: "use 1 to \(limits.queryFieldsMax)")
        }
        var fields: [CDXQuery.Field] = []
        for name in names where !fields.contains(where: { $0.name == name }) {
            fields.append(CDXQuery.Field(name: name, field: CDXField(name: name)))
        }
        return fields
    }

    /// Reads `collapse=field`, `collapse=field:N`, and pywb's `collapseTime=N`, which also compares the status.
    func collapses() throws(CDXQueryProblem) -> [CDXQuery.Collapse] {
        var collapses: [CDXQuery.Collapse] = []
        for (name, value) in values["collapse"] ?? [] {
            let parts = value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let count = parts.count == 2 ? Int(parts[1]) : nil
            guard !parts[0].isEmpty, parts.count == 1 || (count ?? 0) > 0 else {
                throw CDXQueryProblem(
                    name, value, "not a field, or a field and a number of characters",
                    hint: "use for example collapse=digest or collapse=timestamp:8")
            }
            collapses.append(.init(fields: [CDXField(name: String(parts[0]))], prefixBytes: count))
        }
        if let count = try number("collapseTime", from: 1) {
            collapses.append(.init(fields: [.timestamp, .member(.status)], prefixBytes: count))
        }
        return collapses
    }

    /// Refuses parameters of pywb or the Wayback CDX server that aren't supported, as ignoring them would change the
    /// result.
    func refuseUnsupported() throws(CDXQueryProblem) {
        let flags = [
            ("resolveRevisits", "to find a digest, use filter==digest:VALUE"),
            ("showPagedIndex", "use page and pageSize, which work with every index"),
            ("allowFuzzy", "to match a prefix, use url=http://example.org/path*"),
            ("showResumeKey", "use page and pageSize"),
        ]
        for (name, hint) in flags where try flag(name) == true {
            throw CDXQueryProblem(name, "true", "not supported", hint: "leave it out; \(hint)")
        }
        for name in ["resumeKey", "offset", "sources"] {
            guard let (name, value) = text(name) else { continue }
            let hint = name == "sources" ? "query one archive, or use filter==source:ID" : "use page and pageSize"
            throw CDXQueryProblem(name, value, "not supported", hint: "leave it out; \(hint)")
        }
    }
}
