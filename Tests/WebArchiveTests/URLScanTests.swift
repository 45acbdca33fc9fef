import Foundation
import TestSupport
import Testing

@testable import WebArchive

/// Scans in every layout, with every page size, compared with plain operations on the same lines.
struct URLScanTests {
    /// A line of an index, made without the code that is tested.
    struct Line: Sendable, Hashable {
        let key: String
        let timestamp: String
        let url: String
        var mime = "text/html"
        var status = 200
        var method: String?
        let offset: Int

        var text: String {
            let method = self.method.map { ",\"method\":\"\($0)\"" } ?? ""
            return IndexBuilder.line(
                key, timestamp, url: url, offset: offset,
                more: ",\"mime\":\"\(mime)\",\"status\":\"\(status)\"\(method)")
        }
    }

    /// Many captures of one time, long keys, other methods, `urn:` records.
    static let lines: [Line] = {
        var lines: [Line] = []
        func add(_ key: String, _ timestamp: String, _ url: String, _ mime: String, _ status: Int, _ method: String?) {
            lines.append(
                Line(
                    key: key, timestamp: timestamp, url: url, mime: mime, status: status, method: method,
                    offset: lines.count))
        }
        for number in 0..<40 {
            let path = "\(100 + number / 4)"
            add(
                "org,example)/\(path)", "202\(number % 4)0101000000", "https://example.org/\(path)",
                number.isMultiple(of: 3) ? "image/png" : "text/html", number.isMultiple(of: 5) ? 404 : 200, nil)
        }
        for _ in 0..<9 {
            add("org,same)/", "20220505000000", "https://same.org/", "application/pdf", 200, nil)
        }
        let long = String(repeating: "long", count: 700)
        for number in 0..<5 {
            add("org,long)/\(long)\(number)", "20210101000000", "https://long.org/\(long)\(number)", "", 301, nil)
        }
        add("org,post)/a?__wb_method=post&b=1", "20230101000000", "https://post.org/a", "text/html", 200, "POST")
        add("org,post)/caf%c3%a9", "20230101000000000", "https://post.org/caf%C3%A9", "text/html", 200, nil)
        add(
            "urn:text:https://example.org/100", "20230101000000", "urn:text:https://example.org/100", "text/plain", 200,
            nil)
        add("urn:pageinfo:https://a.org/", "20230101000000", "urn:pageinfo:https://a.org/", "text/plain", 200, nil)
        return lines.sorted { ($0.key, $0.timestamp, $0.offset) < ($1.key, $1.timestamp, $1.offset) }
    }()

    static let archives = IndexBuilder.layouts(lines.map(\.text))
    static let layouts = archives.map(\.name)

    static func source(_ layout: String) throws -> CDXQuerySource {
        let found = try #require(archives.first { $0.name == layout })
        return CDXQuerySource(name: layout, wacz: try IndexBuilder.open(found.entries))
    }

    /// Reads all pages of a size. With `pauses`, every step that can pause does so.
    static func offsets(
        _ filter: URLFilter, _ sources: [CDXQuerySource], pageSize: Int = .max, pauses: Bool = false
    ) throws -> [Int] {
        var offsets: [Int] = []
        var position: URLScan.Position?
        var pages = 0
        while pages < 10_000 {
            pages += 1
            let scan = URLScan(filter, sources: sources, from: position, temporaryFolder: NSTemporaryDirectory())
            if pauses { scan.deadline = .now }
            var count = 0
            page: while count < pageSize {
                switch try scan.next() {
                case .capture(let entry, _):
                    offsets.append(Int(entry.offset))
                    count += 1
                case .paused: break page
                case .end: return offsets
                }
            }
            position = count == pageSize ? scan.returned : scan.position
        }
        Issue.record("the pages never end")
        return offsets
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let filter: URLFilter
        let includes: @Sendable (Line) -> Bool

        init(
            _ name: String, _ change: (inout URLFilter) -> Void, _ includes: @escaping @Sendable (Line) -> Bool
        ) {
            testDescription = name
            var filter = URLFilter()
            change(&filter)
            self.filter = filter
            self.includes = includes
        }

        static let all = [
            Case("all", { _ in }, { !$0.url.hasPrefix("urn:") }),
            Case("contains", { $0.text = "EXAMPLE.org/10" }, { $0.url.hasPrefix("https://example.org/10") }),
            Case("contains encoded", { $0.text = "café" }, { $0.url.hasSuffix("caf%C3%A9") }),
            Case("contains nothing", { $0.text = "nowhere" }, { _ in false }),
            Case(
                "pattern", { ($0.text, $0.match) = ("https://*/10*1", .pattern) },
                { $0.url == "https://example.org/101" }),
            Case(
                "prefix", { ($0.text, $0.match) = ("http://www.example.org/10", .prefix) },
                { $0.url.hasPrefix("https://example.org/10") }),
            Case("prefix of URNs", { ($0.text, $0.match) = ("urn:", .prefix) }, { $0.url.hasPrefix("urn:") }),
            Case(
                "exact", { ($0.text, $0.match) = ("http://same.org", .exact) }, { $0.url == "https://same.org/" }),
            Case("type", { $0.types = [.pdf, .image] }, { ["application/pdf", "image/png"].contains($0.mime) }),
            Case(
                "status", { $0.statuses = [404...404, 300...399] }, { $0.status == 404 || $0.status == 301 }),
            Case("method", { $0.method = "POST" }, { $0.method == "POST" }),
            Case(
                "time",
                { filter in
                    filter.after = CaptureTimestamp(digits: "20210101000000")
                    filter.before = CaptureTimestamp(digits: "20230101000000")
                },
                {
                    $0.timestamp >= "20210101000000" && $0.timestamp < "20230101000000" && !$0.url.hasPrefix("urn:")
                }),
            Case(
                "several", { ($0.text, $0.types, $0.statuses) = ("/10", [.html], [200...200]) },
                { $0.url.contains("/10") && $0.mime == "text/html" && $0.status == 200 && !$0.url.hasPrefix("urn:") }),
        ]
    }

