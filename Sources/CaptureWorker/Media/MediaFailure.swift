import Foundation

extension ToolFailure {
    /// Classifies a run of yt-dlp that left no file.
    ///
    /// - Parameter limitsQuality: Whether the options ask for a quality or a format, which can be what failed.
    package init(_ report: MediaToolReport, _ end: ToolRun.End, limitsQuality: Bool) {
        if report.isSkipped {
            self =
                report.isLive
                ? ToolFailure(.live, "this is a live stream, which can't be saved while it runs")
                : ToolFailure(.playlist, "this is a playlist; save its items one by one")
            return
        }
        guard let error = report.error else {
            switch end {
            case .exited(0): self.init(.noFile, "yt-dlp ended without a file")
            case .exited(let code):
                self.init(.toolFailed, "yt-dlp failed with exit code \(code)")
                isOfExtractor = true
            case .killed(let signal): self.init(.aborted, "yt-dlp was ended by signal \(signal)")
            }
            return
        }
        let isConversion = limitsQuality && error.lowercased().contains("postprocessing:")
        self.init(
            isConversion ? .quality : Self.code(of: error, status: report.lastStatus), Self.message(error),
            retryAfterSeconds: report.retryAfterSeconds)
        isOfExtractor = code == .toolFailed && !error.lowercased().hasPrefix("[generic]")
    }

    /// The tool's own line, without its advice about reports.
    private static func message(_ error: String) -> String {
        let advice = ["; please report this issue on", " Confirm you are on the latest version", " (caused by "]
        let cuts = advice.compactMap { error.range(of: $0)?.lowerBound }
        return String(error[..<(cuts.min() ?? error.endIndex)].prefix(500))
    }

    private static func code(of error: String, status: Int?) -> Code {
        let text = error.lowercased()
        return causes.first { cause in cause.parts.contains { text.contains($0) } }?.code
            ?? (status.map { $0 == 429 || $0 == 503 } == true ? .rateLimited : .toolFailed)
    }

    /// What the messages of yt-dlp's extractors have in common. The first match counts.
    private static let causes: [(code: Code, parts: [String])] = [
        (.unsupported, ["unsupported url", "no suitable extractor"]),
        (.noVideo, ["no video could be found", "there is no video", "is not a video", "no media found"]),
        (.quality, ["requested format is not available"]),
        (.rateLimited, ["http error 429", "too many requests", "http error 503"]),
        (.diskFull, ["no space left on device", "disk quota exceeded"]),
        (.tooLarge, ["larger than max-filesize"]),
        (.drm, ["drm protected", "drm protection", "drm-protected"]),
        (
            .geoBlocked,
            ["not available in your country", "not available from your location", "geo restrict", "geo-restrict"]
        ),
        (.live, ["live event will begin", "premieres in", "this live stream"]),
        (
            .isPrivate,
            ["private video", "video is private", "account is private", "post is private", "this content is private"]
        ),
        (
            .loginRequired,
            [
                "sign in", "log in", "login required", "login_required", "--cookies", "members-only", "members only",
                "authentication", "http error 401", "registered users",
            ]
        ),
        (.rateLimited, ["rate-limit", "rate limit"]),
        (
            .removed,
            [
                "has been removed", "was removed", "no longer available", "been terminated", "been deleted",
                "video unavailable",
            ]
        ),
        (.notFound, ["http error 404", "http error 410", "not found", "does not exist", "doesn't exist"]),
        (
            .network,
            [
                "timed out", "timeout", "connection", "network is unreachable", "name resolution", "name or service",
                "failed to resolve", "http error 5", "incomplete", "remote end closed", "ssl", "unable to download",
                "fragment", "unexpected eof", "bytes read",
            ]
        ),
    ]
}
