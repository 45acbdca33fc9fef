import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Archives of the library with the payload that a revisit of another archive repeats. WARC 1.1 §6.7.
struct PayloadSearchTests {
    typealias Record = RecordedArchive.Record

    private let test: TestStore
    private let url = "http://a.example/"
    /// `printf whole | sha1sum`, in base32.
    private static let digest = "sha1:V6ARGJQQ5QQUKGTLTU5AVT5YI7VBKXE7"

    init() throws { test = try TestStore() }

    @discardableResult
    private func add(_ records: [Record], as name: String, requires: [(String, String)] = []) throws -> Archive {
        var archive = RecordedArchive(records)
        archive.requirements = requires.map { ($0.0, $0.1) }
        return try test.store.importFile(at: test.folder.write(archive.bytes(), to: "\(name).wacz")).archive
    }

    private func original(_ timestamp: String = "20200101000000", digest: String? = Self.digest) -> Record {
        Record(url, "whole", timestamp: timestamp).with {
            if let digest { $0.index += ",\"digest\":\"\(digest)\"" }
        }
    }

    /// As in a second crawl that was deduplicated against the first.
    private func again(
        digest: String? = Self.digest, profile: String = "identical-payload-digest", names: Bool = true
    ) -> Record {
        Record(url, "", timestamp: "20240101000000").with {
            $0.type = "revisit"
            $0.index = "\"mime\":\"warc/revisit\"" + (digest.map { ",\"digest\":\"\($0)\"" } ?? "")
            $0.fields = ["WARC-Profile: http://netpreserve.org/warc/1.1/revisit/\(profile)"]
            if let digest { $0.fields.append("WARC-Payload-Digest: \(digest)") }
            if names {
                $0.fields += [
                    "WARC-Refers-To-Target-URI: \(url)", "WARC-Refers-To-Date: 2020-01-01T00:00:00Z",
                    "WARC-Refers-To: <urn:uuid:1>",
                ]
            }
        }
    }

    /// Returns what the explanation says about the missing content; `nil` if it says something else.
    private func evidence(_ archives: [Archive]) throws -> Explanation.IncompleteCapture? {
        let request = ArchiveStore.CaptureRequest(url: url, time: CaptureTimestamp(digits: "20240101000000"))
        let collection = ArchiveCollection(
            id: try #require(ArchiveID("c")), title: "c", notes: "", tags: [], members: archives.map(\.id),
            createdAt: .distantPast)
        let place: Replayable = archives.count == 1 ? .archive(archives[0]) : .collection(collection, archives)
        let explanation = try test.store.resolver.explain(request, in: place, libraryTime: .seconds(600))
        for case .incomplete(let evidence) in explanation.reasons { return evidence }
        return nil
    }

    /// A verification of the archive names the same archives.
    private func holders(_ archive: Archive) throws -> [PayloadHolder] {
        let found = try #require(try evidence([archive])).archives
        let report = try #require(try test.store.verifications.verify(archive, trust: nil) { _ in })
        let missing = try #require(report.result.missing)
        #expect(try test.store.resolver.holders(of: missing, in: archive, besides: []) == found)
        return found
    }

