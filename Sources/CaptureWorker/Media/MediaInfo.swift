import ArchiveStore
import CaptureAPI
import Foundation

/// What yt-dlp says about a medium, without URLs of servers, header fields and cookies.
struct MediaInfo {
    let id: String
    let title: String
    let uploader: String?
    let description: String?
    /// Such as `TikTok`.
    let extractor: String?
    /// In seconds.
    let duration: Double?
    let width: Int?
    let height: Int?
    /// The cleaned info as JSON.
    let json: [UInt8]

    private static let bytesMax = 64 << 20
    private static let textBytesMax = 64 << 10

    /// The keys that are kept. Everything else may hold signed URLs.
    private static let texts = [
        "id", "title", "fulltitle", "description", "uploader", "uploader_id", "channel", "channel_id", "creator",
        "artist", "album", "track", "upload_date", "release_date", "extractor", "extractor_key", "ext", "vcodec",
        "acodec", "language", "license", "location", "availability", "format_note", "webpage_url_domain",
    ]
    private static let numbers = [
        "timestamp", "duration", "width", "height", "fps", "view_count", "like_count", "comment_count", "age_limit",
        "release_timestamp", "asr", "abr", "vbr", "tbr", "filesize",
    ]
    private static let lists = ["tags", "categories"]

    /// Reads the `info.json` that yt-dlp wrote.
    ///
    /// - Throws: `ToolFailure` if it's missing or isn't JSON.
    init(path: String, redaction: Redaction) throws {
        guard let file = try? Descriptor(path: path, flags: O_RDONLY),
            let size = try? file.size(), size <= Self.bytesMax,
            let bytes = try? file.bytes(at: 0, upTo: Int(size)),
            let info = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        else { throw ToolFailure(.damaged, "yt-dlp left no readable description of the medium") }
        func text(_ key: String) -> String? {
            guard let text = info[key] as? String, !text.isEmpty else { return nil }
            return String(decoding: text.utf8.prefix(Self.textBytesMax), as: UTF8.self)
        }
        id = text("id") ?? ""
        title = text("title") ?? text("fulltitle") ?? text("id") ?? "Untitled"
        uploader = text("uploader") ?? text("channel") ?? text("creator") ?? text("artist")
        description = text("description")
        extractor = text("extractor_key") ?? text("extractor")
        duration = (info["duration"] as? NSNumber)?.doubleValue
        width = (info["width"] as? NSNumber)?.intValue
        height = (info["height"] as? NSNumber)?.intValue
        var kept: [String: Any] = [:]
        for key in Self.texts { kept[key] = text(key).map(redaction.redacted) }
        for key in Self.numbers { kept[key] = info[key] as? NSNumber }
        for key in Self.lists {
            kept[key] = (info[key] as? [Any])?.compactMap { $0 as? String }.prefix(200).map { String($0.prefix(200)) }
        }
        json = Array(try JSONSerialization.data(withJSONObject: kept, options: [.sortedKeys, .prettyPrinted]))
    }
}

/// What ffprobe finds in a media file.
package struct MediaProbe {
    let hasVideo: Bool
    let duration: Double?
    let width: Int?
    let height: Int?
    /// Of the audio, in hertz.
    let sampleRate: Int?

    /// ffmpeg's names of the formats that are saved. A playlist that is called `media.mp4` could name other files.
    private static let formats = "mov,matroska,mp3,ogg,wav,w64,flac,aac,mpegts,mpeg,flv,avi,asf,amr,aiff,caf"

    static func arguments(_ path: String) -> [String] {
        [
            "-v", "error", "-format_whitelist", formats, "-of", "json", "-show_entries",
            "format=duration:stream=codec_type,width,height,sample_rate:stream_disposition=attached_pic", "-i", path,
        ]
    }

    /// Reads ffprobe's output.
    ///
    /// - Throws: `ToolFailure` if the file has neither video nor audio.
    package init(json: String) throws {
        struct Report: Decodable {
            struct Stream: Decodable {
                struct Disposition: Decodable {
                    let attached_pic: Int?
                }
                let codec_type: String?
                let width: Int?
                let height: Int?
                let sample_rate: String?
                let disposition: Disposition?
            }
            struct Format: Decodable {
                let duration: String?
            }
            let streams: [Stream]?
            let format: Format?
        }
        let report = try? JSONDecoder().decode(Report.self, from: Data(json.utf8))
        // A cover isn't video.
        let streams = (report?.streams ?? []).filter { $0.disposition?.attached_pic != 1 }
        let video = streams.first { $0.codec_type == "video" }
        guard video != nil || streams.contains(where: { $0.codec_type == "audio" }) else {
            throw ToolFailure(.damaged, "the file has neither video nor audio that can be read")
        }
        hasVideo = video != nil
        duration = report?.format?.duration.flatMap(Double.init)
        (width, height) = (video?.width, video?.height)
        sampleRate = streams.first { $0.codec_type == "audio" }?.sample_rate.flatMap { Int($0) }
    }
}
