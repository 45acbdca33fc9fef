import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Why a URL can't be shown: a case for each reason of docs/json.md, and that what is offered opens.
struct ExplainerTests {
    typealias Record = RecordedArchive.Record

    private let folder: TemporaryFolder
    private let store: ArchiveStore
    private static let site = "http://a.example"

    init() throws {
        folder = try TemporaryFolder()
        store = try ArchiveStore(at: folder.path("store"))
    }

    @discardableResult
    private func add(
        _ records: [Record], as name: String, pages: [String] = [], requires: String? = nil
    ) throws -> Archive {
        var archive = RecordedArchive(records, requires: requires)
        archive.pages = pages
        return try store.importFile(at: try folder.write(archive.bytes(), to: "\(name).wacz")).archive
    }

    private func explain(
        _ url: String, at digits: String? = nil, in replayable: Replayable?, libraryTime: Duration = .seconds(600)
    ) throws -> Explanation {
        let request = ArchiveStore.CaptureRequest(url: url, time: digits.flatMap { CaptureTimestamp(endOf: $0) })
        return try store.resolver.explain(request, in: replayable, libraryTime: libraryTime)
    }

    private func explain(_ url: String, at digits: String? = nil, in archive: Archive) throws -> Explanation {
        try explain(url, at: digits, in: .archive(archive))
    }

    /// Checks that each offer and each of the closest captures opens and isn't an error page.
    private func expectOffersOpen(_ explanation: Explanation, sourceLocation: SourceLocation = #_sourceLocation) throws
    {
        for capture in explanation.offers.map(\.capture) + explanation.closest {
            let id = try #require(capture.archiveID, sourceLocation: sourceLocation)
            let archive = try #require(try store.archive(id: id), sourceLocation: sourceLocation)
            let request = ArchiveStore.CaptureRequest(
                url: capture.request ?? capture.url, time: CaptureTimestamp(digits: capture.timestamp))
            let opened = try store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false)
            #expect(opened?.entry.url == capture.url, sourceLocation: sourceLocation)
            #expect(opened?.entry.timestamp == capture.timestamp, sourceLocation: sourceLocation)
            #expect(opened.map { $0.status.map { $0 < 400 } ?? true } == true, sourceLocation: sourceLocation)
        }
    }

    private func offers(_ explanation: Explanation) -> [String] {
        explanation.offers.map { "\($0.why.rawValue) \($0.capture.archiveID?.text ?? "") \($0.capture.url)" }
    }

    @Test func capturedURLNeedsNoReason() throws {
        let archive = try add([Record("\(Self.site)/", "one"), Record("\(Self.site)/moved", to: "/")], as: "one")
        let direct = try explain("https://www.A.example:443/", in: archive)
        #expect(direct.reasons.map(\.code) == [.captured])
        #expect(offers(direct) == ["captured one \(Self.site)/"])
        #expect(try explain("\(Self.site)/moved", in: archive).code == .captured, "a redirect that leads somewhere")
        #expect(direct.closest.isEmpty)
    }

    // MARK: Elsewhere

    @Test func otherArchivesAreNamed() throws {
        let archive = try add([Record("\(Self.site)/", "one")], as: "one")
        let page = "\(Self.site)/page"
        try add(
            ["20190101000000", "20210101000000", "20240101000000"].map { Record(page, $0, timestamp: $0) }
                + [Record(page, "gone", timestamp: "20250101000000", status: 404)], as: "reef")
        try add([Record(page, "two", timestamp: "20200202000000")], as: "two")
        try add([Record(page, "gone", status: 404)], as: "error")
        let explanation = try explain(page, at: "20200203", in: archive)
        #expect(explanation.code == .otherArchive)
        guard case .otherArchive(let evidence) = explanation.reasons.first else { return }
        #expect(evidence.total == 2)
        #expect(evidence.skipped == 0)
        #expect(evidence.archives.map(\.archive) == ["two", "reef"], "the closest in time first")
        #expect(evidence.archives.map(\.captures) == [1, 3], "error pages don't count")
        #expect(evidence.archives.map(\.firstYear) == [2020, 2019])
        #expect(evidence.archives.map(\.lastYear) == [2020, 2024])
        #expect(explanation.offers.map(\.capture.timestamp) == ["20200202000000", "20210101000000"])
        try expectOffersOpen(explanation)
    }

