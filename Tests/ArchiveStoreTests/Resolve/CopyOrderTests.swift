import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Which copy of a capture answers if several archives have it: on each surface, for each state of the copies.
struct CopyOrderTests {
    typealias Record = RecordedArchive.Record

    /// What is special about one of the two archives that have the same captures. The other is called `good`.
    enum State: String, CaseIterable {
        /// A record can't be read to its end.
        case damaged
        /// A linked file that was moved away.
        case unavailable
        /// Intact; imported after `good`.
        case newer
        /// Intact, but `good` was verified and this one wasn't.
        case unverified
        /// Both were verified, but then the file was replaced, so that its result isn't about it.
        case replaced
    }

    /// Where a copy is chosen.
    enum Surface: String, CaseIterable {
        case lookup, get, explain, closestInCollection, listInCollection, urlsInCollection, cdx, search, suggestion
    }

    private static let page = "http://a.example/page"
    private static let picture = "http://a.example/picture"
    private let test: TestStore

    init() throws {
        test = try TestStore()
    }

    private var store: ArchiveStore { test.store }

    private static func records() -> [Record] {
        let digest = "sha256:" + String(repeating: "ab", count: 32)
        return [page, picture].map { url in
            Record(url, "<title>Ahoy</title> \(url)", timestamp: "20240102030405").with {
                $0.index += ",\"digest\":\"\(digest)\""
            }
        }
    }

    /// Writes an archive with both captures, which differs from others by a record with its name.
    private func file(_ name: String, isDamaged: Bool = false) throws -> String {
        var archive = RecordedArchive(Self.records() + [Record("http://other.example/\(name)", name)])
        archive.pages = ["{\"url\":\"\(Self.page)\",\"ts\":\"2024-01-02T03:04:05Z\",\"title\":\"Ahoy\"}"]
        var bytes = archive.bytes()
        if isDamaged {
            // The record with the picture is the second gzip member. Its CRC-32 is before the third one.
            let starts = bytes.indices.filter { bytes[$0...].starts(with: [0x1F, 0x8B, 8]) }
            bytes[starts[2] - 6] ^= 1
        }
        return try test.folder.write(bytes, to: "\(name).wacz")
    }

    private func add(_ name: String, _ mode: ImportMode = .copy, isDamaged: Bool = false) throws {
        let options = ImportOptions(id: ArchiveID(name))
        _ = try store.jobs.importAny(at: file(name, isDamaged: isDamaged), mode: mode, options: options)
    }

    private func verify(_ name: String? = nil) throws {
        try store.jobs.queueVerifications()
        for job in try test.jobs() where name != nil && job.kind == .verify && job.archiveID?.text != name {
            _ = try store.jobs.change(job.id, .cancel)
        }
        let runner = JobRunner(store)
        while try runner.runNext() != nil {}
    }

    private func setUp(_ state: State) throws {
        switch state {
        case .damaged:
            try add("other", isDamaged: true)
            try add("good")
            try verify()
        case .unavailable:
            try add("other", .link)
            try add("good")
            try verify()
            try FileManager.default.removeItem(atPath: test.folder.path("other.wacz"))
        case .newer:
            try add("good")
            try add("other")
            try verify()
        case .unverified:
            try add("other")
            try add("good")
            try verify("good")
        case .replaced:
            try add("other")
            try add("good")
            try verify()
            let key = try #require(try store.archive(named: "other")).key
            let path = test.layout.file(key)
            try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
            #expect(rename(path + ".copy", path) == 0)
        }
        try test.indexAll()
    }

