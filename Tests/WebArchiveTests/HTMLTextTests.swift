import Testing

@testable import WebArchive

/// Expected texts are what browsers show, but for links without white space between them. WHATWG HTML §13.2.5 and §15.3.
struct HTMLTextTests {
    struct Document: Equatable {
        var title: [String] = []
        var headings: [String] = []
        var body: [String] = []
        var besideContent: [String] = []
    }

    /// Reads HTML in pieces of `step` bytes.
    static func read(_ html: String, step: Int = 7) throws -> (document: Document, language: String?) {
        final class Lines { var document = Document() }
        let lines = Lines()
        var reader = HTMLTextReader { part, bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            switch part {
            case .title: lines.document.title.append(text)
            case .heading: lines.document.headings.append(text)
            case .body: lines.document.body.append(text)
            case .besideContent: lines.document.besideContent.append(text)
            }
        }
        let bytes = Array(html.utf8)
        for start in stride(from: 0, to: bytes.count, by: step) {
            try reader.read(Array(bytes[start..<min(start + step, bytes.count)]))
        }
        try reader.finish()
        return (lines.document, reader.language)
    }

    static let cases: [(html: String, document: Document)] = [
        ("plain", Document(body: ["plain"])),
        (
            "<nav>Menu<h2>More</h2></nav><main><header><h1>One</h1>by me</header>Text<footer>Sources</footer></main><footer>Foot</footer>",
            Document(headings: ["One"], body: ["by me", "Text", "Sources"], besideContent: ["Menu", "More", "Foot"])
        ),
        (
            "<header><h1>Site</h1>Motto</header><article>a<aside>note</aside>b</article><aside>side</aside>c",
            Document(headings: ["Site"], body: ["a", "b", "c"], besideContent: ["Motto", "note", "side"])
        ),
        (
            "<div role=navigation>Menu</div><div role=main>Text</div><p role=contentinfo>Foot<p>Rest",
            Document(body: ["Text", "Rest"], besideContent: ["Menu", "Foot"])
        ),
        ("<nav>open <p>and not closed", Document(besideContent: ["open", "and not closed"])),
        ("</nav>a</footer>b<nav/>c", Document(body: ["a", "b"], besideContent: ["c"])),
        (
            "<title>A &amp; B</title><h1>One</h1><p>two <b>th</b>ree",
            Document(title: ["A & B"], headings: ["One"], body: ["two three"])
        ),
        ("a<script>b</script>c<style>d</style>e<template>f</template>g", Document(body: ["aceg"])),
        ("a<script>if (x < '</scr' + 'ipt>') b</script>c", Document(body: ["ac"])),
        ("a<p hidden>b</p><p style='color:red; display : none'>c</p><p>d", Document(body: ["a", "d"])),
        ("a<!-- <p>b</p> -->c<!-->d<!--->e", Document(body: ["acde"])),
        ("<textarea>&lt;b> <i></textarea>x", Document(body: ["<b> <i>", "x"])),
        (
            "caf&eacute; &#233; &#xE9; &#128; &unknown; &copy 1 < 2 & 3",
            Document(body: ["café é é € &unknown; © 1 < 2 & 3"])
        ),
        ("  a \n\t b  <br> c ", Document(body: ["a b", "c"])),
        ("<pre>a\n  b</pre>", Document(body: ["a\nb"])),
        ("<ul><li>a<li>b</ul><table><tr><td>c<td>d<tr><th>e</table>", Document(body: ["a", "b", "c d", "e"])),
        ("<dl><dt>term<dd>text<dt>other</dl>", Document(headings: ["term", "other"], body: ["text"])),
        ("<noscript>a</noscript><iframe>b</iframe><object>c</object>d", Document(body: ["d"])),
        (
            "<svg><title>tip</title><text>shown</text></svg><title>real</title>",
            Document(title: ["real"], body: ["shown"])
        ),
        ("<a title='x > y' href=z>link</a>", Document(body: ["link"])),
        ("<nav><a href=a>Home</a><a href=b>Hours</a></nav>", Document(besideContent: ["Home Hours"])),
        ("<a href=a>lim</a>pets <i><a href=b>one</a></i><b><a href=c>two</a></b>", Document(body: ["limpets one two"])),
        ("<p>unclosed <b>tags <i>here<p>next", Document(body: ["unclosed tags here", "next"])),
        ("", Document()), ("<", Document(body: ["<"])), ("<p", Document()), ("a</p", Document(body: ["a"])),
        ("&#xFFFFFFFF;", Document(body: ["\u{FFFD}"])),
    ]

    @Test(arguments: cases.indices) func textIsWhatABrowserShows(number: Int) throws {
        let (html, expected) = Self.cases[number]
        for step in [1, 2, 7, 4096] { #expect(try Self.read(html, step: step).document == expected, "\(html)") }
    }

    @Test func languageIsThatOfTheRoot() throws {
        #expect(try Self.read("<!doctype html><html lang='de-AT'><p lang=fr>x").language == "de-AT")
        #expect(try Self.read("<html><p lang=fr>x").language == nil)
    }

    /// A tree of this would need gigabytes.
    @Test func hostileNestingIsReadInLinearTime() throws {
        let deep = String(repeating: "<i>", count: 100_000) + "end"
        #expect(try Self.read(deep, step: 65_536).document.body == ["end"])
        let divs = String(repeating: "<div>", count: 100_000) + "a" + String(repeating: "</div>", count: 100_000) + "b"
        #expect(try Self.read(divs, step: 65_536).document.body == ["a", "b"])
        let closed = String(repeating: "<p>x</b></i></u>", count: 50_000)
        #expect(try Self.read(closed, step: 65_536).document.body.count == 50_000)
        let attributes = "<a " + String(repeating: "b='", count: 100_000) + ">x</a>y"
        #expect(try Self.read(attributes, step: 65_536).document.body.count <= 1)
    }

    @Test func longLinesComeInPieces() throws {
        let words = String(repeating: "word ", count: 1_000_000)
        let lines = try Self.read(words, step: 65_536).document.body
        #expect(lines.allSatisfy { $0.utf8.count <= 192 << 10 })
        #expect(lines.joined(separator: " ").split(separator: " ").count == 1_000_000)
    }
}
