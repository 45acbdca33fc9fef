import Foundation
import TestSupport
import Testing
import WebArchive

@testable import ArchiveStore

struct ExporterTests {
    private let test: TestStore
    private let archive: Archive

    init() throws {
        test = try TestStore()
        archive = try test.store.importFile(at: Checkout.fixture("sample.wacz")).archive
    }

    private var exporter: Exporter { Exporter(test.store) }
    private func path(_ name: String) -> String { test.folder.path(name) }

    private func reimported(_ path: String) throws -> (store: ArchiveStore, archive: Archive) {
        let store = try ArchiveStore(at: test.folder.path("other-\(UInt32.random(in: 0 ... .max))"))
        return (store, try store.importFile(at: path).archive)
    }

    @Test func originalIsTheSameFile() throws {
        #expect(try exporter.original(archive, to: .newFile(path("a.wacz"))).changes == [])
        #expect(isSame(try contents(of: path("a.wacz")), try contents(of: Checkout.fixture("sample.wacz"))))
        #expect(throws: StoreError.self) { try exporter.original(archive, to: .newFile(path("a.wacz"))) }
        #expect(isSame(try contents(of: path("a.wacz")), try contents(of: Checkout.fixture("sample.wacz"))))
    }

    @Test func damagedOriginalIsSavedWithANote() throws {
        let file = test.layout.file(archive.key)
        chmod(file, 0o600)
        let handle = try #require(FileHandle(forWritingAtPath: file))
        try handle.seek(toOffset: 5000)
        try handle.write(contentsOf: Data("damage".utf8))
        try handle.close()
        let result = try exporter.original(archive, to: .newFile(path("a.wacz")))
        #expect(result.changes.count == 1)
        #expect(isSame(try contents(of: path("a.wacz")), try contents(of: file)))
    }

    @Test func repairedCopyOfAWholeArchiveChangesNothing() throws {
        let result = try exporter.repaired(archive, to: .newFile(path("a.wacz")))
        #expect(result.changes == [] && result.findings == [])
        #expect(result.captureCount == archive.captureCount && result.pageCount == archive.pageCount)
        let (store, copy) = try reimported(path("a.wacz"))
        #expect(copy.title == archive.title && copy.summary.description == archive.summary.description)
        #expect(copy.mainPage?.url == archive.mainPage?.url)
        let list = { (store: ArchiveStore, archive: Archive) in
            try store.catalog.pages(key: archive.key, PageListRequest(limit: 99)).pages.map {
                "\($0.url) \($0.timestamp ?? "") \($0.title ?? "")"
            }
        }
        #expect(try list(store, copy) == list(test.store, archive))
    }

    @Test(arguments: [
        (GeneratedArchive.Layout.missing, "created"), (.unsorted, "rebuilt"), (.gzipped, "rebuilt"),
        (.zipNumGarbage, "rebuilt"), (.zipNumOtherDigest, "rebuilt"), (.plain, ""), (.zipNum, ""),
    ])
    func rebuiltIndexIsListed(_ layout: GeneratedArchive.Layout, _ change: String) throws {
        let broken = GeneratedArchive(pages: (0..<9).map { .init(url: "http://example.org/\($0)") }, layout: layout)
        try Data(broken.bytes()).write(to: URL(fileURLWithPath: path("broken.wacz")))
        let archive = try test.store.importFile(at: path("broken.wacz")).archive
        let changes = try exporter.repaired(archive, to: .newFile(path("a.wacz"))).changes
        #expect(changes.contains { $0.hasPrefix("Index: \(change)") } == !change.isEmpty, "\(changes)")
        let (store, copy) = try reimported(path("a.wacz"))
        #expect(copy.captureCount == 9 && copy.lookups?.strategy == .inPlace)
        #expect(try store.catalog.findings(key: copy.key).isEmpty)
    }

