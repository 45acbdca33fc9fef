import Crypto
import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// What a signature doesn't cover is shown only in an archive for which someone chose that, and then everywhere.
struct ShownUncoveredTests {
    private let test: TestStore
    private static let (signed, added) = ("http://signed.example/", "http://added.example/")

    init() throws { test = try TestStore() }

    /// A file that is signed, with a WARC file, an index and a page list that someone added.
    private func file() throws -> String {
        func part(_ url: String, _ name: String) -> [GeneratedArchive.Entry] {
            let host = url.split(separator: "/")[1].split(separator: ".").reversed().joined(separator: ",")
            let record = RecordedArchive.Record(url, "<title>Title</title>Words of \(name)").bytes()
            let line =
                "\(host))/ 20240102030405 {\"url\":\"\(url)\",\"mime\":\"text/html\",\"status\":\"200\","
                + "\"filename\":\"\(name).warc\",\"offset\":0,\"length\":\(record.count)}\n"
            let page =
                "{\"format\":\"json-pages-1.0\"}\n"
                + "{\"url\":\"\(url)\",\"ts\":\"2024-01-02T03:04:05Z\",\"title\":\"\(name)\"}\n"
            return [
                .init("archive/\(name).warc", record), .init("indexes/\(name).cdx", Array(line.utf8)),
                .init("pages/\(name).jsonl", Array(page.utf8)),
            ]
        }
        let listed = part(Self.signed, "signed")
        let resources = listed.map { entry in
            let hash = Data(SHA256.hash(data: Data(entry.content))).map { String(format: "%02x", $0) }.joined()
            return "{\"path\":\"\(entry.name)\",\"hash\":\"sha256:\(hash)\"}"
        }
        let list =
            "{\"profile\":\"data-package\",\"wacz_version\":\"1.1.1\","
            + "\"resources\":[\(resources.joined(separator: ","))]}"
        let signature =
            "{\"path\":\"datapackage.json\",\"hash\":\"sha256:00\",\"signedData\":{\"signature\":\"AA==\",\"publicKey\":\"AA==\"}}"
        let bytes = GeneratedArchive.zip(
            listed + part(Self.added, "added") + [
                .init("datapackage.json", Array(list.utf8)), .init("datapackage-digest.json", Array(signature.utf8)),
            ])
        return try test.folder.write(bytes, to: "signed.wacz")
    }

    private struct Shown: Equatable {
        var pages: [String]
        var captures: Int
        /// The archives in which a lookup in all archives finds what was added.
        var found: [ArchiveID]
        var hits: [String]
        var sites: Int
        var rangesNames: Bool

        static func these(_ urls: [String], found: [ArchiveID]) -> Shown {
            Shown(
                pages: urls, captures: urls.count, found: found, hits: urls.sorted(), sites: urls.count,
                rangesNames: urls.contains(added))
        }
    }

    /// What all places show of the archive, after the jobs that make it.
    private func shown(_ id: ArchiveID, in store: ArchiveStore) throws -> Shown {
        try store.jobs.queueTexts()
        while try JobRunner(store, kinds: [.text]).runNext() != nil {}
        let archive = try #require(try store.archive(id: id))
        let request = ArchiveStore.CaptureRequest(url: Self.added, time: nil)
        let found = try store.resolver.closestCapture(request, in: try store.catalog.allArchives())
        let forEngine = try #require(OpenArchives.Request(path: id.text, query: "view=replay"))
        let file = try #require(try store.openArchives.file(for: forEngine))
        return Shown(
            pages: try store.pages(of: archive, PageListRequest(limit: 10)).pages.map(\.url),
            captures: archive.captureCount,
            found: found.map { [$0.archive.id] } ?? [],
            hits: try store.searcher.search(SearchQuery("words"), limit: 10).hits.map(\.url).sorted(),
            sites: try store.resolver.counts(of: archive).sites.count,
            rangesNames: file.tail.map { String(decoding: $0.bytes, as: UTF8.self).contains("added") } ?? true)
    }

    @Test func choiceAppliesEverywhereUntilItIsTakenBack() throws {
        _ = try test.store.importFile(at: test.file("other.wacz"))
        let archive = try test.store.importFile(at: file()).archive
        let covered = Shown.these([Self.signed], found: [])
        let all = Shown.these([Self.signed, Self.added], found: [archive.id])
        #expect(try shown(archive.id, in: test.store) == covered)
        let edited = try test.store.edit(archive.id, ArchiveMetadata(showsUncovered: true))
        #expect(edited.showsUncovered && edited.replayCollection != archive.replayCollection)
        #expect(try shown(archive.id, in: test.store) == all)
        // The sidecar has the choice.
        #expect(try shown(archive.id, in: ArchiveStore.rebuild(at: test.layout.root).store) == all)
        try test.store.edit(archive.id, ArchiveMetadata(title: "Other"))
        #expect(try shown(archive.id, in: test.reopened()) == all)
        try test.store.edit(archive.id, ArchiveMetadata(showsUncovered: false))
        #expect(try shown(archive.id, in: test.store) == covered)
        #expect(try test.store.archive(id: archive.id)?.replayCollection == archive.replayCollection)
    }

    @Test func changedSidecarIsApplied() throws {
        let archive = try test.store.importFile(at: file()).archive
        var sidecar = try Sidecar.read(at: test.layout.sidecar(archive.key))
        sidecar.entry.showsUncovered = true
        try sidecar.write(to: test.layout.sidecar(archive.key))
        try test.store.repair(readsAll: true)
        #expect(try shown(archive.id, in: test.store) == .these([Self.signed, Self.added], found: [archive.id]))
    }

    @Test func captureIsMarked() throws {
        let archive = try test.store.importFile(at: file()).archive
        try test.store.edit(archive.id, ArchiveMetadata(showsUncovered: true))
        try test.store.jobs.queueVerifications()
        #expect(try JobRunner(test.store, kinds: [.verify]).runNext()?.state == .done)
        for (url, isUncovered) in [(Self.signed, false), (Self.added, true)] {
            let current = try #require(try test.store.archive(id: archive.id))
            let request = ArchiveStore.CaptureRequest(url: url, time: nil)
            let capture = try #require(
                try test.store.resolver.openCapture(request, in: [current], allowsFuzzyMatch: false))
            let trust = test.store.resolver.trust(in: capture)
            #expect(trust.isUncovered == isUncovered)
            let wanted = CaptureList.Request(url: url, part: .around(nil), limit: 1)
            let list = try test.store.resolver.captures(wanted, in: .archive(current))
            #expect(list.closest?.trust == trust && trust.verification == .invalidSignature)
        }
    }

    @Test func nothingToShowIsRefused() throws {
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        #expect(code { try test.store.edit(archive.id, ArchiveMetadata(showsUncovered: true)) } == .invalidMetadata)
    }

    /// An earlier version listed what the signature doesn't cover.
    @Test func verificationCorrectsAnOldList() throws {
        let archive = try test.store.importFile(at: file()).archive
        var old = archive
        old.showsUncovered = true
        let examined = try test.store.committer.examine(old)
        try test.store.committer.replaceContents(
            of: archive, with: examined, sidecarStamp: StoreDocument.stamp(of: test.layout.sidecar(archive.key)))
        #expect(try test.store.pages(of: archive, PageListRequest(limit: 10)).total == 2)
        try test.store.jobs.queueVerifications()
        #expect(try JobRunner(test.store, kinds: [.verify]).runNext()?.state == .done)
        #expect(try shown(archive.id, in: test.store) == .these([Self.signed], found: []))
    }
}
