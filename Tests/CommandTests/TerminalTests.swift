import Testing

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
        (30, ["ID     TITLE            SIZE", "crawl  A title that i…  1.5 MB"]),
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
