/// A text to find in URLs, ignoring the case of ASCII letters.
///
/// A URL may have a character percent-encoded that was typed as it is, or the reverse, so the text is compared in three
/// spellings: as typed, percent-encoded and decoded.
struct URLText: Sendable {
    /// The parts of a spelling between wildcards, in lower case. The first begins the URL and the last ends it.
    private typealias Segments = [[UInt8]]

    private let spellings: [Segments]
    /// The longest part of each spelling, which occurs in every URL that matches.
    private let needles: [[UInt8]]
    /// Whether the pattern may begin after the scheme.
    private let omitsScheme: Bool

    /// - Parameter isPattern: Whether `*` is a wildcard. Without one, the text can be anywhere in the URL.
    init(_ text: String, isPattern: Bool) {
        let typed = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
        let isWildcard = isPattern && typed.count > 1
        let segments = isWildcard ? typed : [[], Array(text.utf8), []]
        var spellings: [Segments] = []
        for spelling in [segments, segments.map(Self.encoded), segments.map(PercentEncoding.decoded)] {
            let lowered = spelling.map { Self.lowercased($0) }
            if !spellings.contains(lowered) { spellings.append(lowered) }
        }
        self.spellings = spellings
        needles = spellings.map { $0.max { $0.count < $1.count } ?? [] }
        let first = segments[0]
        omitsScheme = isWildcard && !first.isEmpty && first[...].firstRange(ofBytes: Array("://".utf8)) == nil
    }

    /// Returns whether a URL matches.
    func matches(_ url: String) -> Bool {
        let bytes = Self.lowercased(Array(url.utf8))
        if spellings.contains(where: { Self.matches($0, bytes[...]) }) { return true }
        guard omitsScheme, let scheme = bytes[...].firstRange(ofBytes: Array("://".utf8)) else { return false }
        return spellings.contains { Self.matches($0, bytes[scheme.upperBound...]) }
    }

    /// Returns whether the URL of an index line may match. Doesn't parse the line.
    func mayOccur(in line: [UInt8]) -> Bool {
        let lowered = Self.lowercased(line)
        // JSON can escape any character with a backslash.
        return needles.contains { lowered[...].firstRange(ofBytes: $0) != nil }
            || lowered[...].firstRange(ofBytes: [UInt8(ascii: "\\")]) != nil
    }

    private static func matches(_ segments: Segments, _ url: ArraySlice<UInt8>) -> Bool {
        guard let first = segments.first, let last = segments.last, url.starts(with: first) else { return false }
        var rest = url.dropFirst(first.count)
        for segment in segments.dropFirst().dropLast() {
            guard let found = rest.firstRange(ofBytes: segment) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
    }

    private static func encoded(_ text: [UInt8]) -> [UInt8] {
        PercentEncoding.encoded(text) { $0 > 0x20 && $0 < 0x7F }
    }

    private static func lowercased(_ text: [UInt8]) -> [UInt8] {
        Array(unsafeUninitializedCapacity: text.count) { lowered, count in
            text.withUnsafeBufferPointer { text in
                // Without branches, so that the compiler can use vector instructions.
                for (position, byte) in text.enumerated() {
                    lowered[position] = byte | (byte &- 0x41 < 26 ? 0x20 : 0)
                }
            }
            count = text.count
        }
    }
}
