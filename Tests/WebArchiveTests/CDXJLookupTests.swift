import Testing

@testable import WebArchive

private typealias Entry = ZIPBuilder.Entry

/// Looks up every URL, and expects the same result as reading the whole index.
private func expectSearchEqualsScan(_ wacz: WACZFile, _ urls: some Sequence<String>, _ name: String) throws {
    let all = try entries(wacz)
    for url in urls {
        let matcher = CaptureMatcher(url: url)
        let scanned = all.filter { matcher.accepts($0) }
        #expect(try wacz.captures(ofURL: url) == scanned, "\(name): \(url)")
        let wanted = CaptureTimestamp(digits: "20230601")
        let closest = wanted?.closest(in: scanned.filter { matcher.isReplayable($0) }) { $0.captureTime }
        #expect(try wacz.closestCapture(toURL: url, at: wanted)?.timestamp == closest?.timestamp, "\(name): \(url)")
    }
}

private func entries(_ wacz: WACZFile) throws -> [CDXJEntry] {
    var all: [CDXJEntry] = []
    try wacz.forEachIndexEntry { entry, _ in
        all.append(entry)
        return true
    }
    return all
}

struct CDXJLookupTests {
    private static let sites = [
        ("org,example)", "http://example.org"), ("org,example,sub)", "https://sub.example.org"),
        ("org,example:8080)", "http://example.org:8080"), ("net,other)", "http://www.other.net"),
    ]

    /// 200 sorted lines: duplicates across blocks, URLs with several times, methods, other schemes, an invalid line.
    private static let lines: [String] = {
        var lines: [String] = []
        func add(_ key: String, _ url: String, _ times: [String], _ more: String = "") {
            lines += times.enumerated().map {
                IndexBuilder.line(key, $0.element, url: url, offset: lines.count + $0.offset, more: more)
            }
        }
        let times = (10..<40).map { "202301\($0 < 32 ? "\($0)" : "31")0000\($0)" }
        add("org,example)/", "http://www.example.org/", times)
        add("org,example)/", "https://example.org/#top", ["20230601000000", "20230601000000", "20240101000000123"])
        add("org,example)/a", "http://example.org/a/", ["20230101000000"])
        add("org,example)/a/b", "http://example.org/a//b", ["20230101000000"])
        add("org,example)/caf%c3%a9", "http://example.org/caf%C3%A9", ["20230101000000", "20230102000000"])
        add("org,example)/post", "http://example.org/post", ["20230101000000"])
        add(
            "org,example)/post?0=1&__wb_method=post&q=1", "http://example.org/post", ["2023010101"],
            ",\"method\":\"POST\",\"requestBody\":\"0=1&q=1\"")
        add(
            "org,example)/post?__wb_method=post&q=one", "http://example.org/post", ["20230101000001"],
            ",\"method\":\"POST\",\"requestBody\":\"q=one\"")
        add("org,example)/post?__wb_method=put", "http://example.org/post", ["20230101000002"], ",\"method\":\"PUT\"")
        add(
            "org,example)/q?__wb_method=post&b=2&z=1", "http://example.org/q?z=1", ["20230101000000"],
            ",\"method\":\"POST\",\"requestBody\":\"b=2\"")
        add("org,example)/q?a=1&b=2", "http://example.org/q?b=2&a=1", ["20230101000000"])
        add("org,example)/Q?z=1", "http://example.org/Q?z=1", ["20230101000000"])
        add("org,example,www)/kept", "http://www.example.org/kept", ["20230101000000"])
        add("urn:text:http://x/", "urn:text:http://x/", ["20230101000000"])
        add("file:///shot.png", "file:///shot.png", ["20230101000000"])
        add("http://plain.example/X?b&a", "http://plain.example/X?b&a", ["20230101000000", "20230102000000"])
        for number in 0..<140 {
            let (host, origin) = sites[number % sites.count]
            add("\(host)/page\(number)", "\(origin)/page\(number)", ["20230101000000"])
        }
        lines.append("org,example)/bad 20230101000000 {\"url\":")
        return lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }()

    private static let urls = [
        "http://example.org/", "https://www.example.org", "http://www.example.org/", "http://example.org/a/",
        "http://example.org/a", "http://example.org/a//b", "http://example.org/caf%C3%A9", "http://example.org/post",
        "http://example.org/post?__wb_method=POST&q=one", "http://example.org/post?__wb_method=PUT",
        "http://example.org/q?z=1", "http://example.org/q?b=2&a=1", "http://example.org/Q?z=1",
        "http://www.example.org/kept", "urn:text:http://x/", "file:///shot.png", "http://plain.example/X?b&a",
        "https://plain.example/X?b&a", "http://www.other.net/page3", "http://example.org/absent", "http://a.aaa/",
        "http://zz.zzz/", "", "urn:absent", "http://example.org/bad", "http://example.org/page0",
        "http://example.org:8080/page2", "http://other.net/page3",
    ]

