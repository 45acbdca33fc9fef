import ArchiveSignature
import Foundation
import GRDB
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Lists of archives, filtered, sorted and in parts.
struct LibraryTests {
    private typealias State = LibraryFilter.State

    /// Adds an archive to the catalog, without a file.
    private func add(_ test: TestStore, _ id: String, _ change: (inout Archive) -> Void = { _ in }) throws {
        let entry = LibraryEntry(
            title: id, originalName: "\(id).wacz", source: "test", importedAt: Date(timeIntervalSince1970: 1_000_000))
        var archive = Archive(
            key: "key-of-\(id)", id: try #require(ArchiveID(id)), sha256: nil, size: 10, storage: .managed,
            entry: entry, summary: ArchiveSummary())
        change(&archive)
        try test.store.catalog.add(archive, findings: []) { _ in }
    }

    private func ids(
        _ test: TestStore, _ order: String = "title", offset: Int = 0, limit: Int = 100,
        _ change: (inout LibraryFilter) -> Void = { _ in }
    ) throws -> [String] {
        var filter = LibraryFilter()
        change(&filter)
        let order = try #require(LibraryOrder(order))
        let part = try test.store.library.archives(filter, sortedBy: order, offset: offset, limit: limit)
        #expect(try test.store.library.facets(filter).total == part.total)
        if offset == 0, part.total <= limit { #expect(part.archives.count == part.total) }
        return part.archives.map(\.archive.id.text)
    }

    @Test(arguments: [
        ("harbour", "a"), ("HARBOUR notebook", "a"), ("fähre", "b"), ("FÄHRE", "b"), ("ФОТО", "b"), ("reef", "a b"),
        ("quay.wacz", "c"), ("island.example", "b"), ("ISLAND", "b"), ("50%", "c"), ("%", "c"), ("_", ""),
        ("harbour fähre", ""), ("sea/shore", "c"), ("  ", "a b c"),
    ])
    func eachWordMustBeSomewhere(_ query: String, _ expected: String) throws {
        let test = try TestStore()
        try add(test, "a") { ($0.title, $0.notes) = ("Harbour Notebook", "about the reef") }
        try add(test, "b") {
            ($0.title, $0.tags) = ("Fähre", ["Reef", "фото"])
            $0.summary.mainPageURL = "https://www.island.example/start"
        }
        try add(test, "c") { ($0.title, $0.tags, $0.originalName) = ("50% off", ["sea/shore"], "Quay.wacz") }
        #expect(try ids(test, "added") { $0.query = query } == expected.split(separator: " ").map(String.init))
    }

    @Test func archivesOfOneURLAreCountedAndFound() throws {
        let test = try TestStore()
        for (id, url) in [
            ("a", "https://quay.example/"), ("b", "https://quay.example/x"), ("c", "https://quay.example/"),
        ] {
            try add(test, id) { $0.entry.saved = SavedURL(url: url, user: "ana") }
        }
        try add(test, "d")
        #expect(try ids(test) { $0.saved = "https://quay.example/" } == ["a", "c"])
        #expect(try ids(test) { $0.saved = "https://quay.example" } == [])
        // Also of those in another part of the list
        let order = try #require(LibraryOrder("title"))
        let part = try test.store.library.archives(LibraryFilter(), sortedBy: order, offset: 2, limit: 2)
        #expect(part.archives.map(\.savedTimes) == [2, nil])
    }

    /// The list that the library opens with isn't sorted: an index has its order, and only the part is read.
    @Test func firstPartIsReadInTheOrderOfAnIndex() throws {
        let test = try TestStore()
        for name in ["a", "b", "c"] { try add(test, name) }
        let order = try #require(LibraryOrder("-added"))
        let sql = Library.keysSQL(LibraryCondition(LibraryFilter(), unavailable: "[]"), order)
        let plan = try test.store.catalog.reading { database in
            try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: [1, 0]).map {
                $0["detail"] as String
            }
        }
        #expect(plan == ["SCAN archive USING INDEX archiveByImport"])
        for words in ["", "wacz"] {
            var filter = LibraryFilter()
            filter.query = words
            let part = try test.store.library.archives(filter, sortedBy: order, offset: 1, limit: 1)
            #expect(part.archives.map(\.archive.id.text) == ["b"])
            #expect(part.total == 3)
            let none = try test.store.library.archives(filter, sortedBy: order, offset: 9, limit: 1)
            #expect(none.archives.isEmpty)
            #expect(none.total == 3, "also after the last one")
        }
    }

