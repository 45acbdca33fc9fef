import CaptureAPI
import Foundation
import Testing

@testable import CaptureWorker

/// Lines are those of yt-dlp 2026.10.26.
struct MediaToolTests {
    private func report(_ lines: [String]) -> MediaToolReport {
        var report = MediaToolReport()
        for line in lines { _ = report.read(line, from: .output) }
        return report
    }

    private func failure(_ lines: [String], limitsQuality: Bool = false) -> ToolFailure {
        ToolFailure(report(lines), .exited(1), limitsQuality: limitsQuality)
    }

    @Test func progressIsRead() {
        var report = MediaToolReport()
        let line = #"RHPROGRESS {"downloaded_bytes": 64512, "total_bytes": 80823, "speed": 35232153.6, "eta": 0}"#
        let message = report.read(line, from: .output)
        #expect(message?.stage == .fetching)
        #expect(
            message?.progress
                == DownloadProgress(percent: 79.8, bytes: 64_512, total: 80_823, speed: 35_232_153, eta: 0))
        #expect(report.read(#"RHPROGRESS {"downloaded_bytes": 1e400}"#, from: .output) == nil)
        #expect(
            report.read(#"RHPROGRESS {"downloaded_bytes": -5, "total_bytes": 0}"#, from: .output)?.progress?.percent
                == nil)
    }

    @Test(arguments: [
        ("ERROR: Unsupported URL: http://127.0.0.1:8777/page.html", ToolFailure.Code.unsupported),
        (
            "ERROR: [generic] nothing: Unable to download webpage: HTTP Error 404: File not found (caused by <HTTPError 404>)",
            .notFound
        ),
        ("ERROR: [youtube] x: Private video. Sign in if you've been granted access to this video", .isPrivate),
        ("ERROR: [youtube] x: Video unavailable. This video has been removed by the uploader", .removed),
        ("ERROR: [youtube] x: Sign in to confirm you're not a bot. Use --cookies", .loginRequired),
        (
            "ERROR: [Instagram] x: Requested content is not available, rate-limit reached or login required",
            .loginRequired
        ),
        ("ERROR: [vimeo] 1: HTTP Error 429: Too Many Requests", .rateLimited),
        ("ERROR: [x] 1: The uploader has not made this video available in your country", .toolFailed),
        ("ERROR: [x] 1: This video is not available from your location due to geo restriction", .geoBlocked),
        ("ERROR: [DRM] The requested site is known to use DRM protection", .drm),
        ("ERROR: [youtube] x: Requested format is not available", .quality),
        ("ERROR: unable to write data: [Errno 28] No space left on device", .diskFull),
        ("ERROR: [x] 1: Unable to download webpage: <urlopen error timed out>", .network),
        (
            "ERROR: [x] 1: An extractor error has occurred.; please report this issue on https://github.com/yt-dlp",
            .toolFailed
        ),
    ])
    func errorsAreClassified(_ line: String, _ code: ToolFailure.Code) {
        let found = failure([line])
        #expect(found.code == code)
        #expect(!found.message.contains("please report"))
        #expect(line.contains(found.message))
    }

    @Test func skippedItemsAreLiveStreamsOrPlaylists() {
        let skipped = "[download] Two (1) does not pass filter (!is_live & n_entries<=?1), skipping .."
        #expect(failure([skipped]).code == .playlist)
        #expect(failure([#"RHINFO {"is_live": true, "live_status": "is_live", "title": "t"}"#, skipped]).code == .live)
        #expect(failure([#"RHINFO {"live_status": "is_upcoming"}"#, skipped]).code == .live)
    }

    /// With `--print-traffic`: by Python's http.client, and by curl-cffi.
    @Test(arguments: [
        ["reply: 'HTTP/1.1 429 Too Many Requests\\r\\n'", "header: Retry-After: 120"],
        ["< HTTP/2 429 ", "< retry-after: 120"],
    ])
    func retryAfterIsReadFromTheTraffic(_ traffic: [String]) {
        let found = failure(traffic + ["ERROR: [x] 1: HTTP Error 429: Too Many Requests"])
        #expect(found.code == .rateLimited)
        #expect(found.retryAfterSeconds == 120)
        for line in traffic { #expect(MediaToolReport.isLeftOutOfLog(line)) }
    }

    @Test func refusedFormatsAreTriedAtTheDefault() {
        let line = "ERROR: Postprocessing: Stream #0:1 -> #0:1 (copy)"
        #expect(failure([line], limitsQuality: true).code == .quality)
        #expect(failure([line]).code == .toolFailed)
    }

    @Test func endWithoutFileIsAFailure() {
        #expect(ToolFailure(report([]), .exited(0), limitsQuality: false).code == .noFile)
        #expect(ToolFailure(report([]), .exited(2), limitsQuality: false).code == .toolFailed)
        #expect(ToolFailure(report([]), .killed(signal: 9), limitsQuality: false).code == .aborted)
    }

    /// A URL can't be taken for an option, and no configuration of the person is read.
    @Test func urlIsTheLastArgumentAfterTheOptions() {
        let tools = JobOrder.Tools(ytdlp: nil, ffmpeg: nil, ffprobe: nil, curl: nil, path: "")
        let order = JobOrder(
            downloadID: "1", url: "https://example.org/--exec", options: DownloadOptions(height: 720), tools: tools,
            hasCookies: false, software: "x")
        let arguments = MediaTool(order: order, folder: "/s", proxy: "http://127.0.0.1:3128", isGeneric: false)
            .arguments
        #expect(arguments.suffix(2) == ["--", "https://example.org/--exec"])
        #expect(arguments.contains("--ignore-config"))
        #expect(arguments.contains("home:/s/out"))
        #expect(arguments.contains { $0.hasPrefix("res:720") })
    }
}

struct ResponseHeadTests {
    @Test func lastHeadIsRead() throws {
        let text =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: Application/PDF; a=b\r\nTransfer-Encoding: chunked\r\nX: a:b\r\n\r\n"
        let head = try #require(ResponseHead(text: text))
        #expect(head.status == 200)
        #expect(head.mediaType == "application/pdf")
        #expect(head["x"] == "a:b")
        #expect(
            String(decoding: head.recordBytes(), as: UTF8.self)
                == "HTTP/1.1 200 OK\r\nContent-Type: Application/PDF; a=b\r\nx-orig-transfer-encoding: chunked\r\nX: a:b\r\n\r\n"
        )
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n", "garbage\r\n\r\n", "HTTP/1.1 x OK\r\n\r\n",
    ])
    func incompleteHeadsAreNone(_ text: String) { #expect(ResponseHead(text: text) == nil) }

    /// RFC 6266 §5, examples.
    @Test(arguments: [
        (#"attachment; filename="example.pdf""#, "example.pdf"),
        (#"attachment; filename="EURO rates"; filename*=utf-8''%e2%82%ac%20rates"#, "€ rates"), ("inline", nil),
    ])
    func fileNamesAreRead(_ value: String, _ name: String?) {
        #expect(ResponseHead(text: "HTTP/1.1 200 OK\r\nContent-Disposition: \(value)\r\n\r\n")?.fileName == name)
    }
}