    @Test func pageComesWithWhatItNeeds() throws {
        let request = ArchiveStore.CaptureRequest(url: "https://fieldguide.example/species/", time: nil)
        let result = try exporter.page(request, of: archive).write(to: .newFile(path("p.wacz")))
        #expect(result.missing == [] && result.pageCount == 1)
        let (store, copy) = try reimported(path("p.wacz"))
        #expect(copy.title == "Species - Tidepool Field Guide")
        #expect(try store.catalog.pages(key: copy.key, PageListRequest(limit: 9)).pages.map(\.url) == [request.url])
        var urls: Set<String> = []
        try store.resolver.forEachURL(URLFilter(), in: .archive(copy)) {
            urls.insert($0.entry.url)
            return true
        }
        // What the page's HTML, style sheet and scripts load; see Scripts/lib/make-fixtures.py.
        let site = "https://fieldguide.example"
        #expect(
            urls.isSuperset(of: [
                "\(site)/species/", "\(site)/guide.css", "\(site)/species.js", "\(site)/card.js",
                "\(site)/data/species.json",
                "\(site)/pictures/limpet.svg", "\(site)/pictures/anemone.png", "\(site)/pictures/crab.svg",
            ]))
        #expect(urls.isDisjoint(with: ["\(site)/film.html", "\(site)/tides.html", "\(site)/species/limpet.html"]))
        // The style sheet is a revisit: the capture with its content comes along.
        let sheet = try #require(
            try store.resolver.openCapture(
                .init(url: "\(site)/guide.css", time: nil), in: [copy], allowsFuzzyMatch: false))
        #expect(try sheet.body.open(decoded: true).read(upTo: 5) == Array(":root".utf8))
        let wacz = try WACZFile.open(FileByteSource(path: path("p.wacz")))
        let package = try wacz.directory.contents(
            of: try #require(wacz.directory.entry(named: "datapackage.json")), limit: 1 << 20)
        #expect(String(decoding: package, as: UTF8.self).contains("sha256:\(archive.key)"))
    }

    @Test func pagesGiveFilesTheirNames() throws {
        let site = "https://fieldguide.example"
        for (url, name) in [
            ("\(site)/species/", "Species - Tidepool Field Guide"),
            ("\(site)/shell.svg", "fieldguide.example_shell.svg"),
        ] {
            #expect(try exporter.page(.init(url: url, time: nil), of: archive).fileName == "\(name).wacz")
        }
    }

    @Test func uncapturedPageIsAnError() throws {
        let request = ArchiveStore.CaptureRequest(url: "https://elsewhere.example/", time: nil)
        #expect(code { _ = try exporter.page(request, of: archive) } == .notFound)
    }

    @Test func filesAreTheDecodedBodies() throws {
        let files = try exporter.files(of: archive, to: path("files"))
        #expect(files.failed == 0)
        let html = try contents(of: path("files/fieldguide.example/species/limpet.html"))
        let capture = try #require(
            try test.store.resolver.openCapture(
                .init(url: "https://fieldguide.example/species/limpet.html", time: nil), in: [archive],
                allowsFuzzyMatch: false))
        #expect(isSame(html, try capture.body.open(decoded: true).read(upTo: 1 << 20)))
        #expect(code { _ = try exporter.files(of: archive, to: path("files")) } == .notPossible)
        let images = try exporter.files(of: archive, to: path("images"), FileSelection(types: [.image]))
        #expect(images.count == 7)
        #expect(names(in: path("images/fieldguide.example")) == ["favicon.ico", "pictures", "shell.svg"])
        let zipped = try exporter.files(of: archive, to: .newFile(path("files.zip")), FileSelection(types: [.image]))
        #expect(zipped.count == images.count && zipped.size == images.size)
    }

    @Test func filesOfChosenURLs() throws {
        let site = "https://fieldguide.example"
        let chosen = FileSelection(urls: ["\(site)/shell.svg", "\(site)/species/limpet.html", "\(site)/nothing"])
        let files = try exporter.files(of: archive, to: path("chosen"), chosen)
        #expect(files.count == 2 && files.failed == 0)
        #expect(names(in: path("chosen/fieldguide.example")) == ["shell.svg", "species"])
        #expect(names(in: path("chosen/fieldguide.example/species")) == ["limpet.html"])
        #expect(try exporter.files(of: archive, to: path("none"), FileSelection(urls: [])).count == 0)
    }

    private struct SavedLine: Decodable {
        let file: String
        let url: String
        let timestamp: String
        let capturedAt: String
        let mime: String
        let size: UInt64
        let sha256: String
        let digest: String
    }

    @Test func filesHaveTheTimesOfTheirCapturesAndAList() async throws {
        let files = try exporter.files(of: archive, to: path("files"))
        let list = String(decoding: try contents(of: path("files/files.jsonl")), as: UTF8.self)
        let lines = try list.split(separator: "\n").map {
            try JSONDecoder().decode(SavedLine.self, from: Data($0.utf8))
        }
        #expect(lines.count == files.count && lines.reduce(0) { $0 + $1.size } == files.size)
        for line in lines {
            let attributes = try FileManager.default.attributesOfItem(atPath: path("files/\(line.file)"))
            let modified = try #require(attributes[.modificationDate] as? Date)
            #expect(modified == ISO8601DateFormatter().date(from: line.capturedAt), "\(line.file)")
            #expect(line.sha256 == (try await sha256ByOpenSSL(path("files/\(line.file)"))))
            let found = try test.store.captures(of: archive, url: line.url, limit: 10)
            #expect(found.last?.timestamp == line.timestamp && line.digest.hasPrefix("sha1:"))
        }
        _ = try exporter.files(of: archive, to: .newFile(path("files.zip")))
        // Python reads the ZIP independently.
        let script = """
            import json, sys, zipfile
            zip = zipfile.ZipFile(sys.argv[1])
            for line in zip.read("files.jsonl").decode().splitlines():
                saved = json.loads(line)
                time = "%04d-%02d-%02dT%02d:%02d:%02dZ" % zip.getinfo(saved["file"]).date_time
                # ZIP has even seconds.
                assert time[:-3] == saved["capturedAt"][:-3], (time, saved)
                assert len(zip.read(saved["file"])) == saved["size"]
            print(len(zip.namelist()))
            """
        let read = try await run("/usr/bin/python3", ["-c", script, path("files.zip")])
        #expect(read.output == "\(files.count + 1)\n", "\(read.errors)")
    }

    @Test func listHasItsNameAlone() throws {
        let record = RecordedArchive.Record("http://files.jsonl/", "a page")
        let file = try test.folder.write(RecordedArchive([record]).bytes(), to: "odd.wacz")
        _ = try exporter.files(of: try test.store.importFile(at: file).archive, to: path("odd"))
        #expect(names(in: path("odd")) == ["files-2.jsonl", "files.jsonl"])
    }

    /// In the working folder, which can be the root.
    @Test(arguments: ["name", "/name", "/tmp/name"])
    func folderOfAnyPathIsFlushed(path: String) throws {
        try Folder.synchronize(parentOf: path)
    }

    @Test func collectionBecomesOneFile() throws {
        let second = try test.store.importFile(at: Checkout.fixture("second.wacz")).archive
        let collection = try test.store.collections.make(id: nil, title: "Both", members: [archive.id, second.id])
        _ = try exporter.collection(collection, to: .newFile(path("both.wacz")))
        let store = try ArchiveStore(at: test.folder.path("other"))
        guard case .multiWACZ(let outcome) = try store.importAny(at: path("both.wacz")) else {
            Issue.record("not a multi-WACZ file")
            return
        }
        #expect(outcome.members.map(\.archive.key) == [archive.key, second.key])
        #expect(outcome.remarks == [] && outcome.collection.title == "Both")
        try test.store.collections.remove(collection.id)
        let empty = try test.store.collections.make(id: nil, title: "Empty", members: [])
        #expect(code { _ = try exporter.collection(empty, to: .newFile(path("e.wacz"))) } == .notPossible)
    }

    @Test func stoppedExportLeavesNothing() throws {
        struct Stop: Error {}
        let stopping = Exporter(test.store) { _, _ in throw Stop() }
        #expect(throws: StoreError.self) { try stopping.original(archive, to: .newFile(path("out/a"))) }
        try FileManager.default.createDirectory(atPath: path("out"), withIntermediateDirectories: true)
        #expect(throws: Stop.self) { try stopping.original(archive, to: .newFile(path("out/a"))) }
        #expect(throws: Stop.self) { try stopping.files(of: archive, to: path("out/files")) }
        #expect(throws: Stop.self) {
            _ = try stopping.page(.init(url: "https://fieldguide.example/", time: nil), of: archive)
        }
        #expect(throws: Stop.self) { try test.store.stageExport(named: "x") { try stopping.original(archive, to: $0) } }
        #expect(names(in: path("out")).isEmpty && names(in: test.layout.incoming).isEmpty)
    }

    @Test func stagedExportIsDeletedWithItsLastReference() throws {
        do {
            let staged = try test.store.stageExport(named: "a.wacz") { try exporter.original(archive, to: $0) }
            #expect(staged.size == archive.size)
            // Without a name, nothing is left if the process is killed now.
            #expect(names(in: test.layout.incoming).isEmpty)
            let bytes = try staged.file.bytes(at: 0, upTo: Int(staged.size))
            #expect(isSame(bytes, try contents(of: Checkout.fixture("sample.wacz"))))
        }
        #expect(names(in: test.layout.incoming).isEmpty)
    }

    /// Captures of many URLs whose index entries name one record.
    private func manyNames(_ count: Int, body: Int) throws -> Archive {
        let record = RecordedArchive.Record("http://a.example/0000", String(repeating: "a", count: body))
        let revisits = (1..<count).map { number in
            RecordedArchive.Record("http://a.example/\(String(10_000 + number).dropFirst())").with {
                $0.type = "revisit"
                $0.head = ""
                $0.fields = [
                    "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
                    "WARC-Refers-To-Target-URI: http://a.example/0000", "WARC-Refers-To-Date: 2024-01-02T03:04:05Z",
                ]
            }
        }
        let file = try test.folder.write(RecordedArchive([record] + revisits).bytes(), to: "many.wacz")
        return try test.store.importFile(at: file).archive
    }

    @Test func filesOfASmallArchiveDontFillTheDisk() throws {
        let many = try manyNames(40, body: 4 << 20)
        #expect(many.size < 100_000)
        #expect(code { _ = try exporter.files(of: many, to: path("files")) } == .notPossible)
        #expect(code { _ = try exporter.files(of: many, to: .newFile(path("files.zip"))) } == .notPossible)
        #expect(
            code {
                _ = try test.store.stageExport(named: "x") { target in
                    _ = try exporter.files(of: many, to: target)
                    return .init()
                }
            } == .notPossible)
        #expect(names(in: test.folder.path("")).allSatisfy { !$0.hasPrefix("files") })
        #expect(names(in: test.layout.incoming).isEmpty)
        // A part of it, and the limit itself.
        #expect(try exporter.files(of: many, to: path("none"), FileSelection(types: [.image])).count == 0)
        var limit = ExportLimit(many)
        #expect(limit.bytesMax < 100_000_000)
        try limit.add(limit.bytesMax)
        #expect(code { try limit.check(1) } == .notPossible)
    }

    @Test func leftoversOfAKilledExportAreDeleted() throws {
        let killed = path("other.part-\(UUID().uuidString.lowercased())")
        try FileManager.default.createDirectory(atPath: killed + "/a", withIntermediateDirectories: true)
        let running = path("more.part-\(UUID().uuidString.lowercased())")
        try FileManager.default.createDirectory(atPath: running, withIntermediateDirectories: true)
        let lock = try Descriptor(path: running, flags: O_RDONLY | O_DIRECTORY)
        #expect(lock.lock() == .acquired)
        let own = path("mine.part-1")
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        _ = try exporter.files(of: archive, to: path("files"), FileSelection(types: [.image]))
        withExtendedLifetime(lock) {
            #expect(!FileManager.default.fileExists(atPath: killed))
            #expect(FileManager.default.fileExists(atPath: running))
            #expect(FileManager.default.fileExists(atPath: own))
        }
    }
}

