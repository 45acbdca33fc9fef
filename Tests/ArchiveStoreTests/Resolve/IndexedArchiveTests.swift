import Foundation
import GRDB
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Damaged, missing or foreign index files: results stay right, and `doctor` repairs the files.
struct IndexedArchiveTests {
    /// More than fits in one block, so that damage to one leaves others intact.
    private static let count = 700

    private func filled(
        _ layout: GeneratedArchive.Layout, count: Int = count
    ) throws -> (test: TestStore, archive: Archive) {
        let test = try TestStore()
        let bytes = GeneratedArchive(pages: numberedPages(count), layout: layout).bytes()
        return (test, try test.store.importFile(at: try test.folder.write(bytes, to: "a.wacz")).archive)
    }

    private func put(_ bytes: some Sequence<UInt8>, to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// A reader that opens the archive now.
    private func fresh(_ test: TestStore) -> OpenArchives {
        OpenArchives(layout: test.layout, catalog: test.store.catalog)
    }

    private func expectRight(
        _ archives: OpenArchives, _ archive: Archive, _ comment: String, count: Int = count
    ) throws {
        let indexed = try archives.lookups(archive, Allowances())
        for number in [0, count / 2 - 1, count - 1] {
            let url = "http://example.org/\(number)"
            let found = try indexed.wacz.captures(ofURL: url)
            #expect(found.map(\.url) == [url], Comment(rawValue: comment))
        }
    }

    @Test(arguments: [GeneratedArchive.Layout.unsorted, .zipNumDeflated], DerivedFile.zipNum)
    func truncatedIndexNeverHidesCapture(layout: GeneratedArchive.Layout, file: DerivedFile) throws {
        let count = layout == .unsorted ? Self.count : 25
        let (test, archive) = try filled(layout, count: count)
        guard archive.lookups?.files.contains(file) == true else { return }
        let path = test.layout.derived(file, key: archive.key)
        let whole = try contents(of: path)
        for length in stride(from: 0, to: whole.count, by: max(1, whole.count / 15)) {
            try put(whole.prefix(length), to: path)
            try expectRight(fresh(test), archive, "cut to \(length) of \(whole.count)", count: count)
        }
        try put(whole + whole, to: path)
        try expectRight(fresh(test), archive, "twice as long", count: count)
        try put(whole, to: path)
        #expect(try fresh(test).lookups(archive, Allowances()).wacz.isKnownSorted)
    }

    @Test(arguments: [GeneratedArchive.Layout.unsorted, .zipNumDeflated], DerivedFile.zipNum)
    func corruptIndexNeverHidesCapture(layout: GeneratedArchive.Layout, file: DerivedFile) throws {
        let count = layout == .unsorted ? Self.count : 25
        let (test, archive) = try filled(layout, count: count)
        guard archive.lookups?.files.contains(file) == true else { return }
        let path = test.layout.derived(file, key: archive.key)
        let whole = try contents(of: path)
        var generator = SeededGenerator(seed: 20_261_121)
        for place in stride(from: 0, to: whole.count, by: max(1, whole.count / 50)) {
            var damaged = whole
            damaged[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            try put(damaged, to: path)
            try expectRight(fresh(test), archive, "byte \(place) of \(whole.count)", count: count)
        }
    }

    @Test(arguments: [GeneratedArchive.Layout.unsorted, .missing, .zipNumDeflated])
    func missingOrForeignIndexFileIsReplaced(layout: GeneratedArchive.Layout) async throws {
        let (test, archive) = try filled(layout, count: 9)
        let other = try test.store.importFile(
            at: try test.folder.write(
                GeneratedArchive(pages: numberedPages(4), seed: 2, layout: layout).bytes(), to: "other.wacz")
        ).archive
        for file in try #require(archive.lookups).files {
            let path = test.layout.derived(file, key: archive.key)
            let right = try contents(of: path)
            try FileManager.default.removeItem(atPath: path)
            #expect(try !fresh(test).lookups(archive, Allowances()).wacz.isKnownSorted)
            try expectRight(fresh(test), archive, "\(file) missing", count: 9)
            #expect(try test.store.prepareLookups() == LookupsReport(prepared: [archive.id]))
            #expect(try contents(of: path) == right)
            try put(try contents(of: test.layout.derived(file, key: other.key)), to: path)
            try expectRight(fresh(test), archive, "\(file) of another", count: 9)
            #expect(try test.store.prepareLookups() == LookupsReport(prepared: [archive.id]))
            #expect(try contents(of: path) == right)
        }
        #expect(try test.store.openArchives.lookups(archive, Allowances()).wacz.isKnownSorted)
        try await test.expectWhole()
        #expect(try test.store.prepareLookups() == LookupsReport())
    }

    /// Damage that isn't noticed when opening is found by reading everything.
    @Test func damagedBlockIsReplaced() throws {
        let (test, archive) = try filled(.unsorted)
        let path = test.layout.derived(.blocks, key: archive.key)
        let right = try contents(of: path)
        var damaged = right
        damaged[right.count / 2] ^= 0x10
        try put(damaged, to: path)
        #expect(try fresh(test).lookups(archive, Allowances()).wacz.isKnownSorted)
        #expect(try test.store.prepareLookups().prepared == [archive.id])
        #expect(try contents(of: path) == right)
    }

    /// If index files change while an archive is open, its own index is used.
    @Test func damageAfterOpeningIsTolerated() throws {
        let (test, archive) = try filled(.unsorted)
        try expectRight(test.store.openArchives, archive, "before")
        for file in DerivedFile.zipNum {
            #expect(truncate(test.layout.derived(file, key: archive.key), 10) == 0)
        }
        try expectEveryCapture(of: archive, in: test.store, count: Self.count, stride: 100)
    }

    @Test(arguments: GeneratedArchive.Layout.allCases)
    func archiveOfEarlierVersionWorksAndIsPrepared(layout: GeneratedArchive.Layout) async throws {
        let (test, archive) = try filled(layout, count: 9)
        for file in DerivedFile.zipNum { try Folder.delete(test.layout.derived(file, key: archive.key)) }
        let database = try DatabaseQueue(path: test.layout.catalog)
        try await database.write { try $0.execute(sql: "UPDATE archive SET lookups = NULL, lookupsReason = NULL") }
        let store = try test.reopened()
        let old = try #require(try store.catalog.archive(key: archive.key))
        #expect(old.lookups == nil)
        #expect(try !store.openArchives.lookups(old, Allowances()).wacz.isKnownSorted)
        try expectEveryCapture(of: old, in: store, count: 9)
        #expect(try store.repair() == RepairReport())
        #expect(try store.prepareLookups() == LookupsReport(prepared: [archive.id]))
        let new = try #require(try store.catalog.archive(key: archive.key))
        #expect(new == archive)
        #expect(try store.openArchives.lookups(new, Allowances()).wacz.isKnownSorted)
        try expectEveryCapture(of: new, in: store, count: 9)
        try await test.expectWhole()
        #expect(try store.prepareLookups() == LookupsReport())
    }

    @Test func unpreparableArchiveIsReported() throws {
        let (test, archive) = try filled(.unsorted, count: 9)
        try FileManager.default.removeItem(atPath: test.layout.derived(.idx, key: archive.key))
        let file = test.layout.file(archive.key)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try put(try contents(of: file).prefix(500), to: file)
        let report = try test.store.prepareLookups()
        #expect(report.prepared.isEmpty)
        #expect(report.problems.count == 1)
        #expect(report.problems.first?.contains("\"a\"") == true)
        #expect(names(in: test.layout.incoming).isEmpty)
    }

    @Test func preparingCanBeCancelled() throws {
        let (test, archive) = try filled(.unsorted, count: 1100)
        try FileManager.default.removeItem(atPath: test.layout.derived(.idx, key: archive.key))
        var pulses = 0
        #expect(throws: CancellationError.self) {
            _ = try test.store.prepareLookups {
                pulses += 1
                if pulses == 3 { throw CancellationError() }
            }
        }
        #expect(pulses == 3)
        #expect(names(in: test.layout.incoming).isEmpty)
        #expect(try test.store.prepareLookups().prepared == [archive.id])
    }
}

