import Foundation
import Testing

@testable import WebArchive

#if canImport(Glibc)
/// Encoded texts are from Python's codecs.
struct TextEncodingTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let label: String
        let base64: String
        let text: String
        var bytes: [UInt8] { Array(Data(base64Encoded: base64) ?? Data()) }
        var testDescription: String { label }
    }

    static let japanese = "東京の天気は晴れです。明日は雨が降るでしょう。"
    static let russian = "Погода в Москве сегодня хорошая, завтра будет дождь."
    static let samples = [
        Sample(
            label: "Shift_JIS", base64: "k4yLnoLMk1aLQ4LNkLCC6oLFgreBQpa+k/qCzYlKgqqNfoLpgsWCtYLlgqSBQg==",
            text: japanese),
        Sample(
            label: "EUC-JP", base64: "xey1/qTOxbe1pKTPwLKk7KTHpLmho8zAxvykz7GrpKy536TrpMekt6TnpKahow==", text: japanese),
        Sample(
            label: "EUC-KR", base64: "vK2/78DHILOvvr60wiC4vL3AtM+02S4gs7vAz8C6ILrxsKEgv8Cw2r3AtM+02S4=",
            text: "서울의 날씨는 맑습니다. 내일은 비가 오겠습니다."),
        Sample(
            label: "GB18030", base64: "sbG+qbXEzOzG+LrcusOho8P3zOy/ycTcu+HPwtPqoaPO0sPHyKW5q9SwsMmhow==",
            text: "北京的天气很好。明天可能会下雨。我们去公园吧。"),
        Sample(
            label: "Big5", base64: "u0+lX6q6pNGu8Kvcpm6hQ6n6pNGlaa/gt3ykVatCoUOn2q3MpWikvbbpp2GhQw==",
            text: "臺北的天氣很好。明天可能會下雨。我們去公園吧。"),
        Sample(
            label: "windows-1251",
            base64: "z+7j7uTgIOIgzO7x6uLlIPHl4+7k7f8g9e7w7vjg/ywg5+Di8vDgIOHz5OXyIOTu5uT8Lg==", text: russian),
        Sample(
            label: "KOI8-R", base64: "8M/Hz8TBINcg7c/Ty9fFINPFx8/EztEgyM/Sz9vB0Swg2sHX1NLBIMLVxMXUIMTP1sTYLg==",
            text: russian),
        Sample(
            label: "windows-1252",
            base64: "TGUgY2Fm6SBv+SBub3VzIOl0aW9ucyDpdGFpdCB0cuhzIGFnculhYmxlLCBt6m1lIOAgTm/rbC4=",
            text: "Le café où nous étions était très agréable, même à Noël."),
    ]

    private func read(_ bytes: [UInt8], type: String?, step: Int = 5) -> String {
        var detector = EncodingDetector(contentType: type, identifiedType: nil, syntax: .html)
        let converter = TextConverter(detector.read(bytes) ?? detector.finish())
        var all: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            all += converter.convert(Array(bytes[start..<min(start + step, bytes.count)]))
        }
        return String(decoding: all + converter.finish(), as: UTF8.self)
    }

    @Test(arguments: samples) func declaredEncodingIsUsed(sample: Sample) {
        #expect(read(sample.bytes, type: "text/html; charset=\(sample.label)") == sample.text)
        let html =
            Array("<meta http-equiv=content-type content='text/html; charset=\(sample.label)'>".utf8) + sample.bytes
        #expect(read(html, type: "text/html").hasSuffix(sample.text))
    }

    @Test(arguments: samples) func undeclaredEncodingIsDetected(sample: Sample) {
        #expect(read(sample.bytes, type: "text/html") == sample.text)
        #expect(read(sample.bytes, type: nil) == sample.text)
    }

    /// Browsers don't guess it, but its words are found.
    @Test func undeclaredUTF8IsUTF8() {
        #expect(read(Array("Größe 東京".utf8), type: nil) == "Größe 東京")
    }

    /// Browsers decode none of them, since scripts could hide in them. WHATWG Encoding §14.1.
    @Test(arguments: ["hz-gb-2312", "iso-2022-kr", "iso-2022-cn"])
    func encodingsThatHideScriptsAreOneCharacter(label: String) {
        #expect(read(Array("<script>".utf8), type: "text/html; charset=\(label)") == "\u{FFFD}")
    }

    @Test func bytesThatDontFitAreReplaced() {
        #expect(
            read(Array("gut ".utf8) + [0xC3] + Array(" Größe und Süße und Öl".utf8), type: nil).contains(
                "\u{FFFD} Größe"))
        #expect(read([0x93, 0x8C, 0xFF] + Array("ok".utf8), type: "text/html; charset=shift_jis").hasSuffix("ok"))
        #expect(read([0x93, 0x8C, 0x8B], type: "text/html; charset=shift_jis") == "東\u{FFFD}")
    }
}
#endif
