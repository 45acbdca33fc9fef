import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// What is saved of a URL with several captures is the one that is meant.
struct MeantCaptureTests {
    typealias Record = RecordedArchive.Record

    private let test: TestStore
    private static let url = "http://a.example/"
    private static let times = ["20200101000000", "20210101000000", "20220101000000"]

    init() throws { test = try TestStore() }

    /// Returns an archive with three captures of a page. Its list has the titles of the first and of the last one.
    private func archive(title: (String) -> String = { "<title>Page of \($0)</title>" }) throws -> Archive {
        let records = Self.times.map { time in
            Record(Self.url, "\(title(String(time.prefix(4))))<p>text of \(time)", timestamp: time)
        }
        let pages = [Self.times[0], Self.times[2]].map {
            "{\"url\":\"\(Self.url)\",\"ts\":\"\($0.prefix(4))-01-01T00:00:00Z\",\"title\":\"Listed \($0.prefix(4))\"}"
        }
        return try test.add(records, pages: pages.joined(separator: "\n"), id: "a", indexes: false)
    }

    /// Saves the page, and returns the name of the file, the title of the archive and of its page, and the page's text.
    private func saved(_ archive: Archive, at time: String?) throws -> [String] {
        let request = ArchiveStore.CaptureRequest(url: Self.url, time: time.flatMap { CaptureTimestamp(endOf: $0) })
        let page = try Exporter(test.store).page(request, of: archive)
        let path = test.folder.path("\(time ?? "latest").wacz")
        let result = try page.write(to: .newFile(path))
        let store = try ArchiveStore(at: test.folder.path("store-\(time ?? "latest")"))
        let copy = try store.importFile(at: path).archive
        let capture = try #require(
            try store.resolver.openCapture(.init(url: Self.url, time: nil), in: [copy], allowsFuzzyMatch: false))
        let text = String(decoding: try capture.body.open(decoded: true).read(upTo: 1 << 10), as: UTF8.self)
        let listed = try store.pages(of: copy, PageListRequest(limit: 9)).pages
        #expect(listed.map(\.timestamp) == [capture.entry.timestamp] && copy.captureCount == 1)
        #expect(copy.mainPage?.timestamp == capture.entry.timestamp)
        return [
            page.fileName, copy.title, listed.first?.title ?? "", String(text.split(separator: ">").last ?? ""),
            result.page?.timestamp ?? "",
        ]
    }

    @Test(arguments: [
        ("20210101000000", "2021"), ("20210601", "2021"), ("202003", "2020"), ("20220101000000", "2022"), (nil, "2022"),
    ])
    func savedPageIsTheOneOfTheTime(time: String?, year: String) throws {
        let title = "Page of \(year)"
        #expect(
            try saved(archive(), at: time) == [
                "\(title).wacz", title, title, "text of \(year)0101000000", "\(year)0101000000",
            ])
    }

    /// A script can set the title later: then the list knows it, but only of the captures that it lists.
    @Test func titlesOfOtherCapturesAreNotUsed() throws {
        let archive = try archive { _ in "" }
        #expect(try saved(archive, at: Self.times[0]).prefix(2) == ["Listed 2020.wacz", "Listed 2020"])
        #expect(try saved(archive, at: Self.times[1]).prefix(2) == ["a.example_.wacz", Self.url])
        #expect(try saved(archive, at: Self.times[2]).prefix(2) == ["Listed 2022.wacz", "Listed 2022"])
    }

    /// A site that sets a cookie leads back to where it came from: the page is saved, and the way to it.
    @Test func pageBehindACookieIsSaved() throws {
        let archive = try test.add(
            [
                Record(Self.url, to: "/?c=1", timestamp: Self.times[0]),
                Record("\(Self.url)?c=1", to: "/", timestamp: "20200101000001"),
                Record(Self.url, "<title>Behind</title>", timestamp: "20200101000002"),
            ], pages: #"{"url":"\#(Self.url)","ts":"2020-01-01T00:00:00Z"}"#, id: "a")
        let request = ArchiveStore.CaptureRequest(url: Self.url, time: CaptureTimestamp(digits: Self.times[0]))
        let page = try Exporter(test.store).page(request, of: archive)
        let result = try page.write(to: .newFile(test.folder.path("behind.wacz")))
        #expect(page.fileName == "Behind.wacz" && result.captureCount == 3)
        #expect(result.page?.timestamp == "20200101000002")
        #expect(try test.search("behind").hits.map(\.title) == ["Behind"])
    }

    /// Captures with and without TLS have the same key.
    @Test func newestFileOfEachURLIsSavedOnce() throws {
        let urls = ["http://a.example/f", "https://a.example/f", "http://a.example/f", "https://a.example/f"]
        let records = urls.enumerated().map { Record($1, "file \($0)", timestamp: "202\($0)0101000000") }
        let archive = try test.add(records, id: "a", indexes: false)
        let files = try Exporter(test.store).files(of: archive, to: test.folder.path("files"))
        #expect(files.count == 2)
        let saved = try names(in: test.folder.path("files/a.example")).map {
            String(decoding: try contents(of: test.folder.path("files/a.example/\($0)")), as: UTF8.self)
        }
        #expect(saved.sorted() == ["file 2", "file 3"])
    }
}
