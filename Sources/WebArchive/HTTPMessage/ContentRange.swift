/// The `Content-Range` of a partial response. RFC 9110 §14.4.
package struct ContentRange: Sendable, Hashable {
    /// The position of the first byte in the complete body.
    package let first: UInt64
    /// The position of the last byte in the complete body.
    package let last: UInt64
    /// The complete length in bytes; `nil` for `*`.
    package let total: UInt64?

    /// Parses the value of the field; `nil` if it isn't valid.
    package init?(_ field: String) {
        let words = field.split(whereSeparator: { " -/".contains($0) })
        guard words.count == 4, words[0].lowercased() == "bytes", let first = UInt64(words[1]),
            let last = UInt64(words[2]), first <= last, last < .max
        else { return nil }
        total = UInt64(words[3])
        guard total != nil || words[3] == "*", last < total ?? .max else { return nil }
        (self.first, self.last) = (first, last)
    }

    /// Whether the range covers the complete body.
    package var isWhole: Bool { first == 0 && total == last + 1 }
}