    @Test func archiveMustHaveAllTags() throws {
        let test = try TestStore()
        try add(test, "a") { $0.tags = ["x", "y"] }
        try add(test, "b") { $0.tags = ["x", "Y"] }
        #expect(try ids(test) { $0.tags = ["x"] } == ["a", "b"])
        #expect(try ids(test) { $0.tags = ["x", "y"] } == ["a"])
        #expect(try ids(test) { $0.tags = ["z"] } == [])
    }

    @Test func archivesAreSortedByWhatVerificationsFound() throws {
        let test = try TestStore()
        for code in [VerificationCode.damaged, .signed, .partly, .suspicious] {
            try add(test, code.rawValue) {
                $0.lastReading = Self.reading(code)
            }
        }
        try add(test, "new")
        let order = try #require(LibraryOrder("-trust"))
        let part = try test.store.library.archives(LibraryFilter(), sortedBy: order, offset: 0, limit: 10)
        #expect(part.archives.map { $0.archive.id.text } == ["damaged", "suspicious", "partly", "new", "signed"])
    }

    /// Until the captures were counted, those of the first and the last one are known.
    @Test func yearsAreThoseWithCaptures() throws {
        let test = try TestStore()
        try add(test, "a") {
            ($0.summary.firstCapture, $0.summary.lastCapture) = ("20191231235959", "20210101000000")
        }
        try add(test, "b") {
            ($0.summary.firstCapture, $0.summary.lastCapture) = ("20210601000000123", "20210601000000123")
        }
        try add(test, "c")
        for (year, expected) in [(2018, []), (2019, ["a"]), (2020, []), (2021, ["a", "b"]), (2022, [String]())] {
            #expect(try ids(test) { $0.year = year } == expected, "\(year)")
        }
        let facets = try test.store.library.facets(LibraryFilter())
        #expect(facets.years.map { "\($0.value) \($0.count)" } == ["2021 2", "2019 1"])
    }

    /// The years of a file can be anything.
    @Test func impossibleYearsAreBounded() throws {
        let test = try TestStore()
        try add(test, "a") {
            ($0.summary.firstCapture, $0.summary.lastCapture) = ("00000101000000", "99991231000000")
        }
        try add(test, "b") { ($0.summary.firstCapture, $0.summary.lastCapture) = ("x", "y") }
        #expect(try test.store.library.facets(LibraryFilter()).years.map(\.value) == ["9999"])
    }

    @Test func statesAreAlternatives() throws {
        let test = try TestStore()
        try add(test, "errors") { ($0.summary.findingCounts.error, $0.lastReading) = (1, Self.reading(.hashesAgree)) }
        try add(test, "warnings") {
            ($0.summary.findingCounts.warning, $0.lastReading) = (1, Self.reading(.hashesAgree))
        }
        try add(test, "notices") { ($0.summary.findingCounts.notice, $0.lastReading) = (1, Self.reading(.hashesAgree)) }
        try add(test, "new")
        // Generated archives have a warning.
        let path = try test.file("linked.wacz")
        _ = try test.store.importLink(to: path)
        #expect(try ids(test) { $0.states = [.issues] } == ["errors", "linked", "warnings"])
        #expect(try ids(test) { $0.states = [.result(.notVerified)] } == ["linked", "new"])
        let found = try ids(test) { $0.states = [.result(.hashesAgree), .result(.damaged)] }
        #expect(found == ["errors", "notices", "warnings"])
        #expect(try ids(test) { $0.states = [.unavailable] } == [])
        try FileManager.default.removeItem(atPath: path)
        #expect(try ids(test) { $0.states = [.unavailable] } == ["linked"])
        #expect(try ids(test) { $0.states = [.result(.notVerified), .unavailable] } == ["linked", "new"])
        let states = try test.store.library.facets(LibraryFilter()).states
        // A file that isn't there has no result.
        #expect(states == ["issues": 3, "unavailable": 1, "not-verified": 1, "hashes-agree": 3])
    }

    private static func reading(_ code: VerificationCode) -> Archive.Reading {
        let verified = VerificationSummary(
            code: code, contents: code, signer: nil, verifiedAt: Date(timeIntervalSince1970: 0))
        return Archive.Reading(state: "", verified: verified)
    }

    @Test func equalArchivesAreInTheOrderOfTheirIDs() throws {
        let test = try TestStore()
        for id in ["d", "b", "a", "c"] {
            try add(test, id) { ($0.title, $0.summary.pageCount) = (id == "c" ? "ÄPFEL" : "Birne", id == "a" ? 2 : 1) }
        }
        for order in LibraryOrder.names {
            let all = try ids(test, order)
            let paged = try (0..<4).flatMap { try ids(test, order, offset: $0, limit: 1) }
            #expect(paged == all, "\(order)")
        }
        #expect(try ids(test, "size") == ["a", "b", "c", "d"])
        #expect(try ids(test, "pages") == ["b", "c", "d", "a"])
        #expect(try ids(test, "title") == ["a", "b", "d", "c"])
        #expect(try ids(test, "-title") == ["c", "d", "b", "a"])
    }

