import Testing

@testable import WebArchive

/// Queries over small generated archives. Expected results follow pywb and `docs/cdx.md`.
struct CDXQueryRunTests {
    static let lines = [
        line("org,example)/", "20230101000000", "http://example.org/", "200", "text/html", "AAA"),
        line("org,example)/", "20230102000000", "https://www.example.org/", "200", "text/html", "AAA"),
        line("org,example)/", "20230103000000123", "http://example.org/", "404", "text/html", "BBB"),
        line("org,example)/a", "20230105000000", "http://example.org/a/", nil, "warc/revisit", "AAA"),
        line("org,example)/b+c", "20230104000000", "http://example.org/b%20c", "301", "text/plain", "CCC"),
        line("org,example,sub)/", "20230106000000", "http://sub.example.org/", "200", "image/png", "DDD"),
        line("org,example:8080)/", "20230107000000", "http://example.org:8080/", "200", "text/html", "EEE"),
        line("org,examples)/", "20230108000000", "http://examples.org/", "200", "text/html", "FFF"),
    ]

    static func line(
        _ key: String, _ time: String, _ url: String, _ status: String?, _ mime: String, _ digest: String
    ) -> String {
        let status = status.map { ",\"status\":\($0)" } ?? ""
        return
            "\(key) \(time) {\"filename\":\"a.warc.gz\",\"url\":\"\(url)\",\"mime\":\"\(mime)\"\(status),\"offset\":7,\"length\":\"10\",\"digest\":\"\(digest)\",\"extra\":\"x\"}"
    }

    static func open(_ lines: [String]) throws -> WACZFile {
        try IndexBuilder.open([.init("indexes/index.cdx", lines.joined(separator: "\n") + "\n")])
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let query: String
        /// The days in the timestamps of the result.
        let days: [Int]
        var testDescription: String { query }

        init(_ query: String, _ days: [Int]) {
            (self.query, self.days) = (query, days)
        }
    }

    static let cases = [
        // URL and match type.
        Case("url=http://example.org/", [1, 2, 3]), Case("url=https://www.example.org", [1, 2, 3]),
        Case("url=example.org", [1, 2, 3]), Case("url=http://example.org/a", [5]), Case("url=http://example.org/c", []),
        Case("url=http://example.org/*", [1, 2, 3, 5, 4]), Case("url=http://example.org/a*", [5]),
        Case("url=http://example.org&matchType=host", [1, 2, 3, 5, 4, 7]),
        Case("url=*.example.org", [1, 2, 3, 5, 4, 6, 7]), Case("url=*.org", [1, 2, 3, 5, 4, 6, 7, 8]),
        Case("url=http://example.org/?*", []),
        // Times: a partial time means its whole period, and milliseconds belong to their second.
        Case("url=*.org&from=20230103", [3, 5, 4, 6, 7, 8]), Case("url=*.org&to=20230103", [1, 2, 3]),
        Case("url=*.org&to=20230103000000", [1, 2, 3]), Case("url=*.org&to=20230103000000122", [1, 2]),
        Case("url=*.org&from=20230103000000123&to=20230103000000123", [3]), Case("url=*.org&to=2022", []),
        Case("url=*.org&from=2&to=2", [1, 2, 3, 5, 4, 6, 7, 8]), Case("url=*.org&from=202302", []),
        // Filters.
        Case("url=*.org&filter=status:0", [1, 2, 3, 4, 6, 7, 8]),
        Case("url=*.org&filter==status:404", [3]), Case("url=*.org&filter=!status:200", [3, 5, 4]),
        Case("url=*.org&filter==status:", [5]), Case("url=*.org&filter=!mime:text&filter=!=status:200", [5]),
        Case("url=*.org&filter=~mime:text", [1, 2, 3, 4, 7, 8]), Case("url=*.org&filter=~mime:html", []),
        Case("url=*.org&filter=~mime:.*html$", [1, 2, 3, 7, 8]),
        Case("url=*.org&filter=!~url:https?://[^/]*/$", [5, 4]),
        Case("url=*.org&filter=statuscode:301", [4]), Case("url=*.org&filter==original:http://example.org/", [1, 3]),
        Case("url=*.org&filter=extra:x&filter==d:BBB", [3]), Case("url=*.org&filter=nothing:x", []),
        Case("url=*.org&filter=CCC", [4]), Case("url=*.org&filter=~org,example,", [6]),
        Case("url=*.org&filter==source:a&limit=1", [1]), Case("url=*.org&filter=~timestamp:2023010[67]", [6, 7]),
        // Collapsing applies to neighbors only.
        Case("url=*.org&collapse=digest", [1, 3, 5, 4, 6, 7, 8]),
        Case("url=*.org&collapse=urlkey", [1, 5, 4, 6, 7, 8]),
        Case("url=*.org&collapse=timestamp:7", [1]), Case("url=*.org&collapse=urlkey:12", [1, 6, 7, 8]),
        Case("url=*.org&collapse=mime&collapse=status", [1, 5, 4, 6]),
        Case("url=*.org&collapseTime=6", [1, 3, 5, 4, 6]),
        Case("url=*.org&collapse=nothing", [1]),
        // Order and limit.
        Case("url=*.org&limit=2", [1, 2]), Case("url=*.org&sort=reverse", [8, 7, 6, 4, 5, 3, 2, 1]),
        Case("url=*.org&sort=reverse&limit=3", [8, 7, 6]),
        Case("url=*.org&reverse=1&filter=mime:html&limit=2", [8, 7]),
        Case("url=*.org&closest=20230104000000", [4, 3, 5, 6, 2, 7, 1, 8]),
        // A partial time means the end of its period.
        Case("url=*.org&closest=20230104", [5, 4, 6, 3, 7, 2, 8, 1]),
        Case("url=example.org&closest=2022&limit=1", [1]), Case("url=example.org&closest=2025&limit=1", [3]),
        // Halfway between two, the later one comes first.
        Case("url=example.org&closest=20230101120000&limit=2", [2, 1]),
    ]

