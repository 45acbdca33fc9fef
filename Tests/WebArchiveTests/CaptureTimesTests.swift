import TestSupport
import Testing

@testable import WebArchive

/// Lookups of a URL with many captures, compared with a plain search of the same list.
struct CaptureTimesTests {
    private static let url = "https://a.example/"

    private typealias Capture = (time: CaptureTimestamp, method: String?, offset: Int)

    /// 1,500 captures two hours apart: 40 of one moment, some with milliseconds, some of another method.
    private static let captures = (0..<1500).compactMap { number -> Capture? in
        let hours = Int64((700..<740).contains(number) ? 700 : number) * 2
        let milliseconds: Int64 = number.isMultiple(of: 7) && hours != 1400 ? 120 : 0
        return CaptureTimestamp(millisecondsSince1970: 1_600_000_000_000 + hours * 3_600_000 + milliseconds)
            .map { ($0, number.isMultiple(of: 11) ? "POST" : nil, number) }
    }

    private static func timestamp(_ time: CaptureTimestamp) -> String {
        let milliseconds = time.millisecondsSince1970 % 1000
        return time.digits14 + (milliseconds == 0 ? "" : "\(milliseconds)")
    }

    private static func archive(_ layout: String) throws -> WACZFile {
        var lines = captures.map { capture in
            IndexBuilder.line(
                capture.method == nil ? "example,a)/" : "example,a)/?__wb_method=post", timestamp(capture.time),
                url: url, offset: capture.offset, more: capture.method.map { ",\"method\":\"\($0)\"" } ?? "")
        }
        lines += (0..<50).map {
            IndexBuilder.line("example,a)/b", "2023010100000\($0 % 10)", url: "https://a.example/b")
        }
        lines.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let entries = try #require(IndexBuilder.layouts(lines).first { $0.name == layout }).entries
        return try IndexBuilder.open(entries)
    }

    private static let moments = [nil, 0, 1, 63, 64, 65, 500, 699, 700, 720, 739, 740, 1435, 1498, 1499]
        .flatMap { (number: Int?) -> [CaptureTimestamp?] in
            guard let number else { return [nil] }
            let time = captures[number].time.millisecondsSince1970
            return [time - 1, time, time + 3_600_000].map { CaptureTimestamp(millisecondsSince1970: $0) }
        }

    /// A deflated index has no table of times, so each lookup reads all lines, as those do that find nothing near. Only
    /// `CASES=all` tries all moments with them.
    private static func moments(_ layout: String, isNear: Bool = true) -> [CaptureTimestamp?] {
        if layout != "deflated" && isNear || Cases.areAll { return moments }
        return stride(from: 0, to: moments.count, by: 5).map { moments[$0] }
    }

    @Test(arguments: ["plain", "zipnum", "deflated"])
    func closestCaptureIsThatOfTheWholeList(_ layout: String) throws {
        let wacz = try Self.archive(layout)
        let matcher = CaptureMatcher(url: Self.url)
        let check = CancellationCheck()
        try wacz.prepareTimes(matching: matcher, check)
        #expect((wacz.captureIndex.times(of: Self.url) != nil) == (layout != "deflated"))
        let conditions: [(isNear: Bool, holds: (Int) -> Bool)] = [
            (true, { _ in true }), (true, { $0 % 100 == 3 }), (false, { $0 == 1499 }), (false, { _ in false }),
        ]
        for (isNear, condition) in conditions {
            let candidates = Self.captures.filter { $0.method == nil && condition($0.offset) }.map(\.time)
            for moment in Self.moments(layout, isNear: isNear) {
                let best = candidates.max { other, one in one.isBetter(than: other, for: moment) }
                let found = try wacz.closestCapture(matching: matcher, at: moment, check) { condition(Int($0.offset)) }
                #expect(found?.captureTime == best, "\(moment?.rfc3339 ?? "latest")")
            }
        }
    }

