/// The kind of a download, which names its folder. The list is closed.
public enum Genre: String, Sendable, Hashable, Codable, CaseIterable {
    case tiktok, instagram, youtube, pdf, ebook, unknown

    /// Returns the genre of a URL's host or path; `unknown` if it has to be found out.
    public init(of url: WebURL) {
        let path = url.path.lowercased()
        if let genre = Self.sites.first(where: { $0.hosts.contains(where: url.isAt) })?.genre {
            self = genre
        } else if let genre = Self.documents.first(where: { path.hasSuffix($0.ending) })?.genre {
            self = genre
        } else {
            self = .unknown
        }
    }

    /// Returns the genre of a media type, as in `Content-Type`; `nil` if it isn't one of a document.
    public init?(mediaType: String) {
        guard let genre = Self.mediaTypes[mediaType] else { return nil }
        self = genre
    }

    /// Returns the genre of the name of a yt-dlp extractor: `TikTok`, `youtube:tab`.
    public init?(extractor: String) {
        let name = extractor.lowercased()
        guard let genre = [Genre.tiktok, .instagram, .youtube].first(where: { name.hasPrefix($0.rawValue) }) else {
            return nil
        }
        self = genre
    }

    /// Whether downloads of this genre are documents, which are fetched as they are.
    public var isDocument: Bool { self == .pdf || self == .ebook }

    /// The endings of documents' names.
    public static var endings: Set<String> { Set(documents.map { String($0.ending.dropFirst()) }) }

    private static let sites: [(genre: Genre, hosts: [String])] = [
        (.tiktok, ["tiktok.com"]), (.instagram, ["instagram.com"]),
        (.youtube, ["youtube.com", "youtu.be", "youtube-nocookie.com"]),
    ]
    private static let documents: [(ending: String, genre: Genre)] = [
        (".pdf", .pdf), (".epub", .ebook), (".mobi", .ebook), (".azw", .ebook), (".azw3", .ebook),
    ]
    private static let mediaTypes: [String: Genre] = [
        "application/pdf": .pdf, "application/x-pdf": .pdf, "application/epub+zip": .ebook,
        "application/x-mobipocket-ebook": .ebook, "application/vnd.amazon.ebook": .ebook,
        "application/vnd.amazon.mobi8-ebook": .ebook,
    ]
}

/// A finer name of a site than the genre, for icons and filters: `x`, `vimeo`, else the host.
public enum Service {
    /// Returns the service of a URL.
    public static func name(of url: WebURL) -> String {
        if let known = known.first(where: { $0.hosts.contains(where: url.isAt) }) { return known.name }
        return url.host.hasPrefix("www.") ? String(url.host.dropFirst(4)) : url.host
    }

    private static let known: [(name: String, hosts: [String])] = [
        ("tiktok", ["tiktok.com"]), ("instagram", ["instagram.com"]),
        ("youtube", ["youtube.com", "youtu.be", "youtube-nocookie.com"]), ("x", ["x.com", "twitter.com"]),
        ("vimeo", ["vimeo.com"]), ("facebook", ["facebook.com", "fb.watch"]), ("reddit", ["reddit.com", "redd.it"]),
        ("twitch", ["twitch.tv"]), ("dailymotion", ["dailymotion.com", "dai.ly"]), ("soundcloud", ["soundcloud.com"]),
        ("bilibili", ["bilibili.com"]), ("niconico", ["nicovideo.jp", "nico.ms"]),
    ]
}
