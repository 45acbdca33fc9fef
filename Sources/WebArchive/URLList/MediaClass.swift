/// A class of media types, by which people filter captures.
///
/// Raw values are stable: they're the values of `type` in the API.
public enum MediaClass: String, Sendable, Hashable, Codable, CaseIterable {
    case html, pdf, image, audio, video, font, script, style, json, text
    /// Everything else, including captures without a media type.
    case other

    /// Creates the class of a media type.
    ///
    /// - Parameter mime: A media type as in an index entry or a `Content-Type` field: in any case, with or without
    ///   parameters.
    public init(mime: String?) {
        let mime = mime ?? ""
        // Most media types are written like this already.
        let isPlain = mime.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: ";") && !(0x41...0x5A).contains($0) }
        let essence = isPlain ? mime[...] : Self.trimmed(mime.prefix { $0 != ";" }.lowercased())
        guard let slash = essence.utf8.firstIndex(of: UInt8(ascii: "/")) else {
            self = .other
            return
        }
        let (type, subtype) = (essence[..<slash], essence[essence.utf8.index(after: slash)...])
        switch type {
        case "image": self = .image
        case "audio": self = .audio
        case "video": self = .video
        case "font": self = .font
        case "text": self = Self.ofText(subtype)
        case "application": self = Self.ofApplication(subtype)
        default: self = Self.ofSuffix(subtype)
        }
    }

    private static func ofText(_ subtype: Substring) -> MediaClass {
        switch subtype {
        case "html": .html
        case "css": .style
        case "json", "x-json": .json
        case "javascript", "x-javascript", "ecmascript", "jscript", "livescript": .script
        default: subtype.hasSuffix("+json") ? .json : .text
        }
    }

    private static func ofApplication(_ subtype: Substring) -> MediaClass {
        switch subtype {
        case "xhtml+xml": .html
        case "pdf", "x-pdf": .pdf
        case "javascript", "x-javascript", "ecmascript", "x-ecmascript": .script
        case "json", "x-json", "x-ndjson", "ndjson", "jsonl": .json
        case "xml": .text
        case "ogg": .audio
        case "mp4", "vnd.apple.mpegurl", "x-mpegurl", "dash+xml": .video
        case "vnd.ms-fontobject": .font
        default: subtype.hasPrefix("font-") || subtype.hasPrefix("x-font-") ? .font : ofSuffix(subtype)
        }
    }

    private static func ofSuffix(_ subtype: Substring) -> MediaClass {
        subtype.hasSuffix("+json") ? .json : subtype.hasSuffix("+xml") ? .text : .other
    }

    private static func trimmed(_ text: String) -> Substring {
        var trimmed = text.drop { $0.isWhitespace }
        while trimmed.last?.isWhitespace == true { trimmed.removeLast() }
        return trimmed
    }
}
