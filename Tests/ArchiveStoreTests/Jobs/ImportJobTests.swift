import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// Imports as jobs.
struct ImportJobTests {
    private func write(_ test: TestStore, _ name: String = "a.wacz", payload: Int = 0) throws -> String {
        try test.folder.write(GeneratedArchive(payloadSize: payload).bytes(), to: name)
    }

    @Test func importIsRecordedAsFinishedJob() throws {
        let test = try TestStore()
        let path = try write(test, "My Crawl.wacz")
        var states: [Job.State] = []
        _ = try test.store.jobs.importAny(at: path) { _ in states = try test.jobs().map(\.state) }
        #expect(states == [.running])
        let job = try test.job()
        #expect(job.kind == .import)
        #expect(job.state == .done)
        #expect(job.subject == "My Crawl.wacz")
        #expect(job.archiveID?.text == "my-crawl")
        #expect(job.total == UInt64(try contents(of: path).count))
        #expect(job.done == job.total)
        #expect(job.attempt == 1)
    }

    @Test func refusedImportFails() throws {
        let test = try TestStore()
        let path = try test.folder.write("no zip", to: "a.wacz")
        #expect(code { _ = try test.store.jobs.importAny(at: path) } == .refused)
        let job = try test.job()
        #expect(job.state == .failed)
        #expect(job.errorCode == "archive-refused")
        #expect(job.reason?.isEmpty == false)
        #expect(job.reason?.contains(test.folder.path) == false)
    }

    @Test func missingFileCreatesNoJob() throws {
        let test = try TestStore()
        #expect(code { _ = try test.store.jobs.importAny(at: test.folder.path("none")) } == .notFound)
        #expect(try test.jobs().isEmpty)
    }

    @Test func interruptedImportIsCancelled() throws {
        let test = try TestStore()
        let path = try write(test)
        let stopped = code {
            _ = try test.store.jobs.importAny(at: path) { _ in throw StoreError(.interrupted, "interrupted") }
        }
        #expect(stopped == .interrupted)
        #expect(try test.job().state == .cancelled)
        #expect(try test.job().reason == "nothing was added")
        #expect(names(in: test.layout.files).isEmpty)
    }

    @Test func importContinuesIfProgressCannotBeSaved() throws {
        let test = try TestStore()
        let path = try write(test, payload: 9 << 20)
        var isBroken = false
        let result = try JobRate.$interval.withValue(.zero) {
            try test.store.jobs.importAny(at: path) { _ in
                guard !isBroken else { return }
                isBroken = true
                try test.store.catalog.writing { try $0.execute(sql: "ALTER TABLE job RENAME TO lost") }
            }
        }
        #expect(isBroken)
        #expect(try test.store.catalog.allArchives() == [result.onlyOutcome.archive])
    }

    @Test(arguments: [JobChange.cancel, .pause])
    func largeImportCanBeStoppedByAnotherProcess(_ change: JobChange) throws {
        let test = try TestStore()
        let path = try write(test, payload: 40 << 20)
        let other = try test.reopened()
        var isAsked = false
        let stopped = code {
            // Saves progress with every call, instead of a few times a second.
            try JobRate.$interval.withValue(.zero) {
                _ = try test.store.jobs.importAny(at: path) { _ in
                    guard !isAsked else { return }
                    isAsked = true
                    _ = try other.jobs.change(try test.job().id, change)
                }
            }
        }
        #expect(stopped == .interrupted)
        #expect(try test.job().state == change.state)
        #expect(names(in: test.layout.files).isEmpty)
        // Both can be repeated.
        _ = try other.jobs.change(try test.job().id, change == .pause ? .resume : .retry)
        #expect(try test.runAll().map(\.state) == [.done])
        #expect(try test.store.catalog.allArchives().map(\.id.text) == ["a"])
    }

