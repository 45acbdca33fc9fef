import Testing

@testable import WebArchive

/// What `surt.surt(url)` of the `surt` package 0.3.1 (PyPI, Python 3.11) returns for each URL.
private enum PythonKeys {
    static let session = "AAAAAAAAbbbbbbbbbbbbbbbbbbbbbbbb"
    static let table: [(url: String, key: String)] = [
        ("http://example.org", "org,example)/"),
        ("http://example.org/", "org,example)/"),
        ("http://example.org/?", "org,example)/"),
        ("http://example.org?", "org,example)/"),
        ("http://example.org/#top", "org,example)/"),
        ("http://example.org/a", "org,example)/a"),
        ("http://example.org/a/", "org,example)/a"),
        ("http://example.org/a//", "org,example)/a"),
        ("http://example.org/a//b", "org,example)/a/b"),
        ("http://example.org//a", "org,example)/a"),
        ("http://www.example.org/", "org,example)/"),
        ("http://www2.example.org/x", "org,example)/x"),
        ("http://www23.example.org/x", "org,example)/x"),
        ("http://wwwx.example.org/x", "org,example,wwwx)/x"),
        ("http://www.www.example.org/", "org,example,www)/"),
        ("http://WWW.Example.ORG/", "org,example)/"),
        ("http://www.", "www)/"),
        ("http://www/", "www)/"),
        ("http://m.example.org/", "org,example,m)/"),
        ("https://example.org/", "org,example)/"),
        ("https://example.org:443/", "org,example)/"),
        ("http://example.org:80/", "org,example)/"),
        ("https://example.org:80/", "org,example:80)/"),
        ("http://example.org:443/", "org,example:443)/"),
        ("http://example.org:8080/goo", "org,example:8080)/goo"),
        ("http://example.org:/x", "org,example)/x"),
        ("https://www.example.org:8443/A?B=C#d", "org,example:8443)/a?b=c"),
        ("HTTP://EXAMPLE.ORG/A/B.HTML", "org,example)/a/b.html"),
        ("http://example.org/A?B=C&a=D", "org,example)/a?a=d&b=c"),
        ("http://example.org/?b&a", "org,example)/?a&b"),
        ("http://example.org/?b=1&a=2&c", "org,example)/?a=2&b=1&c"),
        ("http://example.org/?a=2&b&a=1", "org,example)/?a=1&a=2&b"),
        ("http://example.org/?a-b=1&a=2", "org,example)/?a=2&a-b=1"),
        ("http://example.org/?a=&a&a=0", "org,example)/?a&a=&a=0"),
        ("http://example.org/?&a=1", "org,example)/?&a=1"),
        ("http://example.org/?a=1&", "org,example)/?&a=1"),
        ("http://example.org/?a=1&&b=2", "org,example)/?&a=1&b=2"),
        ("http://example.org/?a=b=c", "org,example)/?a=b=c"),
        ("http://example.org/??a=1", "org,example)/??a=1"),
        ("http://example.org/?z", "org,example)/?z"),
        ("http://example.org/a?", "org,example)/a"),
        ("http://example.org/a/?", "org,example)/a"),
        ("http://example.org/a/?b=1", "org,example)/a?b=1"),
        ("http://example.org/a?b/", "org,example)/a?b/"),
        ("http://example.org/x?url=http://other.example/?q=1", "org,example)/x?url=http://other.example/?q=1"),
        ("http://user:pw@example.org/x", "org,example)/x"),
        ("http://user@example.org/", "org,example)/"),
        ("http://u:p@www.example.org:8080/x?y", "org,example:8080)/x?y"),
        ("http://127.0.0.1/x", "1,0,0,127)/x"),
        ("http://127.0.0.1:8080/", "1,0,0,127:8080)/"),
        ("http://2130706433/", "1,0,0,127)/"),
        ("http://[::1]/", "::1)/"),
        ("http://[a]:90/x", "a:90)/x"),
        ("http://[oops/", "oops)/"),
        ("http://[oops/a?b=1", "oops)/a?b=1"),
        ("http://[oops]80/", "oops)/"),
        ("http://[oops]x/", "oops)/"),
        ("http://[oops:80/", "oops:80)/"),
        ("http://[oops:/", "oops)/"),
        ("http://[a]b]:8/", "a:8)/"),
        ("http://a[b/", "b)/"),
        ("http://x@[a/", "a)/"),
        ("http://[[a/", "[a)/"),
        ("http://[www.a.org/b", "org,a)/b"),
        ("http://example.org::/", "org,example)/"),
        ("http://www.example.org::/", "org,example)/"),
        ("http://www.example.org:8080:/", "org,example:8080)/"),
        ("http://www.example.org:08080/a", "org,example:8080)/a"),
        ("http://[::1]:8080/", "::1:8080)/"),
        ("http://example.org/caf%C3%A9", "org,example)/caf%c3%a9"),
        ("http://example.org/caf%c3%a9", "org,example)/caf%c3%a9"),
        ("http://example.org/café", "org,example)/caf%c3%a9"),
        ("http://example.org/?x=%C3%A9", "org,example)/?x=%c3%a9"),
        ("http://example.org/?x=é", "org,example)/?x=%c3%a9"),
        ("http://example.org/日本", "org,example)/%e6%97%a5%e6%9c%ac"),
        ("http://example.org/a%20b", "org,example)/a%20b"),
        ("http://example.org/a b", "org,example)/a%20b"),
        ("http://example.org/a+b", "org,example)/a+b"),
        ("http://example.org/%7Euser", "org,example)/~user"),
        ("http://example.org/%2561", "org,example)/a"),
        ("http://example.org/a%2Fb", "org,example)/a/b"),
        ("http://example.org/%E9", "org,example)/%e9"),
        ("http://example.org/100%", "org,example)/100%25"),
        ("http://example.org/%zz", "org,example)/%25zz"),
        ("http://example.org/a%23b", "org,example)/a%23b"),
        ("http://example.org/?q=a%26b", "org,example)/?b&q=a"),
        ("http://example.org/?q=%3D", "org,example)/?q=="),
        ("http://example.org/%3Fa", "org,example)/?a"),
        ("http://example.org/a%0Ab", "org,example)/a%0ab"),
        ("http://bücher.example/", "example,xn--bcher-kva)/"),
        ("http://BÜCHER.example/x", "example,xn--bcher-kva)/x"),
        ("http://xn--bcher-kva.example/", "example,xn--bcher-kva)/"),
        ("http://例え.jp/", "jp,xn--r8jz45g)/"),
        ("http://пример.испытание/", "xn--80akhbyknj4f,xn--e1afmkfd)/"),
        ("http://www.bücher.example/a/", "example,xn--bcher-kva)/a"),
        ("http://example.org/a/./b", "org,example)/a/b"),
        ("http://example.org/a/../b", "org,example)/b"),
        ("http://example.org/../a", "org,example)/../a"),
        ("http://example.org/a/b/..", "org,example)/a"),
        ("http://example.org/a/%2e%2e/b", "org,example)/b"),
        ("http://example.org./", "org,example)/"),
        ("http://.example.org/", "org,example)/"),
        ("http://example..org/", "org,example)/"),
        ("http://example.org/?jsessionid=\(session)", "org,example)/"),
        ("http://example.org/a?x=1&jsessionid=\(session)&y=2", "org,example)/a?x=1&y=2"),
        ("http://example.org/?PHPSESSID=\(session)&a=1", "org,example)/?a=1"),
        ("http://example.org/?sid=\(session)", "org,example)/"),
        ("http://example.org/?sid=short", "org,example)/?sid=short"),
        ("http://example.org/?ASPSESSIONIDAABBCCDD=aaaaaaaaaaaaaaaaaaaaaaaa&x=1", "org,example)/?x=1"),
        ("http://example.org/?cfid=1&cftoken=2&x=3", "org,example)/?x=3"),
        ("http://example.org/?cfid=cfid=1&cftoken=2", "org,example)/?cfid="),
        ("http://example.org/?cfid=&cftoken=2&x=1", "org,example)/?cfid=&cftoken=2&x=1"),
        ("http://example.org/?cfid=cfid=&cftoken=2", "org,example)/"),
        ("http://example.org/?a=1&cfid=1&cftoken=&x=3", "org,example)/?a=1&cfid=1&cftoken=&x=3"),
        ("http://example.org/?xcfid=1&CFTOKEN=2&cfid=3&cftoken=4&y=1", "org,example)/?cftoken=2&xcfid=1&y=1"),
        ("http://example.org/?cfid=1&cftoken=2&cfid=3&cftoken=", "org,example)/?cfid=3&cftoken="),
        ("http://example.org/(abcdefghij0123456789abcd)/.aspx", "org,example)/(abcdefghij0123456789abcd)/.aspx"),
        ("http://example.org/(abcdefghij0123456789abcd)/.aspx/y.aspx", "org,example)/.aspx/y.aspx"),
        ("http://example.org/(abcdefghij0123456789abcd)/a/b.aspx", "org,example)/a/b.aspx"),
        (
            "http://example.org/b.aspx/(abcdefghij0123456789abcd)/a",
            "org,example)/b.aspx/(abcdefghij0123456789abcd)/a"
        ),
        (
            "http://example.org/a;jsessionid=\(session)?b=1",
            "org,example)/a;jsessionid=aaaaaaaabbbbbbbbbbbbbbbbbbbbbbbb?b=1"
        ),
        ("http://example.org/(S(abcdefghij0123456789abcd))/page.aspx?x=1", "org,example)/page.aspx?x=1"),
        ("http://example.org/(abcdefghij0123456789abcd)/Page.aspx", "org,example)/page.aspx"),
        ("urn:text:http://x/", "urn:text:http://x"),
        ("urn:pageinfo:http://example.org/", "urn:pageinfo:http://example.org"),
        ("file:///screenshot.png", "file:/screenshot.png"),
        ("dns:example.org", "dns:example.org"),
        ("dns:www.example.org", "dns:www.example.org"),
        ("ftp://www.example.org/pub/", "org,example)/pub"),
        ("mailto:a@example.org", "mailto:a@example.org"),
        ("data:text/plain,A", "data:text/plain,a"),
        ("about:blank", "about:blank"),
        ("whois://whois.example/x", "example,whois)/x"),
        ("example.org/x", "org,example)/x"),
        ("http:///example.org/a", "org,example)/a"),
        ("http://http://example.org/", "org,example)/"),
        ("http://https/example.org", "https)/example.org"),
        ("http://example.org/post?__wb_method=POST&q=One&A=2", "org,example)/post?__wb_method=post&a=2&q=one"),
        (
            "http://example.org/post?z=1&__wb_method=POST&__wb_post_data=cGxhaW4=",
            "org,example)/post?__wb_method=post&__wb_post_data=cgxhaw4=&z=1"
        ),
        ("http://example.org/a\\b", "org,example)/a\\b"),
        ("http://example.org/{x}|y^`\"<>", "org,example)/{x}|y^`\"<>"),
        ("http://example.org/'", "org,example)/'"),
        ("http://example.org/?a='\"<>", "org,example)/?a='\"<>"),
        ("http://a_b.example.org/", "org,example,a_b)/"),
        ("http://example.org/~a/!$&'()*+,;=:@", "org,example)/~a/!$&'()*+,;=:@"),
        ("  http://example.org/x  ", "org,example)/x"),
        ("http://example.org/a\nb", "org,example)/ab"),
        ("http://example.org:8080", "org,example:8080)/"),
        ("http://example.org?x=1", "org,example)/?x=1"),
        ("http://example.org#x", "org,example)/"),
        ("http://ex%61mple.org/", "org,example)/"),
        ("http://example.org/İ", "org,example)/%c4%b0"),
    ]
}

