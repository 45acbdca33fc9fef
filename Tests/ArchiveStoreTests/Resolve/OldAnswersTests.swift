import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Answers as servers of thirty years sent them, in WARC and ARC files: imported, looked up and listed as pages.
struct OldAnswersTests {
    private static let page = "<!doctype html><title>Old page</title><p>limpets</p>"

    /// The head of a message, and the status that it has.
    private static let heads: [(head: String, status: Int?)] = [
        ("HTTP/1.1 0 No Content\r\nContent-Type: text/html\r\n\r\n", nil),
        ("HTTP 200 Document follows\r\nContent-type: text/html\r\n\r\n", 200),
        ("HTTP 200 Document follows\nContent-type: text/html\n\n", 200),
        ("HTTP/1.1 200\r\nContent-Type: text/html\r\n\r\n", 200),
        ("ICY 200 OK\r\nContent-Type: text/html\r\n\r\n", 200),
        ("http/1.0 200 ok\r\nContent-Type: text/html\r\n\r\n", 200),
        ("HTTP/1.1\t200\tOK\r\nContent-Type: text/html\r\n\r\n", 200), ("", nil),
        ("HTTP/1.1 200 OK\r\nP3P : CP=\"ALL\"\r\nno colon\r\nX: \u{FF}\u{FE}\r\nContent-Type: text/html\r\n\r\n", 200),
    ]

    private static func warc(_ head: String, type: String = "response") -> [UInt8] {
        let block = Array((head + page).unicodeScalars.map { UInt8($0.value) })
        let isHTTP = type == "response"
        let lines = [
            "WARC/1.0", "WARC-Type: \(type)", "WARC-Target-URI: http://old.example/", "WARC-Date: 1997-07-13T03:46:04Z",
            "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>",
            "Content-Type: \(isHTTP ? "application/http; msgtype=response" : "text/html")",
            "Content-Length: \(block.count)",
        ]
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + block + Array("\r\n\r\n".utf8)
    }

    private static func arc(_ head: String) -> [UInt8] {
        let block = Array((head + page).unicodeScalars.map { UInt8($0.value) })
        let version = "1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
        let start = "filedesc://x.arc 0.0.0.0 19970713000000 text/plain \(version.utf8.count)\n\(version)\n"
        return Array("\(start)http://old.example:80/ 10.0.0.1 19970713034604 text/html \(block.count)\n".utf8) + block
            + [0x0A]
    }

    private func expectPage(_ bytes: [UInt8], as name: String, status: Int?) throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.folder.write(bytes, to: name)).archive
        let request = ArchiveStore.CaptureRequest(url: "http://old.example/", time: nil)
        let capture = try #require(
            try test.store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false))
        let body = try capture.body.open(decoded: true).read(upTo: 1000)
        #expect(String(decoding: body, as: UTF8.self) == Self.page)
        #expect(capture.mime == "text/html")
        #expect(capture.entry.status == status && capture.status == status)
        let pages = try test.store.catalog.pages(key: archive.key, PageListRequest(limit: 10)).pages
        #expect(pages.map(\.url) == [capture.entry.url])
        #expect(pages.map(\.title) == ["Old page"])
    }

    @Test(arguments: heads.indices) func answerInWARCIsAPage(_ number: Int) throws {
        let (head, status) = Self.heads[number]
        try expectPage(Self.warc(head), as: "old.warc", status: status)
    }

    @Test(arguments: heads.indices) func answerInARCIsAPage(_ number: Int) throws {
        let (head, status) = Self.heads[number]
        try expectPage(Self.arc(head), as: "old.arc", status: status)
    }

    /// As warcit writes it.
    @Test func resourceIsAPage() throws {
        try expectPage(Self.warc("", type: "resource"), as: "resource.warc", status: nil)
    }

    // Cut ---------------------------------------------------------------------------------------------------------

    /// A download that ended early: the last record isn't whole. What is there is shown, and the import says so.
    @Test(arguments: [false, true], [1, 10, 30]) func lastRecordThatIsCutIsShown(
        isCompressed: Bool, missing: Int
    ) throws {
        let whole = Self.warc("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        let cut =
            isCompressed ? Array(GeneratedArchive.gzip(whole).dropLast(missing)) : Array(whole.dropLast(missing + 4))
        let first = String(decoding: whole, as: UTF8.self).replacing("old.example/", with: "old.example/first")
        let start = isCompressed ? GeneratedArchive.gzip(Array(first.utf8)) : Array(first.utf8)
        let test = try TestStore()
        let name = isCompressed ? "cut.warc.gz" : "cut.warc"
        let outcome = try test.store.importFile(at: test.folder.write(start + cut, to: name))
        #expect(outcome.archive.summary.captureCount == 2)
        let findings = try test.store.catalog.findings(key: outcome.archive.key)
        #expect(findings.contains { $0.code == "warc-damaged" && $0.consequence.contains("the part that is there") })
        let request = ArchiveStore.CaptureRequest(url: "http://old.example/", time: nil)
        let capture = try #require(
            try test.store.resolver.openCapture(request, in: [outcome.archive], allowsFuzzyMatch: false))
        #expect(capture.entry.url == "http://old.example/")
        let reader = try capture.body.open(decoded: true)
        let body = String(decoding: try reader.read(upTo: 1000), as: UTF8.self)
        #expect(Self.page.hasPrefix(body) && !body.isEmpty)
        if !isCompressed { #expect(body.count == Self.page.count - missing) }
        // The last bytes of a gzip member aren't content.
        if body.count < Self.page.count {
            #expect(throws: WebArchiveError.self, "the rest is missing") { try reader.read(upTo: 1000) }
        } else {
            #expect(isCompressed)
        }
        #expect(try savedPage(of: outcome.archive, in: test) == body)
    }

    /// Returns the body of the page in an archive that only has this page.
    private func savedPage(of archive: Archive, in test: TestStore) throws -> String {
        let request = ArchiveStore.CaptureRequest(url: "http://old.example/", time: nil)
        let path = test.folder.path("page.wacz")
        let result = try Exporter(test.store).page(request, of: archive).write(to: .newFile(path))
        #expect(result.captureCount == 1)
        #expect(result.findings.map(\.code) == ["warc-damaged"], "it isn't what was recorded")
        let wacz = try WACZFile.open(path: path)
        let entry = try #require(try wacz.captures(ofURL: request.url).first)
        let content = try wacz.content(of: entry, CancellationCheck())
        #expect(content.record.headers["WARC-Truncated"] == "unspecified")
        return String(decoding: try content.openBody().readAll(limit: 1 << 20), as: UTF8.self)
    }

    /// Also if that is all there is.
    @Test func onlyRecordThatIsCutIsImported() throws {
        let cut = Self.warc("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n").dropLast(30)
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.folder.write(Array(cut), to: "cut.warc")).archive
        #expect(archive.summary.captureCount == 1)
    }

    /// Without a byte of its body, it would hide what was captured before.
    @Test(arguments: [55, 70, 120]) func recordThatIsCutBeforeItsBodyIsNotListed(missing: Int) throws {
        let whole = Self.warc("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        let later = String(decoding: whole, as: UTF8.self).replacing("1997-07-13", with: "1999-07-13")
        let test = try TestStore()
        let bytes = whole + Array(later.utf8).dropLast(missing + 4)
        let archive = try test.store.importFile(at: test.folder.write(bytes, to: "cut.warc")).archive
        let request = ArchiveStore.CaptureRequest(url: "http://old.example/", time: nil)
        let capture = try #require(
            try test.store.resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false))
        #expect(capture.entry.timestamp == "19970713034604")
    }
}
