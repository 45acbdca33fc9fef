import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import ReplayServer

/// Which requests belong to a page. `Tests/BrowserTests/test_page_parts.py` compares them with those of a browser.
struct PageRequestsTests {
    private typealias Address = PageRequests.Address
    private typealias Report = PageRequests.Report

    private static func address(_ path: String) -> Address {
        Address(url: "https://a.example/\(path)", timestamp: "20210503080000")
    }

    private static func document(_ path: String) -> Report {
        Report(asked: address(path), answer: address(path), page: nil, replaced: nil, isDocument: true)
    }

    private static func request(
        _ path: String, of page: String? = nil, replacing replaced: String? = nil, isDocument: Bool = false
    ) -> Report {
        Report(
            asked: address(path), answer: address(path), page: page.map(address), replaced: replaced.map(address),
            isDocument: isDocument)
    }

    private func paths(_ requests: PageRequests, _ page: String) -> [String] {
        requests.requests(of: Self.address(page), in: "crawl-1").requests.map { String($0.url.dropFirst(18)) }.sorted()
    }

    @Test func framesBelongToThePage() {
        let requests = PageRequests()
        requests.add(
            [
                Self.document("page"), Self.request("image", of: "page"), Self.document("frame"),
                Self.request("frame", of: "page", isDocument: true), Self.request("inner", of: "frame"),
                // A link in the frame
                Self.document("linked"), Self.request("linked", replacing: "frame", isDocument: true),
                Self.request("deep", of: "linked"),
                // A link that leaves the page
                Self.document("next"), Self.request("next", replacing: "page", isDocument: true),
                Self.request("other", of: "next"),
            ], in: "crawl-1")
        #expect(paths(requests, "page") == ["deep", "frame", "image", "inner", "linked"])
        #expect(paths(requests, "next") == ["other"])
        #expect(requests.requests(of: Self.address("page"), in: "crawl-1").isComplete)
        // Another version of the file
        #expect(!requests.requests(of: Self.address("page"), in: "crawl-2").isComplete)
        #expect(!requests.requests(of: Self.address("image"), in: "crawl-1").isComplete)
    }

    /// A page can be requested at another time than that of its capture.
    @Test func pageIsFoundByItsCapture() {
        let requests = PageRequests()
        let asked = Address(url: "http://a.example/page", timestamp: "2021")
        requests.add(
            [
                Report(asked: asked, answer: Self.address("page"), page: nil, replaced: nil, isDocument: true),
                Report(
                    asked: Self.address("image"), answer: nil, page: asked, replaced: nil, isDocument: false),
            ], in: "crawl-1")
        #expect(paths(requests, "page") == ["image"])
    }

    /// What a page does must not make its list look complete without the requests that came first.
    @Test func droppedRequestsAreNotForgotten() {
        let requests = PageRequests()
        requests.add([Self.document("page"), Self.request("image", of: "page")], in: "crawl-1")
        let long = String(repeating: "x", count: 16_000)
        for number in 0..<1100 {
            requests.add([Self.request("\(number)\(long)", of: "other\(number)")], in: "crawl-1")
        }
        requests.add([Self.document("page"), Self.request("late", of: "page")], in: "crawl-1")
        #expect(paths(requests, "page") == ["late"])
        #expect(!requests.requests(of: Self.address("page"), in: "crawl-1").isComplete)
    }

    @Test func manyRequestsAreLimited() {
        let requests = PageRequests()
        requests.add([Self.document("page")] + (0..<6000).map { Self.request("\($0)", of: "page") }, in: "crawl-1")
        #expect(paths(requests, "page").count == 5000)
        #expect(!requests.requests(of: Self.address("page"), in: "crawl-1").isComplete)
    }

    /// Only the worker of the origin adds requests, and only captures of the archive are listed.
    @Test func onlyTheOriginReports() async throws {
        let url = "http://a.example/page"
        try await withServer { server in
            let record = RecordedArchive.Record(url, "page", timestamp: "20240102030405")
            let file = try server.folder.write(RecordedArchive([record]).bytes(), to: "crawl.wacz")
            _ = try server.store.importFile(at: file)
            func report(_ site: String?, capture: String = url) async throws -> Int {
                let own = #"{"url": "\#(url)", "timestamp": "20240102030405"}"#
                let other = #"{"url": "\#(capture)", "timestamp": "20240102030405"}"#
                let body =
                    #"{"requests": [{"asked": \#(own), "answer": \#(own), "isDocument": true}, "#
                    + #"{"asked": \#(other), "answer": \#(other), "page": \#(own), "isDocument": false}]}"#
                return try await server.ask(
                    "POST", "/requests", host: server.host(of: "crawl"),
                    [("Content-Type", "application/json")] + (site.map { [("Sec-Fetch-Site", $0)] } ?? []),
                    body: Array(body.utf8)
                ).status
            }
            func parts() async throws -> [String: Any] {
                try await server.ask("GET", "/api/archives/crawl/parts?url=\(url)&ts=20240102030405").object()
            }
            for site in ["cross-site", "same-site", "none", nil] { #expect(try await report(site) == 403) }
            #expect(try await parts()["isComplete"] as? Bool == false)
            #expect(try await report("same-origin") == 204)
            #expect(try await parts()["isComplete"] as? Bool == true)
            #expect(try await report("same-origin", capture: "http://a.example/invented") == 204)
            let found = try await parts()
            #expect(found["isComplete"] as? Bool == false)
            #expect((found["parts"] as? [[String: Any]])?.map { $0["url"] as? String } == [url])
            let wrong = try await server.ask("GET", "/api/archives/crawl/parts?url=\(url)&ts=yesterday")
            #expect(wrong.status == 400)
        }
    }
}