    @Test func tenOfManyArchivesAreListed() throws {
        let archive = try add([Record("\(Self.site)/", "one")], as: "one")
        for number in 0..<12 { try add([Record("\(Self.site)/page", "\(number)")], as: "other-\(number)") }
        let explanation = try explain("\(Self.site)/page", in: archive)
        guard case .otherArchive(let evidence) = explanation.reasons.first else {
            Issue.record("found nothing")
            return
        }
        #expect(evidence.archives.count == 10)
        #expect(evidence.total == 12)
        #expect(explanation.offers.count == 10)
        let unsearched = try explain("\(Self.site)/page", in: .archive(archive), libraryTime: .zero)
        #expect(unsearched.code == .never, "the time is up before the first archive")
    }

    @Test func unreadableArchivesAreSkipped() throws {
        let archive = try add([Record("\(Self.site)/", "one")], as: "one")
        try add([Record("\(Self.site)/page", "two")], as: "two")
        let lost = try folder.write(
            RecordedArchive([Record("\(Self.site)/page", "lost")]).bytes(), to: "lost.wacz")
        _ = try store.importLink(to: lost)
        try FileManager.default.removeItem(atPath: lost)
        guard case .otherArchive(let evidence) = try explain("\(Self.site)/page", in: archive).reasons.first else {
            Issue.record("found nothing")
            return
        }
        #expect(evidence.archives.map(\.archive) == ["two"])
        #expect(evidence.skipped == 1)
    }

    @Test(arguments: [
        // Requested, captured.
        ("/", "/index.html"), ("/docs/", "/docs/index.php"), ("/docs/index.html", "/docs/"),
        ("/docs/Index.HTML", "/docs/"),
    ])
    func otherFileNamesAreForms(requested: String, captured: String) throws {
        let archive = try add([Record("\(Self.site)\(captured)", "page")], as: "one")
        try expectForm("\(Self.site)\(requested)", "\(Self.site)\(captured)", in: archive)
    }

    @Test(arguments: [
        // wacksy keeps `www.` in keys, which others drop.
        ("http://a.example/x", "http://www.a.example/x", "example,a,www)/x"),
        ("http://a.example/x", "https://m.a.example/x", "example,a,m)/x"),
        ("http://m.a.example/x", "https://www.a.example/x", "example,a)/x"),
        ("http://a.example:8080/x", "http://a.example/x", "example,a)/x"),
    ])
    func otherHostsAndPortsAreForms(requested: String, captured: String, key: String) throws {
        let archive = try add([Record(captured, "page").with { $0.key = key }], as: "one")
        try expectForm(requested, captured, in: archive)
    }

    private func expectForm(_ requested: String, _ captured: String, in archive: Archive) throws {
        let explanation = try explain(requested, in: archive)
        #expect(explanation.reasons.map(\.code) == [.otherForm])
        #expect(explanation.reasons == [.otherForm(Explanation.OtherForms(urls: [captured]))])
        #expect(offers(explanation) == ["other-form one \(captured)"])
        try expectOffersOpen(explanation)
    }