/// The same captures in seven layouts of other tools' making; the expected ones are read by unzip.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["REPLAYHOST_FIXTURES"] != nil, "REPLAYHOST_FIXTURES is not set"))
struct IndexedFixtureTests {
    private var folder: String { ProcessInfo.processInfo.environment["REPLAYHOST_FIXTURES"] ?? "" }

    @Test func allLayoutsHaveSameCaptures() async throws {
        let listing = try await run("/usr/bin/unzip", ["-p", "\(folder)/ours/small-plain.wacz", "indexes/index.cdx"])
        var expected: [String: Set<String>] = [:]
        for line in listing.outputLines {
            let parts = line.split(separator: " ", maxSplits: 2)
            let json = try JSONSerialization.jsonObject(with: Data(parts[2].utf8)) as? [String: Any]
            expected[try #require(json?["url"] as? String), default: []].insert(String(parts[1]))
        }
        #expect(expected.count > 100)
        let test = try TestStore()
        let archives = try ["-plain", "-1.2.0", "-cdxj", "-deflate", "-gz", "-zipnum", ""].map {
            try test.store.importFile(at: "\(folder)/ours/small\($0).wacz").archive
        }
        #expect(archives.filter { $0.lookups?.usesSidecar == true }.count == 4, "deflate, gz, zipnum and small")
        for (url, timestamps) in expected {
            let found = try archives.map { try test.store.captures(of: $0, url: url, limit: 1000) }
            #expect(timestamps.isSubset(of: found[0].map(\.timestamp)), "\(url)")
            for (archive, captures) in zip(archives, found) { #expect(captures == found[0], "\(archive.id) \(url)") }
        }
        for archive in archives {
            #expect(try test.store.openArchives.lookups(archive, Allowances()).wacz.indexAccess() == .search)
        }
    }

    // hostile/EXPECTED.tsv: index missing, unsorted, without .idx, with a garbage one; 147's index is fine.
    @Test(arguments: [
        ("080-no-index", true), ("100-cdx-unsorted", true), ("113-zipnum-no-idx", true),
        ("118-zipnum-idx-garbage", true), ("147-warc-deflated-in-zip", false), ("112-zipnum-valid-control", false),
    ])
    func hostileIndexesAreSearched(name: String, usesSidecar: Bool) async throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: "\(folder)/hostile/\(name).wacz").archive
        #expect(archive.lookups?.usesSidecar == usesSidecar)
        #expect(archive.captureCount == 4)
        let wacz = try test.store.openArchives.wacz(of: archive, Allowances())
        #expect(try wacz.indexAccess() == .search)
        var number = 0
        try WACZFile.open(path: "\(folder)/hostile/\(name).wacz").forEachIndexEntry { entry, _ in
            number += 1
            let found = try wacz.captures(ofURL: entry.url)
            #expect(found.contains(entry))
            return true
        }
        #expect(number == 4)
        try await test.expectWhole()
    }
}
