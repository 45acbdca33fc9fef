import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Pages of URL lists, in one archive and in collections.
struct URLListTests {
    typealias Record = RecordedArchive.Record

    private let folder: TemporaryFolder
    private let store: ArchiveStore

    init() throws {
        folder = try TemporaryFolder()
        store = try ArchiveStore(at: folder.path("store"))
    }

    private func add(_ records: [Record], as name: String) throws -> Archive {
        try store.importFile(at: try folder.write(RecordedArchive(records).bytes(), to: "\(name).wacz")).archive
    }

    private func collection(_ members: [Archive]) throws -> Replayable {
        let made = try store.collections.make(
            id: nil, title: "Both", members: members.map(\.id), metadata: ArchiveMetadata())
        return .collection(made, try store.collections.members(of: made))
    }

    /// Reads all pages, and returns the items of each.
    private func pages(_ request: URLList.Request, in replayable: Replayable) throws -> [[URLList.Item]] {
        var request = request
        var pages: [[URLList.Item]] = []
        while pages.count < 100_000 {
            let page = try store.resolver.urls(request, in: replayable)
            pages.append(page.urls)
            #expect(page.urls.count <= request.limit)
            guard let next = page.next else { return pages }
            let position: URLScan.Position = try #require(URLScan.Position(cursor: next))
            request.start = position
        }
        Issue.record("the pages never end")
        return pages
    }

    private static func records(_ count: Int, timestamps: [String]) -> [Record] {
        (0..<count).flatMap { number in
            timestamps.map { Record("http://a.example/\(1000 + number)", "body", timestamp: $0) }
        }
    }

    private static let years = ["20220101000000", "20230101000000", "20240101000000"]

    @Test(arguments: [1, 2, 7, 100, 1000])
    func pagesOfCollectionsAreTheWholeList(_ limit: Int) throws {
        let one = try add(Self.records(30, timestamps: Self.years), as: "one")
        let two = try add(Self.records(20, timestamps: Array(Self.years[1...])), as: "two")
        let found = try pages(URLList.Request(filter: URLFilter(), limit: limit), in: collection([one, two])).joined()
        let expected = (0..<30).flatMap { number in
            Self.years.flatMap { year in
                [("one", true), ("two", number < 20 && year != Self.years[0])].filter(\.1).map {
                    "http://a.example/\(1000 + number) \(year) \($0.0)"
                }
            }
        }
        #expect(found.map { "\($0.entry.url) \($0.entry.timestamp) \($0.archiveID?.text ?? "")" } == expected)
    }

