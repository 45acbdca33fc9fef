import CaptureAPI
import Foundation
import WebArchive

/// The page that plays a saved medium: HTML without scripts, and the text by which search finds it.
struct ViewerPage {
    /// Subtitles in WebVTT.
    struct Track {
        let language: String
        let path: String
        /// The name of the record.
        let name: String
    }

    static let posterName = "poster.jpg"

    let mediaName: String
    let mediaType: String
    let tracks: [Track]
    private let files: MediaAttempt.Files
    private let url: String
    private let time: CaptureTimestamp

    private static let tracksMax = 100
    private static let textBytesMax = 5 << 20

    init(files: MediaAttempt.Files, url: String, time: CaptureTimestamp) {
        (self.files, self.url, self.time) = (files, url, time)
        let ending = (files.media as NSString).pathExtension.lowercased()
        mediaName = "media.\(ending)"
        mediaType = MediaType.of(ending, isVideo: files.probe.hasVideo)
        tracks = files.subtitles.prefix(Self.tracksMax).map { language, path in
            let safe = language.unicodeScalars.filter {
                $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "-")
            }
            let name = String(String.UnicodeScalarView(safe.prefix(30)))
            return Track(language: name, path: path, name: "subtitles.\(name.isEmpty ? "und" : name).vtt")
        }.reduce(into: []) { unique, track in
            if !unique.contains(where: { $0.name == track.name }) { unique.append(track) }
        }
    }

    var html: [UInt8] {
        let info = files.info
        let player =
            files.probe.hasVideo
            ? "<video controls preload=\"metadata\" src=\"\(mediaName)\"\(poster)>\(trackElements)</video>"
            : (files.poster == nil ? "" : "<img src=\"\(Self.posterName)\" alt=\"\">")
                + "<audio controls preload=\"metadata\" src=\"\(mediaName)\"></audio>"
        let page = """
            <!doctype html>
            <html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark"><title>\(Self.escaped(info.title))</title>
            <style>body{margin:0 auto;max-width:64rem;padding:1rem;font:1rem/1.5 system-ui,sans-serif}video,img{display:block;width:100%;max-height:80vh;background:#000;object-fit:contain}audio{width:100%;margin-top:1rem}h1{font-size:1.3rem;line-height:1.3;margin:1rem 0 .25rem;overflow-wrap:anywhere}p{margin:.25rem 0 1rem;overflow-wrap:anywhere}.quiet{opacity:.75}</style>
            </head><body>
            \(player)
            <h1>\(Self.escaped(info.title))</h1>
            <p class="quiet">\(Self.escaped(info.uploader.map { "\($0) · " } ?? ""))Saved from \(Self.escaped(url)) on \(time.rfc3339.prefix(10))</p>
            <p>\(Self.lines(info.description ?? ""))</p>
            </body></html>

            """
        return Array(page.utf8)
    }

    /// The text of the page for search: title, uploader, description, the shared URL, and subtitles.
    var text: String {
        let info = files.info
        let parts =
            [info.title, info.uploader, url, info.description].compactMap { $0 } + tracks.map { Self.text(of: $0.path) }
        return String(decoding: parts.joined(separator: "\n").utf8.prefix(Self.textBytesMax), as: UTF8.self)
    }

    private var poster: String { files.poster == nil ? "" : " poster=\"\(Self.posterName)\"" }

    private var trackElements: String {
        tracks.map { track in
            "<track kind=\"subtitles\" src=\"\(track.name)\" srclang=\"\(track.language)\" label=\"\(track.language)\">"
        }.joined()
    }

    /// Returns the spoken lines of a WebVTT file, without repetitions.
    private static func text(of path: String) -> String {
        guard let data = FileManager.default.contents(atPath: path) else { return "" }
        var lines: [String] = []
        let blocks = String(decoding: data.prefix(textBytesMax), as: UTF8.self)
            .replacingOccurrences(of: "\r\n", with: "\n").components(separatedBy: "\n\n")
        for block in blocks {
            let parts = block.split(separator: "\n")
            guard let timing = parts.firstIndex(where: { $0.contains("-->") }) else { continue }
            for line in parts[(timing + 1)...] {
                let plain = line.replacingOccurrences(of: "<[^>]*>", with: "", options: .regularExpression)
                if lines.last != plain { lines.append(plain) }
            }
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the lines of a text as HTML.
    static func lines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { escaped(String($0)) }.joined(
            separator: "<br>")
    }

    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\u{0}"..."\u{8}", "\u{B}"..."\u{1F}", "\u{7F}": escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// The media types of files.
enum MediaType {
    static func of(_ ending: String, isVideo: Bool = false) -> String {
        switch ending {
        case "mp4", "m4v": isVideo ? "video/mp4" : "audio/mp4"
        case "webm": isVideo ? "video/webm" : "audio/webm"
        case "mkv": "video/x-matroska"
        case "mov": "video/quicktime"
        case "m4a", "aac": "audio/mp4"
        case "mp3": "audio/mpeg"
        case "wav": "audio/wav"
        case "flac": "audio/flac"
        case "opus", "ogg", "oga": "audio/ogg"
        case "pdf": "application/pdf"
        case "epub": "application/epub+zip"
        case "mobi": "application/x-mobipocket-ebook"
        case "zip": "application/zip"
        case "jpg", "jpeg": "image/jpeg"
        case "png", "gif", "webp", "avif", "heic", "bmp", "jxl": "image/\(ending)"
        default: "application/octet-stream"
        }
    }
}
