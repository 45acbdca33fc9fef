import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

struct ImporterTests {
    private struct Stop: Error {}

    @Test func importedArchiveIsComplete() async throws {
        let test = try TestStore()
        let source = Checkout.fixture("sample.wacz")
        let outcome = try test.store.importFile(at: source)
        let archive = outcome.archive
        let hash = try await sha256ByOpenSSL(source)
        #expect(!outcome.isDuplicate)
        #expect(archive.sha256 == hash)
        #expect(archive.id.text == "sample")
        #expect(archive.size == UInt64(try contents(of: source).count))
        let stored = test.layout.file(hash)
        #expect(isSame(try contents(of: stored), try contents(of: source)))
        let mode = try FileManager.default.attributesOfItem(atPath: stored)[.posixPermissions] as? Int
        #expect(mode == 0o400)
        #expect(try test.store.catalog.allArchives() == [archive])
        #expect(try test.store.catalog.archive(id: archive.id) == archive)
        try await test.expectWhole()
        #expect(try test.store.repair().changedAnything == false)
    }

    /// The catalog is rebuilt from sidecars, so their format must stay readable.
    @Test func sidecarContainsMetadata() throws {
        let test = try TestStore()
        let source = try test.folder.write(GeneratedArchive(title: "A \\\"title\\\" / ü").bytes(), to: "My Crawl.wacz")
        let archive = try test.store.importFile(at: source).archive
        let text = String(decoding: try contents(of: test.layout.sidecar(archive.key)), as: UTF8.self)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(
            Set(json.keys) == [
                "format", "id", "title", "originalName", "source", "importedAt", "tags", "notes", "indexesText",
                "showsUncovered",
            ])
        #expect(json["format"] as? Int == 2)
        #expect(json["id"] as? String == "my-crawl")
        #expect(json["title"] as? String == "A \"title\" / ü")
        #expect(json["originalName"] as? String == "My Crawl.wacz")
        #expect(json["source"] as? String == source)
        let time = try #require(json["importedAt"] as? String)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/) != nil)
        let parts = try FileManager.default.attributesOfItem(atPath: test.layout.sidecar(archive.key))
        #expect(parts[.posixPermissions] as? Int == 0o600)
    }

    @Test func pagesStayInOrder() throws {
        let test = try TestStore()
        let pages = (0..<25).map { GeneratedArchive.Page(url: "http://example.org/\(24 - $0)", title: "Page \($0)") }
        let source = try test.folder.write(GeneratedArchive(pages: pages).bytes(), to: "a.wacz")
        let archive = try test.store.importFile(at: source).archive
        let list = try test.store.catalog.pages(key: archive.key, PageListRequest(limit: 100))
        let found = list.pages
        #expect(list.total == 25)
        #expect(found.map(\.url) == pages.map(\.url))
        #expect(found.map(\.title) == pages.map(\.title))
        #expect(found.map(\.position) == Array(0..<25))
        #expect(found.allSatisfy { $0.timestamp == "20240102030405" && $0.list == "pages" })
        #expect(archive.pageCount == 25)
        #expect(archive.captureCount == 25)
        #expect(archive.firstCapture == "20240102030405")
    }

    @Test func duplicateChangesNothing() throws {
        let test = try TestStore()
        let first = try test.store.importFile(at: Checkout.fixture("second.wacz"))
        let before = try test.state()
        let copy = try test.folder.write(try contents(of: Checkout.fixture("second.wacz")), to: "other name.wacz")
        let second = try test.store.importFile(at: copy, options: ImportOptions(title: "Another"))
        #expect(second.isDuplicate)
        #expect(second.details == first.details)
        #expect(try test.state() == before)
    }

    @Test func differentFileOfSameNameIsNewArchive() throws {
        let test = try TestStore()
        let one = try test.folder.write(GeneratedArchive(seed: 1).bytes(), to: "1/crawl.wacz")
        let two = try test.folder.write(GeneratedArchive(seed: 2).bytes(), to: "2/crawl.wacz")
        #expect(try test.store.importFile(at: one).archive.id.text == "crawl")
        #expect(try test.store.importFile(at: two).archive.id.text == "crawl-2")
        // By original name the first is found: PRODUCT.md, "The HTTP surface".
        #expect(try test.store.catalog.archive(named: "crawl.wacz")?.id.text == "crawl")
    }