struct SURTPythonTests {
    @Test(arguments: PythonKeys.table)
    func pythonKeyMatchesTheModule(_ url: String, _ key: String) {
        #expect(SURT.pythonKey(for: url) == key)
    }

    @Test(arguments: PythonKeys.table)
    func candidatesIncludeThePythonKey(_ url: String, _ key: String) {
        #expect(SURT.candidates(for: url).contains(key))
    }

    // Keys of `getSurt` in warcio.js, which follow the WHATWG URL standard.
    @Test(arguments: [
        ("http://example.org/caf\u{E9}", "org,example)/caf%C3%A9"), ("http://example.org/a/../b/", "org,example)/b/"),
        ("http://example.org/a/%2E%2E/b/.", "org,example)/b/"), ("http://example.org/a//b", "org,example)/a//b"),
        ("http://example.org/a b?c d", "org,example)/a%20b?c%20d"), ("http://example.org/%7Ea", "org,example)/%7ea"),
        ("http://b\u{FC}cher.example/", "example,xn--bcher-kva)/"), ("http://example.org/?b&a", "org,example)/?a&b"),
    ])
    func candidatesIncludeBrowserKeys(_ url: String, _ key: String) {
        #expect(SURT.candidates(for: url).contains(key))
    }

    @Test(arguments: [
        ("http://www.example.org/A", "org,example,www)/a"), ("http://example.org/A", "org,example)/A"),
        ("http://example.org/?b&a", "org,example)/?b&a"), ("http://127.0.0.1/", "127.0.0.1)/"),
        ("http://xn--bcher-kva.example/", "example,b\u{FC}cher)/"), ("http://example.org/A?b&A", "org,example)/A?b&A"),
    ])
    func candidatesIncludeKeysOfRareIndexers(_ url: String, _ key: String) {
        #expect(SURT.candidates(for: url).contains(key))
    }

