import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Which capture is opened for a request, and with which body. WARC 1.1 §6.7 for revisits.
struct CaptureLookupTests {
    typealias Record = RecordedArchive.Record

    private let folder: TemporaryFolder
    private let store: ArchiveStore

    init() throws {
        folder = try TemporaryFolder()
        store = try ArchiveStore(at: folder.path("store"))
    }

    private func add(_ archive: RecordedArchive, as name: String) throws -> Archive {
        try store.importFile(at: try folder.write(archive.bytes(), to: "\(name).wacz")).archive
    }

    private func text(_ url: String, at digits: String? = nil, in archive: Archive) throws -> String? {
        let request = ArchiveStore.CaptureRequest(url: url, time: digits.flatMap { CaptureTimestamp(digits: $0) })
        return try store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: true).map {
            try self.text(of: $0)
        }
    }

    private func text(of capture: OpenCapture) throws -> String {
        let reader = try capture.body.open(decoded: true)
        var all: [UInt8] = []
        while case let bytes = try reader.read(upTo: 1000), !bytes.isEmpty { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    private static func revisit(_ url: String, of target: String, at date: String, digest: String) -> Record {
        Record(url, "", timestamp: "20240301000000").with {
            $0.type = "revisit"
            $0.head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Visit: second"
            $0.index = "\"mime\":\"warc/revisit\",\"digest\":\"\(digest)\""
            $0.fields = [
                "WARC-Refers-To-Target-URI: \(target)", "WARC-Refers-To-Date: \(date)",
                "WARC-Payload-Digest: \(digest)",
                "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
            ]
        }
    }

    /// `printf payload | sha1sum`, in base32.
    private static let digest = "sha1:6B7FVAKWCPC2X3O4JNUCER5EYQWYVFO7"
    private static let otherDigest = "sha1:KS2J7T2KOPFEMXDBFEIOYH33C6KYZQ5C"

    @Test func revisitHasOwnHeadAndEarlierBody() throws {
        let earlier = Record("http://a.example/one", "payload", timestamp: "20240101000000").with {
            $0.index += ",\"digest\":\"\(Self.digest)\""
        }
        let wrong = Record("http://a.example/one", "wrong", timestamp: "20240102000000").with {
            $0.index += ",\"digest\":\"\(Self.otherDigest)\""
        }
        let archive = try add(
            RecordedArchive([
                earlier, wrong,
                Self.revisit(
                    "http://a.example/two", of: "http://a.example/one", at: "2024-01-02T00:00:00Z", digest: Self.digest),
            ]), as: "crawl")
        let request = ArchiveStore.CaptureRequest(url: "http://a.example/two", time: nil)
        let capture = try #require(try store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false))
        #expect(try text(of: capture) == "payload", "the digest decides, not the date")
        #expect(capture.fields["X-Visit"] == "second")
        #expect(capture.payloadCapture?.url == "http://a.example/one")
        #expect(capture.payloadCapture?.timestamp == "20240101000000")
    }

    @Test func notModifiedRevisitUsesEarlierResponse() throws {
        let earlier = Record("http://a.example/", "payload", timestamp: "20240101000000")
        let later = Self.revisit(
            "http://a.example/", of: "http://a.example/", at: "2024-01-01T00:00:00Z", digest: "-"
        ).with {
            $0.head = "HTTP/1.1 304 Not Modified"
            $0.index = "\"mime\":\"warc/revisit\""
            $0.fields[3] = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified"
        }
        let archive = try add(RecordedArchive([earlier, later]), as: "crawl")
        let request = ArchiveStore.CaptureRequest(
            url: "http://a.example/", time: CaptureTimestamp(digits: "20240301000000"))
        let capture = try #require(try store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false))
        #expect(capture.status == 200)
        #expect(capture.entry.timestamp == "20240301000000")
        #expect(try text(of: capture) == "payload")
    }

    @Test func revisitReadsOnlyRequiredArchives() throws {
        let base = RecordedArchive([
            Record("http://a.example/", "payload", timestamp: "20240101000000").with {
                $0.index += ",\"digest\":\"\(Self.digest)\""
                $0.fields = ["WARC-Payload-Digest: \(Self.digest)"]
            }
        ])
        let again = [
            Self.revisit("http://a.example/", of: "http://a.example/", at: "2024-01-01T00:00:00Z", digest: Self.digest)
        ]
        let whole = try add(base, as: "base")
        let naming = try add(RecordedArchive(again, requires: whole.sha256), as: "naming")
        #expect(try text("http://a.example/", in: naming) == "payload")
        let silent = try add(RecordedArchive(again), as: "silent")
        // A revisit without a digest can't read from another archive.
        let guessing = again.map { record in
            record.with {
                $0.fields.removeAll { $0.hasPrefix("WARC-Payload-Digest") }
                $0.index = "\"mime\":\"warc/revisit\""
            }
        }
        let thief = try add(RecordedArchive(guessing, requires: whole.sha256), as: "thief")
        #expect(throws: StoreError.self) { try text("http://a.example/", in: thief) }
        #expect(throws: StoreError.self) { try text("http://a.example/", in: silent) }
        try store.remove(whole.id)
        do {
            _ = try text("http://a.example/", in: naming)
            Issue.record("the payload is gone")
        } catch let error as StoreError {
            #expect(error.code == .payloadMissing)
        }
    }

    @Test func unusableCaptureIsSkipped() throws {
        let lone = Self.revisit(
            "http://a.example/", of: "http://b.example/", at: "2020-01-01T00:00:00Z", digest: Self.otherDigest)
        let other = Record("http://a.example/", "other", timestamp: "20210101000000").with {
            $0.index += ",\"digest\":\"\(Self.digest)\""
        }
        let archive = try add(RecordedArchive([lone, other]), as: "crawl")
        #expect(try text("http://a.example/", at: "20240301000000", in: archive) == "other")
    }

    @Test func redirectToItselfIsSkipped() throws {
        let moved = Record("http://a.example/", "", timestamp: "20240101000000", status: 301).with {
            $0.head += "\r\nLocation: https://a.example/"
        }
        let page = Record("https://a.example/", "page", timestamp: "20240101000005")
        let lonely = Record("http://b.example/x", "", timestamp: "20240101000000", status: 302).with {
            $0.head += "\r\nLocation: /x"
        }
        let archive = try add(RecordedArchive([moved, page, lonely]), as: "crawl")
        func status(_ url: String) throws -> Int? {
            let request = ArchiveStore.CaptureRequest(url: url, time: CaptureTimestamp(digits: "20240101000000"))
            return try store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false)?.status
        }
        // From http, the browser follows to https; there the redirect would lead to itself.
        #expect(try status("http://a.example/") == 301)
        #expect(try status("https://a.example/") == 200)
        do {
            _ = try status("http://b.example/x")
            Issue.record("there is nothing but a loop")
        } catch let error as StoreError {
            #expect(error.code == .redirectsToItself)
        }
    }

    @Test func fuzzyMatchIsUsedOnlyIfAllowed() throws {
        let archive = try add(RecordedArchive([Record("http://a.example/x.js?v=1", "script")]), as: "crawl")
        #expect(try text("http://a.example/x.js?v=2", in: archive) == "script")
        let request = ArchiveStore.CaptureRequest(url: "http://a.example/x.js?v=2", time: nil)
        #expect(try store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false) == nil)
        #expect(try text("http://a.example/other.js?v=2", in: archive) == nil)
    }

    @Test func unwantedLookupIsCancelled() throws {
        let archive = try add(RecordedArchive([Record("http://a.example/x.js?v=1", "script")]), as: "crawl")
        for url in ["http://a.example/x.js?v=1", "http://a.example/x.js?v=2"] {
            let request = ArchiveStore.CaptureRequest(url: url, time: nil)
            #expect(throws: WebArchiveError.self) {
                _ = try store.resolver.closestCapture(request, in: [archive], isWanted: { false })
            }
            #expect(throws: WebArchiveError.self) {
                _ = try store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: true, isWanted: { false })
            }
        }
    }

    /// Removed after the request has listed the archives and before it opens them.
    @Test func archiveRemovedMeanwhileIsSkipped() throws {
        let kept = try add(RecordedArchive([Record("http://a.example/", "kept")]), as: "kept")
        let removed = try add(
            RecordedArchive([Record("http://a.example/", "removed", timestamp: "20250101000000")]), as: "removed")
        try store.remove(removed.id)
        let request = ArchiveStore.CaptureRequest(url: "http://a.example/", time: nil)
        #expect(try store.resolver.closestCapture(request, in: [removed, kept])?.archive.id == kept.id)
        #expect(code { _ = try store.resolver.closestCapture(request, in: [removed]) } == .notFound)
        let sources = [removed, kept].map { store.openArchives.querySource($0, isOneOfSeveral: true) }
        let run = CDXQueryRun(
            try CDXQuery(parameters: [("url", "a.example"), ("fields", "source"), ("output", "text")]),
            sources: sources,
            namesSources: true, temporaryFolder: folder.path)
        var lines: [String] = []
        while let line = try run.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        #expect(lines == ["kept\n"])
    }

    @Test func recordWithoutHTTPMessageIsItsBlock() throws {
        let resource = Record("urn:thing:1", "text").with {
            $0.type = "resource"
            $0.head = ""
            $0.fields = ["Content-Type: text/plain"]
            $0.index = "\"mime\":\"text/plain\""
            $0.key = "urn:thing:1"
        }
        let archive = try add(RecordedArchive([resource, Record("http://a.example/")]), as: "crawl")
        let request = ArchiveStore.CaptureRequest(url: "urn:thing:1", time: nil)
        let capture = try #require(try store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false))
        #expect(capture.status == nil)
        #expect(capture.mime == "text/plain")
        #expect(try text(of: capture) == "text")
    }

    @Test(
        arguments: [
            ("/x", "http://a.example/b/c", "http://a.example/x"), ("x", "http://a.example/b/c", "http://a.example/b/x"),
            ("//b.example/x", "https://a.example/", "https://b.example/x"),
            ("https://b.example/%7Ex", "http://a.example/", "https://b.example/%7Ex"),
            ("?q=1", "http://a.example/b?r", "http://a.example/b?q=1"),
            ("#f", "http://a.example/b", "http://a.example/b#f"),
        ])
    func referencesAreResolved(_ reference: String, _ base: String, _ expected: String) {
        #expect(URLReference.resolve(reference, against: base) == expected)
    }

    @Test(arguments: [
        ("example.org/a", "http://example.org/a"), ("http:/example.org/a", "http://example.org/a"),
        ("https:///example.org", "https://example.org"), ("//example.org", "http://example.org"),
        ("urn:pageinfo:x", "urn:pageinfo:x"), ("localhost:8080/a", "http://localhost:8080/a"),
        ("HTTPS://example.org/", "HTTPS://example.org/"),
    ])
    func urlsAreCompleted(_ text: String, _ expected: String) {
        #expect(CapturedURL.completed(text) == expected)
    }
}
