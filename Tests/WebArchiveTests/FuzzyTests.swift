import Testing

@testable import WebArchive

@Suite(.enabled(if: Libraries.haveRE2, "the rules are regular expressions")) struct FuzzyTests {
    @Test func theRulesCanBeRead() throws {
        #expect(try FuzzyRules(json: PackageResources.fuzzy_rules_json).rules.count >= 10)
    }

    /// What wabac.js 2.27.2 and pywb 2.10.0 take for the same, by their own rules.
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
    ])
    func rulesSayWhatIsTheSame(_ url: String, _ other: String, _ isSame: Bool) throws {
        let match = try #require(FuzzyMatch(url, rules: .standard))
        #expect(((match.score(other) ?? 0) >= 1) == isSame)
    }

    @Test func whatIsLeftOpenGoesByLikeness() throws {
        let match = try #require(FuzzyMatch("https://a.example/list?page=3&sort=up", rules: .standard))
        let scores = ["page=3&sort=down", "page=4&sort=up", "page=900&sort=up", "page=9&sort=down", "other=1"].map {
            match.score("https://a.example/list?\($0)") ?? -1
        }
        #expect(scores[1] > scores[2] && scores[2] > scores[3] && scores[3] > scores[4])
        #expect(scores[0] > scores[3])
    }

    @Test func withoutAQueryOrARuleNothingStandsIn() {
        #expect(FuzzyMatch("https://a.example/page", rules: .standard) == nil)
    }
}
