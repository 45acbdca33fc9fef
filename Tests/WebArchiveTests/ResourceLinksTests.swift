import Testing

@testable import WebArchive

struct ResourceLinksTests {
    private func links(_ read: (inout ResourceLinks, [UInt8]) -> Void, _ text: String) -> [String] {
        var links = ResourceLinks()
        read(&links, Array(text.utf8))
        return links.links.map(\.text)
    }

    @Test(arguments: [
        ("a{background:url(/a.png)} b{src:url( \"b c.woff\" )}", ["/a.png", "b c.woff"]),
        ("@import '/a.css'; @import url(b.css); @import \"c.css\" print;", ["b.css", "/a.css", "c.css"]),
        ("@import 'never ends; url(never ends", []), ("url()url(x)", ["x"]),
        ("url(\(String(repeating: "x", count: 5000)))url(/y)", ["/y"]), ("@import", []), ("@import'", []), ("url(", []),
    ])
    func linksOfStyleSheets(_ text: String, _ expected: [String]) {
        #expect(links({ $0.readCSS($1) }, text) == expected)
    }

    @Test(arguments: [
        (#"x = "/a/b.js"; y = 'https:\/\/b.example\/c?d\u0026e'"#, ["/a/b.js", "https://b.example/c?d&e"]),
        (#"it's "/a.png" and it\'s '/b.png'"#, ["/a.png", "/b.png"]),
        ("'never ends /a.png\n'/b.png'", ["/b.png"]), (#""it\'s '/c.png' here""#, ["/c.png"]),
        (#"{"a":"{\"b\":1}","c":"/d.png"}"#, ["/d.png"]), ("'\\", []), ("'", []), ("`/e/${f}`'/g.png'", ["/g.png"]),
    ])
    func textsInScriptsThatMayBeURLs(_ text: String, _ expected: [String]) {
        #expect(links({ $0.readScript($1) }, text) == expected)
    }

    /// Each byte is read a few times, wherever quotes and brackets are missing: a few MB would take hours otherwise.
    @Test(arguments: ["url(", "@import '", "@import \"url(", "\\'", "'", "\"'`", "\\\"a", "'\n"])
    func unfinishedTextsAreReadOnce(_ part: String) {
        let bytes = Array(String(repeating: part, count: (1 << 20) / part.utf8.count).utf8)
        var links = ResourceLinks()
        links.readCSS(bytes)
        links.readScript(bytes)
        #expect(links.links.count <= 1)
    }

    @Test func attributesOfATagAreBounded() {
        let many = (0..<200_000).map { "a\($0)=/x/\($0)" }.joined(separator: " ")
        #expect(links({ $0.readHTML($1) }, "<p \(many)>").count == Tag.attributesMax)
        let large = (0..<40).map { "data-\($0)=/x/\(String(repeating: "y", count: 100_000))" }.joined(separator: " ")
        #expect(links({ $0.readHTML($1) }, "<p \(large) src=/last.png><img src=/a.png>") == ["/a.png"])
    }
}
