import CommandSupport
import Foundation
import TestSupport
import Testing

/// Exit codes: 0 success, 1 failure, 2 usage, 3 not found, 4 damaged or refused archive, 5 store locked or unusable, 6 port in
/// use, 130 interrupted. Several inputs: the first that occurs of 130, 5, 6, 4, 1, 3, 2, 0.
@Suite(PreparedFolder())
struct ExitCodeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        /// Words in capitals, such as `GOOD`, stand for paths.
        let arguments: String
        let code: Int32
        var errorCode: String?
        /// The name of a golden file with the error lines.
        var golden: String?

        init(_ arguments: String, _ code: Int32, _ errorCode: String? = nil, golden: String? = nil) {
            (self.arguments, self.code, self.errorCode, self.golden) = (arguments, code, errorCode, golden)
        }

        var testDescription: String { arguments }
    }

    static let cases: [Case] = [
        Case("list", 0), Case("--version", 0), Case("import GOOD", 0), Case("import GOOD GOOD", 0),
        Case("info have", 0),
        Case("pages have", 0), Case("pages have --match nothing", 0), Case("remove have --yes", 0),
        Case("urls have", 0), Case("urls none", 3, "not-found"), Case("urls", 2),
        Case("cdx example.org", 0), Case("cdx http://nowhere.test/ have", 0), Case("cdx *.example.org --json", 0),
        Case("get", 2), Case("get http://a.example/ --at noon", 2, golden: "error-get-at"),
        Case("get http://a.example/ --head --record", 2, golden: "error-get-two-parts"),
        Case("explain", 2), Case("explain http://a.example/ --time noon", 2, golden: "error-explain-time"),
        Case("explain http://a.example/ --in none", 3), Case("explain http://a.example/ --in have", 0),
        Case("explain http://example.org/none --json", 0),
        Case("cdx", 2), Case("cdx *.", 2, golden: "error-cdx-no-url"),
        Case("cdx a.org --limit ten", 2, golden: "error-cdx-limit"),
        Case("cdx a.org --filter ~url:(", 2, golden: "error-cdx-filter"),
        Case("cdx example.org --page 7", 2, "usage", golden: "error-cdx-page"),
        Case("cdx a.org --page-size 0", 2, golden: "error-cdx-page-size"),
        Case("cdx a.org --json --output text", 2, golden: "error-cdx-output"), Case("cdx a.org --sort closest", 2),
        Case("cdx a.org none", 3, "not-found"),
        Case("open none --no-browser", 3, "not-found", golden: "error-open-unknown"),
        Case("open h --no-browser", 3, "ambiguous-id"), Case("open MISSING --no-browser", 3, "not-found"),
        Case("open EMPTY --no-browser", 3, "not-found"), Case("open DAMAGED --no-browser", 4, "archive-refused"),
        Case("open --port 65536", 2, golden: "error-open-port"), Case("open GOOD DAMAGED", 2),
        Case("open have --store EMPTY --no-browser", 3, "not-found"),
        Case("open GOOD --store GOOD --no-browser", 5, "store-unusable"),
        Case("stop", 0), Case("stop --store EMPTY", 0), Case("stop have", 2),
        Case("jobs", 0), Case("jobs --all --json", 0), Case("jobs run", 0), Case("jobs pause", 2),
        Case("jobs pause x", 2),
        Case("jobs pause 99", 3, "not-found", golden: "error-jobs-unknown"), Case("jobs --store EMPTY", 0),
        Case("import EMPTY", 3, "not-found", golden: "error-import-empty-folder"),
        Case("import DEVICE", 1, "failed", golden: "error-import-device"),
        Case("--nonsense", 2), Case("nonsense", 2, "usage", golden: "error-unknown-command"),
        Case("help nonsense", 2, "usage", golden: "error-unknown-command"), Case("help collection list", 0),
        Case("lst", 2, "usage", golden: "error-misspelled-command"),
        Case("collection creat g have", 2, "usage", golden: "error-misspelled-subcommand"),
        Case("GOOD", 2, "usage", golden: "error-file-as-command"),
        Case("list --sroe x", 2, "usage", golden: "error-misspelled-option"),
        Case("list --sort age", 2, "usage", golden: "error-list-sort"),
        Case("serve --origins some", 2, "usage", golden: "error-serve-origins"),
        Case("crawl.warc.gz", 2, "usage", golden: "error-warc-as-command"),
        Case("import SCRIPT", 4, "archive-refused", golden: "error-import-other-file"),
        Case("info", 2, golden: "error-info-without-id"),
        Case("list --nonsense", 2, golden: "error-unknown-option"),
        Case("serve --port x", 2, golden: "error-port-no-number"),
        Case("serve --port 65536", 2, golden: "error-port-too-large"), Case("serve --port -1", 2),
        Case("import GOOD DAMAGED --title x", 2, golden: "error-title-of-two"),
        Case("import", 2, golden: "error-import-nothing"),
        Case("info h", 3, "ambiguous-id", golden: "error-ambiguous"), Case("serve --log-level loud", 2),
        Case("info none", 3, "not-found", golden: "error-info-unknown"), Case("pages none", 3, "not-found"),
        Case("remove none --yes", 3, "not-found"),
        Case("import MISSING", 3, "not-found", golden: "error-import-missing"),
        Case("serve --assets MISSING", 3, "not-found", golden: "error-assets-missing"),
        Case("import DAMAGED", 4, "archive-refused", golden: "error-import-not-a-zip"),
        Case("import TRUNCATED", 4, "archive-refused", golden: "error-import-truncated"),
        Case("import ENCRYPTED", 4, "archive-refused", golden: "error-import-encrypted"),
        Case("import NULNAME", 4, "archive-refused", golden: "error-import-nul-name"),
        Case("import MULTI", 4, "archive-refused", golden: "error-import-multi-wacz"),
        Case("import WRONGHASH --strict", 4, "archive-refused", golden: "error-import-strict"),
        Case("import NULFILE", 4, "archive-refused", golden: "error-import-empty-file"),
        Case("list --store EMPTY", 0), Case("collection list --store EMPTY", 0), Case("list --store", 2),
        Case("info have --store EMPTY", 3, "not-found", golden: "error-no-store-yet"),
        Case("import GOOD --store GOOD", 5, "store-unusable", golden: "error-store-is-a-file"),
        Case("import GOOD --store /proc/store", 5, "store-unusable", golden: "error-store-in-proc"),
        Case("list --store BADSTORE", 5, "catalog-damaged", golden: "error-catalog-damaged"),
        // Several inputs
        Case("import GOOD DAMAGED", 4), Case("import MISSING DAMAGED DEVICE", 4), Case("import MISSING DEVICE", 1),
        Case("import GOOD MISSING", 3), Case("remove none have --yes", 3),
    ]

    /// The paths of the words in capitals, in the prepared folder.
    private static let paths = [
        "GOOD": "good.wacz", "DAMAGED": "not-a-zip.wacz", "EMPTY": "empty", "MISSING": "missing.wacz",
        "TRUNCATED": "truncated.wacz", "ENCRYPTED": "encrypted.wacz", "NULNAME": "nul-name.wacz",
        "MULTI": "multi-wacz.wacz", "WRONGHASH": "wrong-hash.wacz", "DEVICE": "/dev/null", "NULFILE": "nothing.wacz",
        "BADSTORE": "bad-store", "SCRIPT": "file.sh",
    ]

    private func prepared() async throws -> CommandStore {
        let (template, store) = (try #require(PreparedFolder.current), try CommandStore())
        for name in names(in: template.folder.path) {
            try FileManager.default.copyItem(atPath: template.folder.path(name), toPath: store.folder.path(name))
        }
        return store
    }

    @Test(arguments: cases)
    func exitCodesAndErrorsAreAsDocumented(_ c: Case) async throws {
        let store = try await prepared()
        let arguments = c.arguments.split(separator: " ").map { Self.paths[String($0)] ?? String($0) }
        let plain = try await store.run(arguments)
        #expect(plain.code == c.code, "\(plain.errors)")
        #expect(!plain.wasKilled)
        #expect(!plain.output.contains("error:"))
        #expect(!plain.errors.contains("\u{1B}"), "no colors without a terminal")
        if c.code == 0 {
            #expect(!plain.errors.contains("error:"))
        } else {
            #expect(plain.errors.contains(arguments.contains("--json") ? #"{"error":"# : "error: "))
        }
        if let name = c.golden {
            #if !WITH_RE2
            // This build has no RE2. WebArchiveTests cover its message.
            if name == "error-cdx-filter" { return }
            #endif
            let errors = plain.errors.replacingOccurrences(of: store.folder.path, with: "FOLDER")
            let lines = errors.split(separator: "\n").filter { !$0.hasPrefix("store: ") }.joined(separator: "\n") + "\n"
            let difference = try Golden.difference(lines, file: golden(name))
            #expect(difference == nil)
        }
        if let code = c.errorCode {
            let json = try await prepared().run(arguments + ["--json"])
            #expect(json.code == c.code)
            #expect(try errorCodes(json) == [code])
            #expect(json.output.isEmpty)
        }
    }

    @Test func interruptedImportEndsWith130AndLeavesNothing() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(payloadSize: 48 << 20, seed: 1), to: "many/1.wacz")
        for number in 2...4 {
            try FileManager.default.copyItem(
                atPath: store.folder.path("many/1.wacz"), toPath: store.folder.path("many/\(number).wacz"))
            let handle = try #require(FileHandle(forWritingAtPath: store.folder.path("many/\(number).wacz")))
            // A different byte makes it a different archive.
            try handle.seek(toOffset: 5_000_000)
            try handle.write(contentsOf: [UInt8(number)])
            try handle.close()
        }
        let incoming = store.folder.path("store/incoming")
        for number in [SIGINT, SIGTERM] {
            let result = try await store.start("import", "many") { program in
                try program.waitUntil { !names(in: incoming).isEmpty }
                program.send(number)
                return program.wait()
            }
            #expect(result.code == 130)
            #expect(!result.wasKilled, "it cleans up and exits")
            #expect(result.errors.contains("interrupted"))
            #expect(names(in: incoming).isEmpty)
        }
        let list = try await store.run("list", "--json")
        #expect(names(in: store.folder.path("store/files")).count == list.outputLines.count * 2)
        #expect(list.outputLines.count < 4)
    }

    /// Reading standard input may block forever, so the signal ends the program, which shells report as 130.
    @Test func interruptedReadOfStandardInputEndsWith130() async throws {
        let store = try CommandStore()
        let incoming = store.folder.path("store/incoming")
        let result = try await store.start("import", "-") { program in
            program.write([0x50, 0x4B])
            try program.waitUntil { !names(in: incoming).isEmpty }
            program.send(SIGINT)
            return program.wait()
        }
        #expect(result.code == 130)
        try store.write(GeneratedArchive(), to: "a.wacz")
        #expect(try await store.run("import", "a.wacz").code == 0)
        #expect(names(in: incoming).isEmpty, "the next import cleans up")
    }

    @Test(.timeLimit(.minutes(1))) func fifoIsRefusedWithoutBlocking() async throws {
        let store = try CommandStore()
        #expect(mkfifo(store.folder.path("fifo.wacz"), 0o600) == 0)
        let result = try await store.run("import", "fifo.wacz")
        #expect(result.code == 1)
        #expect(result.errors.contains("fifo.wacz: this isn't a file"))
    }
}

