import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// What stands for a URL that wasn't captured. The answer to other data is another answer, unless the archives have only one.
struct SimilarCaptureTests {
    typealias Record = RecordedArchive.Record

    private let test: TestStore

    init() throws { test = try TestStore() }

    private func add(_ records: [Record], as name: String = "crawl") throws -> Archive {
        try test.store.importFile(at: test.folder.write(RecordedArchive(records).bytes(), to: "\(name).wacz")).archive
    }

    private func post(
        _ data: String, _ answer: String, timestamp: String = "20240101000000", path: String = "find"
    ) -> Record {
        Record("http://a.example/\(path)", answer, timestamp: timestamp).with {
            $0.key = "example,a)/\(path)?__wb_method=post&\(data)"
            $0.index += ",\"method\":\"POST\",\"requestBody\":\"\(data)\""
        }
    }

    /// Returns the first bytes of what is shown for a URL, and whether it's said to stand for another one.
    private func answer(to query: String, path: String = "find", in archives: [Archive]) throws -> [String]? {
        let request = ArchiveStore.CaptureRequest(url: "http://a.example/\(path)?\(query)", time: nil)
        let found = try test.store.resolver.openCapture(request, in: archives, allowsFuzzyMatch: true)
        return try found.map { capture in
            let bytes = try capture.body.open(decoded: true).read(upTo: 1000)
            return [String(decoding: bytes, as: UTF8.self), capture.isSimilar ? "similar" : "exact"]
        }
    }

    private func posted(_ data: String, path: String = "find", in archives: [Archive]) throws -> [String]? {
        try answer(to: "__wb_method=POST&\(data)", path: path, in: archives)
    }

    @Test func onlyAnswerStandsForOtherData() throws {
        let earlier = post("q=sea&nonce=1", "old", timestamp: "20230101000000")
        let archive = try add([earlier, post("q=sea&nonce=1", "new"), post("q=sea&nonce=1", "other", path: "list")])
        #expect(try posted("q=sea&nonce=1", in: [archive]) == ["new", "exact"])
        #expect(try posted("q=sea&nonce=2", in: [archive]) == ["new", "similar"])
        #expect(try answer(to: "q=sea&nonce=2", in: [archive]) == nil, "another method")
    }

    @Test func amongSeveralAnswersNoneStandsForOtherData() throws {
        let archive = try add([
            post("q=sea&nonce=1", "sea"), post("q=shore&nonce=2", "shore"), Record("http://a.example/find", "form"),
        ])
        #expect(try posted("q=sea&nonce=1", in: [archive]) == ["sea", "exact"])
        for data in ["q=sea&nonce=3", "q=shore&nonce=3", "nonce=1"] { #expect(try posted(data, in: [archive]) == nil) }
    }

    @Test func answersOfAllArchivesCount() throws {
        let (one, other) = (
            try add([post("q=sea", "sea")], as: "one"), try add([post("q=shore", "shore")], as: "other")
        )
        let copy = try add([post("q=sea", "sea", timestamp: "20230101000000")], as: "copy")
        #expect(try posted("q=seal", in: [one]) == ["sea", "similar"])
        #expect(try posted("q=seal", in: [one, copy]) == ["sea", "similar"])
        #expect(try posted("q=seal", in: [one, other]) == nil)
    }

    /// What the rules ignore doesn't make it another answer. YouTube: the video decides.
    @Test func dataThatRulesIgnoreAreNotOtherData() throws {
        let archive = try add([post("q=sea&_=1", "sea"), post("q=shore&_=2", "shore")])
        #expect(try posted("q=shore&_=3", in: [archive]) == ["shore", "similar"])
        #expect(try posted("q=seal&_=3", in: [archive]) == nil)
    }

    /// The most similar one, also if another archive has a later capture.
    @Test func bestOfSeveralArchivesIsChosen() throws {
        let one = try add(
            [Record("http://a.example/list?page=2&sort=up", "second page", timestamp: "20230101000000")], as: "one")
        let other = try add(
            [Record("http://a.example/list?page=9&sort=down", "last page", timestamp: "20240101000000")], as: "other")
        for archives in [[one, other], [other, one]] {
            #expect(try answer(to: "page=2&sort=up&x=1", path: "list", in: archives) == ["second page", "similar"])
        }
    }
}
