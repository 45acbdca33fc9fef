import Testing

@testable import WebArchive

struct URLTextTests {
    @Test(arguments: [
        ("limpet", "https://example.org/limpet.html", true), ("LIMPET", "https://example.org/Limpet", true),
        ("limpets", "https://example.org/limpet", false), ("example.org/li", "https://example.org/limpet", true),
        ("café", "https://example.org/caf%C3%A9", true), ("café", "https://example.org/caf%c3%a9", true),
        ("café", "https://example.org/café", true), ("caf%C3%A9", "https://example.org/café", true),
        ("a b", "https://example.org/a%20b", true), ("a%20b", "https://example.org/a b", true),
        ("50%", "https://example.org/50%", true), ("a*b", "https://example.org/a*b", true),
        ("a*b", "https://example.org/a-b", false), ("*", "https://example.org/", false),
    ])
    func textIsFoundAnywhere(_ text: String, _ url: String, _ expected: Bool) {
        #expect(URLText(text, isPattern: false).matches(url) == expected)
    }

    @Test(arguments: [
        ("*.pdf", "https://example.org/a.PDF", true), ("*.pdf", "https://example.org/a.pdf?b", false),
        ("*.pdf*", "https://example.org/a.pdf?b", true), ("https://*/a", "https://example.org/a", true),
        ("example.org/*.png", "https://example.org/a/b.png", true),
        ("example.org/*.png", "https://www.example.org/b.png", false),
        ("ample.org/*.png", "https://example.org/b.png", false), ("*", "https://example.org/", true),
        ("**", "https://example.org/", true), ("*a*a*", "https://example.org/a", true),
        ("*a*a*a*", "https://example.org/a", false), ("*aba*ba", "https://x.org/aba", false),
        ("*aba*ba", "https://x.org/ababa", true), ("*/café/*", "https://x.org/caf%C3%A9/menu", true),
        ("limpet", "https://example.org/limpet/", true), ("*org/%2A*", "https://example.org/*/", true),
    ])
    func patternMatchesTheWholeURL(_ text: String, _ url: String, _ expected: Bool) {
        #expect(URLText(text, isPattern: true).matches(url) == expected)
    }

    /// The raw line of a URL that matches must pass, however its JSON is written.
    @Test(arguments: [
        ("/limpet", #"{"url":"https://example.org/limpet"}"#, true),
        ("/limpet", #"{"url":"https:\/\/example.org\/limpet"}"#, true),
        ("café", #"{"url":"https://example.org/caf\u00e9"}"#, true),
        ("café", #"{"url":"https://example.org/café"}"#, true),
        ("limpet", #"{"url":"https://example.org/whelk"}"#, false),
    ])
    func linesArePassedOver(_ text: String, _ line: String, _ expected: Bool) {
        #expect(URLText(text, isPattern: false).mayOccur(in: Array(line.utf8)) == expected)
    }

    @Test(
        arguments: [
            ("404", 404...404), ("4xx", 400...499), ("2XX", 200...299), ("99", nil), ("x04", nil), ("40x", nil),
            ("0xx", nil), ("2000", nil), ("", nil), ("-10", nil), ("４０４", nil),
        ] as [(String, ClosedRange<Int>?)])
    func statusesAreParsed(_ text: String, _ expected: ClosedRange<Int>?) {
        #expect(URLFilter.statuses(text) == expected)
    }
}
