import ArchiveSignature
import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

/// Verification as a job, and its results. Tests/FaultTests/test_verify.py has what is found.
struct VerificationTests {
    private func verified(_ test: TestStore, seed: UInt64 = 1) throws -> Archive {
        let archive = try test.store.importFile(at: test.file("a.wacz", seed: seed)).archive
        try test.store.jobs.queueVerifications()
        let job = try #require(try JobRunner(test.store, kinds: [.verify]).runNext())
        #expect((job.kind, job.state, job.archiveID) == (.verify, .done, archive.id))
        return try #require(try test.store.archive(id: archive.id))
    }

    @Test func jobVerifiesEachArchiveOnce() throws {
        let test = try TestStore()
        let archive = try verified(test)
        let report = try #require(test.store.verifications.last(of: archive))
        #expect(archive.verified == report.summary)
        #expect(try test.store.details(of: archive).verification == report)
        try test.store.jobs.queueVerifications()
        #expect(try JobRunner(test.store).runNext() == nil)
    }

    @Test func resultSurvivesARebuildOfTheCatalog() throws {
        let test = try TestStore()
        let before = try verified(test)
        let findings = try test.store.details(of: before).findings
        let (store, _) = try ArchiveStore.rebuild(at: test.layout.root)
        let after = try #require(try store.archive(id: before.id))
        #expect(after.verified == before.verified)
        #expect(try store.details(of: after).findings == findings)
    }

    @Test func resultIsDeletedWithTheArchive() throws {
        let test = try TestStore()
        let archive = try verified(test)
        #expect(names(in: test.layout.files).contains("\(archive.key).verified.json"))
        try test.store.remove(archive.id)
        #expect(names(in: test.layout.files) == [])
    }

    /// The file gets its SHA-256, and with it another key.
    @Test func linkedFileKeepsItsResultWhenItIsHashed() throws {
        let test = try TestStore()
        let (_, archive) = try test.makeLinkedArchive("a")
        try test.store.jobs.queueVerifications()
        let runner = JobRunner(test.store)
        while try runner.runNext() != nil {}
        let now = try #require(try test.store.archive(id: archive.id))
        #expect(now.sha256 != nil && now.key != archive.key)
        #expect(now.verified != nil)
        #expect(test.store.verifications.last(of: now)?.summary == now.verified)
    }

    @Test func auditQueuesOldVerifications() throws {
        let test = try TestStore()
        let archive = try verified(test)
        try test.store.verifications.queueAudit(days: 1)
        #expect(try JobRunner(test.store, kinds: [.verify]).runNext() == nil)
        let summary = VerificationSummary(
            code: .hashesAgree, contents: .hashesAgree, signer: nil,
            verifiedAt: Date(timeIntervalSinceNow: -90_000))
        #expect(try test.store.catalog.setVerification(summary, findings: [], key: archive.key))
        try test.store.verifications.queueAudit(days: 1)
        #expect(try JobRunner(test.store, kinds: [.verify]).runNext()?.state == .done)
    }

    /// A file that can't be opened any more is a result, not a job that failed.
    @Test func damagedFileIsAResult() throws {
        let test = try TestStore()
        let archive = try verified(test)
        #expect(chmod(test.layout.file(archive.key), 0o600) == 0)
        let file = try #require(FileHandle(forUpdatingAtPath: test.layout.file(archive.key)))
        try file.seek(toOffset: archive.size - 22)
        try file.write(contentsOf: Data(repeating: 0, count: 22))
        try file.close()
        test.store.openArchives.forget(key: archive.key)
        try test.store.jobs.queueVerification(of: archive)
        #expect(try JobRunner(test.store, kinds: [.verify]).runNext()?.state == .done)
        let report = try #require(test.store.verifications.last(of: archive))
        #expect(report.summary.code == .damaged && report.newFindings == ["archive-unreadable"])
        #expect(report.hasChanged)
    }

    private struct Stopped: Error {}

    /// Stopped at each state that can be stored, with a record as the smallest step.
    @Test func verificationContinuesAnywhere() throws {
        let test = try TestStore()
        let wacz = try WACZFile.open(path: test.file("a.wacz", layout: .plain, pages: 12))
        let expected = try ArchiveVerifier(wacz, lookups: FileLookups(wacz)).run()
        #expect(expected.records.checked + expected.records.without > 10)
        var progress = VerificationProgress()
        var stops = 0
        while true {
            var last = Data()
            let verifier = ArchiveVerifier(
                wacz, continuing: progress, lookups: FileLookups(wacz), checkpointInterval: .zero
            ) { _, now in
                guard let now, now != progress else { return }
                last = try JSONEncoder().encode(now)
                throw Stopped()
            }
            do {
                #expect(try verifier.run() == expected)
                break
            } catch is Stopped {
                progress = try JSONDecoder().decode(VerificationProgress.self, from: last)
                stops += 1
            }
        }
        #expect(stops > 15, "\(stops) stops")
    }
}
