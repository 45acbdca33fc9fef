import Foundation
import GRDB
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Linked files: provisional keys, hashing, and files that are unavailable or changed.
struct LinkedFileTests {
    private func referred(_ layout: GeneratedArchive.Layout = .plain) throws -> (TestStore, Archive, path: String) {
        let test = try TestStore()
        let path = try test.file("elsewhere.wacz", layout: layout)
        return (test, try test.store.importLink(to: path).archive, path)
    }

    private func change(_ path: String) throws {
        let bytes = GeneratedArchive(pages: numberedPages(4), seed: 99).bytes()
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    @Test func linkedArchiveIsAvailableBeforeHashing() async throws {
        let (test, archive, path) = try referred()
        #expect(archive.sha256 == nil)
        #expect(archive.key.wholeMatch(of: /ref-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
        #expect(archive.replayCollection.wholeMatch(of: /elsewhere-[0-9a-f]{12}/) != nil)
        #expect(archive.pageCount == 3)
        #expect(names(in: test.layout.files) == ["\(archive.key).json"])
        #expect(try test.store.catalog.allArchives() == [archive])
        #expect(archive.availability(in: test.layout) == .available)
        #expect(try test.store.captures(of: archive, url: "http://example.org/1", limit: 9).count == 1)
        #expect(FileManager.default.fileExists(atPath: path))
        try await test.expectWhole()
    }

    @Test func hashBecomesKeyAndIDStays() async throws {
        let (test, archive, path) = try referred(.unsorted)
        try test.store.edit(archive.id, ArchiveMetadata(title: "Mine", tags: ["a"], notes: "n"))
        let hash = try await sha256ByOpenSSL(path)
        let hashed = try test.store.committer.finishHashing(key: archive.key, sha256: hash)
        #expect(hashed.key == hash)
        #expect(hashed.sha256 == hash)
        #expect(hashed.id == archive.id)
        #expect((hashed.title, hashed.tags, hashed.notes) == ("Mine", ["a"], "n"))
        #expect(hashed.replayCollection == "elsewhere-\(hash.prefix(12))")
        #expect(hashed.provisionalKey == archive.key)
        #expect(try test.store.catalog.pages(key: hash, PageListRequest(limit: 10)).total == 3)
        #expect(
            try test.store.openArchives.lookups(hashed, Allowances()).wacz.isKnownSorted,
            "its index files have moved with it")
        try await test.expectWhole()
        #expect(try test.store.repair() == RepairReport())
    }

    @Test func duplicateOfManagedFileKeepsProvisionalKey() async throws {
        let (test, archive, path) = try referred()
        let own = try test.store.importFile(at: try test.folder.write(try contents(of: path), to: "own.wacz")).archive
        let hashed = try test.store.committer.finishHashing(key: archive.key, sha256: try #require(own.sha256))
        #expect(hashed.key == archive.key)
        #expect(hashed.sha256 == own.sha256)
        #expect(Set(try test.store.catalog.allArchives().map(\.id.text)) == ["elsewhere", "own"])
        try await test.expectWhole()
        let (again, _) = try ArchiveStore.rebuild(at: test.layout.root)
        #expect(Set(try again.catalog.allArchives()) == Set(try test.store.catalog.allArchives()))
    }

    @Test func unchangedFileIsNotReadAgain() throws {
        let (test, archive, path) = try referred()
        var steps = 0
        let again = try test.store.importLink(to: path) { _ in steps += 1 }
        #expect(again.isDuplicate)
        #expect(again.archive == archive)
        #expect(steps == 0)
    }

    @Test func unavailableFileReconnects() throws {
        let (test, archive, path) = try referred()
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        #expect(archive.availability(in: test.layout) == .unavailable)
        #expect(code { _ = try test.store.openArchives.lookups(archive, Allowances()) } == .unavailable)
        #expect(try test.store.details(of: archive).findings.map(\.code).contains("file-unavailable"))
        #expect(try test.store.repair() == RepairReport())
        #expect(try test.store.catalog.allArchives() == [archive])
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        #expect(archive.availability(in: test.layout) == .available)
        #expect(try test.store.openArchives.lookups(archive, Allowances()).wacz.size == archive.size)
    }

    @Test func changedFileIsNotOpened() async throws {
        let (test, archive, path) = try referred()
        _ = try test.store.openArchives.lookups(archive, Allowances())
        try change(path)
        #expect(archive.availability(in: test.layout) == .changed)
        #expect(code { _ = try test.store.openArchives.lookups(archive, Allowances()) } == .changed)
        let request = try #require(OpenArchives.Request(path: "elsewhere.wacz", query: nil))
        #expect(code { _ = try test.store.openArchives.file(for: request) } == .changed)
        #expect(code { _ = try test.store.committer.finishHashing(key: archive.key, sha256: "0") } == .changed)
        #expect(try test.store.details(of: archive).findings.map(\.code).contains("file-changed"))

        let renewed = try test.store.importLink(to: path)
        #expect(renewed.kind == .replaced)
        #expect(renewed.archive.id == archive.id)
        #expect(renewed.archive.key != archive.key)
        #expect(renewed.archive.replayCollection != archive.replayCollection)
        #expect(renewed.archive.importedAt == archive.importedAt)
        #expect(renewed.archive.pageCount == 4)
        try await test.expectWhole()
    }

    @Test func removesLinkedArchiveAndKeepsItsFile() async throws {
        let (test, archive, path) = try referred()
        try test.store.remove(archive.id)
        #expect(try test.store.catalog.allArchives().isEmpty)
        #expect(FileManager.default.fileExists(atPath: path))
        try await test.expectWhole()
    }

    /// Its key changes while the person confirms the removal.
    @Test func archiveHashedMeanwhileIsRemoved() async throws {
        let (test, archive, path) = try referred()
        _ = try test.store.committer.finishHashing(key: archive.key, sha256: try await sha256ByOpenSSL(path))
        try test.store.remove(archive.id)
        #expect(try test.store.catalog.allArchives().isEmpty)
        try await test.expectWhole()
    }

    @Test func importOfLinkedFileAdoptsIt() async throws {
        let (test, archive, path) = try referred(.unsorted)
        let hashed = try test.store.committer.finishHashing(key: archive.key, sha256: try await sha256ByOpenSSL(path))
        try test.store.edit(hashed.id, ArchiveMetadata(title: "Mine"))
        let outcome = try test.store.importFile(at: path)
        #expect(outcome.kind == .adopted)
        #expect(outcome.archive.id == archive.id)
        #expect(outcome.archive.title == "Mine")
        #expect(outcome.archive.storage == .managed)
        #expect(FileManager.default.fileExists(atPath: path))
        try await test.expectWhole()
    }

    @Test func fileInStoreIsRefused() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: try test.file("a.wacz")).archive
        #expect(code { _ = try test.store.importLink(to: test.layout.file(archive.key)) } == .failed)
    }

    @Test func hashingIsQueuedForEachLinkedFile() async throws {
        let (test, archive, path) = try referred()
        func waiting() throws -> Int {
            try test.store.catalog.reading {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM job WHERE kind = 'hash' AND state = 'waiting'") ?? 0
            }
        }
        #expect(try waiting() == 1)
        _ = try test.store.importLink(to: path)
        try test.store.jobs.queueHashing(of: archive)
        #expect(try waiting() == 1)
    }
}
