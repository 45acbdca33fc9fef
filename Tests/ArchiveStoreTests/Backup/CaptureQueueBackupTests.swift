import Foundation
import GRDB
import TestSupport
import Testing

@testable import ArchiveStore

/// The queue of the capture server in backups.
struct CaptureQueueBackupTests {
    private func queue(_ layout: StoreLayout) throws -> DatabasePool {
        try Folder.create(layout.capture)
        let queue = try DatabasePool(path: layout.captureDatabase)
        try queue.write { try $0.execute(sql: "CREATE TABLE downloads (url TEXT); INSERT INTO downloads VALUES ('a')") }
        return queue
    }

    private func urls(_ path: String) throws -> [String] {
        try DatabaseQueue(path: path).read { try String.fetchAll($0, sql: "SELECT url FROM downloads ORDER BY url") }
    }

    @Test func queueIsCopiedWhileItIsUsedAndRestored() throws {
        let made = try BackedUpStore()
        try made.add("one", seed: 1)
        // Open, with its last changes in the write-ahead log only.
        let queue = try queue(made.test.layout)
        _ = try made.store.backUp(to: made.folder)
        try queue.write { try $0.execute(sql: "INSERT INTO downloads VALUES ('b')") }
        _ = try made.store.backUp(to: made.folder)
        #expect(try urls(made.folder + "/capture/capture.sqlite") == ["a", "b"])
        #expect(names(in: made.folder + "/capture") == ["capture.sqlite"])
        let root = made.test.folder.path("restored")
        _ = try ArchiveStore.restore(from: made.folder, to: root)
        let restored = StoreLayout(root: root)
        #expect(try urls(restored.captureDatabase) == ["a", "b"])
        // What the store has by now stays.
        try DatabaseQueue(path: restored.captureDatabase).write { try $0.execute(sql: "DELETE FROM downloads") }
        _ = try ArchiveStore.restore(from: made.folder, to: root)
        #expect(try urls(restored.captureDatabase) == [])
    }

    @Test func archiveRemembersWhatItWasSavedFrom() throws {
        let made = try BackedUpStore()
        let path = try made.test.folder.write(contents(of: Checkout.fixture("sample.wacz")), to: "store-files/a.wacz")
        let saved = SavedURL(url: "https://example.org/film", user: "john")
        let result = try made.store.jobs.importAny(at: path, options: ImportOptions(title: "Film", saved: saved))
        guard case .archive(let outcome) = result else {
            Issue.record("not an archive")
            return
        }
        #expect(outcome.archive.saved == saved)
        _ = try made.store.backUp(to: made.folder)
        let root = made.test.folder.path("restored")
        _ = try ArchiveStore.restore(from: made.folder, to: root)
        let store = try ArchiveStore(at: root)
        #expect(try store.archives().map(\.archive.saved) == [saved])
        // The sidecar has it, too.
        let (rebuilt, _) = try ArchiveStore.rebuild(at: root)
        #expect(try rebuilt.archives().map(\.archive.saved) == [saved])
    }

    @Test func filesOfTheCaptureServerCanBeMovedIntoTheLibrary() throws {
        let made = try BackedUpStore()
        let layout = made.test.layout
        let session = layout.capture + "/sessions/1"
        try Folder.create(session)
        let path = session + "/film.wacz"
        try Data(contents(of: Checkout.fixture("sample.wacz"))).write(to: URL(fileURLWithPath: path))
        guard case .archive(let outcome) = try made.store.jobs.importAny(at: path, mode: .move) else {
            Issue.record("not an archive")
            return
        }
        #expect(!Folder.exists(path))
        #expect(outcome.archive.originalName == "film.wacz")
        // Other files of the store still can't.
        let own = layout.file(outcome.archive.key)
        let error = #expect(throws: StoreError.self) { try made.store.jobs.importAny(at: own, mode: .move) }
        #expect(error?.what == "this file is already part of the store")
    }
}