    @Test(arguments: zip(["plain", "zipnum", "deflated"], [1, 1000, 10]))
    func windowIsThatOfTheWholeList(_ layout: String, _ limit: Int) throws {
        let matcher = CaptureMatcher(url: Self.url)
        let spans = Self.moments(layout).flatMap { moment -> [CaptureWindow.Span] in
            moment.map { [.around($0), .before($0), .after($0)] } ?? [.first, .around(nil)]
        }
        let wacz = try Self.archive(layout)
        let captures = Self.captures.sorted { $0.time < $1.time }
        for span in spans {
            var expected = CaptureWindow(span, limit: limit)
            for capture in captures {
                expected.add(at: capture.time, archive: 0) {
                    CDXJEntry(
                        urlKey: "", timestamp: Self.timestamp(capture.time), url: "", filename: "",
                        offset: UInt64(capture.offset), length: nil)
                }
            }
            var found = CaptureWindow(span, limit: limit)
            try wacz.addCaptures(matching: matcher, of: 0, to: &found, CancellationCheck())
            #expect(found.total == 1500)
            let (wanted, listed) = (expected.items(), found.items())
            #expect(listed.position == wanted.position, "\(span)")
            #expect(listed.items.map { $0.entry.timestamp } == wanted.items.map { $0.entry.timestamp }, "\(span)")
        }
    }

    /// After the first lookup, only the captures around a time are read.
    @Test func fewLinesAreReadAgain() throws {
        let lines = (0..<50_000).map { number in
            let time = CaptureTimestamp(millisecondsSince1970: 1_600_000_000_000 + Int64(number) * 60_000)
            return IndexBuilder.line("example,a)/", time?.digits14 ?? "", url: Self.url, offset: number)
        }
        let counting = CountingByteSource(
            MemoryByteSource(Array((lines.joined(separator: "\n") + "\n").utf8), name: "a"))
        let wacz = try IndexBuilder.open([]).using(indexes: [.sorted(try SortedCDXJIndex(counting))])
        let matcher = CaptureMatcher(url: Self.url)
        var bytes: [Int] = []
        for _ in 0..<2 {
            _ = counting.take()
            var window = CaptureWindow(.around(CaptureTimestamp(digits: "20200920")), limit: 100)
            try wacz.addCaptures(matching: matcher, of: 0, to: &window, CancellationCheck())
            #expect(window.total == 50_000)
            #expect(window.items().items.count == 100)
            var histogram = CaptureHistogram()
            try wacz.addCaptures(matching: matcher, to: &histogram, CancellationCheck())
            #expect(histogram.total == 50_000)
            let closest = try wacz.closestCapture(
                matching: matcher, at: CaptureTimestamp(digits: "20200920"), CancellationCheck()
            ) { _ in true }
            #expect(closest?.timestamp == "20200920000040" || closest?.timestamp == "20200919235940")
            bytes.append(counting.take().bytes)
        }
        #expect(bytes[0] > 4_000_000)
        #expect(bytes[1] < 1_000_000)
    }

    /// Timestamps of 4 to 13 digits sort differently from their times.
    @Test func shortTimestampsAreFound() throws {
        var lines = (0..<1200).map { number in
            let time = CaptureTimestamp(millisecondsSince1970: 1_700_000_000_000 + Int64(number) * 60_000)
            return IndexBuilder.line("example,a)/", time?.digits14 ?? "", url: Self.url, offset: number)
        }
        lines.append(IndexBuilder.line("example,a)/", "2024", url: Self.url, offset: 9999))
        lines.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let wacz = try IndexBuilder.open([.init("indexes/index.cdx", lines.joined(separator: "\n") + "\n")])
        let matcher = CaptureMatcher(url: Self.url)
        try wacz.prepareTimes(matching: matcher, CancellationCheck())
        #expect(wacz.captureIndex.times(of: Self.url) == nil)
        let found = try wacz.closestCapture(toURL: Self.url, at: CaptureTimestamp(digits: "2024"))
        #expect(found?.timestamp == "2024")
    }
}
