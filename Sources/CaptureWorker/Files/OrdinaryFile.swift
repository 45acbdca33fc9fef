import CaptureAPI
import Foundation

/// A file without a genre of its own: an image, a recording, a text, an archive, an office document and so on.
enum OrdinaryFile {
    /// Types that browsers show as pages.
    static let pageTypes = ["text/html", "application/xhtml+xml"]
    /// Types of streams without an end, and of playlists, whose parts yt-dlp fetches.
    private static let streams: Set<String> = [
        "text/event-stream", "application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl",
        "audio/x-mpegurl", "application/dash+xml", "application/smil+xml", "application/vnd.ms-sstr+xml",
    ]
    /// Types that say nothing.
    private static let general: Set<String> = [
        "application/octet-stream", "binary/octet-stream", "application/force-download", "application/x-download",
    ]
    private static let mediaEndings: Set<String> = [
        "mp4", "m4v", "mkv", "webm", "mov", "avi", "flv", "wmv", "mpg", "mpeg", "ts", "m2ts", "3gp", "ogv", "m3u8",
        "mpd",
    ]

    /// Whether a response is one: neither a page nor a video, and nothing that options ask to convert.
    static func isOne(_ head: ResponseHead, at url: WebURL, _ options: DownloadOptions) -> Bool {
        let type = head.mediaType
        if type.isEmpty || pageTypes.contains(type) || streams.contains(type) { return false }
        if ["video/", "multipart/"].contains(where: type.hasPrefix) { return false }
        if type.hasPrefix("audio/") {
            return options.form == nil && options.container == nil && options.audioQuality == nil
        }
        return !general.contains(type) || !mediaEndings.contains((url.path as NSString).pathExtension.lowercased())
    }

    /// Returns the ending of a file's name: that of the name if it fits the type, else the usual one of the type.
    static func ending(of name: String, type: String) -> String {
        let own = (name as NSString).pathExtension.lowercased()
        let isPlain = (1...8).contains(own.utf8.count) && own.utf8.allSatisfy { isLetterOrDigit($0) }
        if let known = endings[type] { return known.contains(own) ? own : known[0] }
        // Any text has its own: notes.md, main.c.
        if type.hasPrefix("text/") { return isPlain && !["htm", "html", "xhtml"].contains(own) ? own : "txt" }
        return isPlain ? own : "bin"
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// The endings of types; the first is the usual one. Source: the media types of IANA, and mime.types of Apache.
    private static let endings: [String: [String]] = [
        "image/jpeg": ["jpg", "jpeg", "jpe"], "image/png": ["png"], "image/gif": ["gif"], "image/webp": ["webp"],
        "image/avif": ["avif"], "image/svg+xml": ["svg"], "image/bmp": ["bmp"], "image/tiff": ["tif", "tiff"],
        "image/heic": ["heic"], "image/jxl": ["jxl"], "image/x-icon": ["ico"], "image/vnd.microsoft.icon": ["ico"],
        "audio/mpeg": ["mp3", "mp2", "mpga"], "audio/mp4": ["m4a", "mp4"], "audio/aac": ["aac"],
        "audio/ogg": ["ogg", "oga", "opus"], "audio/opus": ["opus"], "audio/flac": ["flac"], "audio/x-flac": ["flac"],
        "audio/wav": ["wav"], "audio/x-wav": ["wav"], "audio/vnd.wave": ["wav"], "audio/webm": ["weba", "webm"],
        "audio/midi": ["mid", "midi"], "text/csv": ["csv"], "application/json": ["json", "geojson", "map"],
        "application/zip": ["zip"], "application/x-zip-compressed": ["zip"], "application/gzip": ["gz", "tgz"],
        "application/x-tar": ["tar"], "application/x-7z-compressed": ["7z"], "application/vnd.rar": ["rar"],
        "application/rtf": ["rtf"], "application/msword": ["doc", "dot"],
        "application/vnd.ms-excel": ["xls", "xlt"], "application/vnd.ms-powerpoint": ["ppt", "pps", "pot"],
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ["docx"],
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ["xlsx"],
        "application/vnd.openxmlformats-officedocument.presentationml.presentation": ["pptx"],
        "application/vnd.oasis.opendocument.text": ["odt"],
        "application/vnd.oasis.opendocument.spreadsheet": ["ods"],
        "application/vnd.oasis.opendocument.presentation": ["odp"],
    ]
}
