import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Counts of what an index lists, and the file that keeps them.
struct IndexCountsTests {
    typealias Record = RecordedArchive.Record

    private func record(_ url: String, _ timestamp: String, _ mime: String, key: String? = nil) -> Record {
        Record(url, "body", timestamp: timestamp).with {
            $0.index = "\"mime\":\"\(mime)\",\"status\":\"200\""
            $0.key = key
        }
    }

    private var records: [Record] {
        [
            record("http://a.example/", "20240101000000", "text/html"),
            record("https://a.example/", "20240131235959", "text/html"),
            record("http://a.example/b.png", "20240201000000", "image/png"),
            record("http://sub.a.example/", "20231231235959", "text/html"),
            record("http://b.example:8080/", "20240101000000", "application/pdf", key: "example,b:8080)/"),
            record("http://[::1]:90/", "20240101000000", "text/css", key: "[::1]:90)/"),
            record("http://127.0.0.1/", "20240101000000", "text/css", key: "1,0,0,127)/"),
            record("file:///a.txt", "20240101000000", "text/plain", key: "file:///a.txt"),
            record("urn:text:http://a.example/", "20240101000000", "text/plain", key: "urn:text:http://a.example/"),
            record(
                "metadata://gnu.org/software/wget/warc/wget.log", "20240101000000", "text/plain",
                key: "metadata://gnu.org/software/wget/warc/wget.log"),
        ]
    }

    /// Index entries of revisits have the type `warc/revisit`.
    @Test func revisitsHaveTheTypeOfWhatTheyRepeat() throws {
        let test = try TestStore()
        func revisit(_ url: String, _ digest: String, head: String = "", of target: String? = nil) -> Record {
            Record(url, timestamp: "20240301000000").with {
                ($0.type, $0.head) = ("revisit", head)
                $0.index = "\"mime\":\"warc/revisit\",\"digest\":\"\(digest)\""
                $0.fields = target.map { ["WARC-Refers-To-Target-URI: \($0)"] } ?? []
            }
        }
        let image = record("http://a.example/a.png", "20240201000000", "image/png").with {
            $0.index += ",\"digest\":\"sha1:A\""
        }
        let records = [
            image, revisit("http://a.example/a.png", "sha1:A"),
            revisit("http://a.example/b", "sha1:B", head: "HTTP/1.1 200 OK\r\nContent-Type: image/gif"),
            revisit("http://a.example/c", "sha1:A", of: "http://a.example/a.png"),
            revisit("http://a.example/d", "sha1:D"),
        ]
        let archive = try test.store.importFile(
            at: test.folder.write(RecordedArchive(records).bytes(), to: "a.wacz")
        ).archive
        let counts = try test.store.resolver.counts(of: archive)
        #expect(counts.types.map { "\($0.type) \($0.captures)" } == ["image 4", "other 1"])
        var filter = URLFilter()
        filter.types = [.image]
        let list = try test.store.resolver.urls(URLList.Request(filter: filter, limit: 10), in: .archive(archive))
        #expect(list.urls.map { String($0.entry.url.suffix(5)) } == ["a.png", "a.png", "ple/b", "ple/c"])
        #expect(list.urls.allSatisfy { $0.mediaClass == .image })
    }