    @Test(arguments: IndexBuilder.layouts(CDXJLookupTests.lines).map(\.name))
    func allLayoutsGiveTheSameResult(_ name: String) throws {
        let layout = try #require(IndexBuilder.layouts(Self.lines).first { $0.name == name })
        let wacz = try IndexBuilder.open(layout.entries)
        try expectSearchEqualsScan(wacz, Self.urls, name)
        #expect(try entries(wacz) == entries(IndexBuilder.open(IndexBuilder.layouts(Self.lines)[0].entries)))
        let isSearch = try wacz.indexAccess() == .search
        #expect(isSearch == !["deflated", "gz without idx", "idx garbage", "idx empty"].contains(name))
        #expect(try wacz.inspect().isSearchable == isSearch)
    }

    @Test func findsExpectedCaptures() throws {
        let wacz = try IndexBuilder.open(IndexBuilder.layouts(Self.lines)[4].entries)
        func count(_ url: String) throws -> Int { try wacz.captures(ofURL: url).count }
        #expect(try count("http://example.org/") == 33)
        #expect(try count("http://www.example.org/") == 33)
        #expect(try count("http://example.org/a") == 1)
        #expect(try count("http://example.org/post") == 4)
        #expect(try count("http://example.org/post?__wb_method=POST&q=one") == 1)
        #expect(try count("http://example.org/q?z=1") == 1)
        #expect(try count("https://plain.example/X?b&a") == 2)
        #expect(try count("http://www.example.org/kept") == 1)
        #expect(try count("https://example.org/page0") == 1)
        #expect(try count("http://other.net/page3") == 1)
    }

    @Test(arguments: ["index.cdx", "index.cdx.gz"])
    func searchesSeveralIndexesAsOne(_ second: String) throws {
        let half = Self.lines.count / 2
        let first = Entry("indexes/a.cdx", Self.lines[..<half].joined(separator: "\n"))
        let rest = Array(Self.lines[half...])
        let (idx, blocks) = IndexBuilder.zipNum(rest, blockLines: 5)
        let others =
            second == "index.cdx"
            ? [Entry("indexes/index.cdx", rest.joined(separator: "\n"))]
            : [Entry("indexes/index.cdx.gz", blocks), Entry("indexes/index.idx", idx)]
        let wacz = try IndexBuilder.open([first] + others)
        #expect(try wacz.indexAccess() == .search)
        try expectSearchEqualsScan(wacz, Self.urls, second)
    }

    @Test func moreThan100IndexesNeedASortedCopy() throws {
        let many = (0...100).map {
            Entry("indexes/\($0).cdx", IndexBuilder.line("k\($0)", "2023", url: "http://k/\($0)"))
        }
        #expect(try IndexBuilder.open(Array(many.dropLast())).indexAccess() == .search)
        let wacz = try IndexBuilder.open(many)
        guard case .sequential(let reason) = try wacz.indexAccess() else {
            Issue.record("101 indexes must not be searched")
            return
        }
        #expect(reason.code == .many)
        #expect(try wacz.inspect().sequentialReason?.code == .many)
        try expectSearchEqualsScan(wacz, (0...101).map { "http://k/\($0)" }, "many")
    }

    @Test func unsortedIndexIsScanned() throws {
        var lines = Self.lines
        lines.swapAt(20, 150)
        let wacz = try IndexBuilder.open([Entry("indexes/index.cdx", lines.joined(separator: "\n"))])
        guard case .sequential(let reason) = try wacz.indexAccess() else {
            Issue.record("an unsorted index must not be searched")
            return
        }
        #expect(reason.code == .unsorted)
        try expectSearchEqualsScan(wacz, Self.urls, "unsorted")
        let inspection = try wacz.inspect()
        #expect(inspection.searchableIndexes.map(\.isSearchable) == [false])
        #expect(inspection.searchableIndexes.map { $0.reason?.code } == [.unsorted])
    }

    @Test func unsortedLinesFoundDuringASearchCauseAScan() throws {
        var limits = Limits.standard
        limits.sortCheckBytesMax = 0
        let lines = (0..<5000).reversed().map { IndexBuilder.line("k\($0 + 10_000)", "2023", url: "http://k/\($0)") }
        let wacz = try IndexBuilder.open([Entry("indexes/index.cdx", lines.joined(separator: "\n"))], limits: limits)
            .assumingSorted()
        #expect(try wacz.captures(ofURL: "http://k/77").isEmpty == false)
    }

