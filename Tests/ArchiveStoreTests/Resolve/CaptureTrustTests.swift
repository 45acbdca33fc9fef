import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// What is known of a capture is never better than what is known of any of the files with what is shown. `docs/json.md`, "Capture".
struct CaptureTrustTests {
    private let test: TestStore
    /// `printf Right | sha1sum`, in base32.
    private let digest = "sha1:SVG2VCYAGNOGNYTCCBXAD564EKYZUQ3S"

    init() throws { test = try TestStore() }

    private func add(_ name: String, _ record: RecordedArchive.Record, _ code: VerificationCode) throws -> Archive {
        let bytes = RecordedArchive([record]).bytes()
        let archive = try test.store.importFile(at: test.folder.write(bytes, to: "\(name).wacz")).archive
        let summary = VerificationSummary(code: code, contents: .hashesAgree, signer: name, verifiedAt: Date())
        let state = try #require(archive.lastReading?.state)
        #expect(try test.store.catalog.setVerification(summary, of: state, findings: [], key: archive.key))
        return try #require(try test.store.archive(id: archive.id))
    }

    private func trust(of url: String, in archives: [Archive]) throws -> CaptureTrust {
        let request = ArchiveStore.CaptureRequest(url: url, time: nil)
        let capture = try test.store.resolver.openCapture(request, in: archives, allowsFuzzyMatch: false)
        return test.store.resolver.trust(in: try #require(capture))
    }

    @Test(arguments: [
        (VerificationCode.signed, VerificationCode.signed, VerificationCode.partly), (.signed, .damaged, .damaged),
        (.hashesAgree, .signed, .partly), (.recordsDiffer, .signed, .recordsDiffer), (.signed, .uncovered, .uncovered),
    ])
    func contentOfAnotherArchiveCounts(
        own: VerificationCode, other: VerificationCode, together: VerificationCode
    ) throws {
        let original = RecordedArchive.Record("http://a.example/", "Right").with {
            $0.index += ",\"digest\":\"\(digest)\""
            $0.fields = ["WARC-Payload-Digest: \(digest)"]
        }
        let revisit = RecordedArchive.Record("http://b.example/", "").with {
            $0.type = "revisit"
            $0.index = "\"mime\":\"warc/revisit\",\"digest\":\"\(digest)\""
            $0.fields = [
                "WARC-Payload-Digest: \(digest)", "WARC-Refers-To-Target-URI: http://a.example/",
                "WARC-Refers-To-Date: 2024-01-02T03:04:05Z",
                "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
            ]
        }
        let archives = try [add("first", original, other), add("second", revisit, own)]
        let trust = try trust(of: "http://b.example/", in: archives)
        #expect(trust.verification == together && trust.contentArchive == archives[0].id)
        let whole = try self.trust(of: "http://a.example/", in: archives)
        #expect(whole.verification == other && whole.contentArchive == nil && whole.recorded == nil)
    }

    /// The result is about the file as it was.
    @Test func fileThatWasReplacedIsNotSigned() throws {
        let archive = try add("first", RecordedArchive.Record("http://a.example/", "Right"), .signed)
        #expect(try trust(of: "http://a.example/", in: [archive]).verification == .signed)
        let path = test.layout.file(archive.key)
        try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
        #expect(rename(path + ".copy", path) == 0)
        #expect(try trust(of: "http://a.example/", in: [archive]).verification == .notVerified)
    }

    @Test func recordCountsWhereTheIndexDiffers() throws {
        let record = RecordedArchive.Record("http://a.example/", "Right").with {
            $0.index = "\"mime\":\"application/pdf\",\"status\":\"404\""
            $0.indexedURL = "http://bank.example@a.example/"
        }
        let archive = try add("first", record, .hashesAgree)
        #expect(
            try trust(of: "http://a.example/", in: [archive]).recorded
                == .init(url: "http://a.example/", status: 200, mime: "text/html"))
    }
}
