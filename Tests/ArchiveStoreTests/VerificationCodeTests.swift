import ArchiveSignature
import Foundation
import GRDB
import TestSupport
import Testing

@testable import ArchiveStore
@testable import WebArchive

/// The results of verifications: which there are, how they're decided, and what earlier versions stored.
struct VerificationCodeTests {
    typealias Code = VerificationCode

    /// A signature shows nothing unless all hashes agree, and hides nothing.
    @Test(arguments: [
        (Code.hashesAgree, nil, Code.hashesAgree), (.hashesAgree, Code.signed, .signed),
        (.hashesAgree, .signedAnonymously, .signedAnonymously), (.hashesAgree, .signerNotProven, .signerNotProven),
        (.hashesAgree, .invalidSignature, .invalidSignature), (.partly, .signed, .partly),
        (.partly, .signerNotProven, .signerNotProven), (.recordsDiffer, .signed, .recordsDiffer),
        (.recordsDiffer, .signerNotProven, .recordsDiffer), (.suspicious, .signed, .suspicious),
        (.suspicious, .invalidSignature, .invalidSignature), (.unreplayable, .signed, .unreplayable),
        (.unreplayable, .invalidSignature, .invalidSignature), (.damaged, .signed, .damaged),
        (.damaged, .invalidSignature, .damaged),
    ])
    func codeIsTheWorseOfContentsAndSignature(contents: Code, signature: Code?, expected: Code) {
        #expect(Code(contents: contents, signature: signature) == expected)
    }

