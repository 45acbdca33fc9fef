import Foundation
import GRDB
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

struct CatalogTests {
    private func archive(_ id: String, at seconds: Double = 0, name: String? = nil) throws -> Archive {
        Archive(
            key: "key-\(id)", id: try #require(ArchiveID(id)), sha256: "key-\(id)", size: 1, storage: .managed,
            entry: LibraryEntry(
                title: id, originalName: name ?? "\(id).wacz", source: "test",
                importedAt: Date(timeIntervalSince1970: seconds)),
            summary: ArchiveSummary())
    }

    private func page(_ position: Int, _ url: String, _ title: String?) -> ArchivePage {
        ArchivePage(position: position, list: "pages", url: url, timestamp: nil, title: title)
    }

    private func filled() throws -> (Catalog, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let catalog = try Catalog(path: folder.path("catalog.sqlite"))
        let pages = [
            page(0, "http://a.example/", "100% wool"), page(1, "http://a.example/b_c", "Coral Reef"),
            page(2, "http://a.example/bxc", "reef"), page(3, "http://a.example/d", nil),
            page(4, "http://a.example/\\e", "back\\slash"), page(5, "http://a.example/100", "1000 words"),
            page(6, "http://a.example/w%C3%B6rter", nil),
        ]
        try catalog.add(try archive("one"), findings: []) { add in try pages.forEach(add) }
        try catalog.add(try archive("two"), findings: []) { add in try add(page(0, "http://a.example/", "reef")) }
        return (catalog, folder)
    }

    @Test(arguments: [
        ("", [0, 1, 2, 3, 4, 5, 6]), ("reef", [1, 2]), ("REEF", [1, 2]), ("coral reef", [1]), ("reef coral", [1]),
        ("reef b_c", [1]), ("b_c", [1]), ("%", [0, 6]), ("100%", [0]), ("\\", [4]), ("\\e", [4]),
        ("a.example", [0, 1, 2, 3, 4, 5, 6]), ("wörter", [6]), ("w%C3%B6rter", [6]), ("w%c3%b6r", [6]),
        ("nothing", []), ("'", []), ("reef nothing", []), ("   ", [0, 1, 2, 3, 4, 5, 6]), ("\" OR 1", []),
    ])
    func searchWordsAreLiteral(words: String, positions: [Int]) throws {
        let (catalog, folder) = try filled()
        let found = try catalog.pages(key: "key-one", PageListRequest(query: words, limit: 100))
        #expect(found.pages.map(\.position) == positions)
        #expect(found.total == positions.count)
        withExtendedLifetime(folder) {}
    }

    @Test func offsetAndLimitSelectPages() throws {
        let (catalog, folder) = try filled()
        let some = try catalog.pages(key: "key-one", PageListRequest(offset: 2, limit: 2))
        #expect(some.pages.map(\.position) == [2, 3])
        #expect(some.total == 7)
        #expect(try catalog.pages(key: "key-one", PageListRequest(offset: 7, limit: 2)).pages.isEmpty)
        withExtendedLifetime(folder) {}
    }

    @Test(arguments: [
        (PageListRequest.Order.archive, [0, 1, 2, 3]), (.title, [1, 2, 3, 0]), (.newest, [0, 2, 1, 3]),
        (.oldest, [1, 2, 0, 3]), (.url, [1, 0, 2, 3]),
    ])
    func pagesAreSorted(order: PageListRequest.Order, positions: [Int]) throws {
        let (catalog, folder) = try withTimes()
        var request = PageListRequest(limit: 10)
        request.order = order
        #expect(try catalog.pages(key: "key-times", request).pages.map(\.position) == positions)
        request.collapsesURLs = true
        let newest = try catalog.pages(key: "key-times", request)
        #expect(newest.pages.map(\.position) == positions.filter { $0 != 2 })
        #expect(newest.total == 3)
        #expect(newest.pages.first { $0.position == 0 }?.copies == 2)
        withExtendedLifetime(folder) {}
    }

    @Test func pagesAreSelectedByTime() throws {
        let (catalog, folder) = try withTimes()
        var request = PageListRequest(limit: 10)
        request.after = CaptureTimestamp(digits: "2023")
        #expect(try catalog.pages(key: "key-times", request).pages.map(\.position) == [0, 2])
        request.before = CaptureTimestamp(digits: "2024")
        let found = try catalog.pages(key: "key-times", request)
        #expect(found.pages.map(\.position) == [2] && found.total == 1)
        withExtendedLifetime(folder) {}
    }

    /// Pages of which two have the same URL, one has no time, and one no title.
    private func withTimes() throws -> (Catalog, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let catalog = try Catalog(path: folder.path("catalog.sqlite"))
        let rows: [(String, String?, String?)] = [
            ("b", "20240101000000", "Zebra"), ("a", "20220101000000", "apple"), ("b", "20230101000000", nil),
            ("c", nil, "Mango"),
        ]
        try catalog.add(try archive("times"), findings: []) { add in
            for (position, (path, time, title)) in rows.enumerated() {
                try add(
                    ArchivePage(
                        position: position, list: "pages", url: "http://a.example/\(path)", timestamp: time,
                        title: title))
            }
        }
        return (catalog, folder)
    }