    @Test(arguments: cases.filter { Libraries.haveWhatIsNeeded(for: $0.query) })
    func returnsMatchingLines(_ c: Case) throws {
        for (name, entries) in IndexBuilder.layouts(Self.lines) {
            let answer = try CDXQueries.lines(c.query, IndexBuilder.open(entries))
            let days = answer.compactMap { $0.split(separator: " ").dropFirst().first?.dropFirst(6).prefix(2) }
            #expect(days.compactMap { Int($0) } == c.days, "\(name)")
        }
    }

    /// docs/cdx.md, "Output": order and spelling of pywb, numbers as strings, and all other members.
    @Test(arguments: [
        (
            "output=cdxj",
            "org,example)/a 20230105000000 {\"url\": \"http://example.org/a/\", \"mime\": \"warc/revisit\", \"digest\": \"AAA\", \"length\": \"10\", \"offset\": \"7\", \"filename\": \"a.warc.gz\", \"extra\": \"x\"}\n"
        ),
        (
            "output=json",
            "{\"urlkey\": \"org,example)/a\", \"timestamp\": \"20230105000000\", \"url\": \"http://example.org/a/\", \"mime\": \"warc/revisit\", \"digest\": \"AAA\", \"length\": \"10\", \"offset\": \"7\", \"filename\": \"a.warc.gz\", \"extra\": \"x\"}\n"
        ),
        ("output=text", "org,example)/a 20230105000000 http://example.org/a/ warc/revisit - AAA 10 7 a.warc.gz\n"),
        ("output=link", "<http://example.org/a/>; rel=\"memento\"; datetime=\"Thu, 05 Jan 2023 00:00:00 GMT\"\n"),
        (
            "output=json&fl=timestamp,url,none",
            "{\"timestamp\": \"20230105000000\", \"url\": \"http://example.org/a/\"}\n"
        ),
        ("output=json&fields=original,statuscode,d", "{\"original\": \"http://example.org/a/\", \"d\": \"AAA\"}\n"),
        ("output=text&fl=offset,status,none,urlkey,source", "7 - - org,example)/a a\n"),
        ("output=cdxj&fl=url,urlkey", "org,example)/a 20230105000000 {\"url\": \"http://example.org/a/\"}\n"),
        ("fl=none", "org,example)/a 20230105000000 {}\n"),
    ])
    func outputFormatsMatchPywb(_ query: String, _ expected: String) throws {
        let wacz = try Self.open(Self.lines)
        #expect(try CDXQueries.text(CDXQueries.run("url=http://example.org/a&" + query, [("a", wacz)])) == expected)
    }