    /// With pages of one or two captures, each of them is a search. Only `CASES=all` tries all cases with these.
    private static func cases(pageSize: Int) -> [Case] {
        if pageSize > 2 || Cases.areAll { return Case.all }
        return Case.all.indices.filter { $0 % 3 == 2 }.map { Case.all[$0] }
    }

    @Test(arguments: layouts, Case.all)
    func findsWhatAFilterOfTheLinesFinds(_ layout: String, _ c: Case) throws {
        let expected = Self.lines.filter(c.includes).map(\.offset)
        #expect(try Self.offsets(c.filter, [Self.source(layout)]) == expected)
    }

    @Test(arguments: layouts, [1, 7])
    func pagesAreTheWholeList(_ layout: String, _ size: Int) throws {
        let source = try Self.source(layout)
        for c in Self.cases(pageSize: size) {
            let expected = Self.lines.filter(c.includes).map(\.offset)
            #expect(try Self.offsets(c.filter, [source], pageSize: size) == expected, "\(c)")
        }
    }

    /// Copies of a capture in several archives are one. Captures of one time come in the order of the archives.
    @Test(arguments: [1, 2, 7, 100])
    func severalArchivesAreMerged(_ size: Int) throws {
        let sources = try ["plain", "deflated", "zipnum"].map { try Self.source($0) }
        // Sources that have to be sorted come last, and have to be marked for that.
        for c in Self.cases(pageSize: size) {
            let groups = Dictionary(grouping: Self.lines.filter(c.includes)) {
                "\($0.key.prefix(2000)) \($0.timestamp)"
            }
            let found = try Self.offsets(c.filter, sources, pageSize: size)
            #expect(found.sorted() == groups.values.joined().map(\.offset).sorted())
            #expect(found == (try Self.offsets(c.filter, sources)), "\(c)")
        }
    }

    /// A scan that pauses whenever it may still finds everything, once.
    @Test(arguments: ["plain", "zipnum", "deflated"])
    func pausesLoseNothing(_ layout: String) throws {
        let many = (0..<2000).map { number in
            let name = String(format: "%05d", number)
            return IndexBuilder.line(
                "org,many)/\(name)", "20230101000000", url: "https://many.org/\(name)", offset: number)
        }
        let entries = try #require(IndexBuilder.layouts(many).first { $0.name == layout }).entries
        let sources = try [Self.source("plain"), CDXQuerySource(name: "many", wacz: IndexBuilder.open(entries))]
        var filter = URLFilter()
        filter.text = "many.org/0199"
        #expect(try Self.offsets(filter, sources, pauses: true) == Array(1990..<2000))
        filter.text = "nowhere"
        #expect(try Self.offsets(filter, sources, pauses: true) == [])
        filter.text = ""
        let all = Self.lines.filter { !$0.url.hasPrefix("urn:") }.map(\.offset) + Array(0..<2000)
        #expect(try Self.offsets(filter, sources, pageSize: 100, pauses: true).sorted() == all.sorted())
    }

    /// The millionth line costs as much as the first.
    @Test func anyPositionIsFoundByASearch() throws {
        let counting = CountingByteSource(GeneratedLines(count: 1_000_000))
        let index = CDXJIndex.sorted(try SortedCDXJIndex(counting))
        let wacz = try IndexBuilder.open([]).using(indexes: [index])
        _ = counting.take()
        var reads: [Int] = []
        for number in [0, 500_000, 999_900] {
            let scan = URLScan(
                URLFilter(), sources: [CDXQuerySource(name: "a", wacz: wacz)],
                from: .init(key: Array("org,example)/\(String(format: "%07d", number))".utf8)),
                temporaryFolder: NSTemporaryDirectory())
            for line in 0..<100 {
                guard case .capture(let entry, _) = try scan.next() else {
                    Issue.record("the list ends at \(number + line)")
                    return
                }
                #expect(entry.url == GeneratedLines.url(number + line))
            }
            reads.append(counting.take().bytes)
        }
        #expect(reads.allSatisfy { $0 < 1 << 20 }, "\(reads)")
    }

    /// A fault that a search finds makes the next scan read the index completely.
    @Test func unsortedIndexIsReadCompletely() throws {
        var unsorted = (0..<200).map { number in
            IndexBuilder.line(
                "org,a)/\(1000 + number)", "20230101000000", url: "https://a.org/\(number)", offset: number)
        }
        unsorted.swapAt(50, 150)
        let wacz = try IndexBuilder.open([.init("indexes/index.cdx", unsorted.joined(separator: "\n") + "\n")])
        let source = CDXQuerySource(name: "a", wacz: wacz.assumingSorted())
        #expect(throws: WebArchiveError.self) { try Self.offsets(URLFilter(), [source]) }
        #expect(try Self.offsets(URLFilter(), [source]) == Array(0..<200))
    }

    @Test func cancellationStopsAScan() throws {
        let wacz = try IndexBuilder.open([]).using(
            indexes: [.sorted(try SortedCDXJIndex(GeneratedLines(count: 1_000_000)))])
        var filter = URLFilter()
        filter.text = "nowhere"
        var checks = 0
        let check = CancellationCheck {
            checks += 1
            return checks < 3
        }
        let scan = URLScan(
            filter, sources: [CDXQuerySource(name: "a", wacz: wacz)], temporaryFolder: NSTemporaryDirectory(), check)
        #expect { try scan.next() } throws: { ($0 as? WebArchiveError)?.code == .cancelled }
    }
}
