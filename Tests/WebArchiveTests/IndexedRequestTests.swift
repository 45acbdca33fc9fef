import Testing

@testable import WebArchive

struct IndexedRequestTests {
    struct Case: Sendable {
        let method: String
        let type: String?
        let body: String
        let expected: String
    }

    /// What pywb 2.10.0 makes of the same requests.
    @Test(arguments: [
        Case(method: "GET", type: nil, body: "", expected: "http://a.example/p"),
        Case(method: "POST", type: nil, body: "", expected: "http://a.example/p?__wb_method=POST"),
        Case(
            method: "POST", type: "application/x-www-form-urlencoded", body: "a=1&b=two+words&c=%C3%A9",
            expected: "http://a.example/p?__wb_method=POST&a=1&b=two words&c=é"),
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
    func requestsBecomeURLs(_ c: Case) {
        let url = IndexedRequest.url(
            "http://a.example/p", method: c.method, contentType: c.type, body: Array(c.body.utf8))
        #expect(url == c.expected)
    }

    @Test func aQueryIsAppendedTo() {
        let url = IndexedRequest.url("http://a.example/?x=1", method: "POST", contentType: "text/html", body: [0, 255])
        #expect(url == "http://a.example/?x=1&__wb_method=POST&__wb_post_data=AP8=")
    }

    @Test func deepJSONIsNoReasonToRecurseForEver() {
        let deep = String(repeating: "[", count: 100_000)
        let url = IndexedRequest.url(
            "http://a/", method: "POST", contentType: "application/json", body: Array(deep.utf8))
        #expect(url == "http://a/?__wb_method=POST")
    }
}
