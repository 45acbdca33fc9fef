import ArchiveSignature
import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// A WARC file with one page for each URL.
func makeWARC(_ pages: [(url: String, body: String)], at path: String) throws {
    let writer = try WARCWriter(path: path)
    let time = try #require(CaptureTimestamp(digits: "20240102030405"))
    for (url, body) in pages {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
        try writer.write(
            .init(type: "response", targetURI: url, date: time, contentType: "application/http; msgtype=response"),
            block: MemoryByteSource(Array((head + body).utf8), name: "block"), payloadStart: UInt64(head.utf8.count))
    }
    try writer.finish()
}

struct WARCImportTests {
    private let test: TestStore
    private let file: String

    init() throws {
        test = try TestStore()
        file = test.folder.path("site.warc.gz")
        try makeWARC([("https://a.example/", "<title>A title</title>")], at: file)
    }

    private func importTogether(_ paths: [String], mode: ImportMode = .copy) throws -> ImportOutcome {
        try test.store.jobs.importAny(at: paths[0], with: Array(paths.dropFirst()), mode: mode).onlyOutcome
    }

    @Test func warcBecomesAnArchiveOfItsOwn() async throws {
        let archive = try test.store.importFile(at: file).archive
        #expect(archive.id.text == "site" && archive.title == "site" && archive.entry.originalName == "site.wacz")
        #expect(archive.source == file)
        #expect(archive.captureCount == 1 && archive.pageCount == 1)
        #expect(
            try test.store.catalog.pages(key: archive.key, PageListRequest(limit: 9)).pages.map(\.title) == ["A title"])
        let wacz = try WACZFile.open(FileByteSource(path: test.layout.file(archive.key)))
        let entry = try #require(wacz.warcEntry(named: "site.warc.gz"))
        #expect(try wacz.directory.contents(of: entry, limit: 1 << 20) == contents(of: file))
        #expect(wacz.dataPackage?.software == "replayhost \(ArchiveStore.version)")
        try await test.expectWhole()
        #expect(try test.store.importFile(at: file).isDuplicate)
    }

    @Test func severalFilesBecomeOneArchive() throws {
        let other = test.folder.path("more.warc.gz")
        try makeWARC([("https://b.example/", "<title>B</title>")], at: other)
        let archive = try importTogether([file, other]).archive
        #expect(archive.captureCount == 2 && archive.source == "\(file), \(other)")
        let indexed = try test.store.openArchives.lookups(archive, Allowances())
        #expect(indexed.wacz.warcEntries.map(\.name) == ["archive/site.warc.gz", "archive/more.warc.gz"])
        #expect(try test.store.captures(of: archive, url: "https://b.example/", limit: 9).count == 1)
        let wacz = try test.file("a.wacz")
        #expect(code { _ = try importTogether([file, wacz]) } == .refused)
        #expect(code { _ = try importTogether([wacz, file]) } == .refused)
    }

    @Test func movedFilesAreDeletedAfterwards() throws {
        let other = test.folder.path("more.warc.gz")
        try makeWARC([("https://b.example/", "<title>B</title>")], at: other)
        _ = try importTogether([file, other], mode: .move)
        #expect(!FileManager.default.fileExists(atPath: file) && !FileManager.default.fileExists(atPath: other))
    }

    @Test func warcCannotBeLinked() throws {
        #expect(code { _ = try test.store.importAny(at: file, mode: .link) } == .refused)
        #expect(FileManager.default.fileExists(atPath: file))
    }

    @Test func uploadedWARCIsPacked() throws {
        let bytes = try contents(of: file)
        let upload = try test.store.jobs.startUpload(name: "site.warc.gz", source: "browser", size: UInt64(bytes.count))
        try bytes.withUnsafeBytes { try upload.write($0) }
        let archive = try upload.finish().onlyArchive
        #expect(archive.entry.originalName == "site.wacz" && archive.captureCount == 1)
        #expect(archive.key == (try test.store.importFile(at: file).archive.key))
    }

    @Test func damagedRecordIsAFindingAndTheRestIsKept() throws {
        var bytes = try contents(of: file)
        bytes[200] ^= 0xFF
        let damaged = try test.folder.write(bytes + contents(of: file), to: "damaged.warc.gz")
        let outcome = try test.store.importFile(at: damaged)
        #expect(outcome.archive.captureCount == 1)
        #expect(outcome.findings.map(\.code) == ["warc-damaged"])
        #expect(try test.store.details(of: outcome.archive).findings.map(\.code) == ["warc-damaged"])
        // The verification finds the same in the file.
        let now = try verify(outcome.archive)
        #expect(now.verified?.code == .unreplayable)
        #expect(try test.store.details(of: now).findings.map(\.code) == ["warc-damaged"])
    }

    private func verify(_ archive: Archive) throws -> Archive {
        _ = try test.store.verifications.verify(archive, trust: .empty) { _ in }
        return try #require(try test.store.archive(id: archive.id))
    }

    /// One gzip member for the whole file, which ends early: its records are written again, the last one as far as it's there.
    @Test func whatAConversionLostStaysAnIssue() throws {
        let noise = (0..<40_000).map { _ in Character(UnicodeScalar(UInt8.random(in: 33...126))) }
        let records = ["<title>A</title>", String(noise)].map { body in
            let block = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n\(body)"
            return """
                WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/\(body.count)\r\n\
                WARC-Date: 2024-01-02T03:04:05Z\r\nContent-Type: application/http\r\n\
                Content-Length: \(block.utf8.count)\r\n\r\n\(block)\r\n\r\n
                """
        }
        let whole = GeneratedArchive.gzip(Array(records.joined().utf8))
        let cut = try test.folder.write(whole.dropLast(9000), to: "cut.warc.gz")
        let imported = try test.store.importFile(at: cut)
        #expect(imported.archive.captureCount == 2 && imported.findings.count == 2)
        func expectIssues(_ archive: Archive, in store: ArchiveStore) throws {
            let details = try store.details(of: archive)
            #expect(Set(details.findings) == Set(imported.findings))
            #expect(details.archive.findingCounts.error == 2)
        }
        try expectIssues(imported.archive, in: test.store)
        for _ in 0..<2 {
            let now = try verify(imported.archive)
            #expect(now.verified?.code == .unreplayable)
            try expectIssues(now, in: test.store)
        }
        _ = try test.store.edit(imported.archive.id, ArchiveMetadata(title: "Other"))
        // Also without the report.
        try FileManager.default.removeItem(atPath: test.layout.derived(.verified, key: imported.archive.key))
        let (rebuilt, _) = try ArchiveStore.rebuild(at: test.layout.root)
        try expectIssues(try #require(try rebuilt.archive(id: imported.archive.id)), in: rebuilt)
    }

    @Test func fileWithoutCapturesIsRefused() throws {
        let empty = try test.folder.write(
            Array("WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n".utf8), to: "a.warc")
        #expect(code { _ = try test.store.importFile(at: empty) } == .refused)
        #expect(names(in: test.layout.incoming).isEmpty)
        #expect(try test.store.catalog.allArchives().isEmpty)
    }

    @Test func stoppedImportLeavesNothing() throws {
        struct Stop: Error {}
        let large = test.folder.path("large.warc.gz")
        let noise = (0..<3 << 20).map { _ in Character(UnicodeScalar(UInt8.random(in: 33...126))) }
        try makeWARC([("https://a.example/", String(noise))], at: large)
        #expect(throws: Stop.self) {
            _ = try test.store.importAny(at: large) { if case .copying = $0 { throw Stop() } }
        }
        #expect(names(in: test.layout.incoming).isEmpty && names(in: test.layout.files).isEmpty)
    }
}