    @Test func candidatesAreFew() {
        #expect(SURT.candidates(for: "https://example.org/a/b.html") == ["org,example)/a/b.html"])
        let worst =
            "http://user:x@www.xn--bcher-kva.example:81/A/./B%41/caf\u{E9}/?Z=1&a=%2d&sid=\(PythonKeys.session)"
        #expect(SURT.candidates(for: worst).count <= 40)
    }

    @Test func commonURLsHaveFewerCandidates() {
        #expect(SURT.candidates(for: "https://example.org/a?b=1").count == 1)
        #expect(SURT.candidates(for: "https://example.org/a?v=1&w=2").count == 1)
        #expect(SURT.candidates(for: "https://example.org/a?q=a,b&v=1").count <= 3)
    }

    /// Each case takes milliseconds in linear time, and minutes in quadratic time.
    @Test(arguments: ["a%20&", "&a", "www1", "www.", "=&", "/../", "\u{E9}", "%25", "?/"])
    func longURLsTakeLinearTime(_ repeated: String) {
        for start in ["http://a.example/", "http://a.example/?"] {
            let url = start + String(repeating: repeated, count: (1 << 15) / repeated.utf8.count)
            #expect((1...40).contains(SURT.candidates(for: url).count))
        }
    }

    // From RFC 3492 §7.1: Chinese, Czech, Japanese, Russian, Spanish.
    @Test(arguments: [
        ("\u{4ED6}\u{4EEC}\u{4E3A}\u{4EC0}\u{4E48}\u{4E0D}\u{8BF4}\u{4E2D}\u{6587}", "ihqwcrb4cv8a8dqg056pqjye"),
        ("pro\u{10D}prost\u{11B}nemluv\u{ED}\u{10D}esky", "proprostnemluvesky-uyb24dma41a"),
        (
            "\u{306A}\u{305C}\u{307F}\u{3093}\u{306A}\u{65E5}\u{672C}\u{8A9E}\u{3092}\u{8A71}\u{3057}\u{3066}\u{304F}\u{308C}\u{306A}\u{3044}\u{306E}\u{304B}",
            "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"
        ),
        ("porqu\u{E9}nopuedensimplementehablarenespa\u{F1}ol", "porqunopuedensimplementehablarenespaol-fmd56a"),
    ])
    func convertsBetweenUnicodeAndPunycode(_ letters: String, _ code: String) {
        #expect(Punycode.asciiHost("\(letters).example") == "xn--\(code).example")
        #expect(Punycode.unicodeHost("xn--\(code).example") == "\(letters).example")
        #expect(SURT.matches("http://\(letters).example/", "https://xn--\(code).example/"))
    }