    @Test func titlesAreSortedWithoutRegardToCase() throws {
        let test = try TestStore()
        for (id, title) in [("1", "b"), ("2", "A"), ("3", "C")] { try add(test, id) { $0.title = title } }
        #expect(try ids(test, "title") == ["2", "1", "3"])
        #expect(LibraryOrder("-captured")?.isDescending == true)
        #expect(LibraryOrder("--title") == nil)
        #expect(LibraryOrder("") == nil)
    }

    @Test func facetsCountWhatMatches() throws {
        let test = try TestStore()
        try add(test, "a") { $0.tags = ["x", "y"] }
        try add(test, "b") { $0.tags = ["x"] }
        try add(test, "c") { $0.summary.mainPageURL = "http://a.example:8080/" }
        _ = try test.store.collections.make(
            id: nil, title: "Both", members: [try #require(ArchiveID("a"))], metadata: ArchiveMetadata())
        var filter = LibraryFilter()
        let all = try test.store.library.facets(filter)
        #expect(all.total == 3)
        #expect(all.bytes == 30)
        #expect(all.tags.map { "\($0.value) \($0.count)" } == ["x 2", "y 1"])
        #expect(all.sites.map { "\($0.value) \($0.count)" } == ["a.example:8080 1"])
        filter.tags = ["y"]
        let some = try test.store.library.facets(filter)
        #expect(some.tags.map { "\($0.value) \($0.count)" } == ["x 1", "y 1"])
        #expect((some.total, some.bytes, some.sites) == (1, 10, []))
        #expect(some.library == LibraryFacets.Whole(archives: 3, collections: 1, bytes: 30))
        let item = try test.store.library.archives(
            filter, sortedBy: try #require(LibraryOrder("added")), offset: 0, limit: 1
        ).archives[0]
        #expect(item.collections.map(\.text) == ["both"])
    }

    // Sites -------------------------------------------------------------------------------------------------------

    private func record(_ url: String, count: Int = 1) -> [RecordedArchive.Record] {
        (0..<count).map { RecordedArchive.Record("\(url)/\($0)", "text") }
    }

    private func sites(_ store: ArchiveStore) throws -> [String] {
        let items = try store.library.archives(
            LibraryFilter(), sortedBy: try #require(LibraryOrder("added")), offset: 0, limit: 10
        ).archives
        return items.map { "\($0.siteCount): \($0.sites.joined(separator: " "))" }
    }

    private func importSites(_ test: TestStore, _ name: String = "a.wacz") throws -> Archive {
        var archive = RecordedArchive(
            record("http://one.example") + record("http://two.example", count: 3) + record("http://six.example")
                + record("http://ten.example", count: 2))
        archive.pages = ["{\"url\":\"http://one.example/0\",\"ts\":\"2024-01-02T03:04:05Z\"}"]
        return try test.store.importFile(at: test.folder.write(archive.bytes(), to: name)).archive
    }

    @Test func mainPageIsTheSiteUntilTheSitesAreCounted() throws {
        let test = try TestStore()
        _ = try importSites(test)
        #expect(try sites(test.store) == ["1: one.example"])
        #expect(try ids(test) { $0.site = "one.example" } == ["a"])
        #expect(try ids(test) { $0.site = "two.example" } == [])
        try test.runTextJobs()
        #expect(try sites(test.store) == ["4: two.example ten.example one.example"])
        #expect(try ids(test) { $0.site = "six.example" } == ["a"])
        #expect(try ids(test) { $0.query = "SIX" } == ["a"])
    }

    /// An archive that an earlier version indexed has counts, and no sites in the catalog.
    @Test func sitesOfIndexedArchivesAreAdded() async throws {
        let test = try TestStore()
        let archive = try importSites(test)
        try test.runTextJobs()
        try test.store.jobs.queueTexts()
        let states: Set<Job.State> = [.waiting]
        #expect(try test.store.jobs.all(in: Array(states), limit: 10).isEmpty, "nothing is left to do")
        try await test.store.catalog.database.write { database in
            try database.execute(sql: "DELETE FROM archiveSite; UPDATE archive SET siteCount = NULL")
        }
        try test.store.jobs.queueTexts()
        #expect(try sites(test.store) == ["1: one.example"])
        try test.runTextJobs()
        #expect(try sites(test.store) == ["4: two.example ten.example one.example"])
        #expect(test.store.resolver.hasCounts(of: archive))
    }

    /// The page that plays a film is of no site. Without the URL that was saved, nothing tells of which the film is.
    @Test(arguments: [
        ("https://www.film.example/watch?v=1", "1: film.example", "1: film.example"),
        ("https://one.example/film", "1: one.example", "1: one.example"),
        (nil, "1: replayhost.invalid", "2: replayhost.invalid one.example"),
    ])
    func siteOfASavedFilmIsItsOwn(url: String?, before: String, after: String) throws {
        let test = try TestStore()
        let isElsewhere = url?.contains("film.example") == true
        var archive = RecordedArchive(
            record("https://replayhost.invalid/x", count: 3) + (isElsewhere ? [] : record("http://one.example")))
        archive.pages = ["{\"url\":\"https://replayhost.invalid/x/0\",\"ts\":\"2024-01-02T03:04:05Z\"}"]
        let options = ImportOptions(saved: url.map { SavedURL(url: $0, user: "ana") })
        _ = try test.store.importFile(at: test.folder.write(archive.bytes(), to: "a.wacz"), options: options)
        #expect(try sites(test.store) == [before])
        try test.runTextJobs()
        #expect(try sites(test.store) == [after])
        // Of an earlier version
        try test.store.catalog.writing {
            try $0.execute(sql: "UPDATE archive SET siteCount = NULL; DELETE FROM archiveSite")
        }
        try test.store.jobs.queueTexts()
        try test.runTextJobs()
        #expect(try sites(test.store) == [after])
    }

    /// Otherwise a job for it would be queued after each job.
    @Test func sitesThatCannotBeCountedAreNotCountedAgain() throws {
        let test = try TestStore()
        let archive = try importSites(test)
        let bytes = try contents(of: test.layout.file(archive.key))
        let start = try #require(bytes.firstRange(of: Array("example,ten)/0 ".utf8)))
        var damaged = bytes
        damaged.replaceSubrange(start, with: Array(repeating: 0xFF, count: start.count))
        try FileManager.default.removeItem(atPath: test.layout.file(archive.key))
        try Data(damaged).write(to: URL(filePath: test.layout.file(archive.key)))
        let runner = JobRunner(test.store, kinds: [.text])
        for _ in 0..<5 {
            try test.store.jobs.queueTexts()
            guard try runner.runNext(stop: { nil }) != nil else { break }
        }
        try test.store.jobs.queueTexts()
        #expect(try test.store.jobs.all(in: [.waiting, .running], limit: 10).isEmpty)
    }

    @Test func rebuildKeepsSites() throws {
        let test = try TestStore()
        _ = try importSites(test)
        try test.runTextJobs()
        let (store, _) = try ArchiveStore.rebuild(at: test.layout.root)
        #expect(try sites(store) == ["4: two.example ten.example one.example"])
    }

    @Test func rebuildKeepsSitesOfUnavailableFiles() throws {
        let test = try TestStore()
        let path = try test.file("a.wacz")
        _ = try test.store.importLink(to: path)
        try test.runTextJobs()
        #expect(try sites(test.store) == ["1: example.org"])
        try FileManager.default.removeItem(atPath: path)
        let (store, _) = try ArchiveStore.rebuild(at: test.layout.root)
        #expect(try sites(store) == ["1: example.org"])
    }

    @Test func hashedArchiveKeepsItsSites() throws {
        let test = try TestStore()
        _ = try test.store.importLink(to: try test.file("a.wacz"))
        try test.runTextJobs()
        let runner = JobRunner(test.store, kinds: [.hash])
        #expect(try runner.runNext(stop: { nil })?.state == .done)
        #expect(try sites(test.store) == ["1: example.org"])
    }

    @Test func atMostFiftySitesAreKept() throws {
        let test = try TestStore()
        let archive = RecordedArchive((0..<60).flatMap { record("http://s\($0).example", count: $0 == 59 ? 2 : 1) })
        _ = try test.store.importFile(at: test.folder.write(archive.bytes(), to: "a.wacz"))
        try test.runTextJobs()
        #expect(try sites(test.store) == ["60: s59.example s0.example s1.example"])
        let rows = try test.store.catalog.reading {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM archiveSite")
        }
        #expect(rows == 50)
        try test.store.remove(try #require(ArchiveID("a")))
        let left = try test.store.catalog.reading { try Int.fetchOne($0, sql: "SELECT count(*) FROM archiveSite") }
        #expect(left == 0)
    }
}

extension TestStore {
    /// Indexes the text of all archives.
    fileprivate func runTextJobs() throws {
        try store.jobs.queueTexts()
        let runner = JobRunner(store, kinds: [.text])
        while let job = try runner.runNext(stop: { nil }) { #expect(job.state == .done, "\(job.reason ?? "")") }
    }
}
