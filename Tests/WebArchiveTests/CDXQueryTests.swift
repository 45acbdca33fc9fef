import Testing

@testable import WebArchive

/// The parameters of pywb 2.10's CDX server, and the problems of invalid ones.
struct CDXQueryTests {
    struct URLCase: Sendable, CustomTestStringConvertible {
        let parameters: String
        let url: String
        let matchType: CaptureQuery.MatchType
        var testDescription: String { parameters }

        init(_ parameters: String, _ url: String, _ matchType: CaptureQuery.MatchType) {
            (self.parameters, self.url, self.matchType) = (parameters, url, matchType)
        }
    }

    @Test(arguments: [
        URLCase("url=http://example.org/", "http://example.org/", .exact),
        URLCase("url=example.org/a", "http://example.org/a", .exact),
        URLCase("url=localhost:8080/a", "http://localhost:8080/a", .exact),
        URLCase("url=example.org:8080", "http://example.org:8080", .exact),
        URLCase("url=urn:text:x", "urn:text:x", .exact), URLCase("url=dns:example.org", "dns:example.org", .exact),
        URLCase("url=%20http://example.org/%20", "http://example.org/", .exact),
        URLCase("url=http://example.org/*", "http://example.org/", .prefix),
        URLCase("url=http://example.org/a*", "http://example.org/a", .prefix),
        URLCase("url=example.org*", "http://example.org", .prefix),
        URLCase("url=*.example.org", "http://example.org", .domain), URLCase("url=*.org", "http://org", .domain),
        // With a match type, an asterisk is part of the URL.
        URLCase("url=http://example.org/*&matchType=exact", "http://example.org/*", .exact),
        URLCase("url=http://example.org/a&matchType=prefix", "http://example.org/a", .prefix),
        URLCase("url=example.org&matchType=host", "http://example.org", .host),
        URLCase("url=example.org&matchType=domain", "http://example.org", .domain),
    ])
    func readsWildcardsAndMatchTypes(_ c: URLCase) throws {
        let query = try CDXQuery(parameters: CDXQueries.parameters(c.parameters))
        #expect(query.captures.url == c.url)
        #expect(query.captures.matchType == c.matchType)
    }

    @Test(.enabled(if: Libraries.haveRE2)) func readsAllParameters() throws {
        let text =
            "url=http://a.org/&from=2024&to=20240203&limit=5&sort=reverse&output=json&page=2&pageSize=3&showNumPages=true"
            + "&nosource=1&filter=!=status:200&filter=~url:.*x&fl=url,timestamp&collapse=digest&unknown=1&from="
        let query = try CDXQuery(parameters: CDXQueries.parameters(text))
        #expect(query.from == "20240000000000000")
        #expect(query.to == "20240203999999999")
        #expect(query.limit == 5)
        #expect(query.order == .descending)
        #expect(query.output == .json)
        #expect(query.page?.number == 2)
        #expect(query.page?.blockCount == 3)
        #expect(query.countsPages)
        #expect(!query.allowsSourceNames)
        #expect(query.filters.count == 2)
        #expect(query.fields?.map(\.name) == ["url", "timestamp"])
        #expect(query.collapses.count == 1)
    }

    @Test func defaultIsAllLinesAsCDXJ() throws {
        let query = try CDXQuery(parameters: [("url", "http://a.org/")])
        #expect(query.limit == nil)
        #expect(query.page == nil)
        #expect(query.order == .ascending)
        #expect(query.output == .cdxj)
        #expect(!query.countsPages)
    }

    /// pywb: `closest` implies `sort=closest` and overrides `reverse`; `reverse` means `sort=reverse`.
    @Test(arguments: [
        ("closest=2024", "20241231235959"), ("closest=2024&sort=closest", "20241231235959"),
        ("closest=2024&sort=reverse", "20241231235959"),
        ("closest=2&reverse=1", "29991231235959"), ("closest=20240203040506", "20240203040506"),
    ])
    func closestSetsTheOrder(_ text: String, _ digits: String) throws {
        let query = try CDXQuery(parameters: CDXQueries.parameters("url=a.org&" + text))
        #expect(query.order == .closest(try #require(CaptureTimestamp(digits: digits))))
    }

    @Test(arguments: [
        ("reverse=1", CDXQuery.Order.descending), ("reverse=true", .descending), ("reverse=0", .ascending),
        ("sort=reverse&reverse=0", .descending), ("limit=0", .ascending),
    ])
    func reverseIsAlsoAFlag(_ text: String, _ order: CDXQuery.Order) throws {
        let query = try CDXQuery(parameters: CDXQueries.parameters("url=a.org&" + text))
        #expect(query.order == order)
        #expect(query.limit == nil)
    }

