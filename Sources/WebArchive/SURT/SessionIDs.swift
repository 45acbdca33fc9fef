/// Removes session IDs from URLs, which Python's `surt` leaves out of keys because they differ for each visitor.
enum SessionIDs {
    /// Returns a query without `jsessionid`, `phpsessid`, `sid`, `ASPSESSIONID…` and `cfid` with `cftoken`.
    static func removed(fromQuery query: [UInt8]) -> [UInt8] {
        var query = query
        for name in ["jsessionid=", "phpsessid=", "sid="] {
            remove(from: &query, name) { value in
                value.count >= 32 && value.prefix(32).allSatisfy(isLetterOrDigit) ? 32 : nil
            }
        }
        remove(from: &query, "aspsessionid") { value in
            let text = value.prefix(33)
            guard text.count == 33, text.prefix(8).allSatisfy(\.isASCIILetter),
                text.dropFirst(8).first == UInt8(ascii: "="), text.dropFirst(9).allSatisfy(\.isASCIILetter)
            else { return nil }
            return 33
        }
        removeColdFusionSession(from: &query)
        return query
    }

    /// Returns a path without `(S(…))/` or `(…)/` before the name of an `.aspx` page. The path must be in lower case.
    static func removed(fromPath path: [UInt8]) -> [UInt8] {
        var path = path
        for isNested in [true, false] {
            guard let range = sessionSegment(of: path, isNested: isNested) else { continue }
            path.removeSubrange(range)
        }
        return path
    }

    private static let separator = UInt8(ascii: "&")

    /// Removes the last `name` whose value `length` accepts, if the query or the argument ends there.
    private static func remove(
        from query: inout [UInt8], _ name: String, length: (ArraySlice<UInt8>) -> Int?
    ) {
        let name = Array(name.utf8)
        guard query.count > name.count else { return }
        for start in (0..<query.count - name.count).reversed() {
            let valueStart = start + name.count
            guard isAt(start, in: query[...], name), let count = length(query[valueStart...])
            else { continue }
            let end = valueStart + count
            guard end == query.count || query[end] == separator else { continue }
            query.removeSubrange(start..<min(end + 1, query.count))
            return
        }
    }

    /// Removes the last `cfid=…&cftoken=…` with nonempty values.
    private static func removeColdFusionSession(from query: inout [UInt8]) {
        let (id, token) = (Array("cfid=".utf8), Array("cftoken=".utf8))
        let bounds = [-1] + query.indices.filter { query[$0] == separator } + [query.count]
        for place in bounds.indices.dropFirst().dropLast().reversed() {
            let (before, after) = (query[(bounds[place - 1] + 1)..<bounds[place]], bounds[place + 1])
            let rest = query[(bounds[place] + 1)..<after]
            guard rest.count > token.count, isAt(rest.startIndex, in: rest, token) else { continue }
            let start = before.indices.last { $0 + id.count < before.endIndex && isAt($0, in: before, id) }
            guard let start else { continue }
            query.removeSubrange(start..<min(after + 1, query.count))
            return
        }
    }

    /// Returns whether `name`, given in lower case, is at a position, ignoring case.
    private static func isAt(_ start: Int, in text: ArraySlice<UInt8>, _ name: [UInt8]) -> Bool {
        text.endIndex - start >= name.count && text[start].asciiLowercased == name[0]
            && text[start..<start + name.count].elementsEqual(name, by: { $0.asciiLowercased == $1 })
    }

    private static func sessionSegment(of path: [UInt8], isNested: Bool) -> Range<Int>? {
        let slash = UInt8(ascii: "/")
        let ending = Array(".aspx".utf8)
        let lastPage = path.indices.last { path[$0] == ending[0] && path[$0...].starts(with: ending) }
        guard let lastPage else { return nil }
        let bounds = path.indices.filter { path[$0] == slash }
        for (start, end) in zip(bounds, bounds.dropFirst()).reversed() {
            let segment = path[(start + 1)..<end]
            // The page needs a name before its extension.
            guard lastPage > end + 1, segment.count > 2, segment.first == UInt8(ascii: "("),
                segment.last == UInt8(ascii: ")"), isSession(segment.dropFirst().dropLast(), isNested: isNested)
            else { continue }
            return start + 1..<end + 1
        }
        return nil
    }

    private static func isSession(_ text: ArraySlice<UInt8>, isNested: Bool) -> Bool {
        guard isNested else { return text.count == 24 && text.allSatisfy(isLetterOrDigit) }
        guard !text.isEmpty, text.count.isMultiple(of: 27) else { return false }
        return stride(from: text.startIndex, to: text.endIndex, by: 27).allSatisfy { start in
            text[start].isASCIILetter && text[start + 1] == UInt8(ascii: "(") && text[start + 26] == UInt8(ascii: ")")
                && text[(start + 2)..<(start + 26)].allSatisfy(isLetterOrDigit)
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool { byte.isASCIILetter || byte.isASCIIDigit }
}
