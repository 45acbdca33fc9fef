import Foundation
import Synchronization
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// A limited number of archives stays open between requests.
struct OpenArchivesTests {
    private func filled(_ count: Int, layout: GeneratedArchive.Layout = .plain) throws -> (TestStore, [Archive]) {
        let test = try TestStore()
        let archives = try (0..<count).map { number in
            try test.store.importFile(at: test.file("a\(number).wacz", seed: UInt64(number), layout: layout)).archive
        }
        return (test, archives)
    }

    /// Tells one opening of a package from the next.
    private func opening(_ archives: OpenArchives, _ archive: Archive) throws -> ObjectIdentifier {
        ObjectIdentifier(try #require(try archives.lookups(archive, Allowances()).wacz.source as? FileByteSource))
    }

    @Test func keepsFortyArchivesOpen() throws {
        let (test, archives) = try filled(40)
        let first = try archives.map { try test.store.openArchives.lookups($0, Allowances()).wacz }
        let request = ArchiveStore.CaptureRequest(url: "http://example.org/1", time: nil)
        #expect(try test.store.resolver.openCapture(request, in: archives, allowsFuzzyMatch: false) != nil)
        for (archive, wacz) in zip(archives, first) {
            #expect(try opening(test.store.openArchives, archive) == ObjectIdentifier(wacz.source as AnyObject))
        }
    }

    @Test func closesLeastRecentlyUsedArchive() throws {
        let (test, archives) = try filled(4)
        let open = OpenArchives(layout: test.layout, catalog: test.store.catalog, packagesMax: 3)
        // Kept alive, so that no identifier is reused.
        let first = try archives[..<3].map { try open.lookups($0, Allowances()).wacz }
        _ = try open.lookups(archives[0], Allowances())
        _ = try open.lookups(archives[3], Allowances())
        let isSame = try [0, 2].map {
            try opening(open, archives[$0]) == ObjectIdentifier(first[$0].source as AnyObject)
        }
        #expect(isSame == [true, true])
        #expect(try opening(open, archives[1]) != ObjectIdentifier(first[1].source as AnyObject))
    }

    /// Blocks of their indexes are kept after lookups, and count.
    @Test func closesArchivesWhoseIndexesGrew() throws {
        let (test, archives) = try filled(4, layout: .zipNum)
        func byteCount(_ open: OpenArchives) throws -> Int {
            try archives.reduce(0) { try $0 + open.lookups($1, Allowances()).byteCount }
        }
        func lookUp(_ open: OpenArchives) throws {
            for archive in archives {
                let indexed = try open.lookups(archive, Allowances())
                _ = try indexed.wacz.captures(ofURL: "http://example.org/1")
            }
        }
        let all = OpenArchives(layout: test.layout, catalog: test.store.catalog)
        let opened = try byteCount(all)
        try lookUp(all)
        let grown = try byteCount(all)
        #expect(grown > opened)
        let open = OpenArchives(layout: test.layout, catalog: test.store.catalog, bytesMax: (opened + grown) / 2)
        weak let oldest = try open.wacz(of: archives[0], Allowances()).source as? FileByteSource
        _ = try byteCount(open)
        #expect(oldest != nil)
        try lookUp(open)
        weak let newest = try open.wacz(of: archives[3], Allowances()).source as? FileByteSource
        open.releaseUnused(now: .now)
        #expect(oldest == nil && newest != nil)
    }

    @Test func concurrentRequestsOpenOnce() throws {
        let (test, archives) = try filled(1)
        for _ in 0..<20 {
            let open = OpenArchives(layout: test.layout, catalog: test.store.catalog)
            let found = Mutex<[WACZFile]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                guard let wacz = try? open.lookups(archives[0], Allowances()).wacz else { return }
                found.withLock { $0.append(wacz) }
            }
            let sources = found.withLock { $0.map { ObjectIdentifier($0.source as AnyObject) } }
            #expect(sources.count == 8)
            #expect(Set(sources).count == 1)
        }
    }

    /// The last of 40 is damaged where only a search finds it, whether all of them stay open or few.
    @Test(arguments: [4, 128])
    func damagedIndexIsReadSequentiallyAfterReopening(packagesMax: Int) throws {
        let (test, archives) = try filled(39)
        let (damaged, url) = try damagedArchive(in: test)
        let open = OpenArchives(layout: test.layout, catalog: test.store.catalog, packagesMax: packagesMax)
        let sources = (archives + [damaged]).map { open.querySource($0, isOneOfSeveral: true) }
        for _ in 0..<2 {
            let run = CDXQueryRun(
                try CDXQuery(parameters: [("url", url), ("fields", "source"), ("output", "text")]), sources: sources,
                namesSources: true, temporaryFolder: test.folder.path)
            #expect(try run.next() == Array("damaged\n".utf8))
            #expect(try run.next() == nil)
        }
    }

    @Test func rewrittenIndexFilesAreUsed() throws {
        let test = try TestStore()
        let (archive, url) = try damagedArchive(in: test)
        let open = OpenArchives(layout: test.layout, catalog: test.store.catalog, recheckInterval: .zero)
        let before = try open.lookups(archive, Allowances())
        #expect(try before.wacz.captures(ofURL: url).map(\.url) == [url])
        #expect(try open.lookups(archive, Allowances()).wacz.indexAccess() != .search)
        let other = try test.reopened()
        #expect(try other.prepareLookups().prepared == [archive.id])
        #expect(try test.store.catalog.archive(key: archive.key) == archive)
        let after = try open.lookups(archive, Allowances())
        #expect(try after.wacz.indexAccess() == .search)
        #expect(try after.wacz.captures(ofURL: url).map(\.url) == [url])
        #expect(try opening(open, archive) == ObjectIdentifier(after.wacz.source as AnyObject), "opened once")
    }

    @Test func removedFileIsClosed() throws {
        let (test, archives) = try filled(1)
        weak let source = try test.store.openArchives.wacz(of: archives[0], Allowances()).source as? FileByteSource
        let request = try #require(OpenArchives.Request(path: archives[0].id.text, query: nil))
        weak let file = try test.store.openArchives.file(for: request)
        test.store.openArchives.releaseUnused(now: .now + .seconds(10))
        #expect(source != nil && file != nil)
        try test.reopened().remove(archives[0].id)
        test.store.openArchives.releaseUnused(now: .now)
        #expect(source == nil && file == nil)
    }

    /// More than a block of an index holds.
    private static let manyPages = 700

    /// An archive with a damaged block in its sorted copy, which opening doesn't notice, and a URL in that block.
    private func damagedArchive(in test: TestStore) throws -> (Archive, url: String) {
        let archive = try test.store.importFile(
            at: test.file("damaged.wacz", seed: 1000, layout: .unsorted, pages: Self.manyPages)
        ).archive
        let path = test.layout.derived(.blocks, key: archive.key)
        var bytes = try contents(of: path)
        bytes[bytes.count / 2] ^= 0x10
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let index = OpenArchives(layout: test.layout, catalog: test.store.catalog)
        #expect(try index.lookups(archive, Allowances()).wacz.isKnownSorted)
        let urls = (0..<Self.manyPages).map { "http://example.org/\($0)" }
        let wacz = try index.wacz(of: archive, Allowances())
        let found = try urls.first { url in
            _ = try wacz.captures(ofURL: url)
            return try wacz.indexAccess() != .search
        }
        return (archive, try #require(found))
    }
}