    @Test(arguments: [
        "xn--", "xn--\u{7F}", "xn--999999999999", "xn--a-zzzzzzzzzzzzzz", "xn--\(String(repeating: "9", count: 5000))",
    ])
    func invalidPunycodeStaysUnchanged(_ host: String) {
        #expect(Punycode.unicodeHost(host) == nil || Punycode.unicodeHost(host) == "")
        #expect(Punycode.asciiHost(host) == host)
    }

    /// `FuzzReaderTests` (`surt`) tests the memory use.
    @Test func oddURLsNeverCrash() {
        var generator = SeededGenerator(state: 3)
        let pieces = [
            "http://", "https:", "//", "/", "?", "&", "=", "#", "%", "%2", "%25", "@", ":", "[", "]", ".", "..", "www.",
            "\u{E9}", "(", ")", "sid=", "1", "a", "\\", " ", "\n",
        ]
        for _ in 0..<1000 {
            let url = (0..<Int.random(in: 0...12, using: &generator))
                .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let keys = SURT.candidates(for: url)
            #expect(keys.contains(SURT.key(for: url)))
            #expect(SURT.matches(url, url))
            _ = CaptureMatcher(url: url).ranges(includesMethods: true, includesPlainKeys: true)
            _ = CaptureQuery(url: url, matchType: .domain).ranges
        }
    }
}
