import Testing

@testable import WebArchive

struct CaptureWindowTests {
    private static func entry(_ number: Int) -> CDXJEntry {
        CDXJEntry(
            urlKey: "org,a)/", timestamp: "20240101000000", url: "\(number)", filename: "", offset: 0, length: nil)
    }

    private static let times = (0..<100_000).compactMap { CaptureTimestamp(millisecondsSince1970: $0 * 1000) }

    private static func time(_ number: Int) -> CaptureTimestamp { times[number] }

    /// In any order of captures, the window equals that of the sorted list.
    @Test(arguments: [
        (CaptureWindow.Span.first, 0..<50), (.before(time(40_000)), 39_950..<40_000),
        (.after(time(40_000)), 40_001..<40_051), (.around(time(40_000)), 39_975..<40_025),
        (.around(time(3)), 0..<50), (.around(time(99_998)), 99_950..<100_000), (.around(nil), 99_950..<100_000),
        (.before(time(0)), 0..<0), (.after(time(99_999)), 100_000..<100_000),
    ])
    func windowMatchesTheSortedList(_ span: CaptureWindow.Span, _ expected: Range<Int>) {
        var window = CaptureWindow(span, limit: 50)
        var read = 0
        for step in 0..<100_000 {
            // 7,919 and 100,000 are coprime, so this gives every number once, unordered.
            let number = step * 7919 % 100_000
            window.add(at: Self.time(number), archive: 0) {
                read += 1
                return Self.entry(number)
            }
        }
        let (position, items) = window.items()
        #expect(items.map { $0.entry.url } == expected.map(String.init))
        #expect(position == expected.lowerBound)
        #expect(window.total == 100_000)
        #expect(read < 20_000, "the JSON of most lines isn't read")
    }

    @Test func capturesOfOneTimeStayTogetherUpToALimit() {
        var window = CaptureWindow(.around(Self.time(5)), limit: 10)
        for number in 0..<100_000 { window.add(at: Self.time(5), archive: 0) { Self.entry(number) } }
        #expect(window.items().items.count == 10 + Limits.standard.momentCapturesMax)
        #expect(window.total == 100_000)
    }
}
