import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Pages whose capture is a redirect are where it leads.
struct PageRedirectTests {
    typealias Record = RecordedArchive.Record

    private let test: TestStore

    init() throws { test = try TestStore() }

    private static func document(_ url: String, _ word: String) -> Record {
        Record(url, "<title>Title of \(word)</title><p>\(word)")
    }

    private static func info(_ url: String) -> Record { Record(pageInfo: url, urls: "") }

    /// What a crawler records of a seed, and the pages with their titles.
    struct Crawl: Sendable, CustomTestStringConvertible {
        let name: String
        let records: [Record]
        let pages: [String]
        var testDescription: String { name }
    }

    private static let home = document("https://a.example/en/", "limpets")
    private static let about = document("https://a.example/en/about", "barnacles")
    private static let homeLine = "https://a.example/en/ Title of limpets"
    private static let aboutLine = "https://a.example/en/about Title of barnacles"

    static let crawls: [Crawl] = [
        Crawl(
            name: "seed",
            records: [
                Record("http://a.example/", to: "https://a.example/en/"), home, info("http://a.example/"), about,
                info("https://a.example/en/about"), document("https://a.example/frame", "frame"),
            ], pages: [homeLine, aboutLine]),
        Crawl(
            name: "chain with relative targets",
            records: [
                Record("http://a.example/", to: "https://a.example/"), Record("https://a.example/", to: "/x/y"),
                Record("https://a.example/x/y", to: "../en/"), home, info("http://a.example/"),
            ], pages: [homeLine]),
        Crawl(
            name: "two seeds to one page",
            records: [
                Record("http://a.example/", to: "/en/"), Record("http://b.example/", to: "https://a.example/en/"), home,
                info("http://b.example/"), info("http://a.example/"),
            ], pages: [homeLine]),
        Crawl(
            name: "circle",
            records: [
                Record("http://a.example/", to: "/b"), Record("http://a.example/b", to: "/"), info("http://a.example/"),
                home, info("https://a.example/en/"),
            ], pages: [homeLine, "http://a.example/"]),
        Crawl(
            name: "not captured",
            records: [
                Record("http://a.example/", to: "/gone"), info("http://a.example/"), home,
                info("https://a.example/en/"),
            ], pages: [homeLine, "http://a.example/"]),
        Crawl(
            name: "too many",
            records: (0..<22).map { Record("http://a.example/\($0)", to: "/\($0 + 1)") }
                + [document("http://a.example/22", "last"), info("http://a.example/0")],
            pages: ["http://a.example/0"]),
        Crawl(
            name: "cookie",
            records: [
                Record("http://a.example/", to: "/?c=1"), Record("http://a.example/?c=1", to: "/"),
                document("http://a.example/", "limpets"), info("http://a.example/"),
            ], pages: ["http://a.example/ Title of limpets"]),
        Crawl(
            name: "redirect at another time",
            records: [
                document("http://a.example/", "limpets"), info("http://a.example/"),
                Record("http://a.example/", to: "/login", timestamp: "20300101000000"),
                document("http://a.example/login", "login").with { $0.timestamp = "20300101000000" },
            ], pages: ["http://a.example/ Title of limpets"]),
    ]

    private func pages(of archive: Archive) throws -> [String] {
        try test.store.pages(of: archive, PageListRequest(limit: 99)).pages.map { page in
            page.title.map { "\(page.url) \($0)" } ?? page.url
        }
    }

    @Test(arguments: crawls) func importListsWhereSeedsLead(crawl: Crawl) throws {
        let path = try test.folder.write(crawl.records.flatMap { $0.bytes() }, to: "crawl.warc")
        guard case .archive(let outcome) = try test.store.jobs.importAny(at: path, options: ImportOptions()) else {
            Issue.record("not an archive")
            return
        }
        #expect(try pages(of: outcome.archive) == crawl.pages)
        #expect(outcome.archive.mainPage?.url == crawl.pages[0].split(separator: " ").first.map(String.init))
    }

    /// The same pages are detected in a WACZ without a page list, in the order of the index.
    @Test(arguments: crawls) func detectedPagesAreWhereSeedsLead(crawl: Crawl) throws {
        let archive = try test.add(crawl.records, id: "a")
        let found = try #require(try test.store.catalog.archive(id: archive.id))
        let urls = Set(crawl.pages.map { String($0.prefix { $0 != " " }) })
        #expect(Set(try test.store.pages(of: found, PageListRequest(limit: 99)).pages.map(\.url)) == urls)
        #expect(found.mainPage.map { urls.contains($0.url) } == true)
    }

    /// The file's page list stays as it is. The page is found by what it shows.
    @Test func listedSeedHasTitleAndTextOfWhereItLeads() throws {
        let archive = try test.add(
            [
                Record("http://a.example/", to: "/x"), Record("http://a.example/x", to: "https://a.example/en/"),
                Self.home,
            ],
            pages: "{\"url\":\"http://a.example/\",\"ts\":\"2024-01-02T03:04:05Z\"}", id: "a")
        #expect(try pages(of: archive) == ["http://a.example/"])
        #expect(archive.mainPage?.url == "http://a.example/")
        let hit = try #require(try test.search("limpets").hits.first)
        #expect(hit.url == "http://a.example/" && hit.title == "Title of limpets")
    }

    @Test func listedSeedThatLeadsNowhereStaysWhatItIs() throws {
        for (id, target) in [("gone", "/gone"), ("loop", "/b")] {
            let records = [
                Record("http://\(id).example/", to: target).with { $0.body = Array("<p>moved\(id)".utf8) },
                Record("http://\(id).example/b", to: "/").with { $0.body = Array("<p>moved\(id)".utf8) },
            ]
            try test.add(
                records, pages: "{\"url\":\"http://\(id).example/\",\"ts\":\"2024-01-02T03:04:05Z\"}", id: id)
        }
        #expect(try test.found("movedgone") == ["gone.example/"])
        #expect(try test.found("movedloop") == ["loop.example/"])
    }
}
