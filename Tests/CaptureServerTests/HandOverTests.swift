import ArchiveStore
import CaptureAPI
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import CaptureServer
@testable import CaptureWorker

struct HandOverTests {
    private let test: TestQueue
    private let store: ArchiveStore
    private let layout: CaptureLayout
    private let logs: DownloadLogs

    init() throws {
        test = try TestQueue()
        store = try ArchiveStore(at: test.folder.path("store"))
        layout = CaptureLayout(store: store.layout, downloads: test.folder.path("Downloads"))
        try layout.makeFolders()
        logs = DownloadLogs(layout: layout)
    }

    private struct Killed: Error {}

    /// Prepares a session as a worker leaves it, and returns its row and result.
    private func session(_ url: String = "https://www.tiktok.com/@a/video/1") async throws -> (DownloadRow, SavedFiles)
    {
        let id = try await test.add(url)
        let row = try #require(try await test.claim())
        #expect(row.downloadID == id)
        let session = layout.session(id)
        try FileManager.default.createDirectory(atPath: session + "/out", withIntermediateDirectories: true)
        let wacz = try contents(of: Checkout.fixture("sample.wacz"))
        try Data(wacz).write(to: URL(fileURLWithPath: session + "/1_film.wacz"))
        try Data("film".utf8).write(to: URL(fileURLWithPath: session + "/out/media.mp4"))
        try Data("a line\n".utf8).write(to: URL(fileURLWithPath: session + "/log.txt"))
        let archive = try Descriptor(path: session + "/1_film.wacz", flags: 0)
        let sha256 = try FileHash.of(archive) { _ in }.sha256
        let files = SavedFiles(
            archive: "1_film.wacz", archiveSHA256: sha256, file: "out/media.mp4", fileSize: 4, mediaType: "video/mp4",
            fileName: "1_film.mp4", title: "A film", genre: .tiktok, genreDetectionError: nil)
        return (row, files)
    }

    private func handOver(keepsFiles: Bool = true, killedAfter step: HandOver.Step? = nil) -> HandOver {
        HandOver(
            store: store, queue: test.queue, layout: layout, logs: logs, keepsFiles: { keepsFiles },
            logger: Logger(label: "test")
        ) {
            if $0 == step { throw Killed() }
        }
    }

    private func expectDone(_ id: String) async throws {
        let row = try await test.row(id)
        #expect(row.state == "completed" && row.fileName == "1_film.mp4" && row.fileSize == 4)
        let archives = try store.archives()
        #expect(archives.map(\.archive.id.text) == [row.archiveID])
        let archive = try #require(archives.first?.archive)
        #expect(archive.title == "A film" && archive.tags == ["john", "tiktok"])
        #expect(archive.saved == SavedURL(url: "https://www.tiktok.com/@a/video/1", user: "john"))
        #expect(archive.entry.source == "https://www.tiktok.com/@a/video/1")
        #expect(names(in: layout.downloads + "/john/tiktok") == ["1_film.mp4"])
        #expect(names(in: layout.sessions) == [])
        #expect(try logs.page(row, offset: 0, limit: 20).lines == ["a line"])
    }

    @Test(arguments: HandOver.Step.allCases)
    func eachStepCanBeRepeated(_ step: HandOver.Step) async throws {
        let (row, files) = try await session()
        await #expect(throws: Killed.self) { try await handOver(killedAfter: step).run(row, files) }
        if step != .swept {
            // What the next start does.
            try await test.queue.requeueInterrupted()
            if let again = try await test.claim() { try await handOver().run(again, files) }
            if step == .completed { handOver().sweep(try await test.row(row.downloadID)) }
        }
        try await expectDone(row.downloadID)
    }

    @Test func archiveAloneIsKeptOnRequest() async throws {
        let (row, files) = try await session()
        try await handOver(keepsFiles: false).run(row, files)
        #expect(try await test.row(row.downloadID).fileName == nil)
        #expect(names(in: layout.downloads) == [])
        #expect(try store.archives().count == 1)
    }

    @Test func otherFilesAreNeverReplaced() async throws {
        let (row, files) = try await session()
        let folder = layout.downloads + "/john/tiktok"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/1_film.mp4"))
        symlink("/etc/passwd", folder + "/1_film-2.mp4")
        try await handOver().run(row, files)
        #expect(try await test.row(row.downloadID).fileName == "1_film-3.mp4")
        #expect(try contents(of: folder + "/1_film.mp4") == Array("mine".utf8))
        #expect(try contents(of: folder + "/1_film-3.mp4") == Array("film".utf8))
    }

    /// As on another file system, where a hard link isn't possible: a complete copy of an interrupted hand-over is found again.
    @Test func completeCopyIsNotMadeTwice() async throws {
        let (row, files) = try await session()
        let folder = layout.downloads + "/john/tiktok"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("film".utf8).write(to: URL(fileURLWithPath: folder + "/1_film.mp4"))
        _ = try await test.queue.reserveName(row.downloadID, "1_film.mp4") { _ in true }
        try await handOver().run(row, files)
        try await expectDone(row.downloadID)
    }

    /// The log moves from the session to the stored logs when the download has ended.
    @Test func logIsCompleteWhileItMoves() async throws {
        let (row, _) = try await session()
        let folder = layout.session(row.sessionID)
        for _ in 0..<200 {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data("a line\n".utf8).write(to: URL(fileURLWithPath: folder + "/log.txt"))
            let moves = Atomic(false)
            let reads = Atomic(0)
            async let lines = onThread { [logs] in
                var lines: Set<[String]> = []
                repeat {
                    lines.insert(try logs.page(row, offset: 0, limit: 10).lines)
                    reads.add(1, ordering: .relaxed)
                } while !moves.load(ordering: .relaxed)
                return lines
            }
            try await onThread { try waitUntil { reads.load(ordering: .relaxed) > 0 } }
            handOver().sweep(row)
            moves.store(true, ordering: .relaxed)
            #expect(try await lines == [["a line"]])
        }
    }

    @Test func logsAreCompressedAsZstandard() async throws {
        let lines = (0..<1000).map { "line \($0)" }
        let bytes = Array(lines.joined(separator: "\n").utf8)
        let compressed = try DownloadLogs.compressed(bytes)
        // RFC 8878 §3.1.1: the magic number.
        #expect(Array(compressed.prefix(4)) == [0x28, 0xB5, 0x2F, 0xFD])
        #expect(compressed.count < bytes.count / 3)
        #expect(try DownloadLogs.decompressed(compressed) == bytes)
        for length in 0..<compressed.count {
            #expect(throws: StoreError.self) { try DownloadLogs.decompressed(Array(compressed.prefix(length))) }
        }
    }

    @Test func pagesOfALogHaveItsLines() async throws {
        let (row, _) = try await session()
        let text = (0..<45).map { "line \($0)" }.joined(separator: "\n")
        try Data(text.utf8).write(to: URL(fileURLWithPath: layout.session(row.sessionID) + "/log.txt"))
        let page = try logs.page(row, offset: 40, limit: 20)
        #expect(page.total == 45 && page.offset == 40)
        #expect(page.lines == (40..<45).map { "line \($0)" })
        #expect(try logs.page(row, offset: 100, limit: 20).lines == [])
    }
}