    @Test func smallImportIsSavedTwice() throws {
        let test = try TestStore()
        let path = try write(test, payload: 1 << 20)
        let before = try test.store.catalog.revision().jobs
        _ = try JobRate.$interval.withValue(.zero) { try test.store.jobs.importAny(at: path) }
        #expect(try test.store.catalog.revision().jobs == before + 2)
    }

    /// docs: the same path with the same options.
    @Test func importOfDeadProcessIsRepeatedWithItsOptions() async throws {
        let test = try TestStore()
        let path = try write(test)
        let options = ImportOptions(
            title: "Given", id: ArchiveID("chosen"), tags: ["one", "two"], sha256: try await sha256ByOpenSSL(path))
        let order = ImportOrder(path: path, options: options)
        #expect(order.options == options)
        _ = try test.store.jobs.addImport(order, subject: "a.wacz", total: 5, owner: deadOwner())
        #expect(try test.runAll().map(\.state) == [.done])
        let archive = try test.store.resolver.archive(matching: "chosen")
        #expect(archive.title == "Given")
        #expect(archive.tags == ["one", "two"])
        #expect(try test.job().archiveID == archive.id)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func completedImportIsNotRepeated() throws {
        let test = try TestStore()
        let path = try write(test)
        let order = ImportOrder(path: path, options: ImportOptions(id: ArchiveID("chosen")))
        _ = try test.store.importAny(at: path, options: order.options)
        _ = try test.store.jobs.addImport(order, subject: "a.wacz", total: 5, owner: deadOwner())
        #expect(try test.runAll().map(\.state) == [.done])
        #expect(try test.store.catalog.allArchives().count == 1)
    }

    @Test(arguments: ImportMode.allCases)
    func importModeIsKept(_ mode: ImportMode) throws {
        let test = try TestStore()
        let path = try write(test)
        let order = ImportOrder(path: path, mode: mode)
        _ = try test.store.jobs.addImport(order, subject: "a.wacz", total: 5, owner: deadOwner())
        _ = try test.runAll()
        #expect(try test.jobs()[0].state == .done)
        #expect(FileManager.default.fileExists(atPath: path) == (mode != .move))
        #expect(try test.store.resolver.archive(matching: "a").storage.isLinked == (mode == .link))
    }

    @Test func moveWithDeletedOriginalIsDone() throws {
        let test = try TestStore()
        let path = try write(test)
        let order = ImportOrder(path: path, mode: .move)
        _ = try test.store.jobs.addImport(order, subject: "a.wacz", total: 5, owner: deadOwner())
        _ = try test.store.importAny(at: path, mode: .move)
        #expect(!FileManager.default.fileExists(atPath: path))
        let job = try #require(try test.runAll().first)
        #expect(job.state == .done)
        #expect(job.archiveID?.text == "a")
    }

    @Test func repeatedImportOfMissingFileFails() throws {
        let test = try TestStore()
        let order = ImportOrder(path: test.folder.path("gone.wacz"))
        _ = try test.store.jobs.addImport(order, subject: "gone.wacz", total: 5, owner: deadOwner())
        let job = try #require(try test.runAll().first)
        #expect(job.state == .failed)
        #expect(job.errorCode == "not-found")
    }

    @Test func relativePathIsMadeAbsolute() throws {
        let order = ImportOrder(path: "a.wacz")
        #expect(order.path == FileManager.default.currentDirectoryPath + "/a.wacz")
        #expect(ImportOrder(json: try order.json()) == order)
    }

    @Test func streamIsRecordedAsJob() async throws {
        let test = try TestStore()
        let file = try Descriptor(path: try write(test), flags: O_RDONLY)
        let result = try test.store.jobs.importStream(file.number, name: "A name", source: "standard input")
        #expect(try #require(result.outcome).archive.id.text == "a-name")
        #expect(try test.job().state == .done)
        #expect(try test.job().subject == "A name")
        withExtendedLifetime(file) {}
    }
}
