import Foundation
import TestSupport
import Testing

/// `list`, `info`, `pages`, `cdx`, `remove`, `doctor`.
struct QueryCommandTests {
    /// The keys of each object are those of docs/json.md. Values that differ between runs are replaced.
    @Test func jsonIsAsDocumented() async throws {
        let store = try CommandStore()
        try store.folder.write(try contents(of: Checkout.fixture("sample.wacz")), to: "sample.wacz")
        let imported = try await store.run("import", "sample.wacz", "--json")
        try store.folder.write(try contents(of: Checkout.fixture("damaged/unsorted-index.wacz")), to: "unsorted.wacz")
        #expect(try await store.run("import", "unsorted.wacz", "--json").code == 0)
        let results = [
            ("json-import", imported), ("json-list", try await store.run("list", "--json")),
            ("json-info", try await store.run("info", "unsorted", "--json")),
            ("json-pages", try await store.run("pages", "sample", "--json")),
            ("json-get", try await store.run("get", "https://fieldguide.example/", "--at", "2024", "--json")),
            (
                "json-explain",
                try await store.run("explain", "https://fieldguide.example/winter.html", "--in", "sample", "--json")
            ),
            ("json-cdx", try await store.run("cdx", "*.example", "--json", "--limit", "3")),
            ("json-remove", try await store.run("remove", "sample", "--yes", "--json")),
        ]
        for (name, result) in results {
            #expect(result.code == 0, Comment(rawValue: name))
            #expect(result.errors.isEmpty, Comment(rawValue: name))
            _ = try objects(result.outputLines)
            // The imports may happen in the same second, so times are replaced.
            let text = result.output.replacing(/"importedAt":"[^"]*"/, with: "\"importedAt\":\"TIME\"")
            let difference = try Golden.difference(text, file: golden(name))
            #expect(difference == nil)
        }
        let documented = try Self.documentedKeys()
        let one = try #require(try objects(results[2].1.outputLines).first)
        #expect(Set(one.keys).isSubset(of: documented))
        #expect(
            Set(one.keys).isSuperset(of: [
                "id", "title", "sha256", "size", "originalName", "importedAt", "pageCount", "captureCount",
                "verification",
                "findingCounts", "findings", "replayCollection", "file",
            ]))
        let finding = try #require((one["findings"] as? [[String: Any]])?.first)
        #expect(Set(finding.keys) == ["severity", "code", "what", "location", "consequence"])
    }

    /// Returns the first column of the table "Archive".
    private static func documentedKeys() throws -> Set<String> {
        let text = String(decoding: try contents(of: Checkout.path("docs/json.md")), as: UTF8.self)
        let part = try #require(text.components(separatedBy: "## Archive").last?.components(separatedBy: "\n## ").first)
        var keys: Set<String> = []
        for line in part.split(separator: "\n") where line.hasPrefix("| `") {
            let cell = line.split(separator: "|")[0]
            for match in cell.matches(of: /`([A-Za-z0-9]+)`/) { keys.insert(String(match.1)) }
        }
        return keys
    }

    @Test func listAlignsColumnsAndReportsAnEmptyLibrary() async throws {
        let store = try CommandStore()
        let none = try await store.run("list")
        #expect(none.code == 0)
        #expect(
            none.errors == "store: \(store.store) (REPLAYHOST_STORE)\n"
                + "No archives yet. Add a WACZ or WARC file with `replayhost import FILE`.\n")
        #expect(try await store.run("jobs").code == 0)
        #expect(try await store.run("doctor", "--port", "0").output.contains("not created yet"))
        #expect(try await store.run("serve", "--assets", store.folder.path("none")).code == 3)
        #expect(!FileManager.default.fileExists(atPath: store.store), "reading doesn't create a store")
        #expect(try await store.run("import", "missing.wacz").code == 3)
        let empty = try await store.run("list")
        #expect(empty.code == 0)
        #expect(empty.output.isEmpty)
        #expect(empty.errors.contains("No archives yet. Add a WACZ or WARC file with `replayhost import FILE`.\n"))
        try store.write(GeneratedArchive(title: "漢字", seed: 1), to: "a.wacz")
        try store.write(GeneratedArchive(title: "Latin title", seed: 2), to: "longer-name.wacz")
        _ = try await store.run("import", "a.wacz", "longer-name.wacz")
        let lines = try await store.run("list").outputLines
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("TITLE        ID           PAGES  CAPTURES"))
        // Wide characters take two columns, so two of them and seven spaces are as wide as `Latin title`.
        #expect(lines.contains { $0.hasPrefix("漢字         a            1      1 ") })
        #expect(lines.contains { $0.hasPrefix("Latin title  longer-name  1      1 ") })
    }

    @Test func listIsSortedAndFilteredByTags() async throws {
        let store = try CommandStore()
        let pages = (1...3).map { GeneratedArchive.Page(url: "http://example.org/\($0)", title: "Page \($0)") }
        try store.write(GeneratedArchive(title: "Zebra", seed: 1), to: "one.wacz")
        try store.write(GeneratedArchive(title: "apple", pages: pages, seed: 2), to: "two.wacz")
        try store.write(GeneratedArchive(title: "Apple 10", seed: 3), to: "three.wacz")
        _ = try await store.run("import", "one.wacz", "--tag", "harbour", "--tag", "old")
        _ = try await store.run("import", "two.wacz", "--tag", "harbour")
        _ = try await store.run("import", "three.wacz")
        func ids(_ arguments: String...) async throws -> [String] {
            try objects(try await store.run(["list", "--json"] + arguments).outputLines).compactMap {
                $0["id"] as? String
            }
        }
        #expect(try await ids("--sort", "title") == ["two", "three", "one"])
        #expect(try await ids("--sort", "pages").first == "two")
        #expect(try await ids("--sort", "size").first == "two")
        #expect(try await Set(ids("--tag", "harbour")) == ["one", "two"])
        #expect(try await ids("--tag", "harbour", "--tag", "old") == ["one"])
        let none = try await store.run("list", "--tag", "nothing")
        #expect(none.code == 0)
        #expect(none.errors.contains("No archive has this tag. Tags in use: harbour, old"))
    }

    @Test(arguments: ["One", "one.wacz", "one.WACZ"])
    func similarIDIsSuggested(name: String) async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(seed: 1), to: "one.wacz")
        _ = try await store.run("import", "one.wacz")
        let result = try await store.run("info", name)
        #expect(result.code == 3)
        #expect(result.errors.contains("hint: did you mean \"one\"?"))
    }

    @Test func titlesAreAccepted() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(title: "The Old Harbour", seed: 1), to: "one.wacz")
        try store.write(GeneratedArchive(title: "Reef", seed: 2), to: "two.wacz")
        try store.write(GeneratedArchive(title: "reef", seed: 3), to: "three.wacz")
        _ = try await store.run("import", "one.wacz", "two.wacz", "three.wacz")
        for command in [["info"], ["pages"], ["urls"], ["cdx", "example.org"], ["verify"], ["search", "x", "--in"]] {
            #expect(try await store.run(command + ["the old harbour"]).code == 0, "\(command)")
        }
        let created = try await store.run("collection", "create", "All of it", "The Old Harbour", "two")
        #expect(created.output == "all-of-it: created \"All of it\" (one, two)\n")
        #expect(try await store.run("collection", "info", "All of it").output.hasPrefix("id:      all-of-it\n"))
        #expect(try await store.run("edit", "All of it", "--tag", "x").output == "all-of-it: All of it [x]\n")
        let several = try await store.run("info", "Reef")
        #expect(several.code == 3)
        #expect(several.errors.contains("error: \"Reef\" is the title of several: three, two\n"))
        #expect(try await store.run("remove", "The Old Harbour", "--yes").output.hasPrefix("one: removed"))
    }

    @Test(arguments: [
        ("the old habour", "did you mean \"one\" (The Old Harbour)?"),
        ("harbour", "did you mean \"one\" (The Old Harbour)?"),
        ("thee", "did you mean \"three\"?"), ("tides", "run `replayhost list` to see all archives"),
    ])
    func similarNameIsSuggested(name: String, hint: String) async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(title: "The Old Harbour", seed: 1), to: "one.wacz")
        try store.write(GeneratedArchive(title: "Reef", seed: 2), to: "three.wacz")
        _ = try await store.run("import", "one.wacz", "three.wacz")
        let result = try await store.run("info", name)
        #expect(result.code == 3)
        #expect(result.errors == "error: no archive has the id or title \"\(name)\"\nhint: \(hint)\n")
    }

    @Test func uniquePrefixesOfIDsAreAccepted() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(seed: 1), to: "crawl-one.wacz")
        try store.write(GeneratedArchive(seed: 2), to: "crawl-two.wacz")
        _ = try await store.run("import", "crawl-one.wacz", "crawl-two.wacz")
        #expect(try await store.run("info", "crawl-o").output.contains("crawl-one"))
        let several = try await store.run("remove", "crawl", "--yes")
        #expect(several.code == 3)
        #expect(several.errors.contains("crawl-one, crawl-two"))
        #expect(try await store.run("list", "--json").outputLines.count == 2)
        #expect(try await store.run("remove", "crawl-t", "--yes").code == 0)
        #expect(try await store.run("list", "--json").outputLines.count == 1)
    }

    @Test(arguments: [
        ("y\n", true), ("yes\n", true), ("Y\n", true), ("n\n", false), ("\n", false), ("", false), ("yep\n", false),
    ])
    func removeAsksForConfirmation(answer: String, isRemoved: Bool) async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(), to: "a.wacz")
        _ = try await store.run("import", "a.wacz")
        let result = try await store.run("remove", "a", input: answer)
        #expect(result.code == (isRemoved ? 0 : 1))
        #expect(result.errors.contains("Remove a (\"Generated\", "))
        #expect(names(in: store.folder.path("store/files")).isEmpty == isRemoved)
        #expect(FileManager.default.fileExists(atPath: store.folder.path("a.wacz")), "the original stays")
    }

    @Test func pagesAreFilteredByWords() async throws {
        let store = try CommandStore()
        let pages = [
            GeneratedArchive.Page(url: "http://example.org/", title: "Coral Reef"),
            GeneratedArchive.Page(url: "http://example.org/100%25", title: "100%"),
            GeneratedArchive.Page(url: "http://example.org/none"),
        ]
        try store.write(GeneratedArchive(pages: pages), to: "a.wacz")
        _ = try await store.run("import", "a.wacz")
        #expect(try await store.run("pages", "a").outputLines.count == 3)
        #expect(
            try await store.run("pages", "a", "--match", "reef coral").outputLines
                == ["2024-01-02T03:04:05Z  http://example.org/  Coral Reef"])
        #expect(try await store.run("pages", "a", "--match", "100%").outputLines.count == 1)
        let none = try await store.run("pages", "a", "--match", "nothing")
        #expect(none.code == 0)
        #expect(none.output.isEmpty)
        #expect(none.errors.contains("No pages match \"nothing\"."))
        // SQLite's longest pattern of LIKE has 50,000 bytes (sqlite.org/limits.html). The catalog isn't damaged.
        let long = try await store.run("pages", "a", "--match", String(repeating: "a", count: 60_000))
        #expect(long.code == 2)
        #expect(long.errors.contains("--match has 60000 bytes; the limit is 16384"))
    }

    @Test func colorsAreOnlyForTerminals() async throws {
        let store = try CommandStore()
        // `script` runs the program in a terminal.
        let command = "\(Checkout.binary) info none --store \(store.store)"
        let output = { (environment: [String: String], option: String) in
            try await run(
                "/usr/bin/script", ["-qec", command + option, "/dev/null"],
                environment: ["TERM": "xterm"].merging(environment) { $1 }
            ).output
        }
        #expect(try await output([:], "").contains("\u{1B}[31;1merror:\u{1B}[0m"))
        #expect(
            try await output(["NO_COLOR": ""], "").contains("\u{1B}[31;1merror:"),
            "no-color.org: an empty value has no effect")
        #expect(!(try await output(["NO_COLOR": "1"], "").contains("\u{1B}[")))
        #expect(!(try await output([:], " --no-color").contains("\u{1B}[")))
    }

    @Test func doctorNamesFilesThatChangedSinceTheirVerification() async throws {
        let store = try await CommandStore.withSample()
        let text = "1 file changed or replaced since the last verification: sample"
        #expect(try await store.run("verify", "sample").code == 0)
        #expect(!(try await store.run("doctor", "--port", "0").output.contains(text)))
        let name = try #require(names(in: "\(store.store)/files").first { $0.hasSuffix(".wacz") })
        let path = "\(store.store)/files/\(name)"
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: 5000)
        try file.write(contentsOf: Data("x".utf8))
        try file.close()
        #expect(try await store.run("doctor", "--port", "0").output.contains(text))
    }

    @Test func doctorReportsMissingParts() async throws {
        let store = try CommandStore()
        let without = try await store.run("doctor", "--port", "0")
        #expect(without.code == 1)
        #expect(without.output.contains("error engine: the replay engine is missing"))
        try store.folder.write("engine", to: "www/vendor/sw.js")
        let well = try await store.run("doctor", "--port", "0")
        #expect(well.code == 0)
        #expect(!well.output.contains("error"))
        let json = try await store.run("doctor", "--port", "0", "--json")
        for check in try objects(json.outputLines) {
            #expect(Set(check.keys).isSubset(of: ["name", "verdict", "what", "hint"]))
            #expect(["good", "warning", "bad"].contains(check["verdict"] as? String))
        }
        let noAssets = try await store.run("doctor", "--port", "0", "--assets", store.folder.path("none"))
        #expect(noAssets.code == 1)
        let taken = try TakenPort.alone(isIPv6: true)
        let busy = try await store.run("doctor", "--port", "\(taken.port)")
        #expect(busy.code == 0)
        #expect(busy.output.contains("note  port: port \(taken.port) is in use on [::1]"))
        let badStore = try await store.run("doctor", "--port", "0", "--store", store.folder.path("www/index.html"))
        #expect(badStore.code == 5)
        try store.folder.write(String(repeating: "no database ", count: 1000), to: "bad/catalog.sqlite")
        let badCatalog = try await store.run("doctor", "--port", "0", "--store", store.folder.path("bad"))
        #expect(badCatalog.code == 5)
        #expect(!badCatalog.output.contains("run `replayhost doctor`"), "no hint to repeat the command")
    }

    @Test func doctorReportsMissingFiles() async throws {
        let store = try CommandStore()
        try store.folder.write("engine", to: "www/vendor/sw.js")
        try store.write(GeneratedArchive(), to: "a.wacz")
        _ = try await store.run("import", "a.wacz")
        for name in names(in: store.folder.path("store/files")) where name.hasSuffix(".wacz") {
            try FileManager.default.removeItem(atPath: store.folder.path("store/files/\(name)"))
        }
        let result = try await store.run("doctor", "--port", "0")
        #expect(result.code == 5)
        #expect(result.output.contains("the file of \"a\" is missing"))
        #expect(try await store.run("remove", "a", "--yes").code == 0)
        #expect(try await store.run("doctor", "--port", "0").code == 0)
    }
}
