import Testing

@testable import WebArchive

struct PercentEncodingTests {
    /// The results of Python's `surt` 0.3.1.
    @Test(arguments: [
        ("%25%32%35%34%31", "A"), ("%%34%31/%2525", "A/%"), ("%2561", "a"), ("%2", "%2"), ("%zz%", "%zz%"),
        ("%%%41", "%%A"),
    ])
    func decodesNestedEscapes(_ text: String, _ expected: String) {
        #expect(String(decoding: PercentEncoding.decodedRepeatedly(Array(text.utf8)), as: UTF8.self) == expected)
    }

    /// One pass gives the same result as decoding the whole text repeatedly.
    @Test func onePassEqualsRepeatedDecoding() {
        var generator = SeededGenerator(state: 11)
        let pieces = ["%", "2", "5", "25", "%25", "4", "1", "a", "F", "z", "/"].map { Array($0.utf8) }
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0...14, using: &generator))
                .flatMap { _ in pieces.randomElement(using: &generator) ?? [] }
            #expect(PercentEncoding.decodedRepeatedly(text) == Self.decodedInRounds(text), "\(text)")
        }
    }

    private static func decodedInRounds(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            let areHexadecimal = digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
            if byte == UInt8(ascii: "%"), digits.count == 2, areHexadecimal,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                output.append(value)
                rest = rest.dropFirst(2)
            } else {
                output.append(byte)
            }
        }
        return output.count == bytes.count ? output : decodedInRounds(output)
    }

    /// Each case takes milliseconds in linear time, and many minutes in quadratic time.
    @Test(arguments: [
        ("http://a.example/", "%25"), ("http://a.example/?", "%25"), ("http://a.example/?", "cfid="),
        ("http://a.example/?x=", "sid="), ("http://a.example/", "/"), ("http://a.example/", "(/)/"),
        ("http://a.example/", "/.aspx"), ("http://a.example/", "/../%2e"), ("http://a.example/?", "&"),
    ])
    func longURLsTakeLinearTime(_ start: String, _ repeated: String) {
        var url = start
        while url.utf8.count < 1 << 18 { url += repeated == "%25" ? "25" : repeated }
        if repeated == "%25" { url = start + "%" + url.dropFirst(start.count) }
        #expect(SURT.pythonKey(for: url)?.isEmpty == false)
    }
}
