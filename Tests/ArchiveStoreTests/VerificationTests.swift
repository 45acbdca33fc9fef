import ArchiveSignature
import Foundation
import GRDB
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

    /// Another program writes over it, and sets its modification time back.
    @Test func linkedFileThatChangesBeforeItIsHashedLosesItsResult() throws {
        let test = try TestStore()
        let (path, archive) = try test.makeLinkedArchive("a")
        #expect(try test.store.verifications.verify(archive, trust: nil) { _ in } != nil)
        #expect(try test.store.archive(id: archive.id)?.verified != nil)
        try change(path, .inPlace)
        #expect(try JobRunner(test.store, kinds: [.hash]).runNext()?.state == .done)
        let now = try #require(try test.store.archives().first)
        #expect(now.archive.sha256 != nil && now.archive.verificationCode(now.availability) == .notVerified)
    }

    /// A partial hash of an earlier state isn't continued.
    @Test func linkedFileThatChangesWhileItIsHashedIsHashedAgain() async throws {
        let test = try TestStore()
        let (path, archive) = try test.makeLinkedArchive("a")
        let runner = JobRunner(test.store, kinds: [.hash])
        let job = try #require(try test.jobs().first { $0.kind == .hash })
        let file = try archive.openFile(in: test.layout)
        var work = HashingWork(key: archive.key, state: try file.state())
        try work.run(file) { _ in }
        runner.keepPartialHash(work, job.id)
        try change(path, .inPlace)
        #expect(
            code { _ = try test.store.committer.finishHashing(key: work.key, sha256: work.sha256, of: work.state) }
                == .changed)
        #expect(try runner.runNext()?.state == .done)
        #expect(try await test.store.archive(id: archive.id)?.sha256 == sha256ByOpenSSL(path))
    }

    @Test func auditQueuesOldVerifications() throws {
        let test = try TestStore()
        let archive = try verified(test)
        try test.store.verifications.queueAudit(days: 1)
        #expect(try JobRunner(test.store, kinds: [.verify]).runNext() == nil)
        let summary = VerificationSummary(
            code: .hashesAgree, contents: .hashesAgree, signer: nil,
            verifiedAt: Date(timeIntervalSinceNow: -90_000))
        #expect(
            try test.store.catalog.setVerification(
                summary, of: #require(archive.lastReading?.state), findings: [], key: archive.key))
        try test.store.verifications.queueAudit(days: 1)
        #expect(try JobRunner(test.store, kinds: [.verify]).runNext()?.state == .done)
    }

    // The bytes that were verified are those that are there ---------------------------------------------------------

    /// Lists, details and search show no result of what the file was; and it's verified again, whole.
    @Test(arguments: [FileChange.inPlace, .byRename, .copy])
    func fileThatChangedLaterHasNoResult(how: FileChange) throws {
        let test = try TestStore()
        let archive = try verified(test)
        #expect(
            try test.store.archives().map { $0.archive.verificationCode($0.availability) } == [archive.verified?.code])
        try change(test.layout.file(archive.key), how)
        let listed = try #require(try test.store.archives().first)
        #expect(listed.archive.verified == nil && listed.archive.verificationCode(listed.availability) == .notVerified)
        #expect(test.store.verifications.last(of: archive) == nil)
        #expect(try test.store.verifications.changed().map(\.id) == [archive.id])
        let report = try #require(
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(listed)) as? [String: Any])
        #expect(report["verification"] as? String == "not-verified" && report["verificationSummary"] == nil)
        try test.store.verifications.forgetChanged()
        #expect(try test.store.verifications.changed().isEmpty)
        try test.store.jobs.queueVerifications()
        #expect(try JobRunner(test.store, kinds: [.verify]).runNext()?.state == .done)
        let after = try #require(try test.store.archives().first).archive
        #expect(after.verified?.code == (how == .copy ? archive.verified?.code : .damaged))
    }

    /// A byte that changes while it's read, before or after that place.
    @Test(arguments: [0.0, 0.5, 0.99]) func fileThatChangesDuringVerificationHasNoResult(part: Double) throws {
        let test = try TestStore()
        let archive = try test.store.importFile(at: test.file("a.wacz")).archive
        let path = test.layout.file(archive.key)
        var isChanged = false
        let report = try test.store.verifications.verify(archive, trust: nil) { done in
            guard !isChanged, Double(done) >= part * Double(archive.size) else { return }
            isChanged = true
            try change(path, .inPlace)
        }
        #expect(isChanged && report == nil)
        #expect(try test.store.archive(id: archive.id)?.verified == nil)
    }

    /// The documents of a store that someone handed over name a signer. Its files have other states here.
    @Test func resultsFromElsewhereAreNotTaken() throws {
        let test = try TestStore()
        let archive = try verified(test)
        let document = test.layout.derived(.verified, key: archive.key)
        let claim = try String(contentsOfFile: document, encoding: .utf8)
        let copy = test.folder.path("copy")
        try FileManager.default.copyItem(atPath: test.layout.root, toPath: copy)
        let store = try ArchiveStore(at: copy)
        #expect(try store.archives().map { $0.archive.verificationCode($0.availability) } == [.notVerified])
        let rebuilt = try ArchiveStore.rebuild(at: copy).store
        #expect(try rebuilt.archives().map(\.archive.verified) == [nil])
        // With the stamp that versions up to 0.2.0 wrote.
        let forged = claim.replacing(/"stamp" *: *"[^"]*"/, with: "\"stamp\":\"1-\(archive.size)\"")
        try forged.write(
            toFile: StoreLayout(root: copy).derived(.verified, key: archive.key), atomically: true, encoding: .utf8)
        #expect(try ArchiveStore.rebuild(at: copy).store.archives().map(\.archive.verified) == [nil])
    }

    /// Earlier versions didn't store of which bytes a result is.
    @Test func resultsOfEarlierVersionsAreForgotten() throws {
        let test = try TestStore()
        let archive = try verified(test)
        try test.store.catalog.writing {
            try $0.execute(
                sql: """
                    DELETE FROM grdb_migrations WHERE identifier = '21 states of files';
                    ALTER TABLE archive DROP COLUMN knownState;
                    """)
        }
        let store = try ArchiveStore(at: test.layout.root)
        #expect(try store.archive(id: archive.id)?.verified == nil)
        try store.jobs.queueVerifications()
        #expect(try JobRunner(store, kinds: [.verify]).runNext()?.state == .done)
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
