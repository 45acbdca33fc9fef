/// An entity tag. RFC 9110 §8.8.3.
package struct ETag: Sendable, Hashable, CustomStringConvertible {
    /// What stands between the quotes.
    package let opaque: String
    package let isWeak: Bool

    package init(strong opaque: String) {
        self.opaque = opaque
        isWeak = false
    }

    /// A tag that tells one version from the next as far as is known: no range is ever read by it. RFC 9110 §8.8.1.
    package init(weak opaque: String) {
        self.opaque = opaque
        isWeak = true
    }

    /// Reads one tag; `nil` when it is not well-formed.
    package init?(_ text: some StringProtocol) {
        var rest = text[...]
        isWeak = rest.hasPrefix("W/")
        if isWeak { rest = rest.dropFirst(2) }
        guard rest.utf8.count >= 2, rest.hasPrefix("\""), rest.hasSuffix("\"") else { return nil }
        let inner = rest.dropFirst().dropLast()
        guard inner.utf8.allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 }) else { return nil }
        opaque = String(inner)
    }

    package var description: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }

    /// Strong comparison. RFC 9110 §8.8.3.2.
    package func isStronglyEqual(to other: ETag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// Weak comparison. RFC 9110 §8.8.3.2.
    package func isWeaklyEqual(to other: ETag) -> Bool {
        opaque == other.opaque
    }

    /// The tags of an `If-Match` or `If-None-Match` list; a malformed member ends the list.
    static func list(_ field: some StringProtocol) -> [ETag] {
        var tags: [ETag] = []
        var rest = field[...].drop(while: isSeparator)
        while !rest.isEmpty {
            let start = rest.hasPrefix("W/") ? rest.index(rest.startIndex, offsetBy: 2) : rest.startIndex
            guard start < rest.endIndex, rest[start] == "\"",
                let end = rest[rest.index(after: start)...].firstIndex(of: "\""), let tag = ETag(rest[...end])
            else { return tags }
            tags.append(tag)
            rest = rest[rest.index(after: end)...].drop(while: isSeparator)
        }
        return tags
    }

    private static func isSeparator(_ character: Character) -> Bool {
        character == " " || character == "\t" || character == ","
    }
}