    @Test func closestPrefersTheLaterOfTwo() throws {
        let times = ["20231231235950", "20240101000010", "20240101000030", "20250101000000"]
        let lines = times.map { IndexBuilder.line("org,a)/", $0, url: "http://a.org/") }
        let posted = IndexBuilder.line(
            "org,a)/?__wb_method=post", "20240101000020", url: "http://a.org/", more: ",\"method\":\"POST\"")
        for isDeflated in [false, true] {
            let text = (lines + [posted]).joined(separator: "\n")
            let wacz = try IndexBuilder.open([Entry("indexes/index.cdx", text).with { $0.isDeflated = isDeflated }])
            func closest(_ digits: String?) throws -> String? {
                try wacz.closestCapture(toURL: "https://a.org/", at: digits.flatMap { CaptureTimestamp(digits: $0) })?
                    .timestamp
            }
            #expect(try closest("20240101000020") == "20240101000030")
            #expect(try closest("20240101000000") == "20240101000010")
            #expect(try closest("1999") == "20231231235950")
            #expect(try closest(nil) == "20250101000000")
            #expect(try wacz.closestCapture(toURL: "http://b.org/", at: nil) == nil)
        }
    }

    @Test(arguments: [
        (CaptureQuery.MatchType.exact, "http://example.org/a", ["org,example)/a "]),
        (.prefix, "http://example.org/page1", ["org,example)/page1"]), (.prefix, "example.org/", ["org,example)/"]),
        (.prefix, "urn:text:", ["urn:text:"]), (.host, "urn:text:http://x/", []),
        (.host, "example.org", ["org,example)", "org,example:"]),
        (.host, "http://www.example.org/x", ["org,example)", "org,example:", "org,example,www)"]),
        (.domain, "example.org", ["org,example)", "org,example:", "org,example,"]),
        (.domain, "org", ["org,"]), (.domain, "absent.example", ["example,absent"]),
        (.host, "other.net", ["net,other)"]),
    ])
    func cursorFollowsTheMatchType(_ type: CaptureQuery.MatchType, _ url: String, _ prefixes: [String]) throws {
        let lines = Self.lines.filter { !$0.hasPrefix("http") }
        let expected = lines.filter { line in prefixes.contains { line.hasPrefix($0) } && !line.contains("/bad ") }
            .map { $0.prefix { $0 != "{" }.dropLast() }
        for layout in IndexBuilder.layouts(lines) {
            let wacz = try IndexBuilder.open(layout.entries)
            let cursor = wacz.captures(matching: CaptureQuery(url: url, matchType: type))
            var keys: [Substring] = []
            while let entry = try cursor.next() { keys.append("\(entry.urlKey) \(entry.timestamp)") }
            #expect(keys == expected, "\(layout.name)")
            #expect(try cursor.isSorted == (wacz.indexAccess() == .search))
        }
    }

    /// The prefixes are the start keys of `calc_search_range(url, "prefix")` in pywb 2.10.0.
    @Test(arguments: [
        ("http://example.org/a", "org,example)/a"), ("http://example.org/a/", "org,example)/a/"),
        ("http://example.org/a?", "org,example)/a?"), ("http://example.org/A?", "org,example)/a?"),
        ("http://example.org/?", "org,example)/?"), ("http://example.org/a/?", "org,example)/a?"),
        ("http://example.org/a?b=1", "org,example)/a?b=1"), ("http://example.org/a?b=1?", "org,example)/a?b=1?"),
        ("http://example.org", "org,example)/"),
    ])
    func prefixesMatchPywb(_ url: String, _ prefix: String) throws {
        let keys = ["", "?x", "a", "a/", "a/b", "a?b=1", "a?b=12", "a?b=1?", "a?c", "ab"].map { "org,example)/\($0)" }
        let lines = keys.map { IndexBuilder.line($0, "20230101000000", url: "http://example.org/") }
        let wacz = try IndexBuilder.open([Entry("indexes/index.cdx", lines.joined(separator: "\n"))])
        let expected = keys.filter { $0.hasPrefix(prefix) }
        let cursor = wacz.captures(matching: CaptureQuery(url: url, matchType: .prefix))
        var found: [String] = []
        while let entry = try cursor.next() { found.append(entry.urlKey) }
        #expect(found == expected)
        let answer = try CDXQueries.lines("output=text&fl=urlkey&matchType=prefix&url=\(url)", wacz)
        #expect(answer == expected)
    }

