import Foundation
import TestSupport
import Testing

/// Commands that change the library.
struct StoreCommandsTests {
    private func listed(_ store: CommandStore) async throws -> [[String: Any]] {
        try objects(try await store.run("list", "--json").outputLines)
    }

    private func exists(_ store: CommandStore, _ name: String) -> Bool {
        FileManager.default.fileExists(atPath: store.folder.path(name))
    }

    @Test func folderImportContinuesAndWritesAReport() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(seed: 1), to: "in/a.wacz")
        try store.folder.write("<html>", to: "in/b, \"quoted\".wacz")
        try store.write(GeneratedArchive(seed: 2), to: "in/deep/er/c.wacz")
        try store.write(GeneratedArchive(seed: 1), to: "in/d.wacz")
        let result = try await store.run("import", "in", "--report", "report.csv")
        #expect(result.code == 4)
        #expect(result.errors.contains("2 imported, 1 already in your library, 1 failed"))
        // Python reads the report independently.
        let script = "import csv,json,sys; print(json.dumps(list(csv.DictReader(open(sys.argv[1], newline='')))))"
        let read = try await TestSupport.run("/usr/bin/python3", ["-c", script, store.folder.path("report.csv")])
        let rows = try #require(try JSONSerialization.jsonObject(with: Data(read.output.utf8)) as? [[String: String]])
        #expect(rows.map { $0["result"] } == ["imported", "failed", "duplicate", "imported"])
        #expect(rows.map { $0["id"] } == ["a", "", "a", "c"])
        #expect(rows[1]["input"] == "in/b, \"quoted\".wacz")
        #expect(rows[1]["code"] == "archive-refused")
        #expect(rows[0]["sha256"] == (try await sha256ByOpenSSL(store.folder.path("in/a.wacz"))))
    }

    @Test func moveDeletesTheOriginalAndLinkKeepsIt() async throws {
        let store = try CommandStore()
        for (name, seed) in [("moved", 1), ("kept", 2)] {
            try store.write(GeneratedArchive(seed: UInt64(seed)), to: "\(name).wacz")
        }
        #expect(try await store.run("import", "--move", "moved.wacz").output.hasPrefix("moved: moved \"Generated\" ("))
        let linked = try await store.run("import", "--link", "kept.wacz")
        #expect(linked.output.hasPrefix("kept: linked \"Generated\" ("))
        #expect(linked.output.contains("). Its hash is calculated when the server next runs.\n"))
        #expect(linked.errors.contains("To calculate missing hashes now, run `replayhost jobs run`.\n"))
        #expect((exists(store, "moved.wacz"), exists(store, "kept.wacz")) == (false, true))
        let archives = try await listed(store)
        #expect(archives.map { $0["storage"] as? String } == ["linked", "managed"])
        #expect(archives[0]["linkedPath"] as? String == store.folder.path("kept.wacz"))
        #expect(archives[0]["sha256"] == nil)
        try FileManager.default.removeItem(atPath: store.folder.path("kept.wacz"))
        #expect(try await listed(store).map { $0["availability"] as? String } == ["unavailable", "available"])
        #expect(try await store.run("list").output.contains("unavailable"))
        let result = try await store.run("get", "http://example.org/", "--json", "kept")
        #expect(result.code == 1)
        #expect(try errorCodes(result) == ["archive-unavailable"])
    }

    @Test func replaceKeepsIDAndMetadata() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(seed: 1), to: "crawl.wacz")
        try store.write(GeneratedArchive(seed: 2), to: "again.wacz")
        #expect(try await store.run("import", "crawl.wacz", "--tag", "old", "--title", "Mine").code == 0)
        let result = try await store.run("import", "--replace", "cra", "again.wacz")
        #expect(result.output.hasPrefix("crawl: replaced \"Mine\" ("))
        let archives = try await listed(store)
        #expect(archives.count == 1)
        #expect(archives[0]["id"] as? String == "crawl")
        #expect(archives[0]["tags"] as? [String] == ["old"])
        #expect(archives[0]["sha256"] as? String == (try await sha256ByOpenSSL(store.folder.path("again.wacz"))))
    }

    @Test(arguments: [
        ["import", "--move", "--link", "a.wacz"], ["import", "--id", "Not One", "a.wacz"],
        ["import", "--move", "-"],
        ["import", "--id", "x", "a.wacz", "b.wacz"], ["import", "--id", "x", "--replace", "y", "a.wacz"],
        ["import", "--id", "x", "."], ["edit", "a"], ["collection", "create", "t", "a", "--id", "all"],
        ["edit", "a", "--title", ""],
    ])
    func invalidArgumentsAreUsageErrors(arguments: [String]) async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(), to: "a.wacz")
        #expect(try await store.run("import", "a.wacz").code == 0)
        let before = try await store.run("list", "--json").output
        #expect(try await store.run(arguments, input: []).code == 2)
        #expect(try await store.run("list", "--json").output == before)
    }

    @Test func metadataIsEdited() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(), to: "a.wacz")
        #expect(try await store.run("import", "a.wacz").code == 0)
        let edited = try await store.run("edit", "a", "--title", "New", "--tag", "x", "--tag", "y z", "--notes", "n")
        #expect(edited.output == "a: New [x, y z]\n")
        #expect(
            try await store.run("edit", "a", "--untag", "x", "--notes", "-", input: "two\nlines\n").output
                == "a: New [y z]\n")
        let info = try await store.run("info", "a")
        #expect(info.output.contains("tags:          y z\n"))
        #expect(try await listed(store)[0]["notes"] as? String == "two\nlines\n")
        #expect(try await store.run("edit", "a", "--untag", "x").code == 3)
        #expect(try await store.run("edit", "none", "--title", "x").code == 3)
    }

    @Test func collectionsAreCreatedChangedAndRemoved() async throws {
        let store = try CommandStore()
        for number in 1...3 { try store.write(GeneratedArchive(seed: UInt64(number)), to: "a\(number).wacz") }
        #expect(try await store.run("import", "a1.wacz", "a2.wacz", "a3.wacz").code == 0)
        #expect(
            try await store.run("collection", "create", "The two", "a1", "a2").output
                == "the-two: created \"The two\" (a1, a2)\n")
        #expect(try await store.run("group", "info", "the").output.contains("member:  a2, Generated\n"), "as in 0.1.0")
        #expect(
            try await store.run("collection", "add", "the", "a3").output
                == "the-two: updated \"The two\" (a1, a2, a3)\n")
        #expect(
            try await store.run("collection", "drop", "the", "a1").output == "the-two: updated \"The two\" (a2, a3)\n")
        #expect(try await store.run("collection", "drop", "the", "a1").code == 3)
        #expect(try await store.run("edit", "the-two", "--title", "Both").output == "the-two: Both\n")
        let collection = try #require(
            try objects(try await store.run("collection", "list", "--json").outputLines).first)
        #expect(collection["members"] as? [String] == ["a2", "a3"])
        #expect(try await store.run("collection", "info", "the-two").output.contains("member:  a2, Generated\n"))
        #expect(try await store.run("cdx", "http://example.org/*", "the-two").outputLines.count == 2)
        #expect(try await store.run("collection", "create", "x", "none").code == 3)
        #expect(try await store.run("collection", "create", "x", "a1", "--id", "a2").code == 1)
        #expect(try await store.run("collection", "remove", "the-two", input: "n\n").code == 1)
        #expect(try await store.run("collection", "remove", "the-two", "--yes").code == 0)
        #expect(try await store.run("collection", "list", "--json").output.isEmpty)
        #expect(try await listed(store).count == 3)
    }

    @Test func multiWACZBecomesACollection() async throws {
        let store = try CommandStore()
        let members = (1...2).map { ("m\($0).wacz", GeneratedArchive(seed: UInt64($0)).bytes(), String?.none) }
        let bytes = GeneratedArchive.packageOfPackages(
            title: "A crawl", members.map { (name: $0.0, bytes: $0.1, sha256: $0.2) })
        try store.folder.write(bytes, to: "crawl.wacz")
        let result = try await store.run("import", "crawl.wacz")
        #expect(result.code == 0)
        #expect(result.outputLines.last == "crawl: collection \"A crawl\" with 2 archives")
        let json = try objects(try await store.run("import", "crawl.wacz", "--json").outputLines)
        #expect(json.map { $0["duplicate"] as? Bool } == [true, true, true])
        #expect(json.last?["collection"] as? String == "crawl")
        let piped = try await store.run(["import", "-", "--title", "Piped"], input: bytes)
        #expect(piped.code == 0)
    }

    @Test func catalogIsRebuilt() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(), to: "a.wacz")
        #expect(try await store.run("import", "a.wacz", "--tag", "t").code == 0)
        #expect(try await store.run("collection", "create", "g", "a").code == 0)
        let before = try await store.run("info", "a", "--json").output
        try store.folder.write("damaged", to: "store/catalog.sqlite")
        let damaged = try await store.run("list", "--json")
        #expect(damaged.code == 5)
        #expect(try errorCodes(damaged) == ["catalog-damaged"])
        let doctor = try await store.run("doctor", "--rebuild", "--port", "0")
        #expect(
            doctor.output.contains(
                "store catalog: recreated: 1 archive, 1 collection; the damaged one is kept as catalog.sqlite.damaged"))
        #expect(try await store.run("info", "a", "--json").output == before)
        #expect(doctor.output.contains("filters: all archives have one"))
    }
}