    @Test func archiveWithTheDigestIsNamed() throws {
        let second = try add([again()], as: "second")
        let alone = try #require(try evidence([second]))
        #expect(alone.archives.isEmpty)
        #expect(alone.missing.text == "\(url) of 2020-01-01T00:00:00Z (record urn:uuid:1)")
        try add([original(digest: "sha1:\(String(repeating: "A", count: 32))")], as: "other")
        #expect(try holders(second).isEmpty)
        let first = try add([original()], as: "first")
        #expect(
            try holders(second) == [
                PayloadHolder(
                    archive: "first", title: first.title, url: url, timestamp: "20200101000000", match: .digest,
                    requiredName: nil, requiredBytes: nil)
            ])
        // A collection of the two is whole, and says so.
        #expect(try evidence([second, first]) == nil)
        let report = try test.store.verifications.verify(second, trust: nil, in: [second, first]) { _ in }
        let together = try #require(report).result
        #expect(together.missing == nil && together.revisits == together.captures)
        #expect(try #require(try test.store.archive(id: second.id)).verified?.contents == .partly, "alone, it isn't")
    }

    @Test func contentWithoutADigestIsNamedAsSuch() throws {
        try add([original(digest: nil)], as: "first")
        #expect(try holders(add([again(digest: nil)], as: "second")).map(\.match) == [.capture])
        let unchanged = again(digest: nil, profile: "server-not-modified", names: false)
        #expect(try holders(add([unchanged], as: "unchanged")).map(\.match) == [.earlier])
        let later = unchanged.with { $0.timestamp = "20190101000000" }
        let request = ArchiveStore.CaptureRequest(url: url, time: nil)
        let place = Replayable.archive(try add([later], as: "later"))
        let explanation = try test.store.resolver.explain(request, in: place)
        let reason = explanation.reasons.first { $0.code == .incomplete }
        guard case .incomplete(let evidence) = reason else {
            Issue.record("nothing is incomplete")
            return
        }
        #expect(evidence.archives.isEmpty, "a later state is never shown for it")
    }

    /// g12: the required file has changed since. It's found by its name and the digest of the record.
    @Test(arguments: [true, false]) func requiredFileIsFoundByName(hasHash: Bool) throws {
        try add([original()], as: "public")
        let container = again().with { $0.fields.append("WARC-Refers-To-Container: file://public.wacz") }
        let second = try add(
            [container], as: "second",
            requires: hasHash ? [("public.wacz", "sha256:\(String(repeating: "0", count: 64))")] : [])
        let found = try #require(try holders(second).first)
        #expect(found.archive == "public" && found.match == .digest && found.requiredName == "public.wacz")
        #expect(found.requiredBytes == (hasHash ? .other : .unknown))
        let answer = try? test.store.resolver.openCapture(
            ArchiveStore.CaptureRequest(url: url, time: nil), in: [second], allowsFuzzyMatch: false)
        #expect(answer == nil, "a name gives no right to read")
    }

    /// Without the content, a name says nothing.
    @Test func fileWithTheNameButOtherContentIsNotOffered() throws {
        try add([original(digest: "sha1:\(String(repeating: "A", count: 32))")], as: "public")
        let container = again().with { $0.fields.append("WARC-Refers-To-Container: file://public.wacz") }
        #expect(try holders(add([container], as: "second")).isEmpty)
    }

    /// A capture at another time can be shown instead. The closest one is still explained.
    @Test func captureThatIsReplacedIsExplained() throws {
        try add([original()], as: "first")
        let other = Record(url, "other", timestamp: "20230101000000").with {
            $0.index += ",\"digest\":\"sha1:\(String(repeating: "A", count: 32))\""
        }
        let second = try add([again(), other], as: "second")
        #expect(try evidence([second])?.archives.map(\.archive) == ["first"])
    }

    @Test func fewArchivesAreOpened() throws {
        let second = try add([again()], as: "second")
        let other = "sha1:\(String(repeating: "A", count: 32))"
        // Nearer in time, and in most archives of the library, as a common script is.
        for number in 0..<20 {
            try add([original(digest: other), Record("http://\(number).example/")], as: "o\(number)")
        }
        try add([original("20100101000000")], as: "first")
        #expect(try holders(second).isEmpty, "too many may have it")
        let named = again().with { $0.fields.append("WARC-Refers-To-Container: first.wacz") }
        #expect(try holders(add([named], as: "named")).map(\.archive) == ["first"])
    }

    @Test func verificationInACollectionIsNotStored() throws {
        let archives = [try add([original()], as: "first"), try add([again()], as: "second")]
        for (collection, count) in [(archives, 0), ([archives[1]], 1)] {
            let report = try test.store.verifications.verify(archives[1], trust: nil, in: collection) { _ in }
            #expect(try #require(report).result.revisits.failed == count)
            #expect(try #require(report).result.findings.count { $0.code == "revisit-unresolved" } == count)
        }
        #expect(try #require(try test.store.archive(id: archives[1].id)).verified == nil)
    }
}
