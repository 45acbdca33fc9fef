import ArchiveStore
import Testing

struct ArchiveIDTests {
    private func id(_ name: String, used: Set<String> = []) -> String {
        ArchiveID.readable(from: name) { !used.contains($0.text) }.text
    }

    @Test(arguments: [
        "a", "0", "crawl", "my-crawl-2", String(repeating: "a", count: 63), "a-b-c-d", "all-2", "archive-all",
    ])
    func validIDsAreAccepted(text: String) { #expect(ArchiveID(text)?.text == text) }

    // `[a-z0-9-]`, 1 to 63 characters, no hyphen at either end (RFC 1123 §2.1), never two in a row, no reserved names.
    @Test(arguments: [
        "", "A", "Crawl", "-a", "a-", "-", "a--b", "xn--a", "a_b", "a.b", "a b", "ä", "а", "a/b", "a\0", "a\n", "..",
        String(repeating: "a", count: 64), "all", "api", "localhost", "replayhost", "stock", "www",
    ])
    func invalidIDsAreRejected(text: String) { #expect(ArchiveID(text) == nil) }

    @Test(arguments: [
        ("My Crawl", "my-crawl"), ("crawl.2024", "crawl-2024"), ("  a  b  ", "a-b"), ("a---b", "a-b"),
        ("a -- b", "a-b"),
        ("_private_", "private"), ("Früh Stück", "fruh-stuck"), ("Ångström", "angstrom"),
        ("Crème brûlée", "creme-brulee"),
        ("ﬁle", "file"), ("ＦＵＬＬ", "full"), ("x²", "x2"), ("日本語", "archive"), ("", "archive"), ("---", "archive"),
        ("🙂", "archive"), ("日本 2024", "2024"), ("../../etc/passwd", "etc-passwd"), ("a\0b", "a-b"),
        ("xn--bcher", "xn-bcher"),
        ("API", "archive-api"), ("localhost", "archive-localhost"), ("www", "archive-www"), ("All!", "archive-all"),
        ("stock", "archive-stock"), ("replayhost", "archive-replayhost"), ("İstanbul", "istanbul"),
        (String(repeating: "ab-", count: 40), String((String(repeating: "ab-", count: 21)).dropLast())),
    ])
    func namesBecomeReadable(name: String, expected: String) { #expect(id(name) == expected) }

    @Test func idInUseGetsNumberedSuffix() {
        #expect(id("crawl", used: ["crawl"]) == "crawl-2")
        #expect(id("crawl", used: ["crawl", "crawl-2"]) == "crawl-3")
        #expect(id("api", used: ["archive-api"]) == "archive-api-2")
        #expect(id("日本語", used: ["archive"]) == "archive-2")
        let long = String(repeating: "a", count: 63)
        #expect(id(long, used: [long]) == String(repeating: "a", count: 61) + "-2")
        // The cut falls on a hyphen: never two in a row.
        let hyphen = String(repeating: "a", count: 60) + "-bb"
        #expect(id(hyphen, used: [hyphen]) == String(repeating: "a", count: 60) + "-2")
    }

    @Test func generatedIDIsAlwaysValid() {
        var generator = SystemRandomNumberGenerator()
        let pieces = [
            "a", "-", "--", "Z", "9", " ", "é", "e\u{301}", "\u{301}", "日", "🙂", ".", "_", "xn--", "\0", "ǅ", "İ", "ß",
        ]
        for _ in 0..<2000 {
            let name = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
                pieces.randomElement(using: &generator) ?? ""
            }.joined()
            let used = Set((0..<3).map { _ in id(name) })
            let made = id(name, used: used)
            #expect(ArchiveID(made) != nil, "\(name) became \(made)")
            #expect(!used.contains(made))
        }
    }
}
