/// A range of bytes in a body. Both positions are inclusive.
package struct ByteRange: Sendable, Hashable {
    package let first: UInt64
    package let last: UInt64

    package var length: UInt64 { last - first + 1 }

    /// The `Content-Range` value of a 206. RFC 9110 §14.4.
    ///
    /// - Parameter size: The complete length of the body in bytes; `nil` if it isn't known.
    package func contentRange(size: UInt64?) -> String {
        "bytes \(first)-\(last)/\(size.map { "\($0)" } ?? "*")"
    }
}

/// A range request that selects no bytes or has too many ranges: 416. RFC 9110 §15.5.17.
package struct RangeNotSatisfiable: Error, Hashable {}

extension ByteRange {
    /// The maximum number of ranges in a request. RFC 9110 §14.2 recommends a limit.
    package static let countMax = 64

    /// Parses a `Range` field for a body of `size` bytes. RFC 9110 §14.1.2, §14.2.
    ///
    /// - Returns: The satisfiable ranges in the requested order; `nil` if the field must be ignored (send 200), because
    ///   it has another unit or isn't well-formed.
    /// - Throws: `RangeNotSatisfiable` if no bytes are selected, or there are more than `countMax` ranges.
    package static func parse(_ field: some StringProtocol, size: UInt64) throws(RangeNotSatisfiable) -> [ByteRange]? {
        guard let equals = field.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        guard field[..<equals].lowercased() == "bytes" else { return nil }
        var ranges: [ByteRange] = []
        var count = 0
        for item in field[field.utf8.index(after: equals)...].split(separator: ",", omittingEmptySubsequences: false) {
            let spec = item.drop(while: isBlank).reversedDrop(while: isBlank)
            // RFC 9110 §5.6.1.2: a recipient accepts empty list elements.
            if spec.isEmpty { continue }
            guard let parsed = Spec(spec) else { return nil }
            count += 1
            if let range = parsed.range(size: size), ranges.count < countMax { ranges.append(range) }
        }
        guard count > 0 else { return nil }
        guard !ranges.isEmpty, count <= countMax else { throw RangeNotSatisfiable() }
        return ranges
    }

    /// Returns the position of the last byte that a `Range` field asks for; `nil` if that depends on the length of the body,
    /// or if the field asks for several ranges.
    package static func last(of field: some StringProtocol) -> UInt64? {
        guard let ranges = try? parse(field, size: .max), ranges.count == 1 else { return nil }
        return ranges[0].last < .max - 1 ? ranges[0].last : nil
    }

    private static func isBlank(_ character: Character) -> Bool {
        character == " " || character == "\t"
    }

    /// A range as requested, independent of a body.
    private enum Spec {
        case from(UInt64, to: UInt64?)
        case suffix(UInt64)

        init?(_ text: some StringProtocol) {
            let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            switch (parts[0].isEmpty, parts[1].isEmpty) {
            case (true, true): return nil
            case (true, false):
                guard let length = Self.number(parts[1]) else { return nil }
                self = .suffix(length)
            case (false, true):
                guard let first = Self.number(parts[0]) else { return nil }
                self = .from(first, to: nil)
            case (false, false):
                guard let first = Self.number(parts[0]), let last = Self.number(parts[1]), first <= last else {
                    return nil
                }
                self = .from(first, to: last)
            }
        }

        /// Returns the range in a body; `nil` if the body has none of these bytes.
        func range(size: UInt64) -> ByteRange? {
            switch self {
            case .from(let first, let last):
                guard first < size else { return nil }
                return ByteRange(first: first, last: min(last ?? .max, size - 1))
            case .suffix(let length):
                guard length > 0, size > 0 else { return nil }
                return ByteRange(first: size - min(length, size), last: size - 1)
            }
        }

        /// Parses digits. A number too large for 64 bits counts as the largest.
        private static func number(_ text: some StringProtocol) -> UInt64? {
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return UInt64(text) ?? .max
        }
    }
}

extension BidirectionalCollection {
    /// Returns the collection without the last elements that satisfy `condition`.
    fileprivate func reversedDrop(while condition: (Element) -> Bool) -> SubSequence {
        var end = endIndex
        while end > startIndex, condition(self[index(before: end)]) { end = index(before: end) }
        return self[..<end]
    }
}
