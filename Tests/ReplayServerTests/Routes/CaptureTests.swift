import ArchiveStore
import Foundation
import TestSupport
import Testing

/// `/c/…` over real sockets: captures, Memento, lists. Expected values are of RFC 7089, RFC 9110 and docs/cdx.md.
struct CaptureTests {
    typealias Record = RecordedArchive.Record

    private static let page = Record("http://a.example/", "<p>one</p>")

    @Test func captureIsSentAsArchived() async throws {
        let record = Self.page.with {
            $0.head +=
                "\r\nSet-Cookie: a=b\r\nCache-Control: max-age=9\r\nContent-Security-Policy: default-src *\r\n"
                + "Clear-Site-Data: \"storage\"\r\nX-Own: 1\r\nContent-Language: de"
        }
        try await withCaptures([record]) { server in
            let path = "/c/crawl/20240102030405id_/http://a.example/"
            let answer = try await server.ask("GET", path)
            #expect(answer.status == 200)
            #expect(answer.text == "<p>one</p>")
            #expect(answer["content-type"] == "text/html")
            #expect(answer["content-language"] == "de")
            #expect(answer["memento-datetime"] == "Tue, 02 Jan 2024 03:04:05 GMT")
            #expect(answer["content-location"] == path)
            #expect(answer["x-archive-orig-set-cookie"] == "a=b")
            #expect(answer["x-archive-orig-x-own"] == "1")
            for acting in ["set-cookie", "clear-site-data", "x-own"] { #expect(answer[acting] == nil) }
            #expect(answer["cache-control"] == "no-cache")
            // RFC 7089 §2.2: the links that every memento has.
            let link = try #require(answer["link"])
            for part in [
                "<http://a.example/>; rel=\"original\"",
                "<\(server.origin)/c/crawl/http://a.example/>; rel=\"timegate\"",
                "<\(server.origin)/c/crawl/timemap/link/http://a.example/>; rel=\"timemap\"",
                "<\(server.origin)\(path)>; rel=\"memento\"; datetime=\"Tue, 02 Jan 2024 03:04:05 GMT\"",
            ] { #expect(link.contains(part)) }
        }
    }

    /// A crawler recorded characters that browsers encode (URL Standard §1.3, path percent-encode set): a redirect to that URL would
    /// come back encoded, and never end.
    @Test(arguments: [("svg<b>.png", "svg%3Cb%3E.png"), ("a\"b`c{d}", "a%22b%60c%7Bd%7D")])
    func captureIsSentForAnEncodedURL(recorded: String, requested: String) async throws {
        let record = Self.page.with { $0.url = "http://a.example/\(recorded)" }
        try await withCaptures([record]) { server in
            let target = "/c/crawl/20240102030405id_/http://a.example/\(requested)"
            let answer = try await server.ask("GET", target)
            #expect(answer.status == 200 && answer.text == "<p>one</p>", "\(answer.status)")
        }
    }

    /// As wabac.js splits them. What scripts don't see, and what can't be split, is left out.
    @Test func engineGetsScriptVisibleCookies() async throws {
        let record = Self.page.with {
            for cookie in ["a=b; path=/", "c=d; HttpOnly", "e=f,g", "h=i"] { $0.head += "\r\nSet-Cookie: \(cookie)" }
        }
        try await withCaptures([record]) { server in
            for (modifier, cookies) in [("ir_", "a=b,h=i"), ("id_", nil)] {
                let answer = try await server.ask("GET", "/c/crawl/20240102030405\(modifier)/http://a.example/")
                #expect(answer["x-proxy-set-cookie"] == cookies)
                #expect(answer["set-cookie"] == nil)
            }
        }
    }

    @Test func controlOriginNeverRendersCaptures() async throws {
        try await withCaptures([Self.page]) { server in
            let path = "/c/crawl/20240102030405id_/http://a.example/"
            for host in [server.host, "replayhost.localhost:\(server.port)", "127.0.0.1:\(server.port)"] {
                let answer = try await server.ask("GET", path, host: host)
                let policy = try #require(answer["content-security-policy"])
                #expect(policy.hasPrefix("sandbox; default-src 'none'"))
                #expect(answer["x-content-type-options"] == "nosniff")
                let navigation = try await server.ask("GET", path, host: host, [("Sec-Fetch-Mode", "navigate")])
                #expect(navigation.status == 302)
                #expect(navigation["location"] == "http://\(server.host(of: "crawl"))\(path)")
                #expect(navigation.body.isEmpty)
            }
            let person = try await server.ask(
                "GET", "/c/crawl/2024/http://a.example/", [("Sec-Fetch-Mode", "navigate")])
            let collection = try #require(try server.store.archive(named: "crawl")).replayCollection
            #expect(person["location"] == "http://\(server.host(of: "crawl"))/\(collection)/2024mp_/http://a.example/")
        }
    }

    @Test func captureOnReplayOriginIsSandboxed() async throws {
        try await withCaptures([Self.page]) { server in
            let path = "/c/crawl/20240102030405id_/http://a.example/"
            let answer = try await server.ask("GET", path, host: server.host(of: "crawl"))
            let policy = try #require(answer["content-security-policy"])
            #expect(policy.hasPrefix("sandbox; script-src 'none'; default-src 'self'"))
            #expect(!policy.contains("allow-"))
            #expect(!policy.contains("*"))
            #expect(answer["connection-allowlist"] == "(response-origin);redirects=allow")
            // Captures of other archives, or of all, aren't available here.
            for other in ["/c/all/cdx?url=a.example", "/c/other/cdx?url=a.example", "/c/other/2024/http://a.example/"] {
                #expect(try await server.ask("GET", other, host: server.host(of: "crawl")).status == 404)
            }
            // An archived script can't be registered as a service worker.
            let worker = try await server.ask(
                "GET", path, host: server.host(of: "crawl"), [("Service-Worker", "script")])
            #expect(worker.status == 403)
        }
    }

    @Test func engineGetsErrorsAndRedirectsAsFields() async throws {
        let gone = Record("http://a.example/gone", "<p>gone</p>", status: 503)
        let moved = Record("http://a.example/moved", "", status: 301).with { $0.head += "\r\nLocation: /next?a#b" }
        try await withCaptures([gone, moved]) { server in
            let host = server.host(of: "crawl")
            let error = try await server.ask("GET", "/c/crawl/2024ir_/http://a.example/gone", host: host)
            #expect(error.status == 200)
            #expect(error["x-redirect-status"] == "503")
            #expect(error.text == "<p>gone</p>")
            #expect(error["x-content-type-options"] == nil)
            let redirect = try await server.ask("GET", "/c/crawl/2024ir_/http://a.example/moved", host: host)
            #expect(redirect.status == 200)
            #expect(redirect["x-redirect-status"] == "301")
            #expect(redirect["x-orig-location"] == "http://a.example/next?a#b")
            let absent = try await server.ask("GET", "/c/crawl/2024ir_/http://a.example/none", host: host)
            #expect(absent.status == 404)
            #expect(absent["x-redirect-status"] == nil)
            // The same for a client that is no engine.
            #expect(try await server.ask("GET", "/c/crawl/20240102030405id_/http://a.example/gone").status == 503)
            let plain = try await server.ask("GET", "/c/crawl/20240102030405id_/http://a.example/moved")
            #expect(plain.status == 301)
            #expect(plain["location"] == "/c/crawl/20240102030405id_/http://a.example/next?a#b")
        }
    }

    @Test func datetimeIsNegotiated() async throws {
        let times = ["20200101000000", "20210101000000", "20220101000000"]
        try await withCaptures(times.map { Record("http://a.example/", $0, timestamp: $0) }) { server in
            func ask(_ date: String?) async throws -> HTTPAnswer {
                try await server.ask("GET", "/c/crawl/http://a.example/", date.map { [("Accept-Datetime", $0)] } ?? [])
            }
            // RFC 7089 §4.5.1 to §4.5.3: the most recent without a date, the first before the first, 400 for what is
            // none.
            for (date, expected) in [
                (nil, times[2]), ("Thu, 31 May 2007 20:35:00 GMT", times[0]),
                ("Fri, 01 Jan 2021 00:00:00 GMT", times[1]),
                ("Mon, 06 Jul 2020 00:00:00 GMT", times[1]), ("Sat, 01 Jan 2050 00:00:00 GMT", times[2]),
            ] as [(String?, String)] {
                let answer = try await ask(date)
                #expect(answer.status == 302)
                #expect(answer["location"] == "/c/crawl/\(expected)/http://a.example/")
                #expect(answer["vary"]?.lowercased() == "accept-datetime")
                #expect(answer["memento-datetime"] == nil)
            }
            #expect(try await ask("yesterday").status == 400)
            #expect(try await server.ask("GET", "/c/crawl/http://none.example/").status == 404)
            // The URL of a memento identifies one capture, not the closest one.
            let near = try await server.ask("GET", "/c/crawl/20200601id_/http://a.example/")
            #expect(near.status == 302)
            #expect(near["location"] == "/c/crawl/20200101000000id_/http://a.example/")
            // The engine gets the closest one immediately, with its URL.
            let engine = try await server.ask("GET", "/c/crawl/20200601ir_/http://a.example/")
            #expect(engine.text == "20200101000000")
            #expect(engine["content-location"] == "/c/crawl/20200101000000ir_/http://a.example/")
            // An incomplete time means the end of its period, as in pywb.
            #expect(try await server.ask("GET", "/c/crawl/2021ir_/http://a.example/").text == "20220101000000")
        }
    }

    @Test func timeMapsListAllCaptures() async throws {
        let times = ["20200101000000", "20210101000000"]
        try await withCaptures(times.map { Record("http://a.example/", $0, timestamp: $0) }) { server in
            let answer = try await server.ask("GET", "/c/crawl/timemap/link/http://a.example/")
            #expect(answer["content-type"] == "application/link-format")
            let origin = server.origin
            // RFC 7089 §5.
            let expected = """
                <http://a.example/>; rel="original",
                <\(origin)/c/crawl/timemap/link/http://a.example/>; rel="self"; type="application/link-format",
                <\(origin)/c/crawl/http://a.example/>; rel="timegate",
                <\(origin)/c/crawl/20200101000000/http://a.example/>; rel="memento"; datetime="Wed, 01 Jan 2020 00:00:00 GMT",
                <\(origin)/c/crawl/20210101000000/http://a.example/>; rel="memento"; datetime="Fri, 01 Jan 2021 00:00:00 GMT"

                """
            #expect(answer.text == expected)
            let all = try await server.ask("GET", "/c/all/timemap/json/http://a.example/")
            #expect(all.text.split(separator: "\n").count == 2)
            #expect(all.text.contains("\"source\": \"crawl\""))
            #expect(try await server.ask("GET", "/c/crawl/timemap/pdf/http://a.example/").status == 404)
            #expect(try await server.ask("GET", "/c/crawl/timemap/link/http://none.example/").status == 404)
        }
    }

    @Test func emptyCollectionHasNoCaptures() async throws {
        try await withCaptures([Record("http://a.example/")]) { server in
            _ = try server.store.collections.make(title: "Empty", members: [])
            let lines = try await server.ask("GET", "/c/empty/cdx?url=http://a.example/")
            #expect((lines.status, lines.text) == (200, ""))
            #expect(try await server.ask("GET", "/c/empty/timemap/link/http://a.example/").status == 404)
            #expect(try await server.ask("GET", "/c/empty/http://a.example/").status == 404)
        }
    }

    @Test func allRedirectsToArchiveWithCapture() async throws {
        try await withServer(
            prepare: { store, folder in
                for (name, time) in [("old", "20100101000000"), ("new", "20200101000000")] {
                    let archive = RecordedArchive([Record("http://a.example/", name, timestamp: time)])
                    _ = try store.importFile(at: try folder.write(archive.bytes(), to: "\(name).wacz"))
                }
            },
            { server in
                let early = try await server.ask(
                    "GET", "/c/all/http://a.example/", [("Accept-Datetime", "Fri, 01 Jan 2010 00:00:00 GMT")])
                #expect(early["location"] == "/c/old/20100101000000/http://a.example/")
                let exact = try await server.ask("GET", "/c/all/2019id_/http://a.example/")
                #expect(exact["location"] == "/c/new/20200101000000id_/http://a.example/")
                let lines = try await server.ask("GET", "/c/all/cdx?url=a.example/*&fl=timestamp,source&output=text")
                #expect(lines.text == "20100101000000 old\n20200101000000 new\n")
            })
    }

    @Test(arguments: [true, false])
    func rangesSelectBody(_ isCompressed: Bool) async throws {
        let digits = String(repeating: "0123456789", count: 30_000)
        let bytes = [UInt8](digits.utf8)
        let plain = Record("http://a.example/v", digits)
        let chunked = Record("http://a.example/c").with {
            $0.head += "\r\nTransfer-Encoding: chunked"
            $0.body = Array("5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n".utf8)
        }
        let long = Record("http://a.example/l").with {
            $0.head += "\r\nTransfer-Encoding: chunked"
            $0.body = Array("200000\r\n\(String(repeating: "01234567", count: 0x4_0000))\r\n1\r\n8\r\n0\r\n\r\n".utf8)
        }
        try await withCaptures([plain, chunked, long], isCompressed: isCompressed) { server in
            func ask(_ name: String, _ range: String) async throws -> HTTPAnswer {
                try await server.ask("GET", "/c/crawl/2024ir_/http://a.example/\(name)", [("Range", range)])
            }
            for (range, first, last) in [
                ("bytes=0-9", 0, 9), ("bytes=299990-", 299_990, 299_999), ("bytes=-5", 299_995, 299_999),
                ("bytes=100000-200001", 100_000, 200_001), ("bytes=299999-400000", 299_999, 299_999),
            ] {
                let answer = try await ask("v", range)
                #expect(answer.status == 206)
                #expect(answer["content-range"] == "bytes \(first)-\(last)/300000")
                #expect(answer.body == [UInt8](bytes[first...last]))
            }
            let none = try await ask("v", "bytes=300000-")
            #expect(none.status == 416)
            #expect(none["content-range"] == "bytes */300000")
            #expect(try await ask("v", "bytes=a-b").status == 200)
            // The body is chunked, so its length is only known after reading.
            let middle = try await ask("c", "bytes=3-6")
            #expect(middle.status == 206)
            #expect(middle["content-range"] == "bytes 3-6/10")
            #expect(middle.text == "3456")
            #expect(try await ask("c", "bytes=-3").text == "789")
            // What is after the range need not be decoded, so the length stays unknown. RFC 9110 §14.4.
            let start = try await ask("l", "bytes=3-6")
            #expect((start.status, start["content-range"], start.text) == (206, "bytes 3-6/*", "3456"))
            let end = try await ask("l", "bytes=-3")
            #expect((end["content-range"], end.text) == ("bytes 2097150-2097152/2097153", "678"))
            #expect(try await ask("l", "bytes=2097153-2097160").status == 416)
            let whole = try await server.ask("GET", "/c/crawl/2024ir_/http://a.example/c")
            #expect(whole.text == "0123456789")
            let tag = try #require(whole["etag"])
            let unchanged = try await server.ask(
                "GET", "/c/crawl/2024ir_/http://a.example/c", [("If-None-Match", tag)])
            #expect(unchanged.status == 304)
            #expect(unchanged.body.isEmpty)
            let head = try await server.ask("HEAD", "/c/crawl/2024ir_/http://a.example/v")
            #expect(head["content-length"] == "300000")
            #expect(head.body.isEmpty)
        }
    }

    @Test func archivedPartialResponseStaysPartial() async throws {
        let part = Record("http://a.example/v", "3456", status: 206).with {
            $0.head += "\r\nContent-Range: bytes 3-6/10"
        }
        let whole = Record("http://a.example/w", "0123", status: 206).with {
            $0.head += "\r\nContent-Range: bytes 0-3/4"
        }
        try await withCaptures([part, whole]) { server in
            func ask(_ name: String, _ range: String?) async throws -> HTTPAnswer {
                try await server.ask(
                    "GET", "/c/crawl/2024ir_/http://a.example/\(name)", range.map { [("Range", $0)] } ?? [])
            }
            let plain = try await ask("v", nil)
            #expect(plain.status == 206)
            #expect(plain["content-range"] == "bytes 3-6/10")
            let inner = try await ask("v", "bytes=4-5")
            #expect(inner["content-range"] == "bytes 4-5/10")
            #expect(inner.text == "45")
            #expect(try await ask("v", "bytes=5-9").text == "56")
            #expect(try await ask("v", "bytes=0-1").status == 416)
            let all = try await ask("w", nil)
            #expect(all.status == 200)
            #expect(all.text == "0123")
            #expect(try await ask("w", "bytes=1-2").text == "12")
        }
    }

    /// Wrong ranges in archived partial responses, and the right ones. RFC 9110 §14.4, §15.3.7.
    @Test func partialResponseIsLimitedToArchivedBytes() async throws {
        func part(_ name: String, _ body: String, _ range: String, _ more: String = "") -> Record {
            Record("http://a.example/\(name)", body, status: 206).with {
                $0.head += "\r\nContent-Range: bytes \(range)\(more)"
            }
        }
        let chunked = part("chunked", "4\r\nabcd\r\n0\r\n\r\n", "100-103/1000", "\r\nTransfer-Encoding: chunked")
        let records = [
            chunked, part("short", "abcd", "100-109/1000"), part("plain", "abcd", "100-103/1000"),
            part("huge", "abcd", "0-18446744073709551615/*"), part("huger", "abcd", "0-5/18446744073709551615"),
            part("contrary", "abcd", "5-9/4"),
        ]
        try await withCaptures(records) { server in
            func ask(_ name: String, _ fields: [(String, String)] = []) async throws -> (Int, String?, String) {
                let answer = try await server.ask("GET", "/c/crawl/2024ir_/http://a.example/\(name)", fields)
                return (answer.status, answer["content-range"], answer.text)
            }
            #expect(try await ask("chunked") == (206, "bytes 100-103/1000", "abcd"))
            #expect(try await ask("chunked", [("Range", "bytes=0-2")]).0 == 416)
            #expect(try await ask("chunked", [("Range", "bytes=101-102")]) == (206, "bytes 101-102/1000", "bc"))
            #expect(try await ask("short") == (206, "bytes 100-103/1000", "abcd"))
            let beyond = try await ask("plain", [("Range", "bytes=2000-")])
            #expect(beyond.0 == 416)
            #expect(beyond.1 == "bytes */1000")
            let other = [("Range", "bytes=101-102"), ("If-Range", "\"other\"")]
            #expect(try await ask("plain", other) == (206, "bytes 100-103/1000", "abcd"))
            let tag = try #require(
                try await server.ask("GET", "/c/crawl/2024ir_/http://a.example/plain")["etag"])
            #expect(try await ask("plain", [("If-None-Match", tag)]).0 == 304)
            // Invalid numbers are ignored.
            for name in ["huge", "contrary"] { #expect(try await ask(name) == (200, nil, "abcd")) }
            #expect(try await ask("huger") == (206, "bytes 0-3/18446744073709551615", "abcd"))
        }
    }

    /// RFC 9112 §6.3: bytes after a 204 would be read as the next response.
    @Test(arguments: [204, 205, 304])
    func bodyIsOmittedForStatusWithoutBody(_ status: Int) async throws {
        let forged = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nforged"
        try await withCaptures([Record("http://a.example/", forged, status: status)]) { server in
            let (port, host) = (server.port, server.host)
            for modifier in ["id_", "ir_", "dl_"] {
                let (answers, rest) = try await onThread {
                    let connection = try HTTPConnection(port: port, isIPv6: false)
                    let target = "/c/crawl/20240102030405\(modifier)/http://a.example/"
                    try connection.send(
                        "GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n"
                            + "GET /api/health HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                    return ([try connection.readAnswer(), try connection.readAnswer()], try connection.readToEnd())
                }
                // An archived 304 stands for what came before, which isn't there.
                #expect(answers[0].status == (status == 304 ? 404 : status))
                #expect(!answers[0].text.contains("forged"))
                if status != 304 { #expect(answers[0].body.isEmpty) }
                #expect(answers[1].status == 200)
                #expect(answers[1]["content-type"] == "application/json")
                #expect(rest.isEmpty)
            }
        }
    }

    /// The engine fails if it has to resolve a path against a `urn:`.
    @Test func urnHasNoContentLocationForTheEngine() async throws {
        let record = Record("urn:x-test:page", "<p>one</p>").with { $0.key = "urn:x-test:page" }
        try await withCaptures([record]) { server in
            let engine = try await server.ask("GET", "/c/crawl/20240102030405ir_/urn:x-test:page")
            #expect(engine.text == "<p>one</p>")
            #expect(engine["content-location"] == nil && engine["link"] == nil)
            let other = try await server.ask("GET", "/c/crawl/20240102030405id_/urn:x-test:page")
            #expect(other["content-location"] == "/c/crawl/20240102030405id_/urn:x-test:page")
        }
    }

    @Test func fuzzyMatchRedirectsToItsURL() async throws {
        try await withCaptures([Record("http://a.example/x.js?v=1", "script")]) { server in
            let near = try await server.ask("GET", "/c/crawl/20240102030405id_/http://a.example/x.js?v=2")
            #expect(near.status == 302)
            #expect(near["location"] == "/c/crawl/20240102030405id_/http://a.example/x.js?v=1")
            let engine = try await server.ask("GET", "/c/crawl/20240102030405ir_/http://a.example/x.js?v=2")
            #expect(engine.text == "script")
            #expect(engine["content-location"] == "/c/crawl/20240102030405ir_/http://a.example/x.js?v=1")
        }
    }

    @Test func damagedBodyClosesConnection() async throws {
        let record = Self.page.with { $0.body = Array(repeating: 65, count: 1000) }
        try await withServer(
            prepare: { store, folder in
                var bytes = RecordedArchive([record], isCompressed: false).bytes()
                // The record's length is too large: 9000 instead of 1000.
                let place = try #require(bytes.firstRange(of: Array("Content-Length: 1".utf8)))
                bytes[place.upperBound - 1] = UInt8(ascii: "9")
                _ = try store.importFile(at: try folder.write(bytes, to: "crawl.wacz"))
            },
            { server in
                // The connection is closed early, so clients notice that the body is incomplete.
                var wasCut = false
                do {
                    _ = try await server.ask("GET", "/c/crawl/20240102030405id_/http://a.example/")
                } catch is HTTPConnectionError {
                    wasCut = true
                }
                #expect(wasCut)
                // The engine gets what is left of the body.
                let shown = try await server.ask("GET", "/c/crawl/20240102030405ir_/http://a.example/")
                #expect(shown.status == 200)
                #expect(shown.text.hasPrefix("AAAA"))
                let health = try await server.ask("GET", "/api/health")
                #expect(health.status == 200)
            })
    }

    @Test func invalidQueriesAreReported() async throws {
        try await withCaptures([Self.page]) { server in
            for (query, name) in [
                ("", "url"), ("url=a.example&limit=ten", "limit"), ("url=a.example&filter=~url:((", "filter"),
                ("url=a.example&output=xml", "output"), ("url=a.example&matchType=near", "matchType"),
                ("url=%FF%GG", "url"), ("url=a.example&from=x", "from"), ("url=a.example&page=-1", "page"),
            ] {
                let answer = try await server.ask("GET", "/c/crawl/cdx?\(query)")
                #expect(answer.status == 400)
                #expect(answer.text.contains(name), "\(query): \(answer.text)")
            }
            #expect(try await server.ask("GET", "/c/crawl/cdx?url=none.example").body.isEmpty)
            #expect(try await server.ask("DELETE", "/c/crawl/cdx?url=a.example").status == 405)
            #expect(try await server.ask("POST", "/c/crawl/cdx?url=a.example").status == 405)
        }
    }

    @Test func requestsWithBodyFindCaptures() async throws {
        let post = Record("http://a.example/find", "found").with {
            $0.key = "example,a)/find?__wb_method=post&q=sea%20shore"
            $0.index += ",\"method\":\"POST\",\"requestBody\":\"q=sea shore\""
            $0.head += "\r\nX-Replayhost-Similar: request"
        }
        try await withCaptures([post]) { server in
            let path = "/c/crawl/2024ir_/http://a.example/find"
            let form = [("Content-Type", "application/x-www-form-urlencoded")]
            let body = [UInt8]("q=sea+shore".utf8)
            let posted = try await server.ask("POST", path, form, body: body)
            #expect(posted.text == "found")
            // As the engine asks.
            #expect(try await server.ask("GET", "\(path)?__wb_method=POST&q=sea+shore").text == "found")
            #expect(try await server.ask("GET", path).status == 404)
            let own = try await server.ask("GET", "\(path)?__wb_method=POST&q=sea+shore")
            #expect(own["x-replayhost-similar"] == nil, "not even if the archive says so")
            let other = try await server.ask("GET", "\(path)?__wb_method=POST&q=seal")
            #expect(other.text == "found" && other["x-replayhost-similar"] == "request")
            #expect(try await server.ask("DELETE", path).status == 405)
            #expect(try await server.ask("DELETE", path, host: server.host(of: "crawl")).status == 404)
        }
    }

    @Test func largeListIsStreamedUntilClientDisconnects() async throws {
        let records = (0..<3000).map { Record("http://a.example/\($0)", "") }
        try await withCaptures(records) { server in
            let all = try await server.ask("GET", "/c/crawl/cdx?url=a.example&matchType=host&fl=url&output=text")
            #expect(all.text.split(separator: "\n").count == 3000)
            #expect(all["content-length"] == nil)
            // A client disconnects in the middle. The server keeps serving others.
            let (port, host) = (server.port, server.host)
            try await onThread {
                let connection = try HTTPConnection(port: port, isIPv6: false)
                try connection.send(
                    Array("GET /c/crawl/cdx?url=a.example&matchType=host HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8))
            }
            #expect(try await server.ask("GET", "/c/crawl/cdx?url=a.example/7&limit=1").status == 200)
        }
    }
}

/// Runs a server with one archive, `crawl`, of these records.
func withCaptures(
    _ records: [RecordedArchive.Record], isCompressed: Bool = true, _ body: (LiveServer) async throws -> Void
) async throws {
    try await withServer(
        prepare: { store, folder in
            let path = try folder.write(
                RecordedArchive(records, isCompressed: isCompressed).bytes(), to: "crawl.wacz")
            _ = try store.importFile(at: path)
        }, body)
}
