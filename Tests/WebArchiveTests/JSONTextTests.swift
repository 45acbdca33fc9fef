import Foundation
import Testing

@testable import WebArchive

/// JSON for other programs and terminals.
struct JSONTextTests {
    /// RFC 8259 §7: any character may be escaped as `\uXXXX`.
    @Test(arguments: [
        ("\u{7F}", #""\u007f""#), ("\u{80}", #""\u0080""#), ("\u{9B}31m", #""\u009b31m""#), ("\u{9F}", #""\u009f""#),
        ("\u{A0}", "\"\u{A0}\""), ("a\u{61C}b", #""a\u061cb""#), ("\u{200D}", "\"\u{200D}\""),
        ("\u{200E}\u{200F}", #""\u200e\u200f""#), ("\u{2027}", "\"\u{2027}\""),
        ("\u{2028}\u{2029}", #""\u2028\u2029""#), ("\u{202A}\u{202E}", #""\u202a\u202e""#),
        ("\u{202F}", "\"\u{202F}\""), ("\u{2065}", "\"\u{2065}\""), ("\u{2066}\u{2069}", #""\u2066\u2069""#),
        ("\u{206A}", "\"\u{206A}\""), ("\u{1B}[2J\n", #""\u001b[2J\n""#), ("é字😀/", "\"é字😀/\""),
        (#"\"# + "\u{9B}", #""\\\u009b""#),
    ])
    func escapesControlCharacters(_ text: String, _ json: String) throws {
        #expect(String(decoding: try JSONText.encoded(text), as: UTF8.self) == json)
    }

    /// Escaping also applies to member names, and doesn't change the value.
    @Test func escapingKeepsTheValue() throws {
        let scalars = (UInt32(0)...0x2FFF).compactMap(Unicode.Scalar.init)
        let text = String(String.UnicodeScalarView(scalars))
        let value = [text: [text]]
        let json = try JSONText.encoded(value)
        #expect(try JSONDecoder().decode([String: [String]].self, from: Data(json)) == value)
        let left = String(decoding: json, as: UTF8.self).unicodeScalars.filter {
            $0.properties.generalCategory == .control || $0.properties.isBidiControl
        }
        #expect(left.isEmpty)
    }

    /// Indexes may contain bytes that aren't UTF-8.
    @Test(
        arguments: [[0xC2], [0xE2], [0xE2, 0x80], [0xD8], [0xFF, 0x7E], [0xE2, 0x80, 0x22], [0xC2, 0xC2]] as [[UInt8]])
    func invalidUTF8StaysUnchanged(_ bytes: [UInt8]) {
        #expect(JSONText.escapingControls(bytes) == bytes)
    }
}