    @Test func everythingIsCounted() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(
            at: test.folder.write(RecordedArchive(records).bytes(), to: "a.wacz")
        ).archive
        let counts = try test.store.resolver.counts(of: archive)
        #expect(counts.captures == 8)
        #expect(counts.urls == 7)
        #expect(
            counts.sites.map { "\($0.host) \($0.captures) \($0.urls)" } == [
                "a.example 3 2", "127.0.0.1 1 1", "[::1]:90 1 1", "b.example:8080 1 1", "file: 1 1",
                "sub.a.example 1 1",
            ])
        #expect(counts.otherSites == IndexCounts.OtherSites())
        #expect(
            counts.types.map { "\($0.type) \($0.captures)" } == ["html 3", "style 2", "image 1", "pdf 1", "text 1"])
        #expect(
            counts.months.map { "\($0.month) \($0.captures)" } == ["2023-12 1", "2024-01 6", "2024-02 1"])
    }

    /// With and without an index that can be searched, and in an index whose keys are URLs.
    @Test(arguments: GeneratedArchive.Layout.allCases)
    func countsDoNotDependOnTheLayout(_ layout: GeneratedArchive.Layout) throws {
        let test = try TestStore()
        let path = try test.file("a.wacz", layout: layout, pages: 50)
        let archive = try test.store.importFile(at: path).archive
        let counts = try test.store.resolver.counts(of: archive)
        #expect(counts.captures == archive.captureCount)
        #expect(counts.sites.map(\.host) == ["example.org"])
        #expect(counts.urls == 50)
    }

    /// `http` and `https` of a host aren't contiguous if keys are plain URLs.
    @Test func plainKeysAreCountedAsSURTs() throws {
        let test = try TestStore()
        let urls = ["http://a.example/", "http://b.example/", "https://a.example/", "https://a.example/c"]
        let archive = try test.store.importFile(
            at: test.folder.write(
                RecordedArchive(urls.map { record($0, "20240101000000", "text/html", key: $0) }).bytes(), to: "a.wacz")
        ).archive
        let counts = try test.store.resolver.counts(of: archive)
        #expect(counts.sites.map { "\($0.host) \($0.captures) \($0.urls)" } == ["a.example 3 2", "b.example 1 1"])
        #expect(counts.urls == 3)
    }

    @Test func smallSitesAreSummed() throws {
        var counter = IndexCounter()
        // 5,000 sites; every fifth has two captures of two URLs.
        for number in 10_000..<15_000 {
            for page in 0..<(number.isMultiple(of: 5) ? 2 : 1) {
                counter.add(
                    CDXJEntry(
                        urlKey: "example,s\(number))/\(page)", timestamp: "20240101000000", url: "http://x/",
                        filename: "a", offset: 0, length: nil))
            }
        }
        let counts = counter.finish()
        #expect(counts.sites.count == 1000)
        #expect(counts.sites.allSatisfy { $0.captures == 2 && $0.urls == 2 })
        #expect(counts.sites.map(\.host) == (2000..<3000).map { "s\($0 * 5).example" })
        #expect(counts.otherSites.sites == 4000)
        #expect(counts.otherSites.captures == 4000)
        #expect(counts.otherSites.urls == 4000)
        #expect(counts.captures == 6000)
    }

    private func counted(_ test: TestStore) throws -> (archive: Archive, path: String, counts: IndexCounts) {
        let archive = try test.store.importFile(at: test.file("a.wacz", layout: .unsorted)).archive
        #expect(!test.store.resolver.hasCounts(of: archive))
        let counts = try test.store.resolver.counts(of: archive)
        return (archive, test.layout.derived(.counts, key: archive.key), counts)
    }

    @Test func countsAreKept() throws {
        let test = try TestStore()
        let (archive, path, counts) = try counted(test)
        #expect(test.store.resolver.hasCounts(of: archive))
        var document = String(decoding: try contents(of: path), as: UTF8.self)
        document.replace("\"captures\" : \(counts.captures)", with: "\"captures\" : 12345")
        try test.folder.write(Array(document.utf8), to: "store/files/\(archive.key).counts.json")
        #expect(try test.reopened().resolver.counts(of: archive).captures == 12_345, "the file is read")
    }

    @Test func damagedOrOutdatedCountsAreMadeAgain() throws {
        let test = try TestStore()
        let (archive, path, counts) = try counted(test)
        let whole = try contents(of: path)
        let name = "store/files/\(archive.key).counts.json"
        let outdated = String(decoding: whole, as: UTF8.self).replacing("\"stamp\" : \"2-", with: "\"stamp\" : \"0-")
        #expect(Array(outdated.utf8) != whole)
        for bytes in [[], Array(whole.prefix(whole.count / 2)), Array("{}".utf8), Array(outdated.utf8)] {
            try test.folder.write(bytes, to: name)
            #expect(try test.store.resolver.counts(of: archive) == counts)
            #expect(try contents(of: path) == whole)
        }
    }

    @Test func countsAreDeletedWithTheArchive() throws {
        let test = try TestStore()
        let (archive, path, _) = try counted(test)
        _ = try test.store.repair(readsAll: true)
        #expect(FileManager.default.fileExists(atPath: path), "a repair keeps the counts of archives")
        _ = try test.store.prepareLookups()
        #expect(FileManager.default.fileExists(atPath: path))
        try test.store.remove(archive.id)
        #expect(names(in: test.layout.files) == [])
        // Counts that were left behind are swept.
        try test.folder.write([1], to: "store/files/\(archive.key).counts.json")
        _ = try test.store.repair()
        #expect(names(in: test.layout.files) == [])
    }

    @Test func countsOfARemovedArchiveAreNotKept() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        let open = try test.store.openArchives.lookups(archive, Allowances())
        #expect(open.archive == archive)
        var isRemoved = false
        #expect(throws: (any Error).self) {
            _ = try test.store.resolver.counts(of: archive) {
                if !isRemoved { try? test.store.remove(archive.id) }
                isRemoved = true
                return false
            }
        }
        #expect(names(in: test.layout.files).allSatisfy { !$0.hasSuffix("counts.json") })
    }

    @Test func countsMoveWithTheKeyOfALinkedFile() throws {
        let test = try TestStore()
        let linked = try test.store.importLink(to: test.file("a.wacz")).archive
        let counts = try test.store.resolver.counts(of: linked)
        guard linked.key.hasPrefix(StoreLayout.provisionalPrefix) else {
            Issue.record("the file was hashed already")
            return
        }
        let hashed = try test.store.committer.finishHashing(
            key: linked.key, sha256: String(repeating: "a", count: 64))
        #expect(test.store.resolver.hasCounts(of: hashed))
        #expect(try test.store.resolver.counts(of: hashed) == counts)
        #expect(!names(in: test.layout.files).contains { $0.hasPrefix(linked.key) })
    }
}
