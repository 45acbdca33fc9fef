import Foundation
import GRDB
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Pictures that archives contain, found and read.
struct ThumbnailTests {
    private typealias Record = RecordedArchive.Record

    private static let page = "http://a.example/"

    /// A PNG of a given size. Nothing reads it beyond its header.
    private static func png(_ name: String, width: UInt32 = 8, height: UInt32 = 8, size: Int = 100) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        let head = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
        let start = head + number(width) + number(height) + Array(name.utf8)
        return start + [UInt8](repeating: 0, count: max(0, size - start.count))
    }

    /// A resource record, as Browsertrix writes it.
    private func record(
        _ url: String, _ body: [UInt8], key: String? = nil, _ change: (inout Record) -> Void = { _ in }
    ) -> Record {
        Record(url).with {
            ($0.type, $0.head, $0.body, $0.key) = ("resource", "", body, key ?? url)
            ($0.fields, $0.index) = (["Content-Type: image/png"], "\"mime\":\"image/png\"")
            change(&$0)
        }
    }

    private func thumbnail(_ name: String = "small", of page: String = page, size: Int = 100) -> Record {
        record("urn:thumbnail:\(page)", Self.png(name, size: size))
    }

    private func view(_ name: String = "view", of page: String = page, size: Int = 100) -> Record {
        record("urn:view:\(page)", Self.png(name, size: size))
    }

    private func archive(_ test: TestStore, _ records: [Record], html: String = "<p>text") throws -> Archive {
        var archive = RecordedArchive([Record(Self.page, html)] + records)
        archive.pages = ["{\"url\":\"\(Self.page)\",\"ts\":\"2024-01-02T03:04:05Z\"}"]
        return try test.store.importFile(at: test.folder.write(archive.bytes(), to: "a.wacz")).archive
    }

    /// Returns the name in the picture that is found before, while and after the archive is indexed; `nil` if there is
    /// none.
    private func found(_ records: [Record]) throws -> String? {
        let test = try TestStore()
        let archive = try archive(test, records)
        #expect(try test.store.thumbnails.mayHaveThumbnail(archive))
        let before = try test.store.thumbnails.thumbnail(of: archive)
        #expect(try test.item().hasThumbnail == false)
        try test.store.jobs.queueTexts()
        #expect(try JobRunner(test.store, kinds: [.text]).runNext(stop: { nil })?.state == .done)
        try test.store.jobs.queueTexts()
        #expect(try test.store.jobs.all(in: [.waiting], limit: 1).isEmpty, "it isn't looked for again")
        let after = try test.store.thumbnails.thumbnail(of: archive)
        #expect(before == after)
        #expect(try test.item().hasThumbnail == (after != nil))
        #expect(try test.store.thumbnails.mayHaveThumbnail(archive) == (after != nil))
        return after.map { String(decoding: $0.bytes.dropFirst(24).prefix { $0 != 0 }, as: UTF8.self) }
    }

    @Test func mainPageComesFirst() throws {
        let other = thumbnail("other", of: "http://0.example/")
        #expect(try found([other, view(), thumbnail()]) == "small")
        #expect(try found([other, view()]) == "other")
        #expect(try found([view(), view("else", of: "http://0.example/")]) == "view")
        #expect(try found([view("else", of: "http://0.example/")]) == nil)
        #expect(try found([]) == nil)
    }

    /// Without a picture of the crawler. It's found by the job that indexes the archive.
    @Test func largestImageOfMainPageIsFound() throws {
        let html = """
            <link rel=icon href=/icon.png><img src=small.png><img srcset="http://a.example/large.png 2x"><a href=linked.png>
            <img src=line.png><img src=dot.png><img src=false.png><img src=huge.png>
            """
        func image(_ name: String, _ width: UInt32, _ height: UInt32) -> Record {
            Record("http://a.example/\(name).png").with {
                $0.head = "HTTP/1.1 200 OK\r\nContent-Type: image/png"
                ($0.body, $0.index) = (Self.png(name, width: width, height: height), "\"mime\":\"image/png\"")
            }
        }
        let images = [
            image("icon", 64, 64), image("small", 80, 60), image("large", 320, 200), image("linked", 4000, 3000),
            image("line", 2000, 40), image("dot", 1, 1), image("huge", 8_001, 5_000),
            image("false", 900, 900).with { $0.body = Array("<svg><script>1</script></svg>".utf8) },
        ]
        #expect(try pictured(html, images)?.name == "large")
        #expect(try pictured(html, images.filter { !$0.url.hasSuffix("large.png") })?.name == "small")
        #expect(try pictured(html, [images[0]])?.name == "icon")
        #expect(try pictured(html, [images[0]])?.page == nil, "no screenshot")
        #expect(try pictured(html, [images[4], images[5], images[6], images[7]]) == nil)
        #expect(try pictured(html, images + [view()])?.name == "view")
        #expect(try pictured(html, images + [view()])?.page == Self.page)
        #expect(try pictured("<base href=//b.example/>" + html, [images[1]]) == nil)
    }

    /// Returns the picture of an archive that was indexed, and of which page it's a screenshot.
    private func pictured(_ html: String, _ images: [Record]) throws -> (name: String, page: String?)? {
        let test = try TestStore()
        let archive = try archive(test, images, html: html)
        try test.store.jobs.queueTexts()
        #expect(try JobRunner(test.store, kinds: [.text]).runNext(stop: { nil })?.state == .done)
        guard let thumbnail = try test.store.thumbnails.thumbnail(of: archive) else { return nil }
        let page = try test.store.thumbnails.known(of: archive).page
        return (String(decoding: thumbnail.bytes.dropFirst(24).prefix { $0 != 0 }, as: UTF8.self), page)
    }

    /// Scoop's record is a response, and isn't of a page.
    @Test func screenshotOfScoopIsFound() throws {
        let screenshot = record("file:///screenshot.png", Self.png("scoop")) {
            ($0.type, $0.fields) = ("response", [])
            $0.head = "HTTP/1.1 200 OK\r\nContent-Type: image/png"
        }
        #expect(try found([screenshot]) == "scoop")
    }

    private static let fixtures = ProcessInfo.processInfo.environment["REPLAYHOST_FIXTURES"]

    @Test(.enabled(if: fixtures != nil, "REPLAYHOST_FIXTURES is not set"))
    func pictureOfRealArchiveOfScoopIsFound() throws {
        let test = try TestStore()
        let folder = try #require(Self.fixtures)
        let path = "\(folder)/bensteinberg__waczerciser/test/fixtures/example.wacz"
        let archive = try test.store.importFile(at: path).archive
        let thumbnail = try #require(try test.store.thumbnails.thumbnail(of: archive))
        #expect(thumbnail.type == "image/png")
    }

    @Test func tooLargePicturesAreLeftOut() throws {
        #expect(try found([thumbnail(size: 300_000), view()]) == "small")
        #expect(try found([thumbnail(size: 300_001), view()]) == "view")
        #expect(try found([view(size: 3_000_000)]) == "view")
        #expect(try found([view(size: 3_000_001)]) == nil)
    }

    /// Whatever the record calls it.
    @Test func otherFormatsAreLeftOut() throws {
        for text in [
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>1</script></svg>", "<html><script>1</script>",
            "GIF89a0000",
            "\u{1}", "",
        ] {
            #expect(try found([record("urn:thumbnail:\(Self.page)", Array(text.utf8)), view()]) == "view", "\(text)")
        }
        let polyglot = Array("<script>1</script>".utf8) + Self.png("inside")
        #expect(try found([record("urn:thumbnail:\(Self.page)", polyglot)]) == nil)
        let truncated = Array(Self.png("cut").prefix(20))
        #expect(try found([record("urn:thumbnail:\(Self.page)", truncated)]) == nil)
    }

    @Test func hugePicturesAreLeftOut() throws {
        func picture(_ width: UInt32, _ height: UInt32) -> Record {
            record("urn:thumbnail:\(Self.page)", Self.png("huge", width: width, height: height))
        }
        #expect(try found([picture(8_000, 5_000)]) == "huge")
        #expect(try found([picture(8_001, 5_000)]) == nil)
        #expect(try found([picture(10_000, 10_000)]) == nil)
        #expect(try found([picture(.max, .max)]) == nil)
        #expect(try found([picture(0, 10)]) == nil)
    }

    @Test func recordOfAnotherURLIsLeftOut() throws {
        let other = record("http://b.example/secret.png", Self.png("secret"))
        let wrong = other.with {
            // The index names a thumbnail, the record is of another URL.
            $0.key = "urn:thumbnail:\(Self.page)"
            $0.indexedURL = "urn:thumbnail:\(Self.page)"
        }
        #expect(try found([wrong]) == nil)
    }

    @Test func revisitIsLeftOut() throws {
        let target = record("http://b.example/secret.png", Self.png("secret"), key: "example,b)/secret.png")
        let revisit = record("urn:thumbnail:\(Self.page)", []) {
            ($0.type, $0.index) = ("revisit", "\"mime\":\"warc/revisit\"")
            $0.fields = ["WARC-Refers-To-Target-URI: http://b.example/secret.png"]
        }
        #expect(try found([target, revisit, view()]) == "view")
    }

    @Test func damagedRecordIsLeftOut() throws {
        let compressed = record("urn:thumbnail:\(Self.page)", [0x1F, 0x8B, 8, 0, 1, 2, 3]) {
            ($0.type, $0.fields) = ("response", [])
            $0.head = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Encoding: gzip"
        }
        #expect(try found([compressed, view()]) == "view")
    }

    /// The place that the catalog has is only a hint.
    @Test func placeWithoutPictureHasNone() async throws {
        let test = try TestStore()
        let archive = try archive(test, [thumbnail()])
        for place in ["20240102030405 http://a.example/", "x", "20240102030405 http://none.example/", "x y"] {
            try test.store.catalog.setThumbnail(place, key: archive.key)
            #expect(try test.store.thumbnails.thumbnail(of: archive) == nil, "\(place)")
        }
    }

    @Test func unavailableFileIsAnError() throws {
        let test = try TestStore()
        let path = try test.file("a.wacz")
        _ = try test.store.importLink(to: path)
        let archive = try #require(try test.store.archive(named: "a"))
        try FileManager.default.removeItem(atPath: path)
        let reopened = try test.reopened()
        #expect(throws: StoreError.self) { try reopened.thumbnails.thumbnail(of: archive) }
    }
}

extension TestStore {
    /// The only archive, as lists show it.
    fileprivate func item() throws -> LibraryItem {
        let order = try #require(LibraryOrder("added"))
        return try #require(
            try store.library.archives(LibraryFilter(), sortedBy: order, offset: 0, limit: 1).archives.first)
    }
}
