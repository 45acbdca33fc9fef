import Foundation
import TestSupport
import Testing

struct ImportCommandTests {
    @Test func folderImportContinuesAfterABadFile() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(title: "One", seed: 1), to: "in/1-good.wacz")
        try store.folder.write("no zip at all, only text", to: "in/2-bad.wacz")
        try store.write(GeneratedArchive(title: "Three", seed: 3), to: "in/below/3-good.wacz.zip")
        try store.write(GeneratedArchive(title: "Hidden", seed: 4), to: "in/.hidden.wacz")
        try store.folder.write("other", to: "in/readme.txt")
        let result = try await store.run("import", "in")
        #expect(result.code == 4)
        let imported = result.outputLines.filter { !$0.hasPrefix("  ") }
        #expect(imported.map { $0.prefix(while: { $0 != ":" }) } == ["1-good", "3-good"])
        #expect(result.errors.contains("2-bad.wacz"))
        let named = "  failed: in/2-bad.wacz"
        #expect(result.errorLines.suffix(2) == ["2 imported, 0 already in your library, 1 failed", named])
        let again = try await store.run("import", "in")
        #expect(again.code == 4)
        #expect(again.errorLines.suffix(2) == ["0 imported, 2 already in your library, 1 failed", named])
        let list = try await store.run("list", "--json")
        #expect(Set(try objects(list.outputLines).compactMap { $0["title"] as? String }) == ["One", "Three"])
    }

    /// A shell passes the name, which a Swift string can't contain.
    @Test func fileNameThatIsNotUTF8IsReported() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(title: "One", seed: 1), to: "in/a.wacz")
        let script = """
            name=$(printf 'b\\377.wacz'); cp in/a.wacz "in/$name" || exit 77
            "\(Checkout.binary)" import "in/$name"; echo "code $?"
            "\(Checkout.binary)" import in; echo "code $?"
            """
        let result = try await run(
            "/bin/sh", ["-c", script], environment: ["REPLAYHOST_STORE": store.store], folder: store.folder.path)
        // Some file systems don't allow such names.
        guard result.code != 77 else { return }
        #expect(result.outputLines.filter { $0.hasPrefix("code ") } == ["code 1", "code 1"], "\(result.errors)")
        let lines = result.errorLines.filter { $0.contains("name isn't valid UTF-8") }
        #expect(lines.count == 2, "\(result.errors)")
        #expect(result.errors.contains("rename the file"))
        #expect(result.errors.contains("1 imported, 0 already in your library, 1 failed"))
    }

    @Test func jsonIsOneObjectPerLine() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(seed: 1), to: "a.wacz")
        try store.folder.write("no zip", to: "b.wacz")
        let result = try await store.run("import", "a.wacz", "b.wacz", "a.wacz", "missing.wacz", "--json")
        #expect(result.code == 4)
        let lines = try objects(result.outputLines)
        #expect(lines.map { $0["duplicate"] as? Bool } == [false, true])
        #expect(lines.allSatisfy { ($0["archive"] as? [String: Any])?["id"] as? String == "a" })
        #expect(try errorCodes(result) == ["archive-refused", "not-found"])
    }

    @Test func standardInputIsImported() async throws {
        let store = try CommandStore()
        let bytes = GeneratedArchive(title: nil, payloadSize: 2_000_000).bytes()
        let result = try await store.run(["import", "-", "--title", "My crawl", "--json"], input: bytes)
        #expect(result.code == 0, "\(result.errors)")
        let archive = try #require(try objects(result.outputLines).first?["archive"] as? [String: Any])
        #expect(archive["id"] as? String == "my-crawl")
        #expect(archive["title"] as? String == "My crawl")
        #expect(archive["size"] as? Int == bytes.count)
        let file = store.folder.path("store/files/\(archive["sha256"] as? String ?? "").wacz")
        #expect(isSame(try contents(of: file), bytes))
        let untitled = try await store.run(["import", "-"], input: GeneratedArchive(title: nil, seed: 2).bytes())
        #expect(untitled.output.hasPrefix("standard-input: imported \"standard input\" ("))
        let empty = try await store.run(["import", "-"])
        #expect(empty.code == 4)
        #expect(empty.errors.contains("standard input"))
    }

    @Test func quietPrintsOnlyErrorsAndRequestedData() async throws {
        let store = try CommandStore()
        let path = Checkout.fixture("damaged/unsorted-index.wacz")
        let loud = try await store.run("import", path)
        #expect(loud.errors.contains("store: \(store.store) (REPLAYHOST_STORE)"))
        let other = try CommandStore()
        let quiet = try await other.run("import", path, "--quiet")
        #expect(quiet.code == 0)
        #expect(quiet.errors.isEmpty)
        #expect(quiet.output.isEmpty)
        for command in [
            ["edit", "unsorted-index", "--title", "x"], ["backup", "copies"], ["remove", "unsorted-index", "--yes"],
        ] {
            let result = try await other.run(command + ["--quiet"])
            #expect(result.code == 0)
            #expect((result.output + result.errors).isEmpty, "\(command)")
        }
    }

    @Test func leftoversOfKilledImportsAreRemovedAndReported() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(), to: "a.wacz")
        try store.folder.write("half", to: "store/incoming/copy-1")
        let result = try await store.run("import", "a.wacz")
        #expect(result.code == 0)
        #expect(result.errors.contains("removed 1 copy left by an interrupted import"))
        #expect(names(in: store.folder.path("store/incoming")).isEmpty)
    }

    @Test func titlesDoNotControlTheTerminal() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(title: "\\u001b[31mred\\u0007"), to: "a.wacz")
        let imported = try await store.run("import", "a.wacz")
        #expect(imported.code == 0)
        for result in [imported, try await store.run("list"), try await store.run("info", "a")] {
            #expect(!result.output.contains("\u{1B}") && !result.output.contains("\u{7}"))
        }
    }
}
