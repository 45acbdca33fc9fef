import Testing

@testable import WebArchive

struct ByteSearchTests {
    @Test(
        arguments: [
            ("", "", 0), ("abc", "", 0), ("", "a", nil), ("abcabc", "ca", 2), ("aaab", "ab", 2), ("ab", "abc", nil),
        ] as [(String, String, Int?)])
    func findsFirstOccurrence(_ text: String, _ wanted: String, _ expected: Int?) {
        // A slice, whose first index isn't 0.
        let slice = Array("x\(text)y".utf8)[1..<(1 + text.utf8.count)]
        let range = slice.firstRange(ofBytes: Array(wanted.utf8))
        #expect(range?.lowerBound == expected.map { $0 + 1 })
        #expect(range.map { $0.count } == expected.map { _ in wanted.utf8.count })
    }
}
