import Testing

@testable import WebArchive

@Suite(.enabled(if: Libraries.haveRE2, "the rules are regular expressions")) struct FuzzyTests {
    @Test func rulesAreValid() throws {
        #expect(try FuzzyRules(json: PackageResources.fuzzy_rules_json).rules.count >= 10)
    }

    /// URLs that the rules of wabac.js 2.27.2 and pywb 2.10.0 treat as equivalent.
    @Test(arguments: [
        ("https://a.example/x.js?v=1", "https://a.example/x.js?v=2", true),
        ("https://a.example/x.css?123456", "https://a.example/x.css?987", true),
        ("https://a.example/x?_=1600000000000&q=1", "https://a.example/x?q=1&_=1700000000000", true),
        ("https://a.example/x?_=1600000000000&q=1", "https://a.example/x?q=2&_=1600000000000", false),
        ("https://a.example/x?utm_source=a&q=1", "https://a.example/x?q=1", true),
        ("https://a.example/x?callback=jsonp123&q=1", "https://a.example/x?callback=jsonp9&q=1", true),
        ("https://a.example/x?f=jQuery1_2", "https://a.example/x?f=jQuery3_4", true),
        (
            "https://r1---sn-a.googlevideo.com/videoplayback?id=7&itag=22&sig=x",
            "https://r5---sn-b.googlevideo.com/videoplayback?sig=y&itag=22&id=7", true
        ),
        ("https://www.youtube.com/embed/abc?autoplay=1", "https://www.youtube.com/embed/abc", true),
        (
            "https://vod-progressive.akamaized.net/exp=1~hmac=2/vimeo/01/2/3.mp4",
            "https://gcs-vimeo.akamaized.net/exp=9/other/01/2/3.mp4", true
        ),
        (
            "https://static.wixstatic.com/media/a.png/v1/fill/w_300,h_200/a.png",
            "https://static.wixstatic.com/media/a.png/v1/fill/w_600,h_400/a.png", true
        ),
        (
            "https://static.wixstatic.com/media/a.png/v1/fill/w_300,h_200/a.png",
            "https://static.wixstatic.com/media/b.png/v1/fill/w_300,h_200/a.png", false
        ),
        (
            "https://pbs.twimg.com/profile_images/1/AbC_normal.jpg",
            "https://pbs.twimg.com/profile_images/1/AbC_bigger.jpg", true
        ),
        (
            "https://pbs.twimg.com/profile_images/1/AbC_normal.jpg",
            "https://pbs.twimg.com/profile_images/2/AbC_normal.jpg", false
        ),
        (
            "https://www.facebook.com/ajax/pagelet/generic.php/photoviewerinitpagelet?data=%7B%22fbid%22%3A%2212%22%7D&__a=1",
            "https://www.facebook.com/ajax/pagelet/generic.php/photoviewerinitpagelet?data=%7B%22fbid%22%3A%2213%22%7D&__a=1",
            false
        ),
    ])
    func rulesRecognizeEquivalentURLs(_ url: String, _ other: String, _ isSame: Bool) throws {
        let match = try #require(FuzzyMatch(url, rules: .standard))
        #expect(((match.score(other)?.similarity ?? 0) >= 1) == isSame)
    }

    @Test func otherArgumentsAreComparedBySimilarity() throws {
        let match = try #require(FuzzyMatch("https://a.example/list?page=3&sort=up", rules: .standard))
        let scores = ["page=3&sort=down", "page=4&sort=up", "page=900&sort=up", "page=9&sort=down", "other=1"].map {
            match.score("https://a.example/list?\($0)")?.similarity ?? -1
        }
        #expect(scores[1] > scores[2] && scores[2] > scores[3] && scores[3] > scores[4])
        #expect(scores[0] > scores[3])
    }

    /// As in wabac.js, prefers a stream of the same quality to others of the same video.
    @Test func earlierArgumentListsScoreHigher() throws {
        let match = try #require(
            FuzzyMatch("https://r1.googlevideo.com/videoplayback?id=7&itag=22&a=1&b=2", rules: .standard))
        let scores = try ["id=7&itag=22", "id=7&itag=18&a=1&b=2"].map {
            try #require(match.score("https://r2.googlevideo.com/videoplayback?\($0)")).similarity
        }
        #expect(scores[0] > scores[1])
        #expect(match.score("https://r2.googlevideo.com/videoplayback?id=8&itag=22&a=1&b=2") == nil)
    }

    /// wabac.js compares them as sets for Facebook's calls.
    @Test(arguments: ["[", "%5B"])
    func listItemsAreComparedInAnyOrder(_ opening: String) throws {
        let closing = opening == "[" ? "]" : "%5D"
        func url(_ modules: [String]) -> String {
            let items = modules.enumerated().map { "m\(opening)\($0)\(closing)=/\($1)" }
            return "https://www.facebook.com/ajax/load?\(items.joined(separator: "&"))"
        }
        let match = try #require(FuzzyMatch(url(["a", "b", "c"]), rules: .standard))
        let scores = try [["x", "a", "b", "c"], ["x", "a", "y", "z"]].map {
            try #require(match.score(url($0))).similarity
        }
        #expect(scores[0] > scores[1])
    }

    private static func line(_ host: String, _ number: Int) -> String {
        let number = 100_000 + number
        return IndexBuilder.line(
            "org,\(host))/x?n=\(number)", "20230101000000", url: "http://\(host).org/x?n=\(number)", offset: number)
    }

    private static func find(
        _ url: String, _ wacz: WACZFile, _ check: CancellationCheck = CancellationCheck()
    ) throws -> CDXJEntry? {
        let match = try #require(FuzzyMatch(url, rules: .standard))
        var choice = FuzzyChoice(match, at: nil)
        _ = try wacz.choose(&choice, check)
        return choice.capture
    }

    @Test func damagedIndexIsReadCompletely() throws {
        let lines = (0..<60).map { Self.line("a", $0) }
        var (idx, blocks) = IndexBuilder.zipNum(lines, blockLines: 20)
        blocks[blocks.count * 2 / 3 + 10] ^= 0xFF
        let wacz = try IndexBuilder.open([.init("indexes/index.cdx.gz", blocks), .init("indexes/index.idx", idx)])
            .assumingSorted()
        #expect(try wacz.indexAccess() == .search)
        #expect(try Self.find("http://a.org/x?n=100007&more", wacz)?.url == "http://a.org/x?n=100007")
        #expect(try wacz.indexAccess() != .search)
    }

    @Test func onlyCandidatesCountTowardsTheLimit() throws {
        var limits = Limits.standard
        limits.fuzzyCandidateBytesMax = 400
        let lines = (0..<60).map { Self.line("a", $0) } + (0..<6).map { Self.line("b", $0) }
        for (name, entries) in IndexBuilder.layouts(lines) {
            let wacz = try IndexBuilder.open(entries, limits: limits)
            let found = try Self.find("http://b.org/x?n=100002&more", wacz)
            #expect(found?.url == "http://b.org/x?n=100002", Comment(rawValue: name))
        }
    }

    @Test func cancelsWhileSkippingOtherLines() throws {
        let lines = (0..<3000).map { Self.line("a", $0) }
        let text = ZIPBuilder.Entry("indexes/index.cdx", lines.joined(separator: "\n")).with { $0.isDeflated = true }
        var asked = 0
        let check = CancellationCheck {
            asked += 1
            return asked == 1
        }
        let found = code { _ = try Self.find("http://b.org/x?n=1", IndexBuilder.open([text]), check) }
        #expect(found == .cancelled)
    }

    @Test func urlsWithoutQueryOrRuleHaveNoSubstitute() {
        #expect(FuzzyMatch("https://a.example/page", rules: .standard) == nil)
    }
}
