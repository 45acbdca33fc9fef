/// A run of bytes of a body: first and last position, both inclusive, both inside of the body.
package struct ByteRange: Sendable, Hashable {
    package let first: UInt64
    package let last: UInt64

    package var length: UInt64 { last - first + 1 }

    /// The `Content-Range` value of a 206. RFC 9110 §14.4.
    package func contentRange(size: UInt64) -> String { "bytes \(first)-\(last)/\(size)" }
}

/// No byte of the body is asked for, or too many ranges at once: 416. RFC 9110 §15.5.17.
package struct RangeNotSatisfiable: Error, Hashable {}

extension ByteRange {
    /// Ranges in one request, above which it is refused. RFC 9110 §14.2 advises against obeying a multitude of small ones.
    package static let countMax = 64

    /// Reads a `Range` field value against a body of `size` bytes. RFC 9110 §14.1.2, §14.2.
    ///
    /// - Returns: The satisfiable ranges in the order asked, or `nil` when the field must be ignored (send 200): another
    ///   unit, or not well-formed.
    /// - Throws: `RangeNotSatisfiable` when no byte of the body is asked for, or more than `countMax` ranges.
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

    private static func isBlank(_ character: Character) -> Bool {
        character == " " || character == "\t"
    }

    /// One member of the list, not yet held against a body.
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

        /// `nil` when the body has none of these bytes.
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

        /// Digits only; a number too large for 64 bits lies beyond every body and counts as the largest.
        private static func number(_ text: some StringProtocol) -> UInt64? {
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return UInt64(text) ?? .max
        }
    }
}

extension BidirectionalCollection {
    /// Without the elements at the end that fulfil `condition`.
    fileprivate func reversedDrop(while condition: (Element) -> Bool) -> SubSequence {
        var end = endIndex
        while end > startIndex, condition(self[index(before: end)]) { end = index(before: end) }
        return self[..<end]
    }
}
