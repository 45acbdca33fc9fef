import Synchronization
import Testing

@testable import WebArchive

/// Queries over several archives.
struct CDXQueryMergeTests {
    private static func archive(_ number: Int, _ count: Int, sorted: Bool = true) throws -> WACZFile {
        let lines = (0..<count).map {
            IndexBuilder.line(
                "org,a)/\(1000 + $0)", "202301010000\(10 + number)", url: "http://a.org/\(1000 + $0)", offset: number)
        }
        let text = (sorted ? lines : lines.reversed()).joined(separator: "\n") + "\n"
        return try IndexBuilder.open([.init("indexes/index.cdx", text)])
    }

    @Test func linesAreSortedAndNameTheirArchive() throws {
        let sources = [
            ("one", try Self.archive(2, 3)), ("two", try Self.archive(1, 2)),
            ("three", try Self.archive(2, 2, sorted: false)),
        ]
        let run = try CDXQueries.run("url=*.org&output=text&fl=urlkey,timestamp,source,offset", sources)
        #expect(
            try CDXQueries.text(run) == """
                org,a)/1000 20230101000011 two 1
                org,a)/1000 20230101000012 one 2
                org,a)/1000 20230101000012 three 2
                org,a)/1001 20230101000011 two 1
                org,a)/1001 20230101000012 one 2
                org,a)/1001 20230101000012 three 2
                org,a)/1002 20230101000012 one 2

                """)
    }

    /// As in pywb, the fields are `source` and `source-coll`, and `nosource=true` omits them.
    @Test(arguments: [
        ("", true, ", \"source\": \"one\", \"source-coll\": \"one\"}"),
        ("&nosource=true", true, "\"filename\": \"data.warc.gz\"}"),
        ("", false, "\"filename\": \"data.warc.gz\"}"), ("&fl=source", false, "{\"source\": \"one\"}"),
    ])
    func linesNameSourcesOnRequest(_ more: String, _ named: Bool, _ end: String) throws {
        let run = try CDXQueries.run(
            "url=a.org/1000\(more)", [("one", Self.archive(1, 1))], namesSources: named)
        let text = try CDXQueries.text(run)
        #expect(text.hasSuffix(end + "\n"))
        #expect(text.contains("source") == end.contains("source"))
    }

    @Test func filtersOrderAndLimitsApplyToAllArchives() throws {
        let sources = try (0..<5).map { ("s\($0)", try Self.archive($0, 4, sorted: $0 != 3)) }
        func lines(_ query: String) throws -> [String] {
            try CDXQueries.text(CDXQueries.run("url=*.org&output=text&fl=urlkey,source&" + query, sources))
                .split(separator: "\n").map(String.init)
        }
        #expect(try lines("").count == 20)
        #expect(try lines("sort=reverse&limit=2") == ["org,a)/1003 s4", "org,a)/1003 s3"])
        #expect(try lines("closest=20230101000013&limit=3") == ["org,a)/1000 s3", "org,a)/1001 s3", "org,a)/1002 s3"])
        #expect(try lines("filter==source:s3&limit=2") == ["org,a)/1000 s3", "org,a)/1001 s3"])
        #expect(try lines("collapse=urlkey").map { $0.suffix(2) } == ["s0", "s0", "s0", "s0"])
    }

    @Test func archivesAreOpenedWhenTheRunStarts() throws {
        let wacz = try Self.archive(1, 1)
        let run = CDXQueryRun(
            try CDXQuery(parameters: [("url", "http://a.org/1000")]),
            sources: [
                CDXQuerySource(name: "gone") { () throws(WebArchiveError) in
                    throw WebArchiveError(code: .io, problem: "the file is gone", file: "gone.wacz")
                }, CDXQuerySource(name: "one", wacz: wacz),
            ], namesSources: true, temporaryFolder: "/")
        #expect(code { _ = try run.next() } == .io)
    }

    /// Of many archives, the lines are kept, not the archives.
    @Test(arguments: [("http://a.org/1000", 200, 1), ("*.org", 300, 2), ("*", 300, 2)])
    func manyArchivesAreClosed(url: String, count: Int, linesOfEach: Int) throws {
        let opened = Mutex<[Weak]>([])
        let sources = (0..<count).map { number in
            CDXQuerySource(name: "s\(number)") { () throws(WebArchiveError) in
                do {
                    // Several of them have the same time.
                    let wacz = try Self.archive(number % 100 / 2, 2, sorted: number % 7 != 0)
                    opened.withLock { $0.append(Weak(value: wacz.source as AnyObject)) }
                    return wacz
                } catch {
                    throw WebArchiveError(code: .io, problem: "\(error)", file: "s\(number)")
                }
            }
        }
        let query = try CDXQuery(parameters: [("url", url), ("output", "text"), ("fl", "urlkey,timestamp,source")])
        let run = CDXQueryRun(query, sources: sources, namesSources: true, temporaryFolder: "/")
        let first = try #require(try run.next())
        #expect(opened.withLock { all in all.count { $0.value != nil } } == 0)
        let text = try String(decoding: first, as: UTF8.self) + CDXQueries.text(run)
        let expected = (0..<linesOfEach).flatMap { path in
            (0..<count).map { (time: 10 + $0 % 100 / 2, source: $0) }
                .sorted { ($0.time, $0.source) < ($1.time, $1.source) }
                .map { "org,a)/\(1000 + path) 202301010000\($0.time) s\($0.source)\n" }
        }
        #expect(text == expected.joined())
    }

    /// The keys of some writers are plain URLs, or no URLs at all.
    @Test func everythingCanBeListed() throws {
        let lines = ["dns:a.org", "http://b.org/", "urn:text:http://a.org/"].map {
            IndexBuilder.line($0, "20230101000010", url: $0)
        }
        let other = try IndexBuilder.open([.init("indexes/index.cdx", lines.joined(separator: "\n") + "\n")])
        let run = try CDXQueries.run(
            "url=*&output=text&fl=url", [("one", try Self.archive(1, 2)), ("two", other)])
        let listed = try CDXQueries.text(run).split(separator: "\n")
        #expect(
            Set(listed) == [
                "http://a.org/1000", "http://a.org/1001", "dns:a.org", "http://b.org/", "urn:text:http://a.org/",
            ])
    }

    private struct Weak {
        weak var value: AnyObject?
    }

    @Test func queryWithoutArchivesReturnsNothing() throws {
        #expect(try CDXQueries.text(CDXQueries.run("url=a.org", [])) == "")
        #expect(try CDXQueries.text(CDXQueries.run("url=a.org&output=link", [])) == "")
        #expect(
            try CDXQueries.text(CDXQueries.run("url=a.org&showNumPages=true", []))
                == "{\"pages\": 0, \"pageSize\": 10, \"blocks\": 0}\n")
    }
}