    /// sqlite.org/pragma.html#pragma_synchronous: 2 is FULL, so that a commit survives a power failure.
    @Test func changesAreFlushed() throws {
        let folder = try TemporaryFolder()
        let catalog = try Catalog(path: folder.path("catalog.sqlite"))
        let mode = try catalog.database.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        #expect(mode == 2)
    }

    @Test func newestIsFirstAndIDsTakePrecedenceOverNames() throws {
        let folder = try TemporaryFolder()
        let catalog = try Catalog(path: folder.path("catalog.sqlite"))
        try catalog.add(try archive("old", at: 1000), findings: []) { _ in }
        try catalog.add(try archive("new", at: 2000, name: "same.wacz"), findings: []) { _ in }
        try catalog.add(try archive("also-new", at: 2001, name: "old.wacz"), findings: []) { _ in }
        try catalog.add(try archive("first", at: 500, name: "same.wacz"), findings: []) { _ in }
        #expect(try catalog.allArchives().map(\.id.text) == ["also-new", "new", "old", "first"])
        #expect(try catalog.archive(named: "old")?.id.text == "old")
        #expect(try catalog.archive(named: "old.wacz")?.id.text == "old")
        #expect(try catalog.archive(named: "same")?.id.text == "first")
        #expect(try catalog.archive(named: "same.wacz")?.id.text == "first")
        #expect(try catalog.archive(named: "") == nil)
        #expect(try catalog.archive(named: "%") == nil)
    }

    @Test func removalDeletesPagesAndFindings() throws {
        let (catalog, folder) = try filled()
        let finding = Finding(
            severity: .warning, code: "c", what: "w", location: "l", consequence: "q", urls: ["http://a.example/"],
            urlCount: 7, total: 3)
        try catalog.add(try archive("three"), findings: [finding, finding]) { _ in }
        #expect(try catalog.findings(key: "key-three") == [finding, finding])
        try catalog.remove(key: "key-three")
        try catalog.remove(key: "key-one")
        #expect(try catalog.findings(key: "key-three").isEmpty)
        #expect(try catalog.pages(key: "key-one", PageListRequest(limit: 10)).total == 0)
        #expect(try catalog.pages(key: "key-two", PageListRequest(limit: 10)).total == 1)
        #expect(try catalog.integrityCheck() == ["ok"])
        withExtendedLifetime(folder) {}
    }

    private struct Stop: Error {}

    @Test func archiveIsAddedAtomically() throws {
        let (catalog, folder) = try filled()
        #expect(throws: Stop.self) {
            try catalog.add(try archive("three"), findings: []) { add in
                try add(page(0, "http://a.example/", nil))
                throw Stop()
            }
        }
        #expect(try catalog.archive(key: "key-three") == nil)
        #expect(try catalog.pages(key: "key-three", PageListRequest(limit: 10)).total == 0)
        // An id or a file can't be added twice.
        let error = #expect(throws: StoreError.self) { try catalog.add(try archive("one"), findings: []) { _ in } }
        #expect(error?.what.contains("UNIQUE") == true)
        #expect(try catalog.pages(key: "key-one", PageListRequest(limit: 10)).total == 7)
        withExtendedLifetime(folder) {}
    }

    @Test func otherProcessSeesChanges() throws {
        let (catalog, folder) = try filled()
        let other = try Catalog(path: folder.path("catalog.sqlite"))
        #expect(try other.allArchives() == catalog.allArchives())
        try other.remove(key: "key-one")
        #expect(try catalog.allArchives().map(\.id.text) == ["two"])
    }

    @Test func allFieldsRoundTrip() throws {
        let (catalog, folder) = try filled()
        var whole = try archive("whole", at: 784_111_777)
        whole.summary.createdAt = Date(timeIntervalSince1970: 1_000_000_000)
        whole.summary.description = "text\nof two lines"
        whole.summary.software = "s"
        whole.summary.waczVersion = "1.1.1"
        whole.summary.mainPageURL = "http://a.example/ä"
        whole.summary.mainPageTimestamp = "20240102030405678"
        whole.summary.pageCount = 3
        whole.summary.captureCount = 4
        whole.summary.firstCapture = "20240102030405"
        whole.summary.lastCapture = "20240102030406"
        whole.summary.findingCounts = FindingCounts(notice: 1, warning: 2, error: 3)
        whole.summary.lookups = ArchiveLookups(strategy: .sortedCopy, reason: "r")
        whole.storage = .linked(FileReference(path: "/p/ä", size: whole.size, modifiedAtNanoseconds: .max))
        (whole.tags, whole.notes, whole.port, whole.provisionalKey) = (["t/1", "\"ü\""], "n", 8090, "ref-1")
        whole.isExamined = false
        try catalog.add(whole, findings: []) { _ in }
        #expect(try catalog.archive(key: "key-whole") == whole)
        withExtendedLifetime(folder) {}
    }
}
