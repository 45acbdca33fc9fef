/// An entity tag. RFC 9110 §8.8.3.
package struct ETag: Sendable, Hashable, CustomStringConvertible {
    /// The text between the quotes.
    package let opaque: String
    package let isWeak: Bool

    package init(strong opaque: String) {
        self.opaque = opaque
        isWeak = false
    }

    /// Creates a weak tag, which can't be used for ranges. RFC 9110 §8.8.1.
    package init(weak opaque: String) {
        self.opaque = opaque
        isWeak = true
    }

    /// Parses a tag; `nil` if it isn't well-formed.
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

    /// Parses an `If-Match` or `If-None-Match` list up to the first malformed member.
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
