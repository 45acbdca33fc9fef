import ArchiveStore
import Foundation
import TestSupport
import Testing

@testable import replayhost

/// `open --isolated` with shell scripts instead of browsers.
struct IsolatedBrowserTests {
    // Choosing a browser

    /// Creates a folder of programs for `PATH`.
    private func folder(_ programs: [String: String]) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, text) in programs { try await folder.writeProgram(text, to: name) }
        return folder
    }

    struct Choice: Sendable {
        let installed: [String]
        var environment: [String: String] = [:]
        var isRoot = false
        /// The name of the chosen program, or a part of the error.
        let expected: String
    }

    @Test(arguments: [
        Choice(installed: ["chromium", "firefox"], expected: "chromium"),
        Choice(installed: ["google-chrome", "chromium-browser"], expected: "chromium-browser"),
        Choice(installed: ["firefox", "firefox-esr"], expected: "firefox-esr"),
        Choice(installed: ["chromium", "firefox"], environment: ["FIREFOX": "firefox"], expected: "firefox"),
        Choice(installed: ["mine", "chromium"], environment: ["CHROMIUM": "mine"], expected: "mine"),
        Choice(installed: ["chromium"], environment: ["CHROMIUM": ""], expected: "chromium"),
        Choice(installed: ["chromium"], environment: ["CHROMIUM": "none"], expected: "CHROMIUM is set to \"none\""),
        Choice(installed: ["chromium"], environment: ["FIREFOX": "/"], expected: "FIREFOX is set to \"/\""),
        Choice(installed: ["chromium", "firefox"], isRoot: true, expected: "firefox"),
        Choice(installed: ["chromium"], isRoot: true, expected: "Chromium can't run as root"),
        Choice(installed: ["mine"], environment: ["CHROMIUM": "mine"], isRoot: true, expected: "mine"),
        Choice(installed: [], expected: "neither is installed"),
        Choice(installed: ["opera"], expected: "neither is installed"),
    ])
    func browserIsChosen(_ choice: Choice) async throws {
        let folder = try await folder(Dictionary(uniqueKeysWithValues: choice.installed.map { ($0, "#!/bin/sh\n") }))
        let environment = choice.environment.merging(["PATH": "/nonexistent:\(folder.path)"]) { $1 }
        do {
            let found = try IsolatedBrowser.find(environment, isRoot: choice.isRoot)
            #expect(found.program == folder.path(choice.expected))
        } catch let error as StoreError {
            #expect(error.what.contains(choice.expected))
            #expect(error.hint != nil)
        }
    }

    @Test func snapsAreSkipped() async throws {
        let folder = try await folder(["chromium-browser": "#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n"])
        let environment = ["PATH": folder.path]
        #expect(throws: StoreError.self) { try IsolatedBrowser.find(environment, isRoot: false) }
        try await folder.writeProgram("#!/bin/sh\n", to: "firefox")
        #expect(try IsolatedBrowser.find(environment, isRoot: false).program == folder.path("firefox"))
    }

    @Test func withoutABrowserNothingIsImportedOrStarted() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(), to: "crawl.wacz")
        let environment = ["PATH": "/nonexistent", "XDG_STATE_HOME": store.folder.path("state")]
        let result = try await store.run("open", "--isolated", "crawl.wacz", environment: environment)
        #expect(result.code == 1)
        #expect(result.errorLines.first == "error: --isolated needs Chromium or Firefox, and neither is installed")
        #expect(result.errorLines.last?.hasPrefix("hint: install one ") == true)
        #expect(names(in: store.folder.path("store")).isEmpty)
        #expect(names(in: store.folder.path("state")).isEmpty)
    }

    @Test(arguments: [["--no-browser", "crawl"], []])
    func invalidCombinationsAreUsageErrors(arguments: [String]) async throws {
        let result = try await CommandStore().run(["open", "--isolated"] + arguments)
        #expect(result.code == 2)
        #expect(result.errors.contains("--isolated"))
    }

    // Running a browser

    /// A store with one archive, and a script that stands in for Chromium.
    private struct Run {
        let store: CommandStore
        let environment: [String: String]

        var temporaryFolder: String { store.folder.path("tmp") }

        func profiles() -> [String] { names(in: temporaryFolder).filter { $0.hasPrefix("replayhost-isolated-") } }

        func contents(of name: String) throws -> String {
            String(decoding: try TestSupport.contents(of: store.folder.path("browser.\(name)")), as: UTF8.self)
        }
    }

    private func withBrowser(_ script: String, _ body: (Run) async throws -> Void) async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(), to: "crawl.wacz")
        try FileManager.default.createDirectory(atPath: store.folder.path("tmp"), withIntermediateDirectories: false)
        let profile = "for a; do case $a in --user-data-dir=*) p=${a#*=};; esac; done\n"
        let browser = try await store.folder.writeProgram("#!/bin/sh\n" + profile + script, to: "browser")
        let environment = [
            "CHROMIUM": browser, "XDG_STATE_HOME": store.folder.path("state"), "TMPDIR": store.folder.path("tmp"),
        ]
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await body(Run(store: store, environment: environment)))
        } catch {
            outcome = .failure(error)
        }
        _ = try await store.run("stop", environment: environment)
        try outcome.get()
    }

    @Test func profileIsPrivateAndDeletedAtTheEnd() async throws {
        let script = """
            stat -c %a "$p" > "$0.mode"; cp "$p/Default/Preferences" "$0.preferences"; printf %s\\\\n "$@" > "$0.arguments"
            """
        try await withBrowser(script) { run in
            let result = try await run.store.run(
                "open", "--isolated", "crawl.wacz", "--port", "0", "--json", environment: run.environment)
            #expect(result.code == 0, "\(result.errors)")
            let opened = try #require(try objects(result.outputLines).first)
            #expect(opened["browser"] as? String == run.environment["CHROMIUM"])
            #expect(opened["archive"] as? String == "crawl")
            #expect(try run.contents(of: "mode") == "700\n")
            #expect(try run.contents(of: "preferences").contains("disable_non_proxied_udp"))
            let address = try #require(opened["address"] as? String).replacing("http://", with: "")
            #expect(
                try run.contents(of: "arguments").contains(
                    "*.replay\(address.replacing("localhost", with: "host.localhost"))"))
            #expect(
                try run.contents(of: "arguments").split(separator: "\n").last.map(String.init) == opened["url"]
                    as? String)
            #expect(run.profiles().isEmpty)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func interruptEndsTheBrowserAndDeletesTheProfile(number: Int32) async throws {
        try await withBrowser("echo $$ > \"$0.part\"; mv \"$0.part\" \"$0.pid\"; exec sleep 600") { run in
            let environment = run.environment
            let (folder, temporary) = (run.store.folder, run.temporaryFolder)
            try await run.store.start("open", "--isolated", "crawl.wacz", "--port", "0", environment: environment) {
                program in
                _ = try #require(program.outputLine { $0.hasPrefix("http://") }, "\(program.wait().errors)")
                try program.waitUntil { names(in: folder.path).contains("browser.pid") }
                #expect(names(in: temporary).count == 1)
                program.send(number)
                #expect(program.wait().code == 130)
            }
            #expect(run.profiles().isEmpty)
            let browser = try #require(Int32(try run.contents(of: "pid").dropLast()))
            #expect(kill(browser, 0) == -1)
        }
    }

    @Test func browserFailureIsReported() async throws {
        try await withBrowser("echo first >&2; echo 'no screen' >&2; exit 3") { run in
            let result = try await run.store.run(
                "open", "--isolated", "crawl.wacz", "--port", "0", environment: run.environment)
            #expect(result.code == 1)
            #expect(result.errors.contains("/browser failed with exit code 3: no screen\n"))
            #expect(result.errors.contains("no display was found"))
            #expect(run.profiles().isEmpty)
        }
    }

    /// The folder of a killed run is deleted once its browser has ended.
    @Test func leftoverProfilesAreDeletedAtTheNextRun() async throws {
        let script = """
            if [ -e "$0.pid" ]; then ls "$TMPDIR/.." > "$0.list"; exit 0; fi
            echo $$ > "$0.part"; mv "$0.part" "$0.pid"; exec sleep 600
            """
        try await withBrowser(script) { run in
            let (environment, folder) = (run.environment, run.store.folder)
            let other = try folder.write("", to: "tmp/replayhost-isolated-other/file")
            let another = try folder.write("", to: "tmp/another/file")
            try await run.store.start("open", "--isolated", "crawl.wacz", "--port", "0", environment: environment) {
                program in
                _ = try #require(program.outputLine { $0.hasPrefix("http://") }, "\(program.wait().errors)")
                try program.waitUntil { names(in: folder.path).contains("browser.pid") }
                program.send(SIGKILL)
                _ = program.wait()
            }
            #expect(!FileManager.default.fileExists(atPath: other))
            #expect(FileManager.default.fileExists(atPath: another))
            let left = try #require(run.profiles().first)
            let browser = try #require(Int32(try run.contents(of: "pid").dropLast()))
            defer { kill(browser, SIGKILL) }
            #expect(try await run.store.run("open", "--isolated", "crawl", environment: environment).code == 0)
            #expect(try run.contents(of: "list").contains(left), "its browser is still running")
            kill(browser, SIGKILL)
            #expect(try await eventually { kill(browser, 0) != 0 })
            #expect(try await run.store.run("open", "--isolated", "crawl", environment: environment).code == 0)
            #expect(run.profiles().isEmpty)
        }
    }
}