    /// The archive that answers for a URL, and how many captures the surface counts.
    private func answer(_ surface: Surface) throws -> (archive: String?, captures: Int) {
        let all = try store.archives().map(\.archive)
        let request = ArchiveStore.CaptureRequest(url: Self.picture, time: nil)
        switch surface {
        case .lookup: return (try store.resolver.closestCapture(request, in: all)?.archive.id.text, 1)
        case .get:
            let places = try store.archives().filter { $0.availability == .available }.map {
                Replayable.archive($0.archive)
            }
            return (try store.resolver.openCapture(request, inAnyOf: places)?.archive.id.text, 1)
        case .explain: return (try store.resolver.explain(request, in: nil).replayable?.id.text, 1)
        case .closestInCollection, .listInCollection:
            let list = try store.resolver.captures(
                CaptureList.Request(url: Self.picture, part: .around(nil), limit: 10), in: collection())
            let shown = surface == .listInCollection ? list.captures.first : list.closest
            let counts = try store.resolver.captureCounts(of: Self.picture, by: .year, in: collection())
            #expect(counts.counts.map(\.captures) == [1])
            #expect(list.total == list.captures.count)
            return (shown?.archiveID?.text, list.total)
        case .urlsInCollection:
            var filter = URLFilter()
            filter.text = "picture"
            var request = URLList.Request(filter: filter, limit: 10)
            request.collapsesURLs = true
            let item = try store.resolver.urls(request, in: collection()).urls.first
            return (item?.archiveID?.text, item?.captureCount ?? 0)
        case .cdx:
            let query = try CDXQuery(parameters: [("url", Self.picture), ("limit", "1"), ("output", "json")])
            let sources = all.bestCopiesFirst(in: store.layout).map {
                store.openArchives.querySource($0, isOneOfSeveral: true)
            }
            let run = CDXQueryRun(
                query, sources: sources, namesSources: true, temporaryFolder: store.layout.incoming)
            let line = String(decoding: try run.next() ?? [], as: UTF8.self)
            return (["good", "other"].first { line.contains("\"\($0)\"") }, 1)
        case .search:
            let hit = try test.search("ahoy").hits.first
            #expect(hit?.years == [2024])
            return (hit?.archive.text, hit?.captures ?? 0)
        case .suggestion:
            return (try store.searcher.suggestions(for: "ahoy", limit: 5).first { $0.kind == .page }?.archive?.text, 1)
        }
    }

    private func collection() throws -> Replayable {
        if let known = try store.collections.all().first {
            return .collection(known, try store.collections.members(of: known))
        }
        let made = try store.collections.make(
            title: "Both", members: store.archives().map(\.archive.id).sorted { $0.text > $1.text })
        return .collection(made, try store.collections.members(of: made))
    }

    @Test func hitNamesTheOtherArchivesAndTheVerification() throws {
        try setUp(.newer)
        let hit = try #require(try test.search("ahoy").hits.first)
        #expect(hit.archive.text == "good")
        #expect(hit.otherArchives?.map(\.id.text) == ["other"])
        #expect(hit.verificationSummary == (try store.archive(named: "good")?.verified))
        #expect(hit.verification != nil)
        try store.remove(try #require(ArchiveID("other")))
        #expect(try test.search("ahoy").hits.first?.otherArchives == nil)
    }

    /// Pages of the same URL and second that say something else are no copies.
    @Test func captureWithAnotherTextIsNotTheSame() throws {
        func add(_ name: String, _ text: String) throws {
            let record = RecordedArchive.Record("http://harbour.example/", "<title>Harbour</title><p>\(text)")
            let bytes = RecordedArchive([record]).bytes()
            _ = try store.importFile(at: try test.folder.write(bytes, to: "\(name).wacz"))
        }
        try add("boats", "boats and ropes")
        try add("crabs", "boats and crabs")
        // Another file with the same page.
        let copy = RecordedArchive.Record("http://harbour.example/", "<title>Harbour</title><p>boats and ropes")
        let other = RecordedArchive.Record("http://harbour.example/more", "more")
        let bytes = RecordedArchive([copy, other]).bytes()
        _ = try store.importFile(at: try test.folder.write(bytes, to: "copy.wacz"))
        try test.indexAll()
        let hit = try #require(try test.search("ropes").hits.first)
        #expect(hit.archive.text == "boats" && hit.originalName == "boats.wacz")
        #expect(hit.otherArchives?.map(\.originalName) == ["copy.wacz"])
        #expect(try test.search("crabs").hits.first?.otherArchives == nil)
    }

    @Test(arguments: State.allCases)
    func bestCopyAnswersEverywhere(_ state: State) throws {
        try setUp(state)
        for surface in Surface.allCases {
            let (archive, captures) = try answer(surface)
            #expect(archive == "good" && captures == 1, "\(surface) when the other copy is \(state)")
        }
    }

    /// Before the first verification, a copy is read before it's shown.
    @Test func damagedCopyIsFoundOutWithoutVerification() throws {
        try add("other", isDamaged: true)
        try add("good")
        for surface in [Surface.lookup, .get, .explain, .closestInCollection] {
            #expect(try answer(surface).archive == "good", "\(surface)")
        }
    }

    @Test func onlyCopyAnswersEvenIfItIsDamaged() throws {
        try add("other", isDamaged: true)
        try verify()
        try test.indexAll()
        for surface in Surface.allCases where surface != .get {
            #expect(try answer(surface).archive == "other", "\(surface)")
        }
        #expect(throws: WebArchiveError.self) { try answer(.get) }
    }
}
