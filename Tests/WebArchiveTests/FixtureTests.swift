import Testing
import WebArchive

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The folder with published archives. If it isn't set, prints that tests are skipped.
let fixtures: String? = {
    if let folder = ProcessInfo.processInfo.environment["REPLAYHOST_FIXTURES"] { return folder }
    print("skipped: tests of published archives, as REPLAYHOST_FIXTURES is not set")
    return nil
}()

/// A line of `hostile/EXPECTED.tsv`.
struct HostileCase: Sendable, CustomTestStringConvertible {
    let file: String
    let expected: String
    var testDescription: String { "\(file): \(expected)" }

    static let all: [HostileCase] = {
        guard let fixtures,
            let text = try? String(contentsOfFile: "\(fixtures)/hostile/EXPECTED.tsv", encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").dropFirst().map { line in
            let parts = line.split(separator: "\t")
            return HostileCase(file: String(parts[0]), expected: String(parts[1]))
        }
    }()

    /// Files whose fault appears only when hashes are verified or the record is read.
    static let faultIsInTheRecord = ["069-", "123-", "125-"]
}

/// Counts of index lines with JSON and page lines with a URL, made with Python 3.11 (zipfile, gzip, json).
struct PublishedCase: Sendable, CustomTestStringConvertible {
    let file: String
    let captures: Int
    let pages: Int
    /// The number of index lines whose WARC file is missing.
    var unreachable = 0
    var testDescription: String { file }

    static let all = [
        PublishedCase(file: "bensteinberg__waczerciser/test/fixtures/example.wacz", captures: 6, pages: 5),
        PublishedCase(file: "extua__wacksy/wacz_example.wacz", captures: 2, pages: 0, unreachable: 2),
        PublishedCase(file: "harvard-lil__scoop/assets/fixtures/example.com.wacz", captures: 3, pages: 3),
        PublishedCase(file: "ojauch__wacz/src/test/resources/invalid-checksum.wacz", captures: 2, pages: 1),
        PublishedCase(file: "ojauch__wacz/src/test/resources/invalid-datapackage.wacz", captures: 2, pages: 1),
        PublishedCase(file: "ojauch__wacz/src/test/resources/no-datapackage.wacz", captures: 2, pages: 1),
        PublishedCase(file: "ojauch__wacz/src/test/resources/no-pages.wacz", captures: 2, pages: 0),
        PublishedCase(file: "ojauch__wacz/src/test/resources/valid-example.wacz", captures: 2, pages: 1),
        PublishedCase(file: "ojauch__waczlib/test_assets/invalid-pages.wacz", captures: 2, pages: 0),
        PublishedCase(file: "ours/small-1.2.0.wacz", captures: 167, pages: 7),
        PublishedCase(file: "ours/small-cdxj.wacz", captures: 167, pages: 7),
        PublishedCase(file: "ours/small-deflate.wacz", captures: 167, pages: 7),
        PublishedCase(file: "ours/small-gz.wacz", captures: 167, pages: 7),
        PublishedCase(file: "ours/small-plain.wacz", captures: 167, pages: 7),
        PublishedCase(file: "ours/small-zipnum.wacz", captures: 167, pages: 7),
        PublishedCase(file: "ours/small.wacz", captures: 167, pages: 7),
        PublishedCase(
            file: "starlinglab__integrity-preprocessor/tests/assets/wacz/bad/anon-sig.wacz", captures: 2, pages: 1),
        PublishedCase(
            file: "starlinglab__integrity-preprocessor/tests/assets/wacz/bad/domain-sig.wacz", captures: 2, pages: 1),
        PublishedCase(
            file: "starlinglab__integrity-preprocessor/tests/assets/wacz/good/anon-sig.wacz", captures: 2, pages: 1),
        PublishedCase(
            file: "starlinglab__integrity-preprocessor/tests/assets/wacz/good/domain-sig.wacz", captures: 2, pages: 1),
        PublishedCase(
            file: "webrecorder__py-wacz/tests/fixtures/invalid_signed_example_1.wacz", captures: 2, pages: 1),
        PublishedCase(file: "webrecorder__py-wacz/tests/fixtures/v1.valid_example_2.wacz", captures: 1, pages: 0),
        PublishedCase(file: "webrecorder__py-wacz/tests/fixtures/example.wacz", captures: 1, pages: 0),
        // Its only page is in webarchive.yaml.
        PublishedCase(file: "webrecorder__py-wacz/tests/fixtures/valid_example_0.wacz", captures: 1, pages: 1),
        PublishedCase(file: "webrecorder__py-wacz/tests/fixtures/valid_example_1.wacz", captures: 1, pages: 1),
        PublishedCase(file: "webrecorder__py-wacz/tests/fixtures/valid_example_2.wacz", captures: 1, pages: 1),
        PublishedCase(file: "webrecorder__py-wacz/tests/fixtures/valid_signed_example_1.wacz", captures: 2, pages: 1),
        PublishedCase(file: "webrecorder__wacz2car/fixtures/v1.example.wacz", captures: 1, pages: 1),
    ]
}

@Suite(.enabled(if: fixtures != nil, "REPLAYHOST_FIXTURES is not set"))
struct FixtureTests {
    private var folder: String { fixtures ?? "" }