    @Test func concurrentImportsOfSameFileAddOneArchive() async throws {
        let test = try TestStore()
        let source = try test.folder.write(GeneratedArchive(payloadSize: 3_000_000).bytes(), to: "a.wacz")
        let (root, count) = (test.layout.root, 6)
        let duplicates = try await withThrowingTaskGroup(of: Bool.self) { tasks in
            for _ in 0..<count {
                tasks.addTask {
                    // A separate store for each, as in separate processes.
                    try await onThread { try ArchiveStore(at: root).importFile(at: source).isDuplicate }
                }
            }
            return try await tasks.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(duplicates.filter { !$0 }.count == 1)
        #expect(try test.store.catalog.allArchives().map(\.id.text) == ["a"])
        try await test.expectWhole()
    }

    @Test func importsFromPipe() async throws {
        let test = try TestStore()
        let bytes = GeneratedArchive(title: nil, payloadSize: 1_000_000).bytes()
        let pipe = Pipe()
        let (reader, writer) = (pipe.fileHandleForReading.fileDescriptor, pipe.fileHandleForWriting)
        async let written: Void = onThread {
            try writer.write(contentsOf: Data(bytes))
            try writer.close()
        }
        let store = test.store
        let imported = try await onThread {
            try store.jobs.importStream(reader, name: "From a pipe", source: "standard input")
        }
        let archive = try #require(imported.outcome).archive
        try await written
        withExtendedLifetime(pipe) {}
        #expect(archive.id.text == "from-a-pipe")
        #expect(archive.title == "From a pipe")
        #expect(isSame(try contents(of: test.layout.file(archive.key)), bytes))
        try await test.expectWhole()
    }

    @Test func titleComesFromOptionPackageOrFileName() throws {
        let test = try TestStore()
        let named = try test.folder.write(GeneratedArchive(title: "Its own", seed: 1).bytes(), to: "1/crawl.wacz")
        let bare = try test.folder.write(GeneratedArchive(title: nil, seed: 2).bytes(), to: "2/Some Crawl.WACZ")
        let blank = try test.folder.write(GeneratedArchive(title: "  ", seed: 3).bytes(), to: "3/blank.wacz.zip")
        let given = try test.folder.write(GeneratedArchive(title: "Its own", seed: 4).bytes(), to: "4/given.wacz")
        #expect(try test.store.importFile(at: named).archive.title == "Its own")
        #expect(try test.store.importFile(at: bare).archive.title == "Some Crawl")
        #expect(try test.store.importFile(at: blank).archive.title == "blank")
        let options = ImportOptions(title: "Mine")
        #expect(try test.store.importFile(at: given, options: options).archive.title == "Mine")
    }

    @Test func strictRefusesFilesWithWarnings() async throws {
        let test = try TestStore()
        let path = Checkout.fixture("damaged/wrong-hash.wacz")
        #expect(code { _ = try test.store.importFile(at: path, options: ImportOptions(isStrict: true)) } == .refused)
        #expect(try test.state().isEmpty)
        #expect(try test.store.importFile(at: path).archive.id.text == "wrong-hash")
        let good = try test.store.importFile(
            at: Checkout.fixture("sample.wacz"), options: ImportOptions(isStrict: true))
        #expect(!good.isDuplicate)
        try await test.expectWhole()
    }

    /// Another archive, a package that has the expected one as a member, and a WARC file, of which the store makes an archive.
    @Test(arguments: ImportMode.allCases.filter { $0 != .link })
    func otherFileThanExpectedIsRefusedAndLeavesNothing(mode: ImportMode) async throws {
        let test = try TestStore()
        let archive = try test.file("a.wacz", seed: 1)
        let hash = try await sha256ByOpenSSL(archive)
        let package = GeneratedArchive.packageOfPackages(title: "Both", [("a.wacz", try contents(of: archive), hash)])
        let warc = "WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
        let others = [
            try test.file("b.wacz", seed: 2), try test.folder.write(package, to: "c.wacz"),
            try test.folder.write(Array(warc.utf8), to: "d.warc"),
        ]
        for path in others {
            let options = ImportOptions(sha256: hash)
            #expect(code { _ = try test.store.importAny(at: path, mode: mode, options: options) } == .refused)
            #expect(Folder.hasName(path))
        }
        #expect(try test.state().isEmpty)
        #expect(try test.store.importAny(at: archive, mode: mode, options: ImportOptions(sha256: hash)).outcome != nil)
        try await test.expectWhole()
    }

    // Fixtures/README.md says what is wrong with each.
    @Test(arguments: ["truncated", "not-a-zip", "encrypted", "nul-name", "multi-wacz"])
    func unplayableFileIsRefusedAndLeavesNothing(name: String) throws {
        let test = try TestStore()
        let path = Checkout.fixture("damaged/\(name).wacz")
        #expect(code { _ = try test.store.importFile(at: path) { Issue.record("it went on: \($0)") } } == .refused)
        #expect(try test.state().isEmpty)
        let descriptor = try Descriptor(path: path, flags: O_RDONLY)
        #expect(
            code { _ = try test.store.jobs.importStream(descriptor.number, name: name, source: "standard input") }
                == .refused)
        #expect(try test.state().isEmpty)
    }