struct FileNamesTests {
    @Test(arguments: [
        ("https://a.example/", "text/html", "a.example/index.html"),
        ("https://a.example/a/b.png", "image/png", "a.example/a/b.png"),
        ("https://a.example/a/../../etc/passwd", "text/plain", "a.example/a/_/_/etc/passwd.txt"),
        ("https://a.example/%2e%2e/%2e%2e/x", "text/plain", "a.example/_/_/x.txt"),
        ("https://a.example/..%2f..%2fx", "text/plain", "a.example/_.._.._x"),
        ("https://a.example/con.txt", "text/plain", "a.example/_con.txt"),
        ("https://a.example/LPT9 .tar.gz", "text/plain", "a.example/_LPT9 .tar.gz"),
        ("https://a.example/com%C2%B9", "text/plain", "a.example/_com¹.txt"),
        ("https://a.example/CONIN$", "text/plain", "a.example/_CONIN$.txt"),
        ("https://a.example/com10.txt", "text/plain", "a.example/com10.txt"),
        ("https://a.example/Desktop.ini", "text/plain", "a.example/Desktop.ini_"),
        ("https://a.example/x.LNK", "text/plain", "a.example/x.LNK_"),
        ("https://a.example/run.desktop", "text/plain", "a.example/run.desktop_"),
        ("https://a.example/a%E2%80%A8b.txt", "text/plain", "a.example/a_b.txt"),
        ("https://a.example/.htaccess", "text/plain", "a.example/_.htaccess.txt"),
        ("https://a.example/a%00b%0A.txt", "text/plain", "a.example/a_b_.txt"),
        ("https://a.example/x.js?v=1", "text/javascript", "a.example/x v=1.js"),
        ("https://a.example/a%E2%80%AEgpj.exe", "image/png", "a.example/a_gpj.exe"),
        ("https://a.example:8080/x/", "text/css", "a.example/x/index.css"),
    ])
    func namesAreSafe(_ url: String, _ mime: String, _ expected: String) {
        var names = FileNames()
        #expect(names.name(for: url, mime: mime) == expected)
    }

    @Test func namesAreDifferentAlsoWithoutCase() {
        var names = FileNames()
        let made = ["/A.txt", "/a.txt", "/a.txt?", "/a.txt/b", "/a.txt/B", "/c/d", "/c"].map {
            names.name(for: "https://a.example\($0)", mime: "text/plain")
        }
        let paths = Set(made.map { $0.lowercased() })
        #expect(paths.count == made.count)
        // No file is also a folder.
        for path in paths { #expect(!paths.contains { $0.hasPrefix(path + "/") }) }
    }

    @Test func longNamesAreShort() {
        var names = FileNames()
        let name = names.name(
            for: "https://a.example/\(String(repeating: "ü", count: 400)).html?\(String(repeating: "q", count: 999))",
            mime: "text/html")
        #expect(name.split(separator: "/").allSatisfy { $0.utf8.count <= 150 } && name.hasSuffix(".html"))
    }
}
