import CaptureAPI
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore
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
        #expect(archive.saved == SavedURL(url: row.url, user: "john", download: id))
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
            if step == .completed { await handOver().sweep(try await test.row(row.downloadID)) }
        }
        try await expectDone(row.downloadID)
    }

    /// A fault of the library isn't one of the download: what the worker made waits.
    @Test func missingFolderOfTheLibraryLosesNothing() async throws {
        let (row, files) = try await session()
        try FileManager.default.removeItem(atPath: store.layout.files)
        do {
            try await handOver().run(row, files)
            Issue.record("there is no folder for the archive")
        } catch let error as StoreError {
            #expect(![.refused, .archiveDamaged].contains(error.code), "the runner would end the download")
        }
        try FileManager.default.createDirectory(atPath: store.layout.files, withIntermediateDirectories: true)
        try await handOver().run(row, files)
        try await expectDone(row.downloadID)
    }

    @Test(arguments: ["", "\0", String(repeating: "👨‍👩‍👧‍👦", count: 300), String(repeating: "हिन्दी", count: 300)])
    func titleNeverLosesADownload(title: String) async throws {
        var (row, files) = try await session()
        files.title = title
        files.fileName = title
        (files.incomplete, files.replayCheck, files.genreDetectionError) = (title, title, title)
        try await handOver().run(row, files)
        #expect(try store.archives().count == 1)
        #expect(try await test.row(row.downloadID).state == "completed")
    }

    /// A person cancels and deletes while the runner ends.
    @Test func severalSweepsAtOnceLeaveNothing() async throws {
        let (row, _) = try await session()
        let folder = layout.session(row.sessionID)
        for _ in 0..<20 {
            for part in 0..<20 {
                let path = "\(folder)/part-\(part)"
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                for file in 0..<5 { try Data("x".utf8).write(to: URL(fileURLWithPath: "\(path)/\(file)")) }
                chmod(path, 0o500)
            }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { [handOver = handOver()] in await handOver.sweep(row) } }
            }
            #expect(names(in: layout.sessions) == [])
        }
    }

    // What a tool that was taken over can write ------------------------------------------------------------------------

    /// The names of a result, each of which would lead out of the session, or to what isn't a file of it.
    private static let foreign = [
        "../../../secret", "out/../../../../secret", "/SECRET", "out/link", "link/secret", "out/hard", "out/fifo",
        "out/socket", "out/device",
        "out", "out/", "", ".",
        "out//media.mp4", "out/\0media.mp4", "out/none", "a/b/c/d/e/f/g/h/i", String(repeating: "x", count: 300),
    ]

    /// Makes links and others in a session; the person's file is outside.
    private func trap(_ session: String) throws -> String {
        let secret = test.folder.path("store/secret")
        try Data("secret".utf8).write(to: URL(fileURLWithPath: secret))
        symlink(secret, session + "/out/link")
        symlink(test.folder.path("store"), session + "/link")
        link(secret, session + "/out/hard")
        mkfifo(session + "/out/fifo", 0o600)
        #expect(mknod(session + "/out/socket", S_IFSOCK | 0o600, 0) == 0)
        // Only root can make one: that of /dev/null.
        #expect(mknod(session + "/out/device", S_IFCHR | 0o600, 0x0103) == 0 || geteuid() != 0)
        return secret
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func expectUntouched(_ secret: String) throws {
        #expect(try contents(of: secret) == Array("secret".utf8))
        #expect(try mode(secret) == 0o644)
        let placed = FileManager.default.enumerator(atPath: layout.downloads)?.allObjects as? [String] ?? []
        for name in placed where Folder.isFile("\(layout.downloads)/\(name)") {
            #expect(try contents(of: "\(layout.downloads)/\(name)") != Array("secret".utf8))
        }
    }

    @Test(arguments: foreign) func fileOutsideIsNotTaken(name: String) async throws {
        var (row, files) = try await session()
        let secret = try trap(layout.session(row.sessionID))
        files.file = name.replacing("/SECRET", with: secret)
        let error = await #expect(throws: StoreError.self) { try await handOver().run(row, files) }
        #expect(error?.code == .refused, "after any other error, the same is tried again")
        try expectUntouched(secret)
        await handOver().sweep(row)
        try expectUntouched(secret)
        #expect(names(in: layout.sessions) == [] && names(in: layout.received) == [])
    }

    @Test(arguments: foreign) func archiveOutsideIsNotTaken(name: String) async throws {
        var (row, files) = try await session()
        let secret = try trap(layout.session(row.sessionID))
        files.archive = name.replacing("/SECRET", with: secret)
        let error = await #expect(throws: StoreError.self) { try await handOver().run(row, files) }
        #expect(error?.code == .refused, "after any other error, the same is tried again")
        try expectUntouched(secret)
        #expect(try store.archives().isEmpty)
    }

    /// A tool that still runs replaces its file by links while the server takes it.
    @Test func replacedFileIsNeverAnother() async throws {
        let (row, _) = try await session()
        let path = layout.session(row.sessionID)
        let secret = try trap(path)
        let next = path + "/next"
        let isOver = Atomic(false)
        let hasStopped = Atomic(false)
        async let replacing: Void = onThread {
            defer { hasStopped.store(true, ordering: .relaxed) }
            while !isOver.load(ordering: .relaxed) {
                try Data("film".utf8).write(to: URL(fileURLWithPath: next))
                rename(next, path + "/out/media.mp4")
                symlink(secret, next)
                rename(next, path + "/out/media.mp4")
                link(secret, next)
                rename(next, path + "/out/media.mp4")
            }
        }
        try await onThread { [folder = test.folder] in
            defer { isOver.store(true, ordering: .relaxed) }
            var (taken, refused) = (0, 0)
            while taken < 20 || refused < 20, !hasStopped.load(ordering: .relaxed) {
                let target = folder.path("taken-\(taken + refused)")
                do {
                    try SessionFolder(path).take("out/media.mp4", to: target)
                    taken += 1
                    try #require(contents(of: target) == Array("film".utf8))
                    try #require(!Folder.isSameFile(secret, target))
                } catch let error as StoreError {
                    refused += 1
                    #expect(error.code == .refused && !Folder.hasName(target), "\(error)")
                }
            }
        }
        try await replacing
        try expectUntouched(secret)
    }

    /// Where the archive that a result gives or names comes from.
    enum Origin: CaseIterable {
        case stored, named, linked, lost, earlierDownload
    }

    /// A result that names an archive which is in the library already, or gives a copy of it.
    @Test(arguments: Origin.allCases) func archiveOfSomethingElseIsRefused(_ origin: Origin) async throws {
        var (row, files) = try await session()
        let earlier = SavedURL(url: row.url, user: row.username, download: UUID().uuidString)
        let source = origin == .named ? Checkout.fixture("second.wacz") : Checkout.fixture("sample.wacz")
        let imported = try store.jobs.importAny(
            at: source, mode: origin == .linked ? .link : .copy,
            options: ImportOptions(saved: origin == .earlierDownload ? earlier : nil))
        guard case .archive(let outcome) = imported else { throw Killed() }
        if origin == .linked { try hash(outcome.archive) }
        if origin == .lost { try Folder.delete(store.layout.file(outcome.archive.key)) }
        let before = try store.archives().map(\.archive)
        files.archiveSHA256 = try #require(before.first?.sha256)
        let error = await #expect(throws: StoreError.self) { try await handOver().run(row, files) }
        #expect(error?.code == .refused, "after any other error, the same is tried again")
        #expect(try await test.row(row.downloadID).archiveID == nil)
        // What the person sees of it, too.
        #expect(try store.archives().map(\.archive) == before)
        #expect(Folder.hasName(store.layout.file(outcome.archive.key)) == (origin != .lost && origin != .linked))
    }

    private func hash(_ archive: Archive) throws {
        let sha256 = try FileHash.of(Descriptor(path: Checkout.fixture("sample.wacz"))) { _ in }.sha256
        let state = try #require(archive.fileState(in: store.layout))
        _ = try store.committer.finishHashing(key: archive.key, sha256: sha256, of: state)
    }

    /// Of a server that was killed while it deleted what was taken of a result that it refused.
    @Test func fileOfAnEarlierResultIsNotTaken() async throws {
        let (row, files) = try await session()
        try Folder.create(layout.received(row))
        for name in [".file", ".file.moved"] {
            try Data("earlier".utf8).write(to: URL(fileURLWithPath: "\(layout.received(row))/\(name)"))
        }
        try await handOver().keep(files, of: row)
        try await handOver().run(row, files)
        try await expectDone(row.downloadID)
        #expect(try contents(of: layout.downloads + "/john/tiktok/1_film.mp4") == Array("film".utf8))
    }

    /// A server that was killed between the move and the check.
    @Test(arguments: ["link", "hard", "fifo", "socket", "device", "folder", "file"])
    func whatWasMovedIsChecked(kind: String) async throws {
        let (row, files) = try await session()
        let path = layout.session(row.sessionID)
        let secret = try trap(path)
        mkdir(path + "/out/folder", 0)
        try Data("film".utf8).write(to: URL(fileURLWithPath: path + "/out/file"))
        try await handOver().keep(files, of: row)
        guard rename("\(path)/out/\(kind)", layout.receivedFile(row) + ".moved") == 0 else {
            #expect(kind == "device" && geteuid() != 0)
            return
        }
        if kind == "file" {
            try await handOver().run(row, files)
            return try await expectDone(row.downloadID)
        }
        let error = await #expect(throws: StoreError.self) { try await handOver().run(row, files) }
        #expect(error?.code == .refused, "after any other error, the same is tried again")
        try expectUntouched(secret)
        await handOver().sweep(row)
        #expect(names(in: layout.sessions) == [] && names(in: layout.received) == [])
        try expectUntouched(secret)
    }

    @Test(arguments: [
        "../../.bash_profile", "/etc/cron.d/x", ".profile", "a/b\u{202e}gpj.mp4", "a\nb", "", "..",
        String(repeating: "x", count: 400),
    ])
    func nameStaysInItsFolder(name: String) async throws {
        var (row, files) = try await session()
        files.fileName = name
        try await handOver().run(row, files)
        let placed = try #require(try await test.row(row.downloadID).fileName)
        #expect(!placed.contains("/") && !placed.hasPrefix(".") && placed.utf8.count <= 255)
        #expect(names(in: layout.downloads + "/john/tiktok") == [placed])
        #expect(names(in: layout.downloads) == ["john"])
    }

    /// What a tool left in the session of a server that was killed says nothing; what the server noted does.
    @Test func resultIsWhatTheServerNoted() async throws {
        let (row, files) = try await session()
        var forged = files
        forged.title = "forged"
        try JSONEncoder().encode(WorkerResult.success(forged))
            .write(to: URL(fileURLWithPath: layout.session(row.sessionID) + "/result.json"))
        #expect(try handOver().files(of: row) == nil)
        try await handOver().keep(files, of: row)
        #expect(try handOver().files(of: row)?.title == "A film")
        try await handOver().run(row, files)
        try await expectDone(row.downloadID)
        #expect(try handOver().files(of: row) == nil && names(in: layout.received) == [])
    }

    /// What isn't a file, in the place of what the server writes for the next attempt.
    @Test func filesOfTheServerReplaceAnythingWithTheirName() async throws {
        let (row, _) = try await session()
        let path = layout.session(row.sessionID)
        let secret = try trap(path)
        let folder = SessionFolder(path)
        for trap in ["link", "hard", "fifo", "socket"] {
            #expect(rename("\(path)/out/\(trap)", "\(path)/job.json") == 0)
            try folder.write("job.json", Array("order".utf8))
            #expect(try folder.read("job.json", bytesMax: 100) == Array("order".utf8))
        }
        try folder.remove("none")
        try expectUntouched(secret)
    }

    /// Before each attempt. What isn't named here is deleted.
    @Test(arguments: ["link", "hard", "fifo", "socket", "folder", "file"])
    func attemptContinuesOnlyLogAndParts(kind: String) async throws {
        let (row, _) = try await session()
        let path = layout.session(row.sessionID)
        let secret = try trap(path)
        mkdir(path + "/out/folder", 0)
        try Data("parts".utf8).write(to: URL(fileURLWithPath: path + "/out/file"))
        let folder = SessionFolder(path)
        try FileManager.default.createDirectory(atPath: path + "/parts", withIntermediateDirectories: false)
        try Data("part".utf8).write(to: URL(fileURLWithPath: path + "/parts/media.mp4.part"))
        chmod(path, 0)
        try folder.prepare()
        #expect(names(in: path).sorted() == ["log.txt", "out", "parts"])
        #expect(names(in: path + "/parts") == ["media.mp4.part"])
        #expect(try logs.page(row, offset: 0, limit: 10).lines == ["a line"])
        let trap = "\(path)/out/\(kind)"
        for name in ["log.txt", "parts"] where name != (["folder": "parts", "file": "log.txt"][kind]) {
            try FolderRemoval.delete("\(path)/\(name)")
            #expect(link(trap, "\(path)/\(name)") == 0 || rename(trap, "\(path)/\(name)") == 0)
        }
        try folder.prepare()
        let left = ["folder": ["out", "parts"], "file": ["log.txt", "out"]][kind] ?? ["out"]
        #expect(names(in: path).sorted() == left)
        try expectUntouched(secret)
    }

    /// A file that can't be used is found out before the archive is in the library.
    @Test func refusedFileLeavesNoArchive() async throws {
        var (row, files) = try await session()
        files.file = "out/none"
        let error = await #expect(throws: StoreError.self) { try await handOver().run(row, files) }
        #expect(error?.code == .refused, "after any other error, the same is tried again")
        #expect(try store.archives().isEmpty)
    }

    /// Links in the place of what the server reads and writes itself.
    @Test func linksInASessionAreNotFollowed() async throws {
        let (row, _) = try await session()
        let path = layout.session(row.sessionID)
        let secret = try trap(path)
        let folder = SessionFolder(path)
        for name in ["job.json", "log.txt"] {
            try Folder.delete("\(path)/\(name)")
            symlink(secret, "\(path)/\(name)")
            #expect(throws: StoreError.self) { try folder.read(name, bytesMax: 100) }
        }
        #expect(try logs.page(row, offset: 0, limit: 10).lines == [])
        try folder.write("job.json", Array("order".utf8))
        #expect(try folder.read("job.json", bytesMax: 100) == Array("order".utf8))
        #expect(throws: StoreError.self) { try folder.read("job.json", bytesMax: 4) }
        try expectUntouched(secret)
        await handOver().discardResult(row)
        try expectUntouched(secret)
        // Deleting gives a tool's protected folders back their modes, but not those that a link leads to.
        #expect(chmod(test.folder.path("store"), 0o755) == 0 && chmod(path + "/out", 0) == 0)
        await handOver().sweep(row)
        #expect(try mode(test.folder.path("store")) == 0o755)
        #expect(names(in: layout.sessions) == [])
        try expectUntouched(secret)
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
        _ = try await test.queue.reserveName(row.downloadID, "1_film.mp4", except: [])
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
            await handOver().sweep(row)
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
