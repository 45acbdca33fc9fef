import Testing
import WebArchive

struct MediaClassTests {
    /// Types from the IANA registry and RFC 9239 (JavaScript), and older ones that servers still send.
    @Test(arguments: [
        ("text/html", MediaClass.html), ("TEXT/HTML; charset=utf-8", .html), (" text/html ;x", .html),
        ("application/xhtml+xml", .html), ("application/pdf", .pdf), ("image/png", .image), ("image/svg+xml", .image),
        ("audio/mpeg", .audio), ("application/ogg", .audio), ("video/mp4", .video), ("application/dash+xml", .video),
        ("application/vnd.apple.mpegurl", .video), ("font/woff2", .font), ("application/font-woff", .font),
        ("application/x-font-ttf", .font), ("application/vnd.ms-fontobject", .font), ("text/javascript", .script),
        ("application/javascript", .script), ("application/x-javascript", .script), ("text/css", .style),
        ("application/json", .json), ("application/ld+json", .json), ("text/json", .json),
        ("model/gltf+json", .json), ("text/plain", .text), ("text/xml", .text), ("application/rss+xml", .text),
        ("application/xml", .text), ("application/octet-stream", .other), ("warc/revisit", .other),
        ("application/zip", .other), ("html", .other), ("", .other), ("/", .other), ("unk", .other),
    ])
    func classOfMediaType(_ mime: String, _ expected: MediaClass) {
        #expect(MediaClass(mime: mime) == expected)
    }

    @Test func captureWithoutMediaTypeIsOther() {
        #expect(MediaClass(mime: nil) == .other)
    }

    /// The names are those of the API.
    @Test func namesAreStable() {
        #expect(
            MediaClass.allCases.map(\.rawValue) == [
                "html", "pdf", "image", "audio", "video", "font", "script", "style", "json", "text", "other",
            ])
    }
}
