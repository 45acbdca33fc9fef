import TestSupport
import Testing

@testable import ArchiveStore
@testable import WebArchive

/// What a step has used up ends it with what it has, and with a message.
struct AllowancesTests {
    typealias Record = RecordedArchive.Record

    private let test: TestStore
    private let archive: Archive
    private let request = ArchiveStore.CaptureRequest(url: "http://reef.example/1", time: nil)

    init() throws {
        test = try TestStore()
        archive = try test.add((0..<20).map { Record("http://reef.example/\($0)", "text") }, id: "a", indexes: false)
    }

    private func resolver(_ bytes: UInt64) -> Resolver {
        Resolver(store: test.store, allowances: Allowances(Allowance(bytes: bytes), for: archive))
    }

    private func isOpened(_ resolver: Resolver) -> Bool {
        (try? resolver.openCapture(request, in: [archive], allowsFuzzyMatch: false)) != nil
    }

    @Test func requestEndsWithAMessage() {
        let error = #expect(throws: WebArchiveError.self) {
            try resolver(1000).openCapture(request, in: [archive], allowsFuzzyMatch: false)
        }
        #expect(error?.code == .tooCostly)
        #expect(error?.problem == "reading the rest would exceed the limit for an archive of this size")
        #expect(isOpened(test.store.resolver), "the next request has an allowance of its own")
    }

    /// An opened record counts as 16 KiB.
    @Test func allPartsOfAStepShareOne() {
        let step = resolver(200 << 10)
        var count = 0
        while count < 100, isOpened(step) { count += 1 }
        #expect((5...12).contains(count))
    }

    /// The archives of a collection are different files, and one can't use up what is for another.
    @Test func eachArchiveHasItsOwn() throws {
        let other = try test.add(
            [Record("http://reef.example/1", "other", timestamp: "20250101000000")], id: "b", indexes: false)
        let step = resolver(0)
        #expect(!isOpened(step))
        #expect(try step.openCapture(request, in: [other], allowsFuzzyMatch: false) != nil)
    }

    @Test func bodyIsReadUpToIt() throws {
        let step = resolver(17 << 10)
        let capture = try #require(try step.openCapture(request, in: [archive], allowsFuzzyMatch: false))
        #expect(throws: WebArchiveError.self) {
            _ = try capture.body.open(decoded: true).read(upTo: 1000)
            // Read once, a record is opened again.
            _ = try capture.body.open(decoded: true).read(upTo: 1000)
        }
    }

    @Test func exportEndsWithWhatItHas() throws {
        let allowances = Allowances(Allowance(bytes: 200 << 10), for: archive)
        let exporter = Exporter(test.store, allowances: allowances)
        let files = try exporter.files(of: archive, to: test.folder.path("files"))
        #expect(files.count > 2 && files.count < 20 && files.failed == 20 - files.count)
        #expect(files.problem == "reading the rest would exceed the limit for an archive of this size")
    }

    @Test func explanationSaysIt() throws {
        let explanation = try resolver(1000).explain(request, in: .archive(archive))
        let problems = explanation.reasons.compactMap { reason -> String? in
            if case .unreadable(let capture) = reason { return capture.problem }
            return nil
        }
        #expect(problems == ["reading the rest would exceed the limit for an archive of this size"])
    }
}