struct FolderWatchTests {
    private let test: TestStore
    private let folder: String

    init() throws {
        test = try TestStore()
        folder = test.folder.path("watched")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func look(_ watch: inout FolderWatch) throws -> [String: Bool] {
        var seen: [String: Bool] = [:]
        try watch.look {
        } log: { path, problem in
            seen[(path as NSString).lastPathComponent] = problem == nil
        }
        return seen
    }

    /// Looks until each of the files is reported. A process that another test starts holds open files for a moment.
    private func look(_ watch: inout FolderWatch, for names: Set<String>) throws -> [String: Bool] {
        var seen: [String: Bool] = [:]
        try waitUntil {
            let found = try look(&watch)
            #expect(Set(found.keys).isDisjoint(with: seen.keys))
            seen.merge(found) { $1 }
            return names.isSubset(of: seen.keys)
        }
        return seen
    }

    private func watch(links: Bool = false) -> FolderWatch {
        FolderWatch(test.store, WatchedFolder(path: folder, links: links))
    }

    private func add(_ name: String, seed: UInt64 = 1) throws {
        try FileManager.default.moveItem(atPath: test.file(name, seed: seed), toPath: "\(folder)/\(name)")
    }

    @Test func unchangedFileIsImportedOnce() throws {
        var watch = watch()
        #expect(try look(&watch) == [:])
        try add("a.wacz")
        try Data("junk".utf8).write(to: URL(fileURLWithPath: "\(folder)/bad.wacz"))
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(folder)/notes.txt"))
        #expect(try look(&watch) == [:])
        #expect(try look(&watch, for: ["a.wacz", "bad.wacz"]) == ["a.wacz": true, "bad.wacz": false])
        #expect(try look(&watch) == [:])
        #expect(try test.store.catalog.allArchives().map(\.id.text) == ["a"])
        // Another process knows what was imported.
        var next = self.watch()
        for _ in 0..<3 { #expect(try look(&next) == [:]) }
    }

    @Test func fileThatIsBeingWrittenWaits() throws {
        var watch = watch()
        let bytes = try contents(of: test.file("a.wacz"))
        let path = "\(folder)/a.wacz"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let writer = try #require(FileHandle(forWritingAtPath: path))
        for _ in 0..<3 { #expect(try look(&watch) == [:]) }
        try writer.close()
        #expect(try look(&watch, for: ["a.wacz"]) == ["a.wacz": true])
    }

    @Test func filesAreLinkedWhereThatIsPossible() throws {
        var watch = watch(links: true)
        try add("a.wacz")
        try makeWARC([("https://a.example/", "x")], at: "\(folder)/b.warc.gz")
        #expect(try look(&watch, for: ["a.wacz", "b.warc.gz"]) == ["a.wacz": true, "b.warc.gz": true])
        let archives = try test.store.catalog.allArchives()
        #expect(archives.first { $0.id.text == "a" }?.storage.isLinked == true)
        #expect(archives.first { $0.id.text == "b" }?.storage.isLinked == false)
    }

    @Test func changedFileIsImportedAgain() throws {
        var watch = watch()
        try add("a.wacz")
        _ = try look(&watch, for: ["a.wacz"])
        try FileManager.default.removeItem(atPath: "\(folder)/a.wacz")
        try add("a.wacz", seed: 2)
        #expect(try look(&watch) == [:])
        #expect(try look(&watch, for: ["a.wacz"]) == ["a.wacz": true])
        #expect(try test.store.catalog.allArchives().count == 2)
    }
}