    @Test func cursorStopsEarlyAndMergesIndexes() throws {
        let even = stride(from: 0, to: 1000, by: 2).map {
            IndexBuilder.line("k)/\($0 + 1000)", "2023", url: "http://k/\($0)")
        }
        let odd = stride(from: 1, to: 1000, by: 2).map {
            IndexBuilder.line("k)/\($0 + 1000)", "2023", url: "http://k/\($0)")
        }
        let wacz = try IndexBuilder.open([
            Entry("indexes/a.cdx", even.joined(separator: "\n")), Entry("indexes/b.cdx", odd.joined(separator: "\n")),
        ])
        let cursor = wacz.captures(matching: CaptureQuery(url: "http://k/", matchType: .prefix))
        let first = try (0..<5).map { _ in try cursor.next()?.url }
        #expect(first == (0..<5).map { "http://k/\($0)" })
    }
}

@Suite(.enabled(if: fixtures != nil, "REPLAYHOST_FIXTURES is not set"))
struct CDXJFixtureTests {
    private static let layouts = ["", "-plain", "-deflate", "-gz", "-zipnum", "-cdxj", "-1.2.0"]
    private var folder: String { fixtures ?? "" }

    @Test(arguments: CDXJFixtureTests.layouts)
    func allLayoutsGiveTheSameResult(_ layout: String) throws {
        let wacz = try WACZFile.open(path: "\(folder)/ours/small\(layout).wacz")
        let isSearch = try wacz.indexAccess() == .search
        #expect(isSearch == !["-deflate", "-gz"].contains(layout))
        let plain = try entries(WACZFile.open(path: "\(folder)/ours/small-plain.wacz"))
        #expect(try entries(wacz) == plain)
        let urls = Set(plain.map(\.url) + ["http://edge.test/absent", "http://edge.test/post?__wb_method=POST&q=one"])
        #expect(urls.count > 100)
        // If each lookup is a scan, a sample is enough.
        try expectSearchEqualsScan(wacz, isSearch ? Array(urls) : Array(urls.sorted().prefix(20)), layout)
        #expect(try wacz.inspect().isSearchable == isSearch)
    }

    @Test(arguments: PublishedCase.all)
    func searchEqualsScanInPublishedArchives(_ c: PublishedCase) throws {
        let wacz = try WACZFile.open(path: "\(folder)/\(c.file)")
        let urls = try Set(entries(wacz).map(\.url).prefix(40))
        try expectSearchEqualsScan(wacz, Array(urls), c.file)
        #expect(try !urls.isEmpty && wacz.captures(ofURL: urls.first ?? "").isEmpty == false)
    }

    // Lines 1, 15, 29 … of `cdxj-indexer -s -p` 1.5.0 (PyPI) over the three WARCs of small-plain.wacz.
    @Test(arguments: ["-plain", "-zipnum"])
    func recordPositionsMatchCdxjIndexer(_ layout: String) throws {
        let wacz = try WACZFile.open(path: "\(folder)/ours/small\(layout).wacz")
        let expected: [(String, String, String, UInt64, UInt64)] = [
            ("http://edge.test/", "20261120232735", "small-00000.warc.gz", 11053, 1219),
            ("http://edge.test/500", "20261120233038", "edge.warc.gz", 20403, 432),
            ("http://edge.test/data.json", "20261120232736", "small-00000.warc.gz", 56890, 480),
            ("http://edge.test/frameset", "20261120232737", "small-00000.warc.gz", 65718, 505),
            ("http://edge.test/Q?A=1", "20261120233038", "edge.warc.gz", 16694, 568),
            ("http://edge.test/range.mp4", "20261120233040", "edge.warc.gz", 42286, 1230),
            ("http://edge.test/svg.svg?w=1", "20261120232737", "small-00000.warc.gz", 75841, 505),
            ("http://edge.test/utf16", "20261120232736", "small-00000.warc.gz", 35701, 473),
            (
                "http://docs.python.test/_static/classic.css", "20261120233107", "small-py-00000.warc.gz", 1_283_980,
                1836
            ),
            ("http://docs.python.test/_static/sidebar.js", "20261120233059", "small-py-00000.warc.gz", 125_742, 1872),
            ("http://docs.python.test/howto/index.html", "20261120233059", "small-py-00000.warc.gz", 264_867, 3536),
        ]
        for (url, timestamp, filename, offset, length) in expected {
            let found = try wacz.captures(ofURL: url).filter { $0.filename == filename && $0.offset == offset }
            #expect(found.map(\.timestamp) == [timestamp], "\(url)")
            #expect(found.map(\.length) == [length], "\(url)")
        }
    }

    @Test func keysMatchTheIndexer() throws {
        let wacz = try WACZFile.open(path: "\(folder)/ours/small-plain.wacz")
        try wacz.forEachIndexEntry { entry, _ in
            #expect(SURT.pythonKey(for: entry.requestURL) == entry.urlKey)
            return true
        }
    }
}
