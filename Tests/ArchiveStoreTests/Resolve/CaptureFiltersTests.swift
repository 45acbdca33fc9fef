import Foundation
import GRDB
import TestSupport
import Testing

@testable import ArchiveStore
@testable import WebArchive

/// Lookups over many archives, which open only those that can have captures of the URL. The answers are compared with those of
/// each archive by itself, which use no filter.
struct CaptureFiltersTests {
    typealias Record = RecordedArchive.Record

    private let folder: TemporaryFolder
    private let store: ArchiveStore

    init() throws {
        folder = try TemporaryFolder()
        store = try ArchiveStore(at: folder.path("store"))
    }

    private static let urls = (0..<24).map { number in
        let host = ["a.example", "www.a.example", "b.example:8080", "c.example"][number % 4]
        let path = ["", "page", "page/", "Page?b=2&a=1", "list?page=\(number)", "ü"][number % 6]
        return "\(number % 5 == 0 ? "https" : "http")://\(host)/\(path)"
    }

    private func add(_ number: Int, _ random: inout SeededGenerator) throws -> Archive {
        let records = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            let url = Self.urls.randomElement(using: &random) ?? ""
            let day = Int.random(in: 10...28, using: &random)
            let status = [200, 200, 200, 404].randomElement(using: &random) ?? 200
            return Record(url, "body \(number) \(day)", timestamp: "202401\(day)000000", status: status)
        }
        let file = try folder.write(RecordedArchive(records).bytes(), to: "\(number).wacz")
        return try store.importFile(at: file).archive
    }

    private func makeFilters(_ archives: [Archive]) throws {
        for archive in archives {
            try store.filters.make(for: archive, CancellationCheck()) {
                try store.openArchives.wacz(of: archive, Allowances())
            }
        }
    }

    /// The closest capture, as each archive by itself finds it.
    private func askedOneByOne(
        _ request: ArchiveStore.CaptureRequest, _ archives: [Archive]
    ) throws -> (archive: Archive, entry: CDXJEntry)? {
        let matcher = CaptureMatcher(url: request.url)
        let found = try archives.bestCopiesFirst(in: store.layout).compactMap { archive in
            try store.resolver.closestCapture(request, in: [archive])
        }
        return found.compactMap { one in matcher.rank(of: one.entry, for: request.time).map { (one, $0) } }
            .min { $0.1 < $1.1 }?.0
    }

    /// - Parameter archives: All of the library.
    private func expectSameAnswers(_ archives: [Archive], _ random: inout SeededGenerator, questions: Int = 60) throws {
        for _ in 0..<questions {
            var url = Self.urls.randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<6, using: &random) {
            case 0: url = url.replacing("http://", with: "https://")
            case 1: url = url.replacing("//www.", with: "//")
            case 2: url += "#part"
            case 3: url = url.replacing("example/", with: "example/none/")
            default: break
            }
            let day = Int.random(in: 8...30, using: &random)
            let time = Bool.random(using: &random) ? CaptureTimestamp(digits: "202401\(day)") : nil
            let request = ArchiveStore.CaptureRequest(url: url, time: time)
            let found = try store.resolver.closestCapture(request, in: archives)
            let expected = try askedOneByOne(request, archives)
            #expect(found?.entry == expected?.entry && found?.archive.key == expected?.archive.key, "\(request)")
            let inLibrary = try store.resolver.closestCaptureInLibrary(request)
            #expect(
                inLibrary?.entry == expected?.entry && inLibrary?.archive.key == expected?.archive.key, "\(request)")
            let opened = try store.resolver.openCapture(request, in: archives, allowsFuzzyMatch: true)
            if let expected { #expect(opened?.entry.url == expected.entry.url, "\(request)") }
            if expected == nil {
                let alone = try archives.contains {
                    try store.resolver.openCapture(request, in: [$0], allowsFuzzyMatch: true) != nil
                }
                #expect((opened != nil) == alone, "\(request)")
            }
        }
    }

    @Test func answersAreThoseOfEachArchive() throws {
        var random = SeededGenerator(seed: 7)
        var archives: [Archive] = []
        for number in 0..<24 { archives.append(try add(number, &random)) }
        // Before there are filters, with some, and with all.
        try expectSameAnswers(archives, &random, questions: 20)
        try makeFilters(Array(archives.prefix(12)))
        try expectSameAnswers(archives, &random)
        try makeFilters(archives)
        try expectSameAnswers(archives, &random)
        for archive in archives.prefix(10) { try store.remove(archive.id) }
        for number in 40..<45 { archives.append(try add(number, &random)) }
        try expectSameAnswers(Array(archives.dropFirst(10)), &random)
    }

    /// Opens only the archives that can have the URL.
    @Test func othersStayClosed() throws {
        let archives = try (0..<20).map { number in
            let record = Record("http://site\(number).example/", "body", timestamp: "2024010100000\(number % 10)")
            return try store.importFile(at: folder.write(RecordedArchive([record]).bytes(), to: "\(number).wacz"))
                .archive
        }
        try makeFilters(archives)
        let matcher = CaptureMatcher(url: "http://site7.example/")
        #expect(try store.filters.archives(archives, mayHave: matcher.hashes).map(\.id) == [archives[7].id])
        #expect(
            try store.filters.archives(archives, mayHave: CaptureMatcher(url: "http://none.example/").hashes).isEmpty)
        #expect(try store.filters.archives(archives, mayHave: nil).count == 20)
    }

    /// Over the whole library, too: also with filters that were made after the last question, and of a file that got its hash.
    @Test func libraryIsAskedLikeAList() throws {
        var random = SeededGenerator(seed: 11)
        var archives = try (0..<10).map { try add($0, &random) }
        let linked = try folder.write(
            RecordedArchive([Record("http://linked.example/", "body")]).bytes(), to: "linked.wacz")
        archives.append(try store.importLink(to: linked).archive)
        func expectAll() throws {
            for url in Self.urls + ["http://linked.example/", "http://none.example/"] {
                let request = ArchiveStore.CaptureRequest(url: url, time: nil)
                let found = try store.resolver.closestCaptureInLibrary(request)
                let expected = try askedOneByOne(request, store.catalog.allArchives())
                #expect(found?.entry == expected?.entry && found?.archive.id == expected?.archive.id, "\(url)")
            }
        }
        try expectAll()
        try makeFilters(archives)
        try expectAll()
        #expect(try store.resolver.archives(mayHave: "http://none.example/").isEmpty)
        let hashing = JobRunner(store, kinds: [.hash])
        while try hashing.runNext() != nil {}
        try expectAll()
        #expect(try store.resolver.archives(mayHave: "http://none.example/").map(\.title) == ["linked"])
        try Self.runJobs(store)
        try store.jobs.queueTexts()
        try Self.runJobs(store)
        try expectAll()
        #expect(try store.resolver.archives(mayHave: "http://none.example/").isEmpty)
    }

    /// A filter that isn't intact, or is of another file, isn't trusted: the archive is asked. It's made again by the next job.
    @Test(arguments: [
        "UPDATE captureFilter SET hashes = zeroblob(length(hashes))",
        "UPDATE captureFilter SET hashes = substr(hashes, 1, length(hashes) - 4)",
        "UPDATE captureFilter SET hashes = x'' WHERE length(hashes) > 0",
        "UPDATE captureFilter SET checksum = checksum + 1",
        "UPDATE captureFilter SET stamp = '1 7 7'", "UPDATE captureFilter SET stamp = 'x'", "DELETE FROM captureFilter",
        "UPDATE captureFilter SET hashes = NULL",
    ])
    func damagedFiltersAreNotTrusted(change: String) throws {
        var random = SeededGenerator(seed: 3)
        let archives = try (0..<12).map { try add($0, &random) }
        try makeFilters(archives)
        try store.catalog.writing { try $0.execute(sql: change) }
        try store.catalog.writing {
            try $0.execute(
                sql: """
                    UPDATE captureFilter SET revision = revision + 1000;
                    UPDATE sqlite_sequence SET seq = seq + 1000 WHERE name = 'captureFilter';
                    """)
        }
        let other = try ArchiveStore(at: folder.path("store"))
        let none = CaptureMatcher(url: "http://none.example/").hashes
        #expect(try other.filters.archives(archives, mayHave: none).count == archives.count)
        try expectSameAnswers(archives, &random, questions: 15)
        guard !change.contains("NULL") else { return }
        let (damaged, missing) = try store.repairFilters()
        #expect(damaged == (change.contains("DELETE") ? 0 : archives.count) && missing == archives.count)
        try makeFilters(archives)
        #expect(try store.repairFilters() == (0, 0))
        #expect(try store.filters.archives(archives, mayHave: none).isEmpty)
    }

    /// The first 32 bits of SHA-256 are the same for the keys of these two URLs, as another program found.
    @Test func urlsWithOneHashAreToldApart() throws {
        let (first, second) = ("http://collides.example/42072", "http://collides.example/77867")
        let hashes = [first, second].map { CaptureMatcher(url: $0).hashes[0] }
        #expect(hashes[0] == hashes[1])
        let archives = try [first, "http://other.example/"].enumerated().map { number, url in
            let file = try folder.write(RecordedArchive([Record(url, "body")]).bytes(), to: "\(number).wacz")
            return try store.importFile(at: file).archive
        }
        try makeFilters(archives)
        let asked = CaptureMatcher(url: second).hashes
        #expect(try store.filters.archives(archives, mayHave: asked).map(\.id) == [archives[0].id])
        #expect(try store.resolver.closestCaptureInLibrary(.init(url: second, time: nil)) == nil)
        #expect(try store.resolver.closestCaptureInLibrary(.init(url: first, time: nil))?.entry.url == first)
    }

    /// A file that is linked under two paths is two archives, and either can answer.
    @Test func oneFileUnderTwoPathsAnswersFromEither() throws {
        var random = SeededGenerator(seed: 13)
        let url = "http://twice.example/"
        let bytes = RecordedArchive([Record(url, "body", timestamp: "20240115000000")]).bytes()
        let paths = try ["a.wacz", "b.wacz"].map { try folder.write(bytes, to: $0) }
        var archives = try (0..<4).map { try add($0, &random) }
        archives += try paths.map { try store.importLink(to: $0).archive }
        try makeFilters(archives)
        try expectSameAnswers(archives, &random, questions: 20)
        let request = ArchiveStore.CaptureRequest(url: url, time: CaptureTimestamp(digits: "2020"))
        func answer() throws -> String? { try store.resolver.closestCaptureInLibrary(request)?.entry.url }
        #expect(try answer() == url)
        let hashing = JobRunner(store, kinds: [.hash])
        while try hashing.runNext() != nil {}
        #expect(try answer() == url)
        // Whichever of the two is unavailable, the other one has the capture.
        for path in paths {
            try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
            let opened = try store.resolver.openCapture(
                request, in: store.catalog.allArchives(), allowsFuzzyMatch: false)
            #expect(opened?.entry.url == url, "without \(path)")
            try FileManager.default.moveItem(atPath: path + ".moved", toPath: path)
        }
    }

    /// Times of writers whose clocks were wrong: of the first and the last year, and of months that don't exist.
    @Test func wrongTimesChangeNoAnswer() throws {
        var random = SeededGenerator(seed: 17)
        let times = ["00010101000000", "99991231235959", "20241301000000", "00000000000000", "20240115000000"]
        var archives = try (0..<4).map { try add($0, &random) }
        for (number, time) in times.enumerated() {
            let records = [time, times[(number + 1) % times.count]].map {
                Record(Self.urls[number], "body \($0)", timestamp: $0)
            }
            let file = try folder.write(RecordedArchive(records).bytes(), to: "time \(number).wacz")
            archives.append(try store.importFile(at: file).archive)
        }
        try makeFilters(archives)
        try expectSameAnswers(archives, &random)
        for text in ["0001", "9999", "2024"] {
            for url in Self.urls.prefix(5) {
                let request = ArchiveStore.CaptureRequest(url: url, time: CaptureTimestamp(digits: text))
                let found = try store.resolver.closestCaptureInLibrary(request)
                let expected = try askedOneByOne(request, archives)
                #expect(found?.entry == expected?.entry && found?.archive.key == expected?.archive.key, "\(request)")
            }
        }
    }

    @Test func archiveWithADamagedIndexIsAsked() throws {
        let file = try folder.write(GeneratedArchive(layout: .zipNumGarbage).bytes(), to: "damaged.wacz")
        let archive = try store.importFile(at: file).archive
        var random = SeededGenerator(seed: 1)
        let archives = try (0..<3).map { try add($0, &random) } + [archive]
        try makeFilters(archives)
        let request = ArchiveStore.CaptureRequest(url: "http://example.org/", time: nil)
        let found = try store.resolver.closestCapture(request, in: archives)
        #expect(found?.entry == (try store.resolver.closestCapture(request, in: [archive])?.entry))
    }

    private static func runJobs(_ store: ArchiveStore) throws {
        let runner = JobRunner(store, kinds: [.text])
        while try runner.runNext() != nil {}
    }

    /// The job that indexes text makes filters, also for archives that an earlier version imported.
    /// Lookups needn't wait for the background job.
    @Test(arguments: GeneratedArchive.Layout.allCases)
    func importMakesTheSameFilterAsTheJob(_ layout: GeneratedArchive.Layout) throws {
        func filter(_ archive: Archive) throws -> Row? {
            try store.catalog.reading {
                try Row.fetchOne(
                    $0, sql: "SELECT stamp, checksum, hashes FROM captureFilter WHERE archiveKey = ?",
                    arguments: [archive.key])
            }
        }
        let file = try folder.write(
            GeneratedArchive(pages: numberedPages(40), seed: 1, layout: layout).bytes(), to: "a.wacz")
        let archive = try store.importFile(at: file).archive
        #expect(try store.repairFilters() == (0, 0))
        let made = try #require(try filter(archive))
        try store.catalog.writing { try $0.execute(sql: "DELETE FROM captureFilter") }
        try makeFilters([archive])
        #expect(try filter(archive) == made)
    }

    @Test func jobMakesFilters() throws {
        var random = SeededGenerator(seed: 5)
        let archives = try (0..<3).map { try add($0, &random) }
        try store.jobs.queueTexts()
        try Self.runJobs(store)
        let none = CaptureMatcher(url: "http://none.example/").hashes
        #expect(try store.filters.archives(archives, mayHave: none).isEmpty)
        try store.catalog.writing { try $0.execute(sql: "DELETE FROM captureFilter") }
        let later = try ArchiveStore(at: folder.path("store"))
        #expect(try later.filters.archives(archives, mayHave: none).count == 3)
        try later.jobs.queueTexts()
        try Self.runJobs(later)
        #expect(try later.filters.archives(archives, mayHave: none).isEmpty)
    }
}
