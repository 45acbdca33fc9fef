import Testing

@testable import WebArchive

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Damage, limits and memory.
struct CDXQueryFaultTests {
    private static func lines(_ count: Int) -> [String] {
        (0..<count).map {
            IndexBuilder.line(
                "org,a)/\(100_000 + $0)", "20230101000000", url: "http://a.org/\(100_000 + $0)", offset: $0)
        }
    }

    /// An index whose order is only sampled, and is wrong after the first lines.
    private static func unsorted(_ count: Int) throws -> (wacz: WACZFile, sorted: [String]) {
        var limits = Limits.standard
        limits.sortCheckBytesMax = 0
        let sorted = lines(count)
        var broken = sorted
        broken.swapAt(count / 2, count / 2 + 1)
        let wacz = try IndexBuilder.open([.init("indexes/index.cdx", broken.joined(separator: "\n"))], limits: limits)
        return (wacz, sorted)
    }

    @Test func unsortedLinesAfterTheFirstLineAreAnError() throws {
        let (wacz, sorted) = try Self.unsorted(200)
        let run = try CDXQueries.run("url=*.org&fl=offset", [("a", wacz)])
        var given = 0
        let error = #expect(throws: WebArchiveError.self) {
            while try run.next() != nil { given += 1 }
        }
        #expect(error?.code == .badIndex)
        #expect(error?.hint?.contains("run the query again") == true)
        #expect((1...101).contains(given))
        // From now on, the index is scanned.
        #expect(try CDXQueries.lines("url=*.org", wacz).map(Self.key) == sorted.map(Self.key))
    }

    @Test(arguments: ["&sort=reverse", "&closest=2024", "&pageSize=1&page=0&limit=300&sort=reverse"])
    func unsortedLinesBeforeTheFirstLineRestartTheRun(_ more: String) throws {
        let (wacz, sorted) = try Self.unsorted(200)
        let expected = more.contains("reverse") ? sorted.reversed() : sorted
        #expect(try CDXQueries.lines("url=*.org\(more)", wacz).map(Self.key) == expected.map(Self.key))
    }

    private static func key(_ line: String) -> String { String(line.prefix { $0 != " " }) }

    @Test func damagedBlockIsAnErrorAndCausesAScan() throws {
        let sorted = Self.lines(60)
        let (idx, blocks) = IndexBuilder.zipNum(sorted, blockLines: 20)
        var damaged = blocks
        damaged[blocks.count * 2 / 3 + 10] ^= 0xFF
        let wacz = try IndexBuilder.open(
            [.init("indexes/index.cdx.gz", damaged), .init("indexes/index.idx", idx)])
        let run = try CDXQueries.run("url=*.org", [("a", wacz)])
        #expect(throws: WebArchiveError.self) { while try run.next() != nil {} }
        let after = try CDXQueries.lines("url=*.org", wacz).map(Self.key)
        #expect(after == Array(sorted.map(Self.key).prefix(after.count)))
    }

    /// A truncated line is skipped in every layout.
    @Test func skipsInvalidLines() throws {
        var lines = Self.lines(20)
        lines[3] = "org,a)/100003 20230101000000 {\"url\":"
        lines[5] = "org,a)/100005"
        lines[7] = "org,a)/100007 20230101000000 {\"url\":\"http://a.org/\",\"filename\":\"a\",\"offset\":-1}"
        lines[9] = "org,a)/100009 99999999999999 {\"url\":\"http://a.org/\",\"filename\":\"a\",\"offset\":1}"
        for (name, entries) in IndexBuilder.layouts(lines) {
            #expect(try CDXQueries.lines("url=*.org", IndexBuilder.open(entries)).count == 16, "\(name)")
        }
    }

    /// Flips every byte of the index, and cuts it after every byte. `FuzzReaderTests` (`cdxj`) tests the memory use.
    @Test func damagedIndexNeverCrashes() throws {
        let index = Array(Self.lines(3).joined(separator: "\n").utf8)
        for place in index.indices {
            var flipped = index
            flipped[place] ^= 0x41
            for damaged in [flipped, Array(index[..<place])] {
                guard let wacz = try? IndexBuilder.open([.init("indexes/index.cdx", damaged)]) else { continue }
                for query in ["url=*.org&sort=reverse", "url=http://a.org/100001&output=json", "url=a.org/*&page=1"] {
                    let answer = try? CDXQueries.lines(query, wacz)
                    #expect((answer ?? []).count <= 3)
                }
            }
        }
    }

    /// RE2 takes linear time for every pattern. A backtracking matcher would never end here.
    @Test(.enabled(if: Libraries.haveRE2)) func backtrackingPatternsTakeLinearTime() throws {
        let line = IndexBuilder.line(
            "org,a)/", "20230101000000", url: "http://a.org/",
            more: ",\"x\":\"\(String(repeating: "a", count: 5000))!\"")
        let wacz = try IndexBuilder.open([.init("indexes/index.cdx", line)])
        for pattern in ["(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*a){25}$"] {
            #expect(try CDXQueries.lines("url=a.org&filter=~x:\(pattern)", wacz).isEmpty)
            #expect(try CDXQueries.lines("url=a.org&filter=!~x:\(pattern)", wacz).count == 1)
        }
    }

    @Test(arguments: ["sort=reverse", "closest=20220101000000", "sort=reverse&limit=1500", "closest=2022&limit=1500"])
    func sortingInLittleMemoryGivesTheSameResult(_ order: String) throws {
        let lines = (0..<3000).map {
            IndexBuilder.line(
                "org,a)/\(100_000 + $0)", "20230101\(100_000 + $0 * 7919 % 86_400)".replacing("7", with: "1"),
                url: "http://a.org/\(100_000 + $0)", offset: $0)
        }
        let entries: [ZIPBuilder.Entry] = [.init("indexes/index.cdx", lines.joined(separator: "\n"))]
        let expected = try CDXQueries.lines("url=*.org&\(order)", IndexBuilder.open(entries))
        var limits = Limits.standard
        limits.sortedBytesMax = 4000
        let folder = FileManager.default.temporaryDirectory.appending(path: "cdx-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try CDXQueries.run(
            "url=*.org&\(order)", [("a", IndexBuilder.open(entries, limits: limits))], limits: limits,
            folder: folder.path)
        let first = try #require(try run.next())
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty, "no temporary file remains")
        let text = String(decoding: first, as: UTF8.self) + (try CDXQueries.text(run))
        #expect(text.split(separator: "\n").map(String.init) == expected)
    }

    @Test func sortingWithoutATemporaryFolderThrows() throws {
        var limits = Limits.standard
        limits.sortedBytesMax = 1000
        let wacz = try IndexBuilder.open([.init("indexes/index.cdx", Self.lines(100).joined(separator: "\n"))])
        let run = try CDXQueries.run("url=*.org&sort=reverse", [("a", wacz)], limits: limits, folder: "/nowhere")
        #expect(code { _ = try run.next() } == .io)
    }

    @Test func runCanBeCancelled() throws {
        let wacz = try IndexBuilder.open([.init("indexes/index.cdx", Self.lines(5000).joined(separator: "\n"))])
        let run = try CDXQueries.run("url=*.org&filter==status:1", [("a", wacz)], progress: { false })
        #expect(code { _ = try run.next() } == .cancelled)
    }

    /// The index has 12.8 MB and is generated as it's read. The first line needs only a few kilobytes of it.
    @Test func firstLineComesEarlyAndResultIsComplete() throws {
        let count = 100_000
        let source = CountingByteSource(GeneratedLines(count: count))
        var limits = Limits.standard
        limits.sortCheckBytesMax = 0
        let wacz = try ArchiveBuilder.open(ArchiveBuilder.wacz()).using(
            indexes: [.sorted(SortedCDXJIndex(source, limits: limits))])
        _ = source.take()
        let run = try CDXQueries.run("url=*.example.org&output=text&fl=url", [("a", wacz)])
        let first = try #require(try run.next())
        #expect(String(decoding: first, as: UTF8.self) == GeneratedLines.url(0) + "\n")
        #expect(source.take().bytes < 100_000)
        var given = 1
        var last: [UInt8] = []
        while let line = try run.next() { (given, last) = (given + 1, line) }
        #expect(given == count)
        #expect(String(decoding: last, as: UTF8.self) == GeneratedLines.url(count - 1) + "\n")
    }
}