    @Test(arguments: ["no-datapackage", "no-index", "unsorted-index", "wrong-hash", "index-past-the-end"])
    func playableFileIsImportedWithFindings(name: String) throws {
        let test = try TestStore()
        let outcome = try test.store.importFile(at: Checkout.fixture("damaged/\(name).wacz"))
        let counts = outcome.archive.findingCounts
        #expect(counts == FindingCounts(outcome.findings))
        // Only `verify` and --strict check the hashes inside an archive.
        #expect(name == "wrong-hash" || counts.notice + counts.warning + counts.error > 0)
        #expect(try test.store.details(of: outcome.archive).findings == outcome.findings)
    }

    /// The source was opened before copying, but the copy's content counts.
    @Test func sourceChangedDuringCopyIsReadAgain() async throws {
        let test = try TestStore()
        // The first progress comes before anything is copied. Only bytes after the first chunk of 16 MiB change.
        let (chunk, size) = (16 << 20, 17 << 20)
        let path = try test.folder.write(GeneratedArchive(title: "Before", payloadSize: size).bytes(), to: "a.wacz")
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
        let changed = GeneratedArchive(title: "After!", payloadSize: size).bytes()
        let handle = try #require(FileHandle(forWritingAtPath: path))
        let archive = try test.store.importFile(at: path) { progress in
            guard case .copying(0, _) = progress else { return }
            try handle.seek(toOffset: UInt64(chunk))
            try handle.write(contentsOf: Data(changed[chunk...]))
        }.archive
        #expect(archive.title == "After!")
        #expect(isSame(try contents(of: test.layout.file(archive.key)), changed))
        try await test.expectWhole()
    }

    @Test(arguments: ["", "/dev/null", "/nonexistent/file.wacz", "/tmp"])
    func nonFileIsRefused(path: String) throws {
        let test = try TestStore()
        #expect(throws: StoreError.self) { _ = try test.store.importFile(at: path) }
        #expect(try test.state().isEmpty)
    }

    /// Opening a FIFO would wait for a writer, and such an import couldn't be cancelled.
    @Test(.timeLimit(.minutes(1)))
    func fifoIsRefusedImmediately() async throws {
        let test = try TestStore()
        let (store, path) = (test.store, test.folder.path("fifo.wacz"))
        #expect(mkfifo(path, 0o600) == 0)
        #expect(try await onThread { code { _ = try store.importFile(at: path) } } == .failed)
    }

    @Test func cancelledImportLeavesNothing() throws {
        let test = try TestStore()
        let path = try test.folder.write(GeneratedArchive(payloadSize: 40 << 20).bytes(), to: "large.wacz")
        var wasCopying = false
        #expect(throws: Stop.self) {
            _ = try test.store.importFile(at: path) { progress in
                if case .copying(let done, let total) = progress, done > 0 {
                    wasCopying = total.map { done < $0 } ?? false
                    #expect(names(in: test.layout.incoming).count == 1)
                    throw Stop()
                }
            }
        }
        #expect(wasCopying)
        #expect(try test.state().isEmpty)
        #expect(throws: Stop.self) {
            _ = try test.store.importFile(at: path) { if case .checking = $0 { throw Stop() } }
        }
        #expect(try test.state().isEmpty)
    }

    @Test func abandonedUploadLeavesNothing() throws {
        let test = try TestStore()
        do {
            let incoming = try test.store.beginImport(name: "a.wacz", source: "browser", expectedSize: 10)
            try [UInt8]([1, 2, 3]).withUnsafeBytes { try incoming.write($0) }
            #expect(names(in: test.layout.incoming).count == 1)
        }
        #expect(try test.state().isEmpty)
    }

    @Test func spaceIsCheckedBeforeCopying() throws {
        let test = try TestStore()
        for size in [UInt64.max, 1 << 62] {
            #expect(
                code { _ = try test.store.beginImport(name: "a", source: "browser", expectedSize: size) } == .noSpace)
        }
        #expect(try test.state().isEmpty)
    }

    @Test(arguments: [
        ("a/b/c.wacz", "c.wacz"), ("C:\\Users\\x\\c.wacz", "c.wacz"), ("a\u{1B}[31mb.wacz", "a[31mb.wacz"), ("/", "/"),
        ("", "archive.wacz"), ("\n", "archive.wacz"),
        (String(repeating: "n", count: 300), String(repeating: "n", count: 255)),
    ])
    func originalNamesAreCleaned(name: String, expected: String) throws {
        let test = try TestStore()
        let incoming = try test.store.beginImport(name: name, source: "browser", expectedSize: nil)
        #expect(incoming.originalName == expected)
    }
}
