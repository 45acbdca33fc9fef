import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Uploads: each is a job that ends with the upload.
struct UploadTests {
    private func begin(_ test: TestStore, size: Int) throws -> Upload {
        try test.store.jobs.startUpload(name: "My Crawl.wacz", source: "browser", size: UInt64(size))
    }

    /// The code of the error that ended the only job.
    private func failure(_ test: TestStore, _ body: () throws -> Void) throws -> StoreError.Code? {
        let error = try #require(#expect(throws: FailedUpload.self) { try body() })
        #expect(error.job == (try test.job().id))
        return (error.reason as? StoreError)?.code
    }

    @Test func completeUploadBecomesArchive() async throws {
        let test = try TestStore()
        let bytes = GeneratedArchive(payloadSize: 100_000).bytes()
        let upload = try begin(test, size: bytes.count)
        for piece in [bytes.prefix(10), bytes.dropFirst(10)] { try piece.withUnsafeBytes { try upload.write($0) } }
        #expect(try test.job().state == .running)
        let archive = try upload.finish().onlyArchive
        #expect(archive.id.text == "my-crawl")
        #expect(archive.source == "browser")
        let job = try test.job()
        #expect((job.state, job.archiveID, job.subject) == (.done, archive.id, "My Crawl.wacz"))
        #expect((job.done, job.total) == (UInt64(bytes.count), UInt64(bytes.count)))
        #expect(!job.isRepeatable)
        withExtendedLifetime(upload) {}
        #expect(isSame(try contents(of: test.layout.file(archive.key)), bytes))
    }

    @Test(arguments: [9, 11])
    func uploadOfWrongSizeIsCancelled(size: Int) throws {
        let test = try TestStore()
        do {
            let upload = try begin(test, size: 10)
            try [UInt8](repeating: 0, count: size).withUnsafeBytes { try upload.write($0) }
            #expect(try failure(test) { _ = try upload.finish() } == .uploadCut)
        }
        #expect(try test.job().state == .cancelled)
        #expect(try test.job().reason == "nothing was added")
        #expect(try test.state().isEmpty)
    }

    @Test func releasedUploadIsCancelled() throws {
        let test = try TestStore()
        do {
            let upload = try begin(test, size: 10)
            try [UInt8]([1, 2, 3]).withUnsafeBytes { try upload.write($0) }
            #expect(try test.job().state == .running)
        }
        #expect(try test.job().state == .cancelled)
        #expect(try test.job().reason == "nothing was added")
        #expect(try test.state().isEmpty)
    }

    @Test func cancelledJobStopsUpload() throws {
        let test = try TestStore()
        try JobRate.$interval.withValue(.zero) {
            let upload = try begin(test, size: 10 << 20)
            try [UInt8]([1, 2, 3]).withUnsafeBytes { try upload.write($0) }
            #expect(try test.job().done == 3)
            _ = try test.store.jobs.change(try test.job().id, .cancel)
            let next = try failure(test) { try [UInt8]([4]).withUnsafeBytes { try upload.write($0) } }
            #expect(next == .interrupted)
        }
        #expect(try test.job().reason == "nothing was added")
        #expect(try test.state().isEmpty)
    }

    @Test func uploadWithoutSpaceFails() throws {
        let test = try TestStore()
        #expect(try failure(test) { _ = try begin(test, size: Int.max) } == .noSpace)
        #expect(try test.job().state == .failed)
        #expect(try test.job().errorCode == "no-space")
        #expect(try test.state().isEmpty)
    }

    @Test func refusedUploadFails() throws {
        let test = try TestStore()
        do {
            let upload = try begin(test, size: 6)
            try Array("no zip".utf8).withUnsafeBytes { try upload.write($0) }
            #expect(try failure(test) { _ = try upload.finish() } == .refused)
        }
        #expect(try test.job().state == .failed)
        #expect(try test.job().errorCode == "archive-refused")
        #expect(try test.state().isEmpty)
    }
}