    @Test(arguments: [1, 2, 7, 100])
    func collapsedListHasEachURLOnce(_ limit: Int) throws {
        let one = try add(Self.records(30, timestamps: Self.years), as: "one")
        let two = try add(Self.records(20, timestamps: ["20250101000000"]), as: "two")
        var request = URLList.Request(filter: URLFilter(), limit: limit)
        request.collapsesURLs = true
        for time in [Duration.seconds(3), .zero] {
            request.time = time
            let found = try pages(request, in: collection([one, two])).joined()
            #expect(
                found.map {
                    "\($0.entry.url) \($0.entry.timestamp) \($0.captureCount ?? 0) \($0.archiveID?.text ?? "")"
                }
                    == (0..<30).map { number in
                        "http://a.example/\(1000 + number) "
                            + (number < 20 ? "20250101000000 4 two" : "20240101000000 3 one")
                    })
            let alone = try pages(request, in: .archive(one)).joined()
            #expect(alone.map(\.captureCount) == Array(repeating: 3, count: 30))
            #expect(alone.allSatisfy { $0.archiveID == nil })
        }
    }

    /// More lines than a turn of a scan, so that pages without time end in the middle.
    @Test func searchWithoutTimeContinuesWithTheNextPage() throws {
        let count = 3000
        let archive = try store.importFile(
            at: folder.write(GeneratedArchive(pages: numberedPages(count)).bytes(), to: "many.wacz")
        ).archive
        var filter = URLFilter()
        filter.text = "/2999"
        var request = URLList.Request(filter: filter, limit: 10)
        request.time = .zero
        let found = try pages(request, in: .archive(archive))
        #expect(found.joined().map(\.entry.url) == ["http://example.org/2999"])
        #expect(found.count > 1, "without time, the first page ends before the capture")
        request.collapsesURLs = true
        #expect(try pages(request, in: .archive(archive)).joined().map(\.entry.url) == ["http://example.org/2999"])
        request.time = .seconds(60)
        #expect(try pages(request, in: .archive(archive)).count == 1)
    }

    @Test func lastPageHasNoCursor() throws {
        let archive = try add(Self.records(10, timestamps: [Self.years[0]]), as: "one")
        let sizes = try pages(URLList.Request(filter: URLFilter(), limit: 5), in: .archive(archive)).map(\.count)
        #expect(sizes == [5, 5])
    }

    /// The members of docs/json.md.
    @Test func itemIsAsDocumented() throws {
        let post = Record("http://a.example/form", "answer").with {
            $0.key = "example,a)/form?__wb_method=post"
            $0.index = "\"mime\":\"application/pdf\",\"status\":\"404\",\"method\":\"POST\""
        }
        let archive = try add([post], as: "one")
        let request = URLList.Request(filter: URLFilter(), limit: 5)
        let length = try #require(try pages(request, in: .archive(archive)).joined().first?.entry.length)
        func json(_ replayable: Replayable) throws -> String {
            String(decoding: try JSONText.encoded(store.resolver.urls(request, in: replayable)), as: UTF8.self)
        }
        let item =
            "\"length\":\(length),\"method\":\"POST\",\"mime\":\"application/pdf\",\"status\":404,"
            + "\"timestamp\":\"20240102030405\",\"type\":\"pdf\",\"url\":\"http://a.example/form\""
        #expect(try json(.archive(archive)) == "{\"urls\":[{\(item)}]}")
        #expect(try json(collection([archive])) == "{\"urls\":[{\"archive\":\"one\",\(item)}]}")
    }

    @Test func unavailableMembersAreSkipped() throws {
        let one = try add(Self.records(1, timestamps: Self.years), as: "one")
        let path = try folder.write(
            RecordedArchive([Record("http://b.example/", "b")]).bytes(), to: "linked.wacz")
        let linked = try store.importLink(to: path).archive
        let both = try collection([one, linked])
        let request = URLList.Request(filter: URLFilter(), limit: 100)
        #expect(try pages(request, in: both).joined().count == 4)
        try FileManager.default.removeItem(atPath: path)
        #expect(try pages(request, in: both).joined().count == 3)
        #expect(code { _ = try store.resolver.urls(request, in: .archive(linked)) } == .unavailable)
    }

    @Test func clientThatIsGoneEndsASearch() throws {
        let archive = try store.importFile(
            at: folder.write(GeneratedArchive(pages: numberedPages(3000)).bytes(), to: "many.wacz")
        ).archive
        var filter = URLFilter()
        filter.text = "nowhere"
        #expect(throws: (any Error).self) {
            try store.resolver.urls(
                URLList.Request(filter: filter, limit: 1), in: .archive(archive), isWanted: { false })
        }
    }

    @Test func streamHasAllCaptures() throws {
        let one = try add(Self.records(30, timestamps: Self.years), as: "one")
        let two = try add(Self.records(20, timestamps: Self.years), as: "two")
        var found: [URLList.Item] = []
        try store.resolver.forEachURL(URLFilter(), in: collection([one, two])) { item in
            found.append(item)
            return true
        }
        #expect(found.count == 90, "those of the second archive are copies")
        var count = 0
        try store.resolver.forEachURL(URLFilter(), in: .archive(one)) { _ in
            count += 1
            return count < 5
        }
        #expect(count == 5)
    }

    @Test(arguments: [
        [], [0], Array("org,example)/ 20240101000000".utf8), [0xFB, 0xFF, 0xBF], Array(repeating: 65, count: 2048),
    ])
    func cursorsAreText(_ key: [UInt8]) throws {
        for passed in [0, 1, 100_000] {
            let position = URLScan.Position(key: key, passed: passed)
            let cursor = position.cursor
            #expect(URLScan.Position(cursor: cursor) == position)
            #expect(cursor.utf8.allSatisfy { $0.isLetterOrDigit || "-_.".utf8.contains($0) }, "no escapes in a query")
        }
    }

    @Test(arguments: ["", ".", "1", "1.", "-1.QQ", "1.Q", "1.QQ.", "1.Q!", "99999999999.QQ", " 1.QQ", "a.QQ"])
    func otherTextIsNoCursor(_ text: String) {
        let position = URLScan.Position(cursor: text)
        #expect(text == "1." ? position == .init(passed: 1) : position == nil)
        #expect(URLScan.Position(cursor: "0." + String(repeating: "QUFB", count: 700)) == nil, "too long")
    }

    @Test func firstItemsInAnotherOrder() throws {
        func record(_ path: String, _ size: Int, _ year: Int) -> Record {
            Record("http://a.example/\(path)", String(repeating: "x", count: size), timestamp: "\(year)0101000000")
        }
        let archive = try add(
            [record("b", 50, 2022), record("a", 900, 2021), record("b", 10, 2024), record("c", 400, 2023)], as: "sorted"
        )
        func found(_ order: URLList.Order, limit: Int, collapsed: Bool = false) throws -> [String] {
            var request = URLList.Request(filter: URLFilter(), limit: limit)
            (request.order, request.collapsesURLs) = (order, collapsed)
            let list = try store.resolver.urls(request, in: .archive(archive))
            #expect(list.next == nil)
            return list.urls.map { "\($0.entry.url.suffix(1)) \($0.entry.timestamp.prefix(4))" }
        }
        #expect(try found(.newest, limit: 9) == ["b 2024", "c 2023", "b 2022", "a 2021"])
        #expect(try found(.oldest, limit: 9) == ["a 2021", "b 2022", "c 2023", "b 2024"])
        #expect(try found(.largest, limit: 9) == ["a 2021", "c 2023", "b 2022", "b 2024"])
        for limit in 1...3 {
            #expect(try found(.newest, limit: limit) == Array(found(.newest, limit: 9).prefix(limit)))
        }
        #expect(try found(.newest, limit: 9, collapsed: true) == ["b 2024", "c 2023", "a 2021"])
        #expect(try found(.oldest, limit: 2, collapsed: true) == ["a 2021", "c 2023"])
    }

}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        (0x30...0x39).contains(self) || (0x61...0x7A).contains(self | 0x20)
    }
}