    @Test func linksPointToMementos() throws {
        let run = try CDXQueries.run(
            "url=example.org&output=link&limit=2", [("a", Self.open(Self.lines))], namesSources: true,
            mementoURL: { "http://localhost/c/\($0)/\($1)mp_/\($2)>" })
        #expect(
            try CDXQueries.text(run) == """
                <http://localhost/c/a/20230101000000mp_/http://example.org/%3E>; rel="memento"; \
                datetime="Sun, 01 Jan 2023 00:00:00 GMT"; collection="a",
                <http://localhost/c/a/20230102000000mp_/https://www.example.org/%3E>; rel="memento"; \
                datetime="Mon, 02 Jan 2023 00:00:00 GMT"; collection="a"

                """)
    }

    /// RFC 9110 §5.6.7 gives the first; the others are from GNU date.
    @Test(arguments: [
        ("19941106084937", "Sun, 06 Nov 1994 08:49:37 GMT"), ("20000229235959", "Tue, 29 Feb 2000 23:59:59 GMT"),
        ("19691231235959", "Wed, 31 Dec 1969 23:59:59 GMT"), ("20240102030405678", "Tue, 02 Jan 2024 03:04:05 GMT"),
    ])
    func formatsHTTPDates(_ digits: String, _ date: String) {
        #expect(CaptureTimestamp(digits: digits)?.httpDate == date)
    }

    /// Returns a function that queries an index with one line.
    private static func queries(of line: String) throws -> (String) throws -> String {
        let wacz = try open([line])
        return { query in try CDXQueries.text(CDXQueries.run("url=*.org&" + query, [("a", wacz)])) }
    }

    @Test func escapesCharactersThatBreakLines() throws {
        let line =
            "org,example)/x\u{7F} 20230101000000 {\"url\":\"http://example.org/x y\",\"filename\":\"a b\\n\\u00e9\\\\.warc\",\"offset\":1,\"note\":\"tab\there\",\"list\":[1, \"two\"],\"yes\":true,\"none\":null}"
        let text = try Self.queries(of: line)
        #expect(
            try text("output=text")
                == "org,example)/x%7F 20230101000000 http://example.org/x%20y - - - - 1 a%20b%0Aé\\.warc\n")
        #expect(
            try text("fl=filename,note,list,yes,none,url")
                == "org,example)/x%7F 20230101000000 {\"filename\": \"a b\\n\\u00e9\\\\.warc\", \"note\": \"tab\\u0009here\", \"list\": [1, \"two\"], \"yes\": true, \"url\": \"http://example.org/x y\"}\n"
        )
        #expect(try text("output=link").hasPrefix("<http://example.org/x%20y>; rel"))
    }

    /// RFC 3986 §2.1: the URL with escapes is the same. JSON has its own escapes.
    @Test func escapesCharactersThatControlATerminalOrReorderText() throws {
        let line =
            "org,example)/\u{9B}2J\u{202E}é 20230101000000 {\"url\":\"http://example.org/\u{9B}2J\u{202E}é\",\"title\":\"\u{2066}\u{61C}\u{2028}字\",\"filename\":\"a.warc\",\"offset\":1}"
        let text = try Self.queries(of: line)
        #expect(
            try text("output=text&fl=urlkey,url,title")
                == "org,example)/%C2%9B2J%E2%80%AEé http://example.org/%C2%9B2J%E2%80%AEé %E2%81%A6%D8%9C%E2%80%A8字\n")
        #expect(
            try text("fl=url")
                == "org,example)/%C2%9B2J%E2%80%AEé 20230101000000 {\"url\": \"http://example.org/\\u009b2J\\u202eé\"}\n"
        )
    }

    /// An exact query finds all lines that a lookup finds, and all lines with the URL's key.
    @Test func exactQueriesFindTheSameAsLookups() throws {
        let lines = [
            IndexBuilder.line("http://plain.example/", "20230101000000", url: "http://plain.example/"),
            IndexBuilder.line("org,example)/post", "20230101000000", url: "http://example.org/post"),
            IndexBuilder.line(
                "org,example)/post?__wb_method=post&q=1", "20230101000001", url: "http://example.org/post",
                more: ",\"method\":\"POST\",\"requestBody\":\"q=1\""),
            IndexBuilder.line("org,example)/post?z=1", "20230101000000", url: "http://example.org/post?z=1"),
            IndexBuilder.line("org,example,www)/kept", "20230101000000", url: "http://www.example.org/kept"),
        ]
        for plain in [true, false] {
            for (name, entries) in IndexBuilder.layouts(plain ? lines : Array(lines.dropFirst())) {
                let wacz = try IndexBuilder.open(entries)
                for url in ["http://example.org/post", "http://www.example.org/kept", "http://plain.example/"] {
                    let found = try CDXQueries.lines("url=\(url)&fl=url,timestamp&output=text", wacz)
                    let looked = try wacz.captures(ofURL: url).map { "\($0.url) \($0.timestamp)" }
                    #expect(found == looked, "\(name): \(url)")
                }
                #expect(try CDXQueries.lines("url=plain.example/*", wacz).count == (plain ? 1 : 0))
            }
        }
    }
}