    @Test func formsKeepTheRestOfTheURL() {
        #expect(
            URLForms.all(of: "https://user@a.example:81/x/index.html?q#f").first
                == "https://www.a.example:81/x/index.html?q")
        #expect(URLForms.all(of: "https://127.0.0.1/x") == [])
        #expect(URLForms.all(of: "https://[::1]:8/x") == ["https://[::1]/x"])
        #expect(URLForms.all(of: "urn:x:y") == [])
        #expect(URLForms.all(of: "http://") == [])
    }

    @Test func otherQueriesAreRanked() throws {
        let archive = try add(
            [
                Record("\(Self.site)/list?a=1", "1"), Record("\(Self.site)/list?page=20&sort=up", "2"),
                Record("\(Self.site)/list?page=21", "gone", status: 404), Record("\(Self.site)/list2?page=2", "no"),
                Record("\(Self.site)/list/?page=3", "3"),
            ], as: "one")
        let plain = try explain("\(Self.site)/list", in: archive)
        #expect(plain.reasons == [.otherQuery(Explanation.OtherQueries(total: 3, more: false, fuzzyMatch: nil))])
        #expect(plain.offers.count == 3)
        try expectOffersOpen(plain)
        let query = try explain("\(Self.site)/list?page=2", in: archive)
        guard case .otherQuery(let evidence) = query.reasons.first else {
            Issue.record("found nothing")
            return
        }
        let request = ArchiveStore.CaptureRequest(url: "\(Self.site)/list?page=2", time: nil)
        let shown = try store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: true)
        #expect(evidence.fuzzyMatch == shown?.entry.url, "what replay shows")
        #expect(query.offers.first?.capture.url == shown?.entry.url)
        #expect(evidence.total == 3)
    }

    @Test func queryIsDroppedLast() throws {
        let archive = try add([Record("\(Self.site)/list", "plain")], as: "one")
        let explanation = try explain("\(Self.site)/list?utm_source=x", in: archive)
        #expect(explanation.code == .otherQuery)
        #expect(offers(explanation) == ["other-query one \(Self.site)/list"])
        try expectOffersOpen(explanation)
    }

    @Test func answersToFormsAreOffered() throws {
        let posts = ["20240101000000", "20240201000000"].map { time in
            Record("\(Self.site)/form", "answer", timestamp: time).with {
                $0.key = "example,a)/form?__wb_method=post&q=\(time)"
                $0.index += ",\"method\":\"POST\",\"requestBody\":\"q=\(time)\""
            }
        }
        let archive = try add(posts, as: "one")
        let explanation = try explain("\(Self.site)/form", at: "20240115", in: archive)
        #expect(explanation.reasons == [.postOnly(Explanation.OtherMethods(methods: ["POST"], total: 2))])
        #expect(explanation.offers.map(\.capture.request) == ["\(Self.site)/form?__wb_method=POST&q=20240101000000"])
        try expectOffersOpen(explanation)
    }

    // MARK: Captured, but not shown

    @Test func lostRedirectsAreFollowed() throws {
        let archive = try add(
            [
                Record("\(Self.site)/old", to: "/next"), Record("\(Self.site)/next", to: "https://b.example/home"),
                Record("\(Self.site)/old", "before it moved", timestamp: "20200101000000"),
            ], as: "one")
        let explanation = try explain("\(Self.site)/old", in: archive)
        #expect(explanation.reasons.map(\.code) == [.redirectLost, .siteNotCaptured])
        #expect(explanation.missing == "https://b.example/home")
        guard case .redirectLost(let evidence) = explanation.reasons.first else { return }
        #expect(evidence.redirects.map(\.url) == ["\(Self.site)/old", "\(Self.site)/next"])
        #expect(evidence.target == "https://b.example/home")
        #expect(!evidence.endless)
        #expect(explanation.offers.map(\.capture.timestamp) == ["20200101000000"])
        try expectOffersOpen(explanation)

        try add([Record("https://b.example/home", "home")], as: "two")
        let found = try explain("\(Self.site)/old", in: archive)
        #expect(found.reasons.map(\.code) == [.otherArchive, .redirectLost])
        #expect(offers(found).first == "other-archive two https://b.example/home")
    }

    @Test func redirectLoopsEnd() throws {
        let archive = try add(
            [
                Record("\(Self.site)/a", to: "/b"), Record("\(Self.site)/b", to: "/a"),
                Record("\(Self.site)/c", to: "/c"),
            ]
                + (0..<22).map { Record("\(Self.site)/step-\($0)", to: "/step-\($0 + 1)") }
                + [Record("\(Self.site)/step-22", "the end")], as: "one")
        for path in ["a", "c", "step-0"] {
            let explanation = try explain("\(Self.site)/\(path)", in: archive)
            #expect(explanation.code == .redirectLost)
            guard case .redirectLost(let evidence) = explanation.reasons.first else { continue }
            #expect(evidence.endless, Comment(rawValue: path))
            #expect(explanation.missing == nil)
        }
        #expect(try explain("\(Self.site)/step-2", in: archive).code == .captured, "20 redirects, as browsers")
    }

    /// A site that sets a cookie leads back to where it came from.
    @Test func redirectsThatSetACookieLeadToThePage() throws {
        let archive = try add(
            [
                Record("\(Self.site)/", to: "/?c=1", timestamp: "20240101000000"),
                Record("\(Self.site)/?c=1", to: "/", timestamp: "20240101000001"),
                Record("\(Self.site)/", "before", timestamp: "20230101000000"),
                Record("\(Self.site)/", "the page", timestamp: "20240101000002"),
            ], as: "one")
        let explanation = try explain("\(Self.site)/", at: "20240101000000", in: archive)
        #expect(explanation.code == .captured)
        #expect(explanation.offers.map(\.capture.timestamp) == ["20240101000002"])
    }

    @Test func errorPagesLeadToBetterCaptures() throws {
        let page = "\(Self.site)/page"
        let archive = try add(
            [
                Record(page, "gone", timestamp: "20240101000000", status: 404),
                Record(page, "there", timestamp: "20200101000000"), Record("\(Self.site)/moved", to: "/page"),
            ], as: "one")
        for url in [page, "\(Self.site)/moved"] {
            let explanation = try explain(url, at: "2024", in: archive)
            #expect(explanation.reasons.map(\.code) == [.errorPage])
            guard case .errorPage(let capture) = explanation.reasons.first else { continue }
            #expect(capture.status == 404)
            #expect(capture.url == page)
            #expect(explanation.offers.map(\.capture.timestamp) == ["20200101000000"])
            try expectOffersOpen(explanation)
        }
        #expect(try explain(page, at: "2019", in: archive).code == .captured)
    }

    @Test func unreadableRecordsAreNamed() throws {
        let page = "\(Self.site)/page"
        let archive = try add(
            [
                Record(page, "damaged", timestamp: "20240301000000").with { $0.head = "no HTTP" },
                Record(page, "damaged too", timestamp: "20240201000000").with { $0.head = "no HTTP" },
                Record(page, "whole", timestamp: "20240101000000"),
            ], as: "one")
        let explanation = try explain(page, in: archive)
        #expect(explanation.reasons.map(\.code) == [.unreadable])
        guard case .unreadable(let evidence) = explanation.reasons.first else { return }
        #expect(evidence.capture.timestamp == "20240301000000")
        #expect(evidence.file == "data.warc.gz")
        #expect(!evidence.problem.isEmpty)
        #expect(explanation.offers.map(\.capture.timestamp) == ["20240101000000"])
        try expectOffersOpen(explanation)
    }

    private static let digest = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"

    @Test func missingRequirementsAreNamed() throws {
        let page = "\(Self.site)/page"
        let revisit = Record(page, timestamp: "20240301000000").with {
            $0.type = "revisit"
            $0.index = "\"mime\":\"warc/revisit\",\"digest\":\"\(Self.digest)\""
            $0.fields = ["WARC-Payload-Digest: \(Self.digest)"]
        }
        let hash = String(repeating: "ab", count: 32)
        let archive = try add([revisit], as: "one", requires: hash)
        let explanation = try explain(page, in: archive)
        #expect(explanation.reasons.map(\.code) == [.requires])
        guard case .requires(let evidence) = explanation.reasons.first else { return }
        #expect(evidence.requires == [.init(filename: "a.wacz", sha256: hash)])
        #expect(evidence.capture.timestamp == "20240301000000")

        let alone = try add([revisit], as: "alone")
        #expect(
            try explain(page, in: alone).reasons.map(\.code) == [.otherArchive, .incomplete],
            "nothing is said to be required")
    }

    @Test func unavailableFilesAreNamed() throws {
        let path = try folder.write(
            RecordedArchive([Record("\(Self.site)/page", "away")]).bytes(), to: "away.wacz")
        let away = try store.importLink(to: path).archive
        let here = try add([Record("\(Self.site)/", "here")], as: "here")
        let collection = try store.collections.make(title: "Both", members: [here.id, away.id])
        try FileManager.default.removeItem(atPath: path)
        let both = Replayable.collection(collection, [here, away])
        for replayable in [Replayable.archive(away), both] {
            let explanation = try explain("\(Self.site)/page", in: replayable)
            #expect(explanation.reasons.map(\.code) == [.unavailable])
            guard case .unavailable(let evidence) = explanation.reasons.first else { continue }
            #expect(evidence.archives.map(\.archive) == ["away"])
            #expect(evidence.archives.map(\.availability) == [.unavailable])
        }
        #expect(try explain("\(Self.site)/", in: both).reasons.map(\.code) == [.captured])
        #expect(try explain("\(Self.site)/", in: .archive(away)).reasons.map(\.code) == [.otherArchive, .unavailable])
    }

    // MARK: What the crawler noted

    @Test func failuresOfTheCrawlAreQuoted() throws {
        let page = "\(Self.site)/page"
        let archive = try add(
            [
                Record("\(Self.site)/", "home"),
                Record(pageInfo: page, urls: "\"\(page)\":{\"status\":0,\"error\":\"net::ERR_TIMED_OUT\"}"),
                Record(
                    pageInfo: "\(Self.site)/",
                    urls:
                        "\"\(Self.site)/\":{\"status\":200},\"\(Self.site)/image.png\":{\"status\":503,\"type\":\"image\"}"
                ),
                Record(pageInfo: "\(Self.site)/broken", urls: "not JSON"),
                Record(pageInfo: "\(Self.site)/odd", urls: "\"\(Self.site)/odd.css\":{\"status\":\"x\",\"error\":5}"),
            ], as: "one")
        let own = try explain(page, in: archive)
        #expect(
            own.reasons == [
                .crawlFailed(
                    Explanation.FailedLoad(
                        archive: "one", page: page, timestamp: "20240102030405", status: nil,
                        error: "net::ERR_TIMED_OUT"))
            ])
        guard case .crawlFailed(let image) = try explain("\(Self.site)/image.png", in: archive).reasons.first else {
            Issue.record("found nothing")
            return
        }
        #expect(image.page == "\(Self.site)/")
        #expect(image.status == 503)
        #expect(image.error == nil)
        #expect(try explain("\(Self.site)/odd.css", in: archive).code == .linkedFrom, "no failure that can be read")
    }

    @Test(arguments: [
        ("\"loadState\":0", true), ("\"loadState\":2,\"status\":404", true), ("\"status\":0", true),
        ("\"loadState\":4,\"status\":200", false), ("\"seed\":true", false),
    ])
    func pageListsTellFailures(members: String, isFailure: Bool) throws {
        let archive = try add(
            [Record("\(Self.site)/", "home")], as: "one",
            pages: [
                "{\"url\":\"\(Self.site)/\",\"loadState\":0}",
                "{\"url\":\"\(Self.site)/page\",\"ts\":\"2024-01-02T03:04:05Z\",\(members)}",
            ])
        let reason = try #require(try explain("\(Self.site)/page", in: archive).reasons.first)
        #expect(reason.code == (isFailure ? .crawlFailed : .never))
        guard case .crawlFailed(let failure) = reason else { return }
        #expect(failure.timestamp == "20240102030405")
        #expect(failure.page == "\(Self.site)/page")
    }

    @Test func pagesThatUseTheURLAreListed() throws {
        let image = "https://images.example/1.png"
        let infos = (0..<7).map {
            Record(
                pageInfo: "\(Self.site)/\($0)",
                urls: "\"https://www.images.example/1.png\":{\"status\":200,\"type\":\"image\"}")
        }
        let archive = try add([Record("\(Self.site)/", "home")] + infos, as: "one")
        let explanation = try explain(image, in: archive)
        #expect(explanation.reasons.map(\.code) == [.linkedFrom])
        guard case .linkedFrom(let evidence) = explanation.reasons.first else { return }
        #expect(evidence.total == 7)
        #expect(evidence.pages.map(\.url) == (0..<5).map { "\(Self.site)/\($0)" })
        #expect(evidence.pages.first?.type == "image")
    }

    // MARK: Nothing

    @Test func sitesAreCounted() throws {
        let archive = try add(
            ["/", "/1", "/1", "/2"].enumerated().map {
                Record("\(Self.site)\($1)", "", timestamp: "2024010203040\($0)")
            } + [Record("http://sub.a.example/", "")], as: "one")
        let explanation = try explain("\(Self.site)/none", in: archive)
        #expect(explanation.reasons == [.never(Explanation.CapturedSite(host: "a.example", urls: 3, more: false))])
        let other = try explain("http://example/none", in: archive)
        #expect(other.reasons == [.siteNotCaptured(Explanation.CapturedSite(host: "example", urls: 0, more: false))])
        #expect(other.closest.isEmpty)
        for url in ["urn:x:y", "mailto:a@b.example", "http://", "x", "http://[", "http://a.example:x/", "\u{0}"] {
            #expect([.never, .siteNotCaptured].contains(try explain(url, in: archive).code), Comment(rawValue: url))
        }
    }

    @Test func closestURLsShareTheLongestStart() throws {
        let paths = ["/", "/a", "/species/crab", "/species/crab/eggs", "/species/limpet", "/tides", "/zoo"]
        let archive = try add(
            paths.map { Record("\(Self.site)\($0)", $0) } + [Record("\(Self.site)/species/cow", "gone", status: 404)],
            as: "one")
        let explanation = try explain("\(Self.site)/species/crane", in: archive)
        let expected = ["/species/crab/eggs", "/species/crab", "/species/limpet", "/a", "/"]
        #expect(explanation.closest.map(\.url) == expected.map { Self.site + $0 })
        try expectOffersOpen(explanation)
    }

    @Test func closestURLsArePagesOrFilesOfTheSameKind() throws {
        func file(_ path: String, _ mime: String) -> Record {
            Record("\(Self.site)\(path)", path).with { $0.index = "\"mime\":\"\(mime)\",\"status\":\"200\"" }
        }
        let archive = try add(
            [
                Record("\(Self.site)/a/page.html", ""), file("/a/1.png", "image/png"), file("/a/2.css", "text/css"),
                file("/a/3.pdf", "application/pdf"), file("/a/4.js", "warc/revisit"), file("/a/5", "warc/revisit"),
            ], as: "one")
        let page = try explain("\(Self.site)/a/none", in: archive)
        #expect(Set(page.closest.map { $0.url.dropFirst(Self.site.count + 3) }) == ["page.html", "3.pdf", "5"])
        let image = try explain("\(Self.site)/a/none.PNG", in: archive)
        #expect(
            Set(image.closest.map { $0.url.dropFirst(Self.site.count + 3) }) == ["page.html", "3.pdf", "5", "1.png"])
    }

    @Test func collectionsAndTheLibraryAreSearchedWhole() throws {
        let one = try add([Record("\(Self.site)/", "one")], as: "one")
        let two = try add([Record("\(Self.site)/page?x=1", "two")], as: "two")
        let collection = try store.collections.make(title: "Both", members: [one.id, two.id])
        let both = try explain("\(Self.site)/page", in: .collection(collection, [one, two]))
        #expect(offers(both) == ["other-query two \(Self.site)/page?x=1"])
        let library = try explain("\(Self.site)/page", in: nil)
        #expect(offers(library) == offers(both))
        #expect(library.replayable == nil)
        let found = try explain("\(Self.site)/", in: nil)
        #expect(found.code == .captured)
        #expect(found.replayable?.id == one.id)
    }

    @Test func jsonHasTheCodeAndTheEvidence() throws {
        let archive = try add([Record("\(Self.site)/page?x=1", "one")], as: "one")
        let explanation = try explain("\(Self.site)/page", at: "20240102", in: archive)
        let capture = """
            "archive":"one","capturedAt":"2024-01-02T03:04:05Z","mime":"text/html","status":200,\
            "timestamp":"20240102030405","url":"http://a.example/page?x=1"
            """
        let expected = """
            {"archive":"one","closest":[{\(capture)}],"code":"other-query","offers":[{\(capture),"why":"other-query"}],\
            "reasons":[{"code":"other-query","more":false,"total":1}],"timestamp":"20240102235959","title":"one",\
            "url":"http://a.example/page"}
            """
        #expect(String(decoding: try JSONText.encoded(explanation), as: UTF8.self) == expected)
    }
}
