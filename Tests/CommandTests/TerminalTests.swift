import TestSupport
import Testing

@testable import ArchiveStore
@testable import CommandSupport
@testable import replayhost

struct TerminalTests {
    private func table() -> Table {
        var table = Table(["ID", "TITLE", "PAGES", "SIZE"], hideable: ["PAGES", "SIZE"], truncatable: ["TITLE"])
        table.add(["crawl", "A title that is longer than others", "12", "1.5 MB"])
        table.add(["a", "漢字漢字漢字漢字", "1", "9 B"])
        return table
    }

    @Test func tableHasItsFullWidthWithoutALimit() {
        #expect(
            table().lines(within: nil) == [
                "ID     TITLE                               PAGES  SIZE",
                "crawl  A title that is longer than others  12     1.5 MB",
                "a      漢字漢字漢字漢字                    1      9 B",
            ])
    }

    @Test(arguments: [
        (44, ["ID     TITLE                   PAGES  SIZE", "crawl  A title that is longe…  12     1.5 MB"]),
        (34, ["ID     TITLE                SIZE", "crawl  A title that is lo…  1.5 MB"]),
        (21, ["ID     TITLE", "crawl  A title that …"]), (5, ["ID     TITLE", "crawl  A title tha…"]),
    ])
    func tableFitsTheTerminal(room: Int, expected: [String]) {
        #expect(Array(table().lines(within: room).prefix(2)) == expected)
    }

    @Test(arguments: [
        (0, 100, 60.0, ""), (50, 100, 1, ""), (50, 100, 30, ", 30 s left"), (10, 100, 60, ", 9 min left"),
        (1, 1000, 20, ", 6 h left"), (1, UInt64.max, 20, ""), (100, 100, 60, ""), (101, 100, 60, ""),
    ])
    func timeLeftIsEstimated(_ done: UInt64, _ total: UInt64, seconds: Double, expected: String) {
        #expect(ProgressLine.timeLeft(done, of: total, seconds) == expected)
    }

    /// glibc's `wcwidth` answers for characters.
    @Test func widthsAreThoseOfTheSystem() async throws {
        let texts = [
            "abc", "é", "e\u{301}", "漢字", "한국어", "\u{1112}\u{1161}\u{11AB}", "ｆｕｌｌ", "ﾊﾝｶｸ", "שָׁלוֹם", "مَرْحَبًا", "ไทยที่",
            "हिन्दी",
            "€—“”…", "🐟", "⌚", "\u{200B}\u{200D}", "☀", "─│", "ＡＢ、。", "〈〉",
        ]
        let script = """
            import ctypes, locale, sys
            locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
            width = ctypes.CDLL(None).wcwidth
            for text in sys.argv[1:]:
                print(sum(width(ctypes.c_wchar(letter)) for letter in text))
            """
        let result = try await run("/usr/bin/python3", ["-c", script] + texts)
        try #require(result.code == 0, "\(result.errors)")
        for (text, width) in zip(texts, result.outputLines) {
            #expect(Terminal.width(text) == Int(width), "\(text)")
        }
        for emoji in ["🇯🇵", "☀️"] { #expect(Terminal.width(emoji) == 2, "\(emoji)") }
        // Some terminals draw one emoji, and some draw each.
        for emoji in ["👩‍🚀", "👍🏽"] { #expect(Terminal.width(emoji) == 4, "\(emoji)") }
    }

    /// Each is one character, which a terminal draws in more than 40 columns.
    @Test(arguments: [
        "a" + String(repeating: "\u{FF9E}", count: 79) + "\u{FE0F}", "👩" + String(repeating: "\u{1F3FD}", count: 39),
        String(repeating: "\u{1100}", count: 40) + "\u{FE0F}",
    ])
    func charactersOfManyLettersAreWide(title: String) {
        #expect(Terminal.width(title) > 40)
        #expect(!Terminal.title("\(title)error: damaged").contains("error"))
    }

    @Test func textIsBrokenBetweenWords() {
        #expect(
            Terminal.wrapped("one two three", after: "a: ", indentation: 2, within: 10) == ["a: one two", "  three"])
        #expect(
            Terminal.wrapped("https://a.example/long is", after: "", indentation: 1, within: 8) == [
                "https://a.example/long", " is",
            ])
        #expect(Terminal.wrapped("one two three", after: "", indentation: 2, within: nil) == ["one two three"])
        #expect(Terminal.wrapped("", after: "a:", indentation: 2, within: 8) == ["a:"])
    }

    @Test func longIDIsTruncatedLast() {
        var table = Table(["TITLE", "ID", "SIZE"], truncatable: ["TITLE"])
        let id = String(repeating: "abcdefghi-", count: 6)
        table.add(["A title that is longer than others", id, "9 B"])
        #expect(
            table.lines(within: 80) == [
                "TITLE         ID\(String(repeating: " ", count: 60))SIZE", "A title tha…  \(id)  9 B",
            ])
        #expect(table.lines(within: 40)[1] == "A title tha…  abcdefghi-abcdefghi…  9 B")
    }

    @Test func shortFormsAreUsedBeforeColumnsAreHidden() {
        var table = Table(["TITLE", "ID", "SIZE"], hideable: ["SIZE"], truncatable: ["TITLE"])
        table.add(["Harbour", "harbour-of-the-old-town", "9 B"], short: ["ID": "harbour-"])
        #expect(table.lines(within: 40)[1] == "Harbour  harbour-of-the-old-town  9 B")
        #expect(table.lines(within: 30)[1] == "Harbour  harbour-  9 B")
    }

    @Test(arguments: [
        (80, "one two three four five |six| seven eight"), (30, "…four five |six| seven eight"),
        (20, "…five |six| seven eig…"), (8, "…|six| se…"),
    ])
    func snippetShowsTheMatch(room: Int, expected: String) {
        let parts: [HitText.Part] = [("one two three four five ", false), ("six", true), (" seven eight", false)]
        let shown = HitText.fitting(parts, in: room)
        #expect(shown.map { $0.isBold ? "|\($0.text)|" : $0.text }.joined() == expected)
        #expect(Terminal.width(shown.map(\.text).joined()) <= room)
    }

    @Test(arguments: [
        (Job.Kind.text, "indexing, 50%"), (.verify, "checking, 50%"),
        (.hash, "[==========          ] 50%, 50 B of 100 B"),
    ])
    func progressNamesTheWork(kind: Job.Kind, expected: String) {
        #expect(ProgressLine.text(JobsRunCommand.progress(of: kind, 50, of: 100), secondsPassed: 0) == expected)
    }

    @Test(arguments: [
        ("text\nwith\ttabs\u{1B}[1m", true), ("", true), ("a\u{0}b", false), ("漢字", true), ("a\u{1}", false),
    ])
    func textIsRecognized(text: String, expected: Bool) {
        #expect(Terminal.isText(Array(text.utf8)) == expected)
    }

    @Test func wideCharactersAreTruncatedCorrectly() {
        #expect(table().lines(within: 19)[2] == "a      漢字漢字漢…")
    }

    /// Includes inconsistent numbers of a damaged catalog.
    @Test(arguments: [
        (0, 0, 0), (1, 0, 0), (1, 3, 33), (2, 2, 100), (9, 2, 100), (UInt64.max, 1, 100), (UInt64.max, UInt64.max, 100),
    ])
    func percentageIsBetween0And100(_ done: UInt64, _ total: UInt64, _ expected: Int) {
        #expect(Terminal.percent(done, of: total) == expected)
    }
}
