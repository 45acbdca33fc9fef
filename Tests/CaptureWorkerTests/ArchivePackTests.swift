import ArchiveStore
import CaptureAPI
import Foundation
import TestSupport
import Testing
import WebArchive

@testable import CaptureWorker

struct ArchivePackTests {
    private let folder: TemporaryFolder
    private let session: WorkerSession
    private let time = CaptureTimestamp(digits: "20261124101500")

    init() throws {
        folder = try TemporaryFolder()
        let tools = JobOrder.Tools(ytdlp: nil, ffmpeg: nil, ffprobe: nil, curl: nil, path: "")
        let order = JobOrder(
            downloadID: "8f14e45f-ceea-4c8d-9b2a-0a1b2c3d4e5f", url: "https://www.tiktok.com/@a/video/1",
            options: DownloadOptions(),
            tools: tools, hasCookies: false, software: "test 1")
        session = try WorkerSession(order: order, folder: folder.path, proxyPort: 3128) { _ in }
    }

    private func pack(_ title: String) throws -> ArchivePack {
        ArchivePack(session: session, title: title, fileName: "1_film.mp4", time: try #require(time))
    }

    private func capture(_ url: String, in wacz: WACZFile) throws -> (entry: CDXJEntry, body: String) {
        let entry = try #require(try wacz.closestCapture(toURL: url, at: nil))
        let body = try RecordContent(wacz.record(of: entry)).openBody()
        return (entry, String(decoding: try body.readAll(limit: 1 << 20), as: UTF8.self))
    }

    private func media(title: String, description: String) throws -> MediaAttempt.Files {
        let info: [String: Any] = [
            "id": "1", "title": title, "uploader": "Ana & Co", "description": description, "extractor_key": "TikTok",
            "formats": [["url": "https://cdn.example/v?sig=SECRET"]], "http_headers": ["Cookie": "SECRET"],
            "webpage_url_domain": "tiktok.com", "tags": ["harbour"],
        ]
        let path = try folder.write(try JSONSerialization.data(withJSONObject: info), to: "out/media.info.json")
        let probe = try MediaProbe(
            json: #"{"streams":[{"codec_type":"video","width":640,"height":360}],"format":{"duration":"5.0"}}"#)
        return MediaAttempt.Files(
            media: try folder.write("not really a film", to: "out/media.mp4"),
            info: try MediaInfo(path: path, redaction: session.redaction), probe: probe,
            subtitles: [
                (
                    "en",
                    try folder.write(
                        "WEBVTT\n\n1\n00:00.000 --> 00:01.000\nThe <b>tide</b> comes in\n\n00:01.000 --> 00:02.000\nThe <b>tide</b> comes in\nslowly\n",
                        to: "out/media.en.vtt")
                )
            ], poster: try folder.write("jpeg", to: "out/media.jpg"))
    }

    @Test func filmsHaveAPageThatPlaysThem() throws {
        let pack = try pack("A film")
        try pack.pack(try media(title: "A <script>film</script>", description: "Line 1\n\"quoted\" & <b>"))
        let wacz = try WACZFile.open(FileByteSource(path: pack.path))
        #expect(pack.path.hasSuffix("/1_film.wacz"))
        let base = "https://replayhost.invalid/8f14e45f-ceea-4c8d-9b2a-0a1b2c3d4e5f/"
        let page = try capture(base, in: wacz)
        #expect(page.entry.mime == "text/html")
        #expect(page.body.contains(#"<video controls preload="metadata" src="media.mp4" poster="poster.jpg">"#))
        #expect(page.body.contains(#"<track kind="subtitles" src="subtitles.en.vtt" srclang="en" label="en">"#))
        #expect(page.body.contains("A &lt;script&gt;film&lt;/script&gt;") && !page.body.contains("<script"))
        #expect(page.body.contains("&quot;quoted&quot; &amp; &lt;b&gt;"))
        #expect(try capture(base + "media.mp4", in: wacz).body == "not really a film")
        #expect(try capture(base + "poster.jpg", in: wacz).entry.mime == "image/jpeg")
        #expect(try capture(base + "subtitles.en.vtt", in: wacz).body.contains("The <b>tide</b>"))
        let info = try capture(base + "info.json", in: wacz).body
        #expect(info.contains("\"harbour\"") && !info.contains("SECRET"))
        // The media is stored as it is, so that a seek costs nothing.
        let warc = try #require(wacz.warcEntry(named: "media.warc"))
        #expect(warc.method == .stored)
        #expect(wacz.mainPage?.url == base)
        #expect(wacz.dataPackage?.description == "Saved from https://www.tiktok.com/@a/video/1")
        let verification = try ArchiveVerifier(wacz, lookups: FileLookups(wacz)).run()
        #expect(verification.contents == .hashesAgree)
        #expect(verification.findings.filter { $0.severity > .notice } == [])
    }

    @Test func pageIsFoundByItsWordsAndItsURL() throws {
        let pack = try pack("A film")
        try pack.pack(try media(title: "Harbour film", description: "Boats"))
        let wacz = try WACZFile.open(FileByteSource(path: pack.path))
        var texts: [String] = []
        let pages = wacz.makePageReader(keepsText: true)
        while let page = try pages.next() { texts.append(page.text ?? "") }
        let text = try #require(texts.first)
        #expect(texts.count == 1)
        for part in [
            "Harbour film", "Ana & Co", "Boats", "https://www.tiktok.com/@a/video/1", "The tide comes in\nslowly",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        #expect(text.components(separatedBy: "The tide").count == 2)
    }

    @Test func documentsKeepRequestsAndResponses() async throws {
        let request =
            "GET /a.pdf HTTP/1.1\r\nHost: example.org\r\nCookie: a=SECRET\r\nAuthorization: Basic SECRET\r\n\r\n"
        func exchange(_ url: String, _ head: String, _ body: String, _ number: Int) throws -> DocumentAttempt.Exchange {
            DocumentAttempt.Exchange(
                url: url, request: Array(request.utf8), head: try #require(ResponseHead(text: head)),
                body: try folder.write(body, to: "out/\(number).body"), ipAddress: "127.0.0.1")
        }
        let shared = "https://www.tiktok.com/@a/video/1"
        let redirect = try exchange(
            shared, "HTTP/1.1 302 Found\r\nLocation: https://example.org/a.pdf\r\n\r\n", "", 0)
        let document = try exchange(
            "https://example.org/a.pdf",
            "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nTransfer-Encoding: chunked\r\n\r\n", "%PDF-1.4", 1)
        let files = DocumentAttempt.Files(
            source: .curl([redirect, document]), url: document.url, head: document.head, path: document.body,
            genre: .pdf,
            mediaType: "application/pdf")
        let pack = try pack("A document")
        try pack.pack(files)
        let wacz = try WACZFile.open(FileByteSource(path: pack.path))
        #expect(try capture("https://example.org/a.pdf", in: wacz).body == "%PDF-1.4")
        #expect(try capture(shared, in: wacz).entry.status == 302)
        #expect(wacz.mainPage?.url == shared)
        let verification = try ArchiveVerifier(wacz, lookups: FileLookups(wacz)).run()
        #expect(verification.findings.filter { $0.severity > .notice } == [])
        // In no record, compressed or not.
        let warc = try wacz.directory.stream(
            of: try #require(wacz.warcEntry(named: "data.warc.gz")), Allowance(archiveSize: 0)
        ).readAll(
            limit: 1 << 20)
        let plain = try await TestSupport.run("/bin/gzip", ["-dc", try folder.write(warc, to: "data.warc.gz")]).output
        #expect(plain.contains("Host: example.org") && !plain.contains("SECRET"))
        #expect(plain.contains("WARC-IP-Address: 127.0.0.1") && plain.contains("WARC-Protocol: http/1.1"))
    }
}