    /// Version 0.2.0 wrote these into the catalog, and the first ones that verified wrote no state.
    @Test(arguments: [
        (#""contents":"verified","outcome":"verified","signature":"none","state":"undamaged""#, Code.hashesAgree),
        (
            #""contents":"verified","outcome":"verified","signature":"valid","signer":"a.example","state":"undamaged""#,
            .signed
        ),
        (#""contents":"verified","outcome":"verified","signature":"valid","state":"undamaged""#, .signedAnonymously),
        (
            #""contents":"verified","outcome":"verified","signature":"untrusted","signer":"a.example","state":"undamaged""#,
            .signerNotProven
        ),
        (#""contents":"verified","outcome":"failed","signature":"invalid","state":"undamaged""#, .invalidSignature),
        (#""contents":"verified","outcome":"failed","signature":"unreadable","state":"undamaged""#, .invalidSignature),
        // Of another file.
        (#""contents":"verified","outcome":"failed","signature":"valid","state":"undamaged""#, .invalidSignature),
        (#""contents":"incomplete","outcome":"incomplete","signature":"valid","state":"incomplete""#, .partly),
        (#""contents":"incomplete","outcome":"incomplete","signature":"none","state":"digestsDiffer""#, .recordsDiffer),
        (#""contents":"verified","outcome":"verified","signature":"none","state":"suspicious""#, .suspicious),
        (#""contents":"failed","outcome":"failed","signature":"valid","state":"unreplayable""#, .unreplayable),
        (#""contents":"failed","outcome":"failed","signature":"none","state":"damaged""#, .damaged),
        (#""contents":"failed","outcome":"failed","signature":"none""#, .damaged),
        (#""contents":"incomplete","outcome":"incomplete","signature":"none""#, .partly),
        (#""contents":"verified","outcome":"verified","signature":"none""#, .hashesAgree),
    ])
    func resultsOfEarlierVersionsAreRead(members: String, code: Code) throws {
        let json = "{\(members),\"verifiedAt\":\"2026-11-30T10:13:03Z\"}"
        let summary = try JSONDecoder().decode(VerificationSummary.self, from: Data(json.utf8))
        #expect(summary.code == code)
        let again = try JSONDecoder().decode(VerificationSummary.self, from: JSONEncoder().encode(summary))
        #expect(again == summary)
    }

    /// A library of version 0.2.0: its catalog, and the report beside the file.
    @Test func reportOfAnEarlierVersionIsRead() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        let report = Self.earlierReport.replacingOccurrences(of: "STAMP", with: "1-\(archive.fileStamp)")
        let path = test.layout.derived(.verified, key: archive.key)
        try Data(report.utf8).write(to: URL(fileURLWithPath: path))
        try test.store.catalog.writing {
            try $0.execute(
                sql: "UPDATE archive SET verification = ?",
                arguments: [
                    #"{"contents":"failed","outcome":"failed","signature":"none","state":"unreplayable","verifiedAt":"2026-11-30T10:13:03Z"}"#
                ])
        }
        let now = try #require(try test.store.archive(id: archive.id))
        #expect(now.verified?.code == .unreplayable && now.verificationCode(.available) == .unreplayable)
        let read = try #require(try test.store.details(of: now).verification)
        #expect(read.summary == now.verified && read.result.findings.map(\.code) == ["warc-damaged"])
        #expect(read.result.contents == .unreplayable && read.result.files.checked == 4 && read.version == "0.2.0")
        let (rebuilt, _) = try ArchiveStore.rebuild(at: test.layout.root)
        #expect(try rebuilt.archive(id: archive.id)?.verified == now.verified)
    }

    @Test func fileThatIsNotThereHasNoResult() throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        #expect(archive.verificationCode(.available) == .notVerified)
        #expect(archive.verificationCode(.changed) == .changed)
        #expect(archive.verificationCode(.unavailable) == nil && archive.verificationCode(.missing) == nil)
    }

    /// The app, the documentation and the description of the API have these codes, with these words, and no others.
    @Test func wordsAreTheSameEverywhere() throws {
        func text(_ path: String) throws -> String { try String(contentsOfFile: Checkout.path(path), encoding: .utf8) }
        let words = Dictionary(
            uniqueKeysWithValues: Code.allCases.map { ($0.rawValue, $0.words(signer: "example.org")) })

        let messages = try text("www/app/messages/en/shell.js").matches(of: /"trust\.mark\.([a-z-]+)": "(.+)",/)
        let ofApp = messages.map { (String($0.1), $0.2.replacingOccurrences(of: "{signer}", with: "example.org")) }
        #expect(Dictionary(uniqueKeysWithValues: ofApp) == words)

        let rows = try text("docs/verify.md").matches(of: /\| `([a-z-]+)` \| (?:[✓⚠✕] )?\*\*(.+?)\*\* \|/)
        #expect(Dictionary(uniqueKeysWithValues: rows.map { (String($0.1), String($0.2)) }) == words)

        let description = try text("www/openapi.json")
        let schema = try #require(description.firstMatch(of: /"VerificationCode": \{\s+"enum": \[([^\]]+)\]/))
        #expect(Set(schema.1.matches(of: /"([a-z-]+)"/).map { String($0.1) }) == Set(words.keys))
    }

    private static let earlierReport = """
        {
          "content" : {
            "newFindings" : [

            ],
            "result" : {
              "captures" : { "checked" : 1, "failed" : 1, "without" : 0 },
              "dataPackage" : { "checked" : 1, "failed" : 0, "without" : 0 },
              "files" : { "checked" : 4, "failed" : 0, "without" : 0 },
              "findings" : [
                {
                  "code" : "warc-damaged",
                  "consequence" : "The content of this record can't be replayed.",
                  "location" : "archive/k4-cut.warc byte 0",
                  "severity" : "error",
                  "urls" : [
                    "http://example.test/"
                  ],
                  "what" : "A WARC record can't be read: the WARC record needs 8894 bytes, but has only 8858: http://example.test/"
                }
              ],
              "outcome" : "failed",
              "packageHash" : "sha256:42968637cd7a4b36a0558521065851a2d649d87f97de279df6c3214433dbcf62",
              "pages" : { "checked" : 1, "failed" : 0, "without" : 0 },
              "payloadDigests" : { "decoded" : 0, "withTransferCoding" : 0, "withoutTransferCoding" : 0 },
              "records" : { "checked" : 0, "failed" : 0, "without" : 0 },
              "revisits" : { "checked" : 0, "failed" : 0, "without" : 0 },
              "uncheckedFiles" : 0,
              "unreadableRecords" : 1,
              "warcFiles" : { "checked" : 1, "failed" : 0, "without" : 0 }
            },
            "summary" : {
              "contents" : "failed",
              "outcome" : "failed",
              "signature" : "none",
              "state" : "unreplayable",
              "verifiedAt" : "2026-11-30T10:13:03Z"
            },
            "version" : "0.2.0"
          },
          "stamp" : "STAMP"
        }
        """
}
