import Testing

@testable import WebArchive

/// `page`, `pageSize` and `showNumPages`, with blocks of 300 lines for every index.
struct CDXQueryPagesTests {
    private static func lines(_ count: Int) -> [String] {
        (0..<count).map {
            IndexBuilder.line(
                "org,a)/\(10_000 + $0)", "20230101000000", url: "http://a.org/\(10_000 + $0)", offset: $0,
                more: $0.isMultiple(of: 2) ? ",\"status\":\"200\"" : "")
        }
    }

    @Test(arguments: [
        (0, "", 0, 0, 10), (1, "", 1, 1, 10), (300, "", 1, 1, 10), (301, "", 1, 2, 10), (3000, "", 1, 10, 10),
        (3001, "", 2, 11, 10), (1000, "&pageSize=1", 4, 4, 1), (1000, "&pageSize=3", 2, 4, 3),
        // As in pywb, filters and limits don't change the number of pages.
        (1000, "&pageSize=1&filter==status:200&limit=2&from=2024", 4, 4, 1), (1000, "&pageSize=2&page=7", 2, 4, 2),
    ])
    func countsPages(_ count: Int, _ more: String, _ pages: Int, _ blocks: Int, _ size: Int) throws {
        var lines = Self.lines(count)
        lines.append(IndexBuilder.line("org,b)/", "20230101000000", url: "http://b.org/"))
        for (name, entries) in IndexBuilder.layouts(lines) {
            let wacz = try IndexBuilder.open(entries)
            let text = try CDXQueries.text(CDXQueries.run("url=a.org/*&showNumPages=true\(more)", [("a", wacz)]))
            #expect(text == "{\"pages\": \(pages), \"pageSize\": \(size), \"blocks\": \(blocks)}\n", "\(name)")
        }
    }

    @Test func pagesTogetherEqualTheWholeResult() throws {
        for (name, entries) in IndexBuilder.layouts(Self.lines(1000)) {
            let wacz = try IndexBuilder.open(entries)
            let whole = try CDXQueries.lines("url=a.org/*&filter==status:200", wacz)
            var together: [String] = []
            for page in 0..<4 {
                let lines = try CDXQueries.lines("url=a.org/*&filter==status:200&pageSize=1&page=\(page)", wacz)
                #expect(lines.count == (page < 3 ? 150 : 50), "\(name)")
                together += lines
            }
            #expect(together == whole, "\(name)")
            #expect(try CDXQueries.lines("url=a.org/*&page=0", wacz).count == 1000)
            #expect(try CDXQueries.lines("url=a.org/*&pageSize=2", wacz).count == 600)
            #expect(
                try CDXQueries.lines("url=a.org/*&pageSize=1&page=1&sort=reverse&limit=1&fl=offset", wacz)
                    == ["org,a)/10599 20230101000000 {\"offset\": \"599\"}"])
        }
    }

    /// pywb: "Page 10 invalid: First Page is 0, Last Page is 9", status 400.
    @Test(arguments: [
        (1000, "pageSize=1&page=4", "the first page is 0, the last is 3"),
        (900, "pageSize=1&page=3", "the first page is 0, the last is 2"),
        (1000, "page=1", "the first page is 0, the last is 0"), (0, "page=1", "the first page is 0, the last is 0"),
        (10, "pageSize=9223372036854775807&page=9223372036854775807", "the first page is 0, the last is 0"),
    ])
    func missingPageIsAProblem(_ count: Int, _ more: String, _ hint: String) throws {
        let lines = Self.lines(count) + [IndexBuilder.line("org,b)/", "20230101000000", url: "http://b.org/")]
        let run = try CDXQueries.run(
            "url=a.org/*&\(more)",
            [("a", IndexBuilder.open([.init("indexes/index.cdx", lines.joined(separator: "\n"))]))])
        let problem = #expect(throws: CDXQueryProblem.self) { try run.next() }
        #expect(problem?.parameter == "page")
        #expect(problem?.hint == hint)
    }

    @Test func firstPageOfAnEmptyResultIsEmpty() throws {
        let wacz = try IndexBuilder.open([.init("indexes/index.cdx", Self.lines(1).joined())])
        #expect(try CDXQueries.lines("url=b.org/*&page=0", wacz).isEmpty)
    }
}
