import Testing

@testable import CaptureAPI

struct WebURLTests {
    @Test(arguments: [
        ("https://example.org/film", "example.org"), ("HTTP://Example.ORG:8080/a", "example.org"),
        ("https://a.b.example.org./x", "a.b.example.org."), ("http://127.0.0.1:8777/v.mp4", "127.0.0.1"),
        ("http://[::1]:80/v.mp4", "[::1]"), ("https://müller.example/a", "müller.example"),
        ("https://example.org/?titles=A|B^{C}", "example.org"), ("https://example.org#x", "example.org"),
    ])
    func hostIsParsed(_ text: String, _ host: String) throws {
        let url = try #require(WebURL(text))
        #expect(url.host == host)
        #expect(url.text == text)
    }

    @Test(arguments: [
        "", "http://a", "https://", "file:///etc/passwd", "ytsearch:cats and dogs", "ftp://example.org/a",
        "javascript:alert(1)",
        "https://user@example.org/", "https://user:pw@example.org/", "https://example.org\u{0}/a",
        "https://exa mple.org/",
        "https://example.org/a b", "https://example.org/\n", "https://example.org:0/a", "https://example.org:99999/a",
        "https://example.org:x/a", "https://.example.org/a", "https://a..example.org/", "https://-a.example.org/",
        "https://[::1/a", "https://[example]/abc", "https://example.org\\@evil.example/", "//example.org/abc",
        "https://example.org/\u{202E}gnp", "https:/example.org/a", " https://example.org/a",
    ])
    func otherTextIsNoURL(_ text: String) { #expect(WebURL(text) == nil) }

    @Test func lengthIsLimited() {
        let start = "http://a.b"
        #expect(start.count == 10)
        #expect(WebURL(start) != nil)
        #expect(WebURL("http://a.") == nil)
        let longest = start + "/" + String(repeating: "x", count: 2048 - 11)
        #expect(WebURL(longest) != nil)
        #expect(WebURL(longest + "x") == nil)
    }

    /// A published client matched by suffix, so that eviltiktok.com was TikTok.
    @Test(arguments: [
        ("https://tiktok.com/@u/video/1", Genre.tiktok), ("https://vm.tiktok.com/abc", .tiktok),
        ("https://eviltiktok.com/@u/video/1", .unknown), ("https://tiktok.com.evil.example/", .unknown),
        ("https://evil.example/tiktok.com", .unknown), ("https://www.instagram.com/reel/x", .instagram),
        ("https://youtu.be/abcdefg", .youtube), ("https://m.youtube.com/watch?v=x", .youtube),
        ("https://www.youtube-nocookie.com/embed/x", .youtube), ("https://notyoutu.be/abcdefg", .unknown),
        ("https://example.org/a.PDF", .pdf), ("https://example.org/a.pdf?x=1#y", .pdf),
        ("https://example.org/?f=a.pdf", .unknown),
        ("https://example.org/b.epub", .ebook), ("https://example.org/b.mobi", .ebook),
        ("https://example.org/b.azw3", .ebook),
        ("https://example.org/b.azw", .ebook), ("https://example.org/film.mp4", .unknown),
    ])
    func genreGoesByHostThenPath(_ text: String, _ genre: Genre) throws {
        #expect(Genre(of: try #require(WebURL(text))) == genre)
    }

    @Test(arguments: [
        ("https://twitter.com/a/status/1", "x"), ("https://x.com/a/status/1", "x"),
        ("https://ax.com/a/status", "ax.com"),
        ("https://www.example.org/", "example.org"), ("https://player.vimeo.com/1", "vimeo"),
    ])
    func serviceIsASiteOrAHost(_ text: String, _ service: String) throws {
        #expect(Service.name(of: try #require(WebURL(text))) == service)
    }
}

struct UsernameTests {
    @Test(arguments: [
        ("John", "john"), ("a", "a"), ("User1", "user1"),
        (String(repeating: "a", count: 100), String(repeating: "a", count: 100)),
    ])
    func lettersAndDigitsAreLowerCased(_ text: String, _ name: String) { #expect(Username(text)?.text == name) }

    @Test(arguments: ["", "a b", "../x", "a/b", "é", "a\u{0}", "a-b", "a.b", "１", String(repeating: "a", count: 101)])
    func othersAreRefused(_ text: String) { #expect(Username(text) == nil) }
}
