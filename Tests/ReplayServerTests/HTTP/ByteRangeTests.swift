import ReplayServer
import Testing

struct ByteRangeTests {
    struct RangeCase: Sendable, CustomTestStringConvertible {
        let field: String
        let size: UInt64
        /// `200` when the field is to be ignored, `416`, or `206` with the ranges.
        let expect: String

        init(_ field: String, _ size: UInt64, _ expect: String) {
            (self.field, self.size, self.expect) = (field, size, expect)
        }

        var testDescription: String { "\(field.prefix(60)) of \(size)" }
    }

    private func answer(_ field: String, _ size: UInt64) -> String {
        do {
            guard let ranges = try ByteRange.parse(field, size: size) else { return "200" }
            return "206 " + ranges.map { "\($0.first)-\($0.last)" }.joined(separator: ",")
        } catch {
            return "416"
        }
    }

    // The expected answers are those of RFC 9110 §14.1.1 (grammar, invalid ranges), §14.1.2 (bytes), §14.2 (when to
    // ignore).
    @Test(arguments: [
        // §14.1.2: the first and the last 500 bytes of 10000, and its other examples.
        RangeCase("bytes=0-499", 10_000, "206 0-499"), RangeCase("bytes=500-999", 10_000, "206 500-999"),
        RangeCase("bytes=-500", 10_000, "206 9500-9999"), RangeCase("bytes=9500-", 10_000, "206 9500-9999"),
        RangeCase("bytes=0-0,-1", 10_000, "206 0-0,9999-9999"),
        RangeCase("bytes= 0-999, 4500-5499, -1000", 10_000, "206 0-999,4500-5499,9000-9999"),
        RangeCase("bytes=500-600,601-999", 10_000, "206 500-600,601-999"),
        RangeCase("bytes=500-700,601-999", 10_000, "206 500-700,601-999"),
        // §14.1.2: a last position beyond the end is clamped, a suffix longer than the body is the body.
        RangeCase("bytes=0-0", 1, "206 0-0"), RangeCase("bytes=0-100", 100, "206 0-99"),
        RangeCase("bytes=99-99", 100, "206 99-99"), RangeCase("bytes=99-", 100, "206 99-99"),
        RangeCase("bytes=-100", 100, "206 0-99"), RangeCase("bytes=-101", 100, "206 0-99"),
        RangeCase("bytes=-1", 1, "206 0-0"), RangeCase("bytes=0-", 100, "206 0-99"),
        RangeCase("bytes=000-0009", 100, "206 0-9"),
        // §15.5.17: none of the ranges overlaps the body.
        RangeCase("bytes=100-", 100, "416"), RangeCase("bytes=100-200", 100, "416"), RangeCase("bytes=-0", 100, "416"),
        RangeCase("bytes=100-,200-300", 100, "416"), RangeCase("bytes=0-", 0, "416"), RangeCase("bytes=0-0", 0, "416"),
        RangeCase("bytes=-1", 0, "416"), RangeCase("bytes=-0", 0, "416"),
        // §14.2: one satisfiable member is enough.
        RangeCase("bytes=100-,-1", 100, "206 99-99"), RangeCase("bytes=0-0,500-", 100, "206 0-0"),
        RangeCase("bytes=5-6,2-3,5-6", 100, "206 5-6,2-3,5-6"),
        // Numbers that do not fit 64 bits lie beyond every body; they are no syntax error.
        RangeCase("bytes=0-18446744073709551615", 100, "206 0-99"),
        RangeCase("bytes=0-18446744073709551616", 100, "206 0-99"),
        RangeCase("bytes=18446744073709551615-", 100, "416"), RangeCase("bytes=18446744073709551616-", 100, "416"),
        RangeCase("bytes=99999999999999999999999999-", 100, "416"),
        RangeCase("bytes=-99999999999999999999999999", 100, "206 0-99"),
        RangeCase(
            "bytes=18446744073709551614-18446744073709551615", .max, "206 18446744073709551614-18446744073709551614"),
        // §14.1.1: last before first is invalid, and so is everything else that the grammar lacks: ignored.
        RangeCase("bytes=5-4", 100, "200"), RangeCase("bytes=0-1,5-4", 100, "200"), RangeCase("bytes=-", 100, "200"),
        RangeCase("bytes=", 100, "200"), RangeCase("bytes", 100, "200"), RangeCase("", 100, "200"),
        RangeCase("=0-1", 100, "200"), RangeCase("bytes=,", 100, "200"), RangeCase("bytes=a-b", 100, "200"),
        RangeCase("bytes=1", 100, "200"), RangeCase("bytes=1-2-3", 100, "200"), RangeCase("bytes=--1", 100, "200"),
        RangeCase("bytes=+1-2", 100, "200"), RangeCase("bytes=1-+2", 100, "200"),
        RangeCase("bytes=0x0-0x9", 100, "200"),
        RangeCase("bytes=1.0-2", 100, "200"), RangeCase("bytes=0 - 1", 100, "200"), RangeCase("bytes=0- 1", 100, "200"),
        RangeCase("bytes = 0-1", 100, "200"), RangeCase("bytes:0-1", 100, "200"), RangeCase("bytes 0-1", 100, "200"),
        RangeCase("bytes=0-1;2-3", 100, "200"), RangeCase("bytes=\u{0661}-\u{0662}", 100, "200"),
        RangeCase("bytes=0-1, bytes=2-3", 100, "200"), RangeCase("bytes=0-1\u{0}", 100, "200"),
        // §14.1: unit names ignore case; a unit that is not known is ignored.
        RangeCase("BYTES=0-1", 100, "206 0-1"), RangeCase("Bytes=-1", 100, "206 99-99"),
        RangeCase("items=0-1", 100, "200"),
        RangeCase("byte=0-1", 100, "200"), RangeCase("none=0-1", 100, "200"),
        // §5.6.1: blanks around commas, empty members.
        RangeCase("bytes=0-1 , 3-4", 100, "206 0-1,3-4"), RangeCase("bytes=\t0-1\t,\t3-4", 100, "206 0-1,3-4"),
        RangeCase("bytes=,0-1,,3-4,", 100, "206 0-1,3-4"), RangeCase("bytes=0-1 ", 100, "206 0-1"),
    ])
    func rangesFollowRFC9110(_ c: RangeCase) { #expect(answer(c.field, c.size) == c.expect) }

    @Test func moreThan64RangesAreRefused() {
        let many = { (count: Int) in "bytes=" + (0..<count).map { "\($0)-\($0)" }.joined(separator: ",") }
        #expect(answer(many(64), 1000) == "206 " + (0..<64).map { "\($0)-\($0)" }.joined(separator: ","))
        #expect(answer(many(65), 1000) == "416")
        #expect(answer(many(10_000), 1000) == "416")
    }

    /// RFC 9110 §14.4: `bytes first-last/complete`.
    @Test func contentRangeHasFirstLastAndSize() throws {
        let range = try #require(try ByteRange.parse("bytes=42-1233", size: 1234)?.first)
        #expect(range.contentRange(size: 1234) == "bytes 42-1233/1234")
        #expect(range.length == 1192)
    }
}
