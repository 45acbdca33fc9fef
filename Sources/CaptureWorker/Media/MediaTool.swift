import CaptureAPI
import Foundation

/// The command line of yt-dlp.
struct MediaTool {
    let order: JobOrder
    let folder: String
    /// The URL of the proxy that leads to the guard.
    let proxy: String
    /// Whether to use the generic extractor too, which looks for media in any page.
    let isGeneric: Bool
    /// Whether to fetch subtitles and a poster too.
    var fetchesExtras = true

    /// The stem of all files that yt-dlp writes.
    static let stem = "media"
    /// Marks of the lines that yt-dlp prints for us.
    static let infoMark = "RHINFO "
    static let fileMark = "RHFILE "
    static let progressMark = "RHPROGRESS "
    static let stepMark = "RHSTEP "
    /// Skips live streams and playlists, with a message.
    private static let filter = "!is_live & live_status!=?is_upcoming & n_entries<=?1"

    var arguments: [String] {
        general + output + (fetchesExtras ? Self.extras : []) + format
            + (order.hasCookies ? ["--cookies", "\(folder)/\(SessionFile.cookies)"] : [])
            + ["--", order.url]
    }

    private var general: [String] {
        // The generic extractor uses others for embedded players.
        (isGeneric ? [] : ["--use-extractors", "all,-generic"]) + [
            "--ignore-config", "--no-plugin-dirs", "--no-cache-dir", "--no-colors", "--no-quiet", "--no-simulate",
            // A second item shows that there is a playlist, which the filter then skips.
            // Subtitles or a poster that can't be fetched are no reason to lose the film.
            "--ignore-errors",
            "--no-playlist", "--playlist-items", "1:2", "--match-filters", Self.filter,
            "--proxy", proxy, "--socket-timeout", "30", "--retries", "3", "--fragment-retries", "5",
            // A video with a hole must not look complete.
            "--abort-on-unavailable-fragments",
            // Header fields of responses: `Retry-After`
            "--print-traffic",
        ]
    }

    private var output: [String] {
        [
            "--paths", "home:\(folder)/\(SessionFile.output)", "--paths", "temp:\(folder)/\(SessionFile.parts)",
            "--output", "\(Self.stem).%(ext)s", "--no-mtime",
            "--write-info-json", "--newline", "--progress",
            "--progress-template",
            "download:\(Self.progressMark)%(progress.{downloaded_bytes,total_bytes,total_bytes_estimate,speed,eta})j",
            "--progress-template", "postprocess:\(Self.stepMark)%(progress.postprocessor)s",
            "--print", "pre_process:\(Self.infoMark)%(.{is_live,live_status,title})j",
            "--print", "after_move:\(Self.fileMark)%(filepath)s",
        ]
    }

    private static let extras = [
        "--write-thumbnail", "--convert-thumbnails", "jpg",
        "--write-subs", "--sub-langs", "all,-live_chat", "--convert-subs", "vtt",
    ]

    private var format: [String] {
        let options = order.options
        guard options.chosenForm == .video else {
            return [
                "--format", "bestaudio/best", "--extract-audio", "--audio-format", options.chosenContainer.rawValue,
            ]
        }
        let resolution = "res\(options.height.map { ":\($0)" } ?? "")"
        if let container = options.container?.rawValue {
            return [
                "--format-sort", resolution, "--merge-output-format", container, "--remux-video", container,
            ]
        }
        // Browsers play H.264 and AAC in MP4 everywhere. Other codecs and recordings stay in containers that fit them.
        return [
            "--format-sort", resolution + ",vcodec:h264,acodec:aac", "--merge-output-format", "mp4/webm/mkv",
            "--remux-video", Self.kept.map { "\($0)>\($0)" }.joined(separator: "/") + "/mov>mp4/m4v>mp4/aac>m4a/mkv",
        ]
    }

    /// Containers that stay as they are.
    private static let kept = ["mp4", "webm", "mkv", "mp3", "m4a", "ogg", "opus", "wav", "flac"]
}

