import Foundation
import GRDB
import TestSupport
import Testing

@testable import ArchiveStore

/// The index agrees with the archives, whatever happens.
struct SearchIndexTests {
    typealias Record = RecordedArchive.Record

    private static func records(_ count: Int, _ word: String) -> [Record] {
        (0..<count).map { Record("http://\(word).example/\($0)", page("\(word) \($0)", "<p>\(word) text number\($0)")) }
    }

    private func store() throws -> TestStore {
        let test = try TestStore()
        try test.add(Self.records(30, "reef"), id: "reef")
        try test.add(Self.records(20, "sea") + Self.records(10, "reef"), id: "sea")
        return test
    }

    @Test func removedArchiveLeavesNothing() throws {
        let test = try store()
        let fresh = try TestStore()
        try fresh.add(Self.records(30, "reef"), id: "reef")
        try test.store.remove(try #require(ArchiveID("sea")))
        // Before its text is deleted, it isn't found any more.
        #expect(try test.search("sea").total == 0)
        #expect(try test.search("reef").total == 30)
        #expect(try test.search("reef").hits.allSatisfy { $0.archive.text == "reef" && $0.captures == 1 })
        try test.store.purgeRemovedTexts()
        #expect(try test.searchContents() == fresh.searchContents())
        #expect(try test.searchCounts() == fresh.searchCounts())
        #expect(try test.searchWords() == fresh.searchWords())
        #expect(try test.vocabulary() == fresh.vocabulary())
        #expect(try test.store.search.database.integrityCheck() == ["ok"])
        try test.store.remove(try #require(ArchiveID("reef")))
        try test.store.purgeRemovedTexts()
        #expect(try test.searchCounts().allSatisfy { $0.value == 0 })
        // The words are gone from the file too, apart from unused pages.
        try test.store.search.database.writing { _ in }
        let file = try contents(of: test.layout.search) + ((try? contents(of: test.layout.search + "-wal")) ?? [])
        #expect(!file.isEmpty)
    }

    /// Each search has a condition on archives while the text of a removed one is still there.
    @Test(arguments: ["reef 1", "http://reef.example/1", "reef.example", "site:reef.example", "re", "after:2000 reef"])
    func everySearchWorksUntilTheTextIsDeleted(_ text: String) throws {
        let test = try store()
        let searcher = test.store.searcher
        func suggestions() throws -> [Suggestion] {
            try searcher.suggestions(for: text, limit: 8).filter { $0.kind != .archive }
        }
        let expected = try suggestions()
        try test.store.remove(try #require(ArchiveID("sea")))
        #expect(try suggestions().map(\.text) == expected.map(\.text))
        #expect(try suggestions().allSatisfy { $0.kind == .site || $0.archive?.text == "reef" })
        _ = try test.search(text)
        _ = try searcher.facets(SearchQuery(text))
        // Marked, but not yet deleted.
        try test.store.purgeRemovedTexts { true }
        #expect(try suggestions().map(\.text) == expected.map(\.text))
        _ = try test.search(text)
        _ = try searcher.facets(SearchQuery(text))
    }

    /// The index stores the spelling that came first. It must not delete that one's words from the other's document.
    @Test func archiveWithAnotherSpellingOfAURLLeavesNothing() throws {
        let test = try TestStore()
        try test.add([Record("http://www.reef.example/a?b=1&a=2", page("Reef", "coral"))], id: "first")
        let second = [Record("http://reef.example/a?a=2&b=1", page("Reef", "sponge"))]
        try test.add(second, id: "second")
        let fresh = try TestStore()
        try fresh.add(second, id: "second")
        try test.store.remove(try #require(ArchiveID("first")))
        try test.store.purgeRemovedTexts()
        #expect(try test.searchContents() == fresh.searchContents())
        #expect(try test.searchWords() == fresh.searchWords())
        #expect(try test.search("www.reef.example").total == 1)
        #expect(try test.search("site:www.reef.example").total == 1)
    }

    /// As a server and a command do: the second found an empty file before the first had created the tables.
    @Test func twoProcessesCreateTheIndexAtOnce() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("search.sqlite")
        let first = try CatalogFile.openDerived(path)
        let second = try await first.write { database in
            try SearchSchema.create(database)
            let second = Task {
                try await onThread {
                    let database = SearchDatabase(path: path, isReadOnly: false)
                    try database.writing { try $0.execute(sql: "DELETE FROM note") }
                }
            }
            // It reads the version meanwhile, if it gets so far, and waits for the lock.
            usleep(300_000)
            return second
        }
        try await second.value
    }

    /// Deleting the index would not help, and cost the time to make it again.
    @Test(arguments: [
        "SELECT rowid FROM word WHERE word MATCH '\"'", "SELECT rowid FROM word WHERE word MATCH 'nowhere : a'",
        "SELECT 'a' LIKE hex(zeroblob(50000))", "SELECT zeroblob(2000000000)", "SELECT nothing FROM word",
    ])
    func wrongQueryIsNotDamage(sql: String) throws {
        let test = try TestStore()
        try test.add(Self.records(3, "reef"), id: "reef")
        let before = try test.searchContents()
        #expect {
            try test.store.search.database.reading { _ = try Row.fetchAll($0, sql: sql) }
        } throws: { error in
            let error = error as? StoreError
            return error?.code == .failed && error?.place == nil && error?.hint == nil
        }
        #expect(try test.searchContents() == before)
        #expect(try test.search("reef").coverage.rebuildReason == nil)
    }

    @Test func hostsWithPortsAndIPv6AddressesAreFound() throws {
        let test = try TestStore()
        try test.add(
            [
                Record("http://reef.example:8080/a", page("Port", "coral")).with { $0.key = "example,reef:8080)/a" },
                Record("http://[2001:db8::1]:81/b", page("Address", "sponge")).with { $0.key = "[2001:db8::1]:81)/b" },
            ], id: "reef")
        for (query, title) in [
            ("reef.example:8080/a", "Port"), ("reef.example", "Port"), ("site:reef.example", "Port"),
            ("site:reef.example:8080", "Port"), ("site:[2001:db8::1]", "Address"),
            ("http://[2001:db8::1]:81/b", "Address"),
        ] {
            let hits = try test.search(query).hits
            #expect(hits.map(\.title) == [title], "\(query)")
        }
    }

    @Test func capturesAreCountedWithTheText() throws {
        let test = try TestStore()
        let archive = try test.add(Self.records(3, "reef"), id: "reef", indexes: false)
        #expect(!test.store.resolver.hasCounts(of: archive))
        try test.indexAll()
        #expect(test.store.resolver.hasCounts(of: archive))
        #expect(try test.store.resolver.counts(of: archive).captures == 3)
    }

    @Test func interruptedIndexingContinues() throws {
        let test = try TestStore()
        let archive = try test.add(Self.records(40, "reef"), id: "reef", indexes: false)
        struct Stop: Error {}
        // Stops after each possible number of pages, as a killed process would.
        for count in [0, 1, 5, 20, 39] {
            var left = count
            #expect(throws: Stop.self) {
                _ = try TextWork(store: test.store, archive: archive).run { _, _ in
                    if left == 0 { throw Stop() }
                    left -= 1
                }
            }
            #expect(try test.store.searcher.indexedText(of: archive)?.isComplete == false)
        }
        #expect(try test.search("reef").coverage.pending == 1)
        try test.indexAll()
        let other = try TestStore()
        try other.add(Self.records(40, "reef"), id: "reef")
        #expect(try test.searchContents() == other.searchContents())
        #expect(try test.search("reef").coverage == SearchCoverage(complete: 1, pending: 0))
    }

    @Test(arguments: ["truncated", "zeroed", "deleted", "text", "newer", "dropped"])
    func damagedIndexIsMadeAgain(fault: String) throws {
        let test = try store()
        let before = try test.searchContents()
        let path = test.layout.search
        switch fault {
        case "newer":
            try test.store.search.database.writing { try $0.execute(sql: "PRAGMA user_version = 999999") }
        case "dropped": try test.store.search.database.writing { try $0.execute(sql: "DROP TABLE capture") }
        default:
            // Otherwise the log, which the test deletes, has nearly everything.
            try DatabaseQueue(path: path).writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            let bytes = try contents(of: path)
            try FileManager.default.removeItem(atPath: path)
            switch fault {
            case "truncated": try Data(bytes.prefix(bytes.count / 3 + 100)).write(to: URL(fileURLWithPath: path))
            case "zeroed": try Data(count: bytes.count).write(to: URL(fileURLWithPath: path))
            case "text":
                try Data("this is not a database, but quite a long text".utf8).write(to: URL(fileURLWithPath: path))
            default: break
            }
        }
        let reopened = TestStore(folder: test.folder, store: try test.reopened())
        let results = try reopened.search("reef")
        #expect(results.coverage.pending == 2)
        if fault != "deleted" { #expect(results.coverage.rebuildReason != nil) }
        try reopened.indexAll()
        #expect(try reopened.searchContents() == before)
        #expect(try reopened.search("reef").total == 30)
        #expect(try reopened.search("reef").coverage.pending == 0)
        #expect(try reopened.store.search.database.integrityCheck() == ["ok"])
    }

    @Test func hashedLinkKeepsItsText() throws {
        let test = try TestStore()
        let path = try test.folder.write(RecordedArchive(Self.records(5, "reef")).bytes(), to: "linked.wacz")
        _ = try test.store.importLink(to: path)
        let runner = JobRunner(test.store, kinds: [.text])
        try test.store.jobs.queueTexts()
        while try runner.runNext() != nil {}
        #expect(try test.search("reef").total == 5)
        try test.indexAll()
        #expect(try test.store.resolver.archive(matching: "linked").sha256 != nil)
        #expect(try test.search("reef").total == 5)
        #expect(try test.store.jobs.all(in: nil, limit: 9).filter { $0.kind == .text }.count == 1)
    }

    @Test func archiveWithoutTextIsFoundByTitleAndURL() throws {
        let test = try TestStore()
        var archive = RecordedArchive([Record("http://reef.example/deep", page("HTML title", "words"))])
        archive.pages = ["{\"url\":\"http://reef.example/deep\",\"ts\":\"2024-01-02T03:04:05Z\",\"title\":\"Listed\"}"]
        let path = try test.folder.write(archive.bytes(), to: "a.wacz")
        _ = try test.store.jobs.importAny(at: path, options: ImportOptions(indexesText: false))
        try test.indexAll()
        #expect(try test.found("listed") == ["reef.example/deep"])
        #expect(try test.found("deep") == ["reef.example/deep"])
        #expect(try test.found("words") == [])
        // The choice is in the sidecar, so it survives a rebuild.
        let rebuilt = try ArchiveStore.rebuild(at: test.layout.root).store
        #expect(try rebuilt.archives().map(\.archive.entry.indexesText) == [false])
    }

    @Test func failedJobIsNotRepeated() throws {
        let test = try TestStore()
        let path = try test.folder.write(RecordedArchive(Self.records(3, "reef")).bytes(), to: "linked.wacz")
        _ = try test.store.importLink(to: path)
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
        try test.indexAll()
        try test.indexAll()
        let jobs = try test.store.jobs.all(in: nil, limit: 9).filter { $0.kind == .text }
        #expect(jobs.map(\.state) == [.failed])
    }
}
