import Testing

@testable import WebArchive

struct IndexedRequestTests {
    struct Case: Sendable {
        let method: String
        let type: String?
        let body: String
        let expected: String
    }

    /// The URLs of pywb 2.10.0 for the same requests.
    @Test(arguments: [
        Case(method: "GET", type: nil, body: "", expected: "http://a.example/p"),
        Case(method: "POST", type: nil, body: "", expected: "http://a.example/p?__wb_method=POST"),
        Case(
            method: "POST", type: "application/x-www-form-urlencoded", body: "a=1&b=two+words&c=%C3%A9",
            expected: "http://a.example/p?__wb_method=POST&a=1&b=two words&c=é"),
        Case(
            method: "POST", type: "application/x-www-form-urlencoded", body: "a=100%&b=%41&c=%ff+x%C3%A9%C3",
            expected: "http://a.example/p?__wb_method=POST&a=100%&b=A&c=\u{FFFD} xé\u{FFFD}"),
        Case(
            method: "PUT", type: "application/x-www-form-urlencoded; charset=utf-8", body: "x=%26",
            expected: "http://a.example/p?__wb_method=PUT&x=&"),
        Case(
            method: "POST", type: "application/json",
            body: #"{"a":{"b":1,"c":[true,null,"x y"]},"d":2.0,"b":"again"}"#,
            expected: "http://a.example/p?__wb_method=POST&b=1&c=true&c.2_=null&c.3_=x+y&d=2&b.2_=again"),
        Case(
            method: "POST", type: "application/json", body: "broken{", expected: "http://a.example/p?__wb_method=POST"),
        Case(
            method: "POST", type: "text/plain", body: #"{"q":"v"}"#, expected: "http://a.example/p?__wb_method=POST&q=v"
        ),
        Case(
            method: "POST", type: "text/plain", body: "just text",
            expected: "http://a.example/p?__wb_method=POST&__wb_post_data=anVzdCB0ZXh0"),
        Case(
            method: "POST", type: nil, body: "abc", expected: "http://a.example/p?__wb_method=POST&__wb_post_data=YWJj"),
        Case(
            method: "POST", type: "multipart/form-data; boundary=XX",
            body: "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none two\r\n--XX\r\n"
                + "Content-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\n"
                + "file & more\r\n--XX--\r\n",
            expected: "http://a.example/p?__wb_method=POST&a=one+two&f=file+%26+more"),
    ])
    func writesRequestsAsURLs(_ c: Case) {
        let url = IndexedRequest.url(
            "http://a.example/p", method: c.method, contentType: c.type, body: Array(c.body.utf8))
        #expect(url == c.expected)
    }

    /// The spelling of a page, and that of pywb (above).
    @Test(arguments: [
        ("a=100%&b=%41", "a=100%&b=A"), ("b=two+words&c=%C3%A9", "b=two%20words&c=é"), ("x=%ff+x", "x=\u{FFFD}%20x"),
    ])
    func findsBodiesInTheSpellingOfIndexers(body: String, indexed: String) {
        let start = "http://a.example/p?__wb_method=POST&"
        let keys = CaptureMatcher(url: start + body).keys
        #expect(Set(keys).isSuperset(of: SURT.canonicalKeys(for: start + indexed)))
    }

    @Test func appendsToAQuery() {
        let url = IndexedRequest.url("http://a.example/?x=1", method: "POST", contentType: "text/html", body: [0, 255])
        #expect(url == "http://a.example/?x=1&__wb_method=POST&__wb_post_data=AP8=")
    }

    /// Python and pywb count code points, including combining accents.
    @Test func longBodyIsCutLikeInPywb() {
        let body = "a=" + String(repeating: "e\u{301}", count: 5000)
        let url = IndexedRequest.url(
            "http://a.example/p", method: "POST", contentType: "application/x-www-form-urlencoded",
            body: Array(body.utf8))
        let query = "a=" + String(repeating: "e\u{301}", count: 2047)
        #expect(Array(url.unicodeScalars) == Array("http://a.example/p?__wb_method=POST&\(query)".unicodeScalars))
    }

    @Test func longDelimitersAreRefused() {
        let body = [UInt8](repeating: UInt8(ascii: "-"), count: 1 << 20)
        for length in [70, 71, 60_000] {
            let type = "multipart/form-data; boundary=" + String(repeating: "-", count: length)
            let url = IndexedRequest.url("http://a/", method: "POST", contentType: type, body: body)
            #expect(url.hasPrefix("http://a/?__wb_method=POST"))
        }
    }

    @Test func deepJSONIsNotParsed() {
        let deep = String(repeating: "[", count: 100_000)
        let url = IndexedRequest.url(
            "http://a/", method: "POST", contentType: "application/json", body: Array(deep.utf8))
        #expect(url == "http://a/?__wb_method=POST")
    }
}