    @Test(arguments: [
        ("", "url"), ("url=", "url"), ("url=**", "url"), ("url=*.", "url"), ("url=%20", "url"),
        ("url=a.org&limit=ten", "limit"), ("url=a.org&limit=-1", "limit"), ("url=a.org&limit=1.5", "limit"),
        ("url=a.org&limit=+1", "limit"), ("url=a.org&limit=99999999999999999999", "limit"),
        ("url=a.org&page=-1", "page"), ("url=a.org&page=x", "page"), ("url=a.org&pageSize=0", "pageSize"),
        ("url=a.org&output=xml", "output"), ("url=a.org&output=JSON", "output"), ("url=a.org&sort=up", "sort"),
        ("url=a.org&sort=closest", "sort"), ("url=a.org&closest=yesterday", "closest"),
        ("url=a.org&closest=20241301", "closest"), ("url=a.org&matchType=range", "matchType"),
        ("url=a.org&from=2024-01-01", "from"), ("url=a.org&to=202401010000000000", "to"),
        ("url=a.org&from_ts=x", "from_ts"), ("url=a.org&fl=,", "fl"), ("url=a.org&collapse=:3", "collapse"),
        ("url=a.org&collapse=timestamp:", "collapse"), ("url=a.org&collapse=timestamp:0", "collapse"),
        ("url=a.org&collapse=timestamp:x", "collapse"), ("url=a.org&collapseTime=x", "collapseTime"),
        ("url=a.org&showNumPages=maybe", "showNumPages"), ("url=a.org&filter=~url:(", "filter"),
        ("url=a.org&filter=~url:(a)\\1", "filter"), ("url=a.org&filter=!~(?=a)", "filter"),
        ("url=a.org&filter=~url:((a{100}){100}){100}", "filter"), ("url=a.org&url=b.org", "url"),
        ("url=a.org&fl=url&fields=mime", "fields"), ("url=a.org&resolveRevisits=true", "resolveRevisits"),
        ("url=a.org&showPagedIndex=1", "showPagedIndex"), ("url=a.org&allowFuzzy=1", "allowFuzzy"),
        ("url=a.org&resumeKey=x", "resumeKey"), ("url=a.org&offset=3", "offset"), ("url=a.org&sources=b", "sources"),
    ])
    func invalidParametersAreProblems(_ text: String, _ parameter: String) throws {
        let problem = try #require(CDXQueries.problem(text))
        #expect(problem.parameter == parameter)
        #expect(!problem.hint.isEmpty)
    }

    @Test(arguments: [
        "url=a.org&url=a.org", "url=a.org&allowFuzzy=0", "url=a.org&resolveRevisits=false", "url=a.org&limit=",
        "url=a.org&nonsense=1", "url=a.org&output=", "url=a.org&filter=", "url=a.org&page=0",
    ])
    func acceptsParametersWithoutEffect(_ text: String) throws {
        #expect(CDXQueries.problem(text) == nil)
    }

    @Test func limitsNumbersAndSizes() throws {
        let limits = Limits.standard
        let many = "url=a.org" + String(repeating: "&filter=x", count: limits.queryRepetitionsMax)
        #expect(CDXQueries.problem(many) == nil)
        #expect(CDXQueries.problem(many + "&filter=x")?.parameter == "filter")
        let pattern = String(repeating: "a", count: limits.queryPatternBytesMax)
        #expect((CDXQueries.problem("url=a.org&filter=~url:" + pattern) == nil) == Libraries.haveRE2)
        #expect(CDXQueries.problem("url=a.org&filter=~url:a" + pattern)?.parameter == "filter")
        #expect(CDXQueries.problem("url=a.org/" + String(repeating: "a", count: 20_000))?.parameter == "url")
        let fields = (0..<65).map { "f\($0)" }.joined(separator: ",")
        #expect(CDXQueries.problem("url=a.org&fl=" + fields)?.parameter == "fl")
    }

    @Test func problemsHaveHints() throws {
        #expect(
            CDXQueries.problem("url=a.org&limit=ten")?.description
                == "limit \"ten\": not a whole number; use 0 or more")
        #expect(
            CDXQueries.problem("url=a.org&output=xml")?.description
                == "output \"xml\": unknown value; use one of cdxj, json, link, text")
    }

    @Test(.enabled(if: Libraries.haveRE2)) func invalidPatternIsExplained() {
        #expect(
            CDXQueries.problem("url=a.org&filter=~url:(")?.what
                == "filter \"~url:(\": the regular expression can't be used: missing ): (")
    }

    @Test(.enabled(if: !Libraries.haveRE2)) func withoutRE2PatternsAreRefusedWithAMessage() {
        #expect(
            CDXQueries.problem("url=a.org&filter=~url:a")?.description
                == "filter \"~url:a\": the regular expression can't be used: this build doesn't include RE2; "
                + "use a filter without \"~\"")
        #expect(CDXQueries.problem("url=a.org&filter=url:a") == nil)
    }
}
