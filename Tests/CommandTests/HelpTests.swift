import TestSupport
import Testing

/// Help and version. RECORD_GOLDEN=1 rewrites the golden files.
struct HelpTests {
    static let commands = [
        "open", "stop", "import", "serve", "list", "info", "search", "pages", "urls", "cdx", "get", "explain", "edit",
        "collection",
        "jobs",
        "remove",
        "backup",
        "restore",
        "doctor",
    ]

    @Test(arguments: [[]] + HelpTests.commands.map { [$0] })
    func helpMatchesGoldenFile(command: [String]) async throws {
        let result = try await CommandStore().run(command + ["--help"], environment: ["COLUMNS": "80"])
        #expect(result.code == 0)
        #expect(result.errors.isEmpty)
        let name = "help" + command.map { "-\($0)" }.joined()
        let difference = try Golden.difference(result.output, file: golden(name))
        #expect(difference == nil)
        #expect(result.output.contains("Example"), "every help has an example")
    }

    @Test func helpListsEveryCommand() async throws {
        let result = try await CommandStore().run("--help")
        for command in Self.commands { #expect(result.output.contains("\n  \(command) ")) }
    }

    @Test func helpIsShownWithoutACommand() async throws {
        let result = try await CommandStore().run()
        #expect(result.output.contains("USAGE: replayhost <subcommand>"))
    }

    @Test func versionIncludesTheEngine() async throws {
        let store = try CommandStore()
        let without = try await store.run("--version")
        #expect(without.code == 0)
        #expect(without.outputLines.count == 2)
        #expect(without.outputLines.first?.wholeMatch(of: /replayhost \d+\.\d+\.\d+/) != nil)
        #expect(without.outputLines.last == "replay engine: not installed")
        let engine = try store.folder.write("engine", to: "www/vendor/sw.js")
        try store.folder.write(
            "{\"name\":\"wabac.js\",\"version\":\"1.2.3\",\"sha256\":\"0\"}", to: "www/vendor/engine.json")
        let with = try await store.run("--version")
        #expect(
            with.outputLines.last == "replay engine: wabac.js 1.2.3 (sha256 \(try await sha256ByOpenSSL(engine)))")
    }
}
