import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// How imports prepare lookups, for each layout of the index.
struct ArchiveLookupsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let layout: GeneratedArchive.Layout
        let way: ArchiveLookups.IndexStrategy
        /// Part of the reason; `nil` for none.
        var reason: String?
        var testDescription: String { layout.rawValue }
    }

    // An index that can't be searched in place gets a sorted copy; a compressed .idx gets a plain copy.
    static let cases = [
        Case(layout: .plain, way: .inPlace), Case(layout: .zipNum, way: .inPlace),
        Case(layout: .unsorted, way: .sortedCopy, reason: "indexes/index.cdx: the index isn't sorted"),
        Case(layout: .missing, way: .sortedCopy, reason: "indexes/: the archive has no index"),
        Case(layout: .deflated, way: .sortedCopy, reason: "indexes/index.cdx: the index is compressed in the ZIP"),
        Case(layout: .gzipped, way: .sortedCopy, reason: "the gzipped index has no .idx file"),
        Case(layout: .zipNumDeflated, way: .idxCopy, reason: "indexes/index.idx: the ZIP compresses the .idx"),
        Case(layout: .zipNumOtherDigest, way: .sortedCopy, reason: "doesn't match its digest in the .idx file"),
        Case(layout: .zipNumGarbage, way: .sortedCopy, reason: "names no block"),
    ]

    @Test func allLayoutsAreTested() {
        #expect(Set(Self.cases.map(\.layout)) == Set(GeneratedArchive.Layout.allCases))
    }

    @Test(arguments: cases)
    func capturesAreFoundWithEveryIndex(_ c: Case) async throws {
        let test = try TestStore()
        let bytes = GeneratedArchive(pages: numberedPages(9), layout: c.layout).bytes()
        let archive = try test.store.importFile(at: try test.folder.write(bytes, to: "a.wacz")).archive
        #expect(archive.lookups?.strategy == c.way)
        #expect(archive.lookups?.reason?.contains(c.reason ?? "") == (c.reason == nil ? nil : true))
        try await test.expectWhole()
        try expectEveryCapture(of: archive, in: test.store, count: 9)
        let indexed = try test.store.openArchives.lookups(archive, Allowances())
        #expect(indexed.wacz.isKnownSorted)
        #expect(try indexed.wacz.indexAccess() == .search)
        // Another process reads the same from the catalog.
        let other = try test.reopened()
        #expect(try other.catalog.archive(key: archive.key) == archive)
        try expectEveryCapture(of: archive, in: other, count: 9)
        #expect(try test.store.repair() == RepairReport())
        #expect(try test.store.prepareLookups() == LookupsReport())
        try test.store.remove(archive.id)
        #expect(try test.state().isEmpty)
        #expect(code { _ = try test.store.captures(of: archive, url: "http://example.org/0", limit: 1) } != nil)
    }

    /// docs/json.md.
    @Test(arguments: [(GeneratedArchive.Layout.plain, "in-place"), (.missing, "sidecar"), (.zipNumDeflated, "sidecar")])
    func jsonContainsStrategyAndReason(layout: GeneratedArchive.Layout, lookups: String) throws {
        let test = try TestStore()
        let bytes = GeneratedArchive(pages: numberedPages(3), layout: layout).bytes()
        var archive = try test.store.importFile(at: try test.folder.write(bytes, to: "a.wacz")).archive
        let object = try #require(
            try JSONSerialization.jsonObject(
                with: JSONEncoder().encode(ListedArchive(archive: archive, availability: .available))) as? [String: Any]
        )
        #expect(object["lookups"] as? String == lookups)
        #expect((object["lookupsReason"] == nil) == (lookups == "in-place"))
        archive.summary.lookups = nil
        let unknown = String(
            decoding: try JSONEncoder().encode(ListedArchive(archive: archive, availability: .available)), as: UTF8.self
        )
        #expect(!unknown.contains("lookups"))
    }

    /// An archive can have WARC files without captures. Its lookups read nothing.
    @Test func archiveWithoutCapturesNeedsNoIndex() async throws {
        let test = try TestStore()
        let bytes = GeneratedArchive(pages: [], layout: .missing).bytes()
        let archive = try test.store.importFile(at: try test.folder.write(bytes, to: "a.wacz")).archive
        #expect(archive.captureCount == 0)
        #expect(archive.lookups == ArchiveLookups(strategy: .empty))
        #expect(try test.store.captures(of: archive, url: "http://example.org/", limit: 10).isEmpty)
        #expect(try test.store.openArchives.lookups(archive, Allowances()).wacz.indexAccess() == .search)
        try await test.expectWhole()
    }

    @Test func identicalArchivesGetIdenticalIndexFiles() throws {
        let bytes = GeneratedArchive(pages: numberedPages(9), layout: .unsorted).bytes()
        let found = try (0..<2).map { _ in
            let test = try TestStore()
            let archive = try test.store.importFile(at: try test.folder.write(bytes, to: "a.wacz")).archive
            return try DerivedFile.zipNum.map { try contents(of: test.layout.derived($0, key: archive.key)) }
        }
        #expect(found[0] == found[1])
        let head = String(decoding: found[0][1].prefix { $0 != 0x0A }, as: UTF8.self)
        #expect(head.wholeMatch(of: /!meta 0 \{"format": "cdxj-gzip-1.0", "filename": "[0-9a-f]{64}.cdx.gz"\}/) != nil)
    }

    @Test func blockWithWrongDigestIsReported() throws {
        let test = try TestStore()
        let bytes = GeneratedArchive(pages: numberedPages(5), layout: .zipNumOtherDigest).bytes()
        let path = try test.folder.write(bytes, to: "a.wacz")
        let findings = try test.store.importFile(at: path).findings.filter { $0.code == "index-block-digest" }
        #expect(findings.map(\.severity) == [.warning])
        #expect(findings.first?.location == "indexes/index.cdx.gz")
        #expect(findings.first?.consequence.isEmpty == false)
        let strict = try TestStore()
        #expect(
            code { _ = try strict.store.importFile(at: path, options: ImportOptions(isStrict: true)) } == .refused)
        #expect(try strict.state().isEmpty)
    }

    /// Like an upload: bytes arrive piece by piece, without progress.
    @Test func uploadGetsIndex() async throws {
        let test = try TestStore()
        let incoming = try test.store.beginImport(name: "b.wacz", source: "browser", expectedSize: nil)
        try GeneratedArchive(pages: numberedPages(5), layout: .deflated).bytes().withUnsafeBytes {
            try incoming.write($0)
        }
        let archive = try test.store.finish(incoming).onlyArchive
        try await test.expectWhole()
        try expectEveryCapture(of: archive, in: test.store, count: 5)
    }

    private struct Stop: Error {}

    @Test func importCancelledWhileSortingLeavesNothing() throws {
        let test = try TestStore()
        let bytes = GeneratedArchive(pages: numberedPages(1100), layout: .unsorted).bytes()
        let path = try test.folder.write(bytes, to: "a.wacz")
        var wasIndexing = false
        #expect(throws: Stop.self) {
            _ = try test.store.importFile(at: path) { progress in
                guard case .indexing(let done, let total) = progress else { return }
                wasIndexing = done > 0 && done <= total
                throw Stop()
            }
        }
        #expect(wasIndexing)
        #expect(try test.state().isEmpty)
    }

    /// A folder in place of the index file simulates a disk that can't be written.
    @Test(arguments: [GeneratedArchive.Layout.unsorted, .zipNumDeflated], DerivedFile.zipNum)
    func importFailsIfIndexCannotBeWritten(layout: GeneratedArchive.Layout, file: DerivedFile) throws {
        let test = try TestStore()
        let bytes = GeneratedArchive(pages: numberedPages(9), layout: layout).bytes()
        let path = try test.folder.write(bytes, to: "a.wacz")
        var obstacle: String?
        let found = code {
            _ = try test.store.importFile(at: path) { progress in
                guard case .checking = progress, obstacle == nil else { return }
                let copy = try #require(names(in: test.layout.incoming).first)
                obstacle = "\(test.layout.incoming)/\(copy)\(file.suffix)"
                try FileManager.default.createDirectory(
                    atPath: try #require(obstacle), withIntermediateDirectories: false)
            }
        }
        let isInTheWay = layout == .unsorted || file == .idx
        #expect(found == (isInTheWay ? .failed : nil))
        try FileManager.default.removeItem(atPath: try #require(obstacle))
        if isInTheWay { #expect(try test.state().isEmpty) }
    }
}

/// Each numbered page is captured once, at the time of all generated captures.
func expectEveryCapture(
    of archive: Archive, in store: ArchiveStore, count: Int, stride step: Int = 1,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    for number in stride(from: 0, to: count, by: step) {
        let found = try store.captures(of: archive, url: "http://example.org/\(number)", limit: 10)
        #expect(found.map(\.url) == ["http://example.org/\(number)"], sourceLocation: sourceLocation)
        #expect(found.map(\.timestamp) == ["20240102030405"], sourceLocation: sourceLocation)
    }
    #expect(
        try store.captures(of: archive, url: "http://example.org/0/", limit: 10).count == 1,
        sourceLocation: sourceLocation)
    for url in ["http://example.org/\(count)", "http://example.com/0", "", "x"] {
        #expect(try store.captures(of: archive, url: url, limit: 10).isEmpty, sourceLocation: sourceLocation)
    }
}