/// What yt-dlp said in one run.
package struct MediaToolReport: Sendable {
    /// The path of the finished file, as yt-dlp printed it.
    var file: String?
    var isLive = false
    var title: String?
    /// Whether an item was skipped: a live stream or part of a playlist.
    var isSkipped = false
    /// The last error, without the mark before it.
    var error: String?
    /// The status of the last response.
    var lastStatus: Int?
    /// `Retry-After` of the last response that had one, in seconds.
    var retryAfterSeconds: Int?

    package init() {}

    /// What a line says about the progress; `nil` for other lines.
    package mutating func read(_ line: String, from stream: ToolRun.Stream) -> WorkerMessage? {
        if let json = line.after(MediaTool.progressMark) {
            return ProgressLine.parse(json).map { WorkerMessage(stage: .fetching, progress: $0) }
        }
        if let json = line.after(MediaTool.infoMark) {
            readInfo(json)
            return WorkerMessage(title: title)
        }
        if let step = line.after(MediaTool.stepMark) {
            return step == "MoveFiles" ? nil : WorkerMessage(stage: .merging)
        }
        if let path = line.after(MediaTool.fileMark) {
            file = String(path)
        } else if line.contains("does not pass filter") {
            isSkipped = true
        } else if let text = line.after("ERROR: ") {
            // The first error is the cause of the others.
            error = error ?? String(text)
        } else {
            readTraffic(line)
        }
        return nil
    }

    /// Whether a line is about traffic, which can hold cookies, or only says what was read above.
    static func isLeftOutOfLog(_ line: String) -> Bool {
        let marks = [
            MediaTool.progressMark, MediaTool.infoMark, MediaTool.stepMark, "send: ", "reply: ", "header: ",
            "director: ",
            "requests: ", "urllib: ", "* ", "> ", "< ", "{ [", "} [",
        ]
        return marks.contains(where: line.hasPrefix)
    }

    private mutating func readInfo(_ json: Substring) {
        struct Info: Decodable {
            let is_live: Bool?
            let live_status: String?
            let title: String?
        }
        guard let info = try? JSONDecoder().decode(Info.self, from: Data(json.utf8)) else { return }
        isLive = info.is_live == true || ["is_live", "is_upcoming", "post_live"].contains(info.live_status)
        title = info.title.map { String($0.prefix(300)) }
    }

    /// Reads lines such as `reply: 'HTTP/1.1 429 …` and `header: Retry-After: 120`; with curl-cffi, `< HTTP/2 429`.
    private mutating func readTraffic(_ line: String) {
        if let reply = line.after("reply: 'HTTP/") ?? line.after("< HTTP/") {
            lastStatus = reply.split(separator: " ").dropFirst().first.flatMap { Int($0.prefix(3)) }
            return
        }
        guard let field = line.after("header: ") ?? line.after("< "), field.lowercased().hasPrefix("retry-after:")
        else {
            return
        }
        retryAfterSeconds = RetryAfter.seconds(String(field.dropFirst("retry-after:".count)))
    }
}

extension String {
    /// Returns what follows a prefix; `nil` if it isn't there.
    fileprivate func after(_ prefix: String) -> Substring? { hasPrefix(prefix) ? dropFirst(prefix.count) : nil }
}

/// yt-dlp's progress of one file.
private struct ProgressLine: Decodable {
    let downloaded_bytes: Double?
    let total_bytes: Double?
    let total_bytes_estimate: Double?
    let speed: Double?
    let eta: Double?

    static func parse(_ json: Substring) -> DownloadProgress? {
        guard let line = try? JSONDecoder().decode(ProgressLine.self, from: Data(json.utf8)) else { return nil }
        let bytes = line.downloaded_bytes ?? 0
        let total = line.total_bytes ?? line.total_bytes_estimate
        let percent = total.flatMap { $0 > 0 ? min(100, (bytes / $0 * 1000).rounded() / 10) : nil }
        return DownloadProgress(
            percent: percent, bytes: number(bytes) ?? 0, total: number(total), speed: number(line.speed),
            eta: number(line.eta).map { Int(clamping: $0) })
    }

    /// Values come from a tool and may be anything.
    private static func number(_ value: Double?) -> UInt64? {
        value.flatMap { $0.isFinite && $0 >= 0 && $0 < 1e18 ? UInt64($0) : nil }
    }
}

/// `Retry-After`. RFC 9110 §10.2.3.
package enum RetryAfter {
    /// A longer time is shortened to this.
    package static let secondsMax = 24 * 3600

    /// Returns the seconds from now; `nil` if the value isn't valid.
    static func seconds(_ value: String, now: Date = Date()) -> Int? {
        let value = value.trimmingCharacters(in: .whitespaces)
        if !value.isEmpty, value.allSatisfy({ $0.isASCII && $0.isNumber }) {
            return min(Int(value) ?? secondsMax, secondsMax)
        }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "UTC")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: value).map { max(0, min(Int($0.timeIntervalSince(now).rounded(.up)), secondsMax)) }
    }
}