/// A store with the archives `have` and `house`, and the files of the table. Created once, copied for each case.
private struct PreparedFolder: SuiteTrait, TestScoping {
    @TaskLocal static var current: CommandStore?

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(seed: 1), to: "have.wacz")
        try store.write(GeneratedArchive(seed: 2), to: "house.wacz")
        #expect(try await store.run("import", "have.wacz", "house.wacz").code == 0)
        try FileManager.default.createDirectory(atPath: store.folder.path("empty"), withIntermediateDirectories: true)
        try store.write(GeneratedArchive(seed: 3), to: "good.wacz")
        try store.folder.write("", to: "nothing.wacz")
        try store.folder.write("#!/bin/sh\necho This is longer than the end of a ZIP.\n", to: "file.sh")
        try store.folder.write(String(repeating: "no database ", count: 1000), to: "bad-store/catalog.sqlite")
        for name in ["truncated", "encrypted", "nul-name", "multi-wacz", "wrong-hash", "not-a-zip"] {
            try store.folder.write(try contents(of: Checkout.fixture("damaged/\(name).wacz")), to: "\(name).wacz")
        }
        try await Self.$current.withValue(store) { try await function() }
    }
}

/// The exit code for several inputs.
struct ExitStatusTests {
    @Test(arguments: CommandSupport.ExitStatus.allCases.filter { $0 != .done })
    func failureIsMoreImportantThanSuccess(_ status: CommandSupport.ExitStatus) {
        #expect(CommandSupport.ExitStatus.combined([.done, status, .done]) == status)
    }
}