    @Test func everyHostileFileHasAnExpectation() {
        #expect(HostileCase.all.count == 42)
    }

    @Test(arguments: HostileCase.all)
    func hostileFilesGiveTheExpectedResult(_ c: HostileCase) throws {
        let outcome: String
        do {
            let inspection = try WACZFile.open(path: "\(folder)/hostile/\(c.file)").inspect()
            outcome = inspection.findings.contains { $0.severity >= .warning } ? "warn" : "accept"
        } catch is WebArchiveError {
            outcome = "reject"
        }
        switch c.expected {
        case "either": #expect(["reject", "warn"].contains(outcome))
        case "warn" where HostileCase.faultIsInTheRecord.contains { c.file.hasPrefix($0) }:
            #expect(["warn", "accept"].contains(outcome))
        default: #expect(outcome == c.expected)
        }
    }

    @Test(arguments: [
        ("084-cdx-offset-past-end.wacz", WebArchiveError.Code.badIndex),
        ("086-cdx-offset-int64-max.wacz", .badIndex), ("089-cdx-length-past-end.wacz", .badIndex),
        ("093-cdx-filename-traversal.wacz", .badIndex), ("123-warc-gzip-corrupt.wacz", .badGzip),
        ("125-warc-length-too-big.wacz", .truncated),
    ])
    func readingDamagedRecordsThrows(_ file: String, _ expected: WebArchiveError.Code) throws {
        let wacz = try WACZFile.open(path: "\(folder)/hostile/\(file)")
        let (entry, _) = try #require(try wacz.makeCaptureReader().next())
        let found = code {
            try wacz.record(of: entry).forEachChunk { _ in true }
        }
        #expect(found == expected)
    }

    @Test(arguments: [
        ("002-truncated-00pct.wacz", WebArchiveError.Code.empty, "empty"),
        ("005-truncated-25pct.wacz", .truncated, "the file is incomplete: its ZIP directory is missing"),
        ("012-not-a-zip-html.wacz", .notZIP, "HTML page"),
        ("013-not-a-zip-warc.wacz", .notZIP, "perhaps a WARC file"),
        ("015-not-a-zip-only-eocd.wacz", .noArchiveData, "in the ZIP is in archive/"),
        ("019-eocd-offset-past-end.wacz", .corruptZIP, "central directory"),
        ("031-entry-encrypted-flag.wacz", .encrypted, "archive/data.warc.gz: the entry is encrypted"),
        ("039-name-nul.wacz", .unsafeName, "NUL"), ("047-dup-datapackage.wacz", .duplicateName, "datapackage.json"),
        ("053-bomb-datapackage.wacz", .tooLarge, "4294967296"), ("057-bomb-zipnum-block.wacz", .tooLarge, "line 1"),
    ])
    func refusalsExplainTheReason(_ file: String, _ expected: WebArchiveError.Code, _ words: String) throws {
        let error = #expect(throws: WebArchiveError.self) {
            _ = try WACZFile.open(path: "\(folder)/hostile/\(file)").inspect()
        }
        #expect(error?.code == expected)
        #expect(error?.description.contains(words) == true)
    }

    @Test func bombsAreRefusedQuickly() throws {
        let clock = ContinuousClock()
        let start = clock.now
        _ = try? WACZFile.open(path: "\(folder)/hostile/053-bomb-datapackage.wacz").inspect()
        _ = try? WACZFile.open(path: "\(folder)/hostile/057-bomb-zipnum-block.wacz").inspect()
        // Inflating either one completely takes many times as long, even on a slow and busy machine.
        #expect(clock.now - start < .seconds(10))
    }

    @Test(arguments: PublishedCase.all)
    func countsMatchOtherTools(_ c: PublishedCase) throws {
        let inspection = try WACZFile.open(path: "\(folder)/\(c.file)").inspect()
        #expect(inspection.captureCount == c.captures)
        #expect(inspection.pageCount == c.pages)
    }

    @Test(arguments: PublishedCase.all)
    func readsEveryIndexedRecord(_ c: PublishedCase) throws {
        let wacz = try WACZFile.open(path: "\(folder)/\(c.file)")
        var unreachable = 0
        try wacz.forEachIndexEntry { entry, _ in
            guard wacz.warcEntry(named: entry.filename) != nil else {
                unreachable += 1
                return true
            }
            let record = try wacz.record(of: entry)
            #expect(record.targetURI == entry.url)
            #expect(record.isRevisit == entry.isRevisit)
            var total: UInt64 = 0
            try record.forEachChunk { chunk in
                total += UInt64(chunk.count)
                return true
            }
            #expect(total == record.contentLength)
            if record.holdsHTTP, record.type == "response" {
                #expect(try record.openHTTPMessage().head.status == entry.status)
            }
            return true
        }
        #expect(unreachable == c.unreachable)
    }

    /// The second has a text file in data/archive/, which can't be replayed.
    @Test(arguments: [
        "ojauch__wacz/src/test/resources/no-archives.wacz",
        "webrecorder__py-wacz/tests/fixtures/invalid_example_1.wacz",
    ])
    func archiveWithoutCapturesIsRefused(_ file: String) {
        let error = #expect(throws: WebArchiveError.self) { _ = try WACZFile.open(path: "\(folder)/\(file)") }
        #expect(error?.code == .noArchiveData && error?.hint == nil)
    }
}
