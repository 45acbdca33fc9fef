import Foundation
import TestSupport
import Testing

@testable import replayhost

/// `open` and `stop`. Each test stops its background server.
struct OpenCommandTests {
    /// Runs `body` with a store whose logs are in its own folder, then stops its server.
    private func withStore<Value>(_ body: (OpenStore) async throws -> Value) async throws -> Value {
        let store = OpenStore(files: try CommandStore())
        do {
            let value = try await body(store)
            _ = try await store.run("stop")
            return value
        } catch {
            _ = try await store.run("stop")
            throw error
        }
    }

    /// A store, and the folder for the logs of its servers.
    private struct OpenStore: Sendable {
        let files: CommandStore

        func environment(_ more: [String: String] = [:]) -> [String: String] {
            ["XDG_STATE_HOME": files.folder.path("state")].merging(more) { $1 }
        }

        func run(_ arguments: String..., environment more: [String: String] = [:]) async throws -> ProgramResult {
            try await files.run(arguments, environment: environment(more))
        }

        /// Runs `open --json`, which must succeed.
        func open(_ arguments: String...) async throws -> Opened {
            let result = try await files.run(
                ["open", "--no-browser", "--json"] + arguments, environment: environment())
            try #require(result.code == 0, "\(result.errors)")
            #expect(result.errors.isEmpty)
            return try JSONDecoder().decode(Opened.self, from: Data(result.output.utf8))
        }
    }

    private struct Opened: Decodable {
        let address: String
        let url: String
        let archive: String?
        let collection: String?
        let log: String?
        let pid: Int32
        let started: Bool

        var port: Int { URL(string: address)?.port ?? 0 }

        /// Requests a path on the server, and returns the status.
        func status(_ path: String) async throws -> Int {
            let port = port
            return try await onThread {
                try HTTPConnection(port: port).ask("GET", path, host: "localhost:\(port)").status
            }
        }
    }

    @Test func fileIsImportedAndServedInTheBackground() async throws {
        try await withStore { store in
            try store.files.write(GeneratedArchive(), to: "crawl.wacz")
            let opened = try await store.open("crawl.wacz", "--port", "0")
            #expect(opened.started)
            #expect((opened.archive, opened.collection) == ("crawl", nil))
            #expect(opened.url == "\(opened.address)/?archive=/archives/crawl.wacz")
            #expect(try await opened.status("/archives/crawl.wacz") == 200)
            #expect(getsid(opened.pid) == opened.pid, "the server survives the terminal")
            #expect(getsid(opened.pid) != getsid(0))
            let log = try #require(opened.log)
            #expect(log.hasPrefix(store.files.folder.path("state/replayhost/")))
            let mode = try FileManager.default.attributesOfItem(atPath: log)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(String(decoding: try contents(of: log), as: UTF8.self).contains(opened.address))

            let again = try await store.open("crawl.wacz")
            #expect((again.started, again.pid, again.log, again.url) == (false, opened.pid, nil, opened.url))
        }
    }

    /// The first time too, when the collection is new.
    @Test func urlOfAMemberIsFound() async throws {
        try await withStore { store in
            let members = (1...2).map { number in
                let archive = RecordedArchive([.init("http://example.org/\(number)", "page \(number)")])
                return (name: "m\(number).wacz", bytes: archive.bytes(), sha256: String?.none)
            }
            let package = GeneratedArchive.packageOfPackages(title: "Both", members)
            try store.files.folder.write(package, to: "both.wacz")
            for isFirst in [true, false] {
                let port = isFirst ? ["--port", "0"] : []
                for (url, isCaptured) in [("http://example.org/2", true), ("http://example.org/3", false)] {
                    let result = try await store.files.run(
                        ["open", "both.wacz", "--no-browser", "--url", url] + port, environment: store.environment())
                    #expect(result.code == 0)
                    #expect(result.errors.contains("warning: \(url) wasn't captured\n") == !isCaptured, "\(isFirst)")
                    if isFirst { break }
                }
            }
        }
    }

    @Test func jsonMatchesGoldenFile() async throws {
        try await withStore { store in
            try store.files.write(GeneratedArchive(), to: "crawl.wacz")
            var lines = ""
            for arguments in [["open", "crawl.wacz", "--port", "0"], ["open", "cra"], ["stop"], ["stop"]] {
                let browser = arguments[0] == "open" ? ["--no-browser"] : []
                lines += try await store.files.run(
                    arguments + browser + ["--json"], environment: store.environment()
                ).output
            }
            let text = lines.replacing(/localhost:\d+/, with: "localhost:PORT").replacing(
                /"pid":\d+/, with: "\"pid\":PID"
            )
            .replacing(/"log":"[^"]*\/state\/replayhost\/store-[0-9a-f]+.log"/, with: "\"log\":\"LOG\"")
            let difference = try Golden.difference(text, file: golden("json-open"))
            #expect(difference == nil)
        }
    }

    @Test func textNamesURLLogAndStopCommand() async throws {
        try await withStore { store in
            try store.files.write(GeneratedArchive(), to: "crawl.wacz")
            let first = try await store.run("open", "crawl.wacz", "--port", "0", "--no-browser")
            #expect(first.outputLines.first?.hasPrefix("crawl: imported ") == true)
            #expect(first.outputLines.last?.contains("/?archive=/archives/crawl.wacz") == true)
            #expect(first.errors.contains("server: started in the background at http://localhost:"))
            #expect(first.errors.contains("log: \(store.files.folder.path("state/replayhost/store-"))"))
            #expect(first.errors.contains("to stop it: replayhost stop\n"))
            let second = try await store.run("open", "--no-browser", "--port", "1", "--store", store.files.store)
            #expect(second.outputLines.last?.hasSuffix("/") == true)
            #expect(second.errors.contains("server: already running at http://localhost:"))
            #expect(second.errors.contains("--port 1 has no effect"))
            #expect(second.errors.contains("to stop it: replayhost stop --store \(store.files.store)\n"))
            let quiet = try await store.run("open", "--no-browser", "--quiet")
            #expect(quiet.errors.isEmpty)
            let stopped = try await store.run("stop")
            #expect(stopped.output.hasPrefix("stopped the server at http://localhost:"))
            #expect(!FileManager.default.fileExists(atPath: store.files.folder.path("store/server.json")))
            let none = try await store.run("stop")
            #expect((none.code, none.output) == (0, "no server is running\n"))
        }
    }

    @Test func archivesCollectionsAndTheLibraryAreOpened() async throws {
        try await withStore { store in
            for number in 1...2 { try store.files.write(GeneratedArchive(seed: UInt64(number)), to: "a\(number).wacz") }
            #expect(try await store.open("--port", "0").url.hasSuffix("/"), "the library is still empty")
            #expect(try await store.run("import", "a1.wacz", "a2.wacz").code == 0)
            #expect(try await store.run("collection", "create", "Both", "a1", "a2").code == 0)
            #expect(try await store.open("a2").archive == "a2")
            let collection = try await store.open("bo")
            #expect((collection.collection, collection.archive) == ("both", nil))
            #expect(collection.url.hasSuffix("/?collection=both"))
            #expect(try await store.run("open", "a", "--no-browser").code == 3)
            let none = try await store.run("open", "none", "--no-browser", "--json")
            #expect((none.code, try errorCodes(none)) == (3, ["not-found"]))
            #expect(try await store.run("open", "none.wacz", "--no-browser").errors.contains("no such file"))
        }
    }

    /// A file with the same path, size and time as an imported one isn't read again.
    @Test func unchangedFileIsNotReadAgain() async throws {
        try await withStore { store in
            let path = try store.files.write(GeneratedArchive(seed: 1), to: "crawl.wacz")
            #expect(try await store.open("crawl.wacz", "--port", "0").archive == "crawl")
            // Other bytes with the same size and time: only reading them would show the difference.
            let before = try contents(of: path)
            let other = GeneratedArchive(seed: 2).bytes()
            try #require(other.count == before.count)
            #expect(try await run("/bin/cp", ["-p", path, path + ".before"]).code == 0)
            try Data(other).write(to: URL(fileURLWithPath: path))
            #expect(try await run("/usr/bin/touch", ["-r", path + ".before", path]).code == 0)
            #expect(try await store.open("crawl.wacz").archive == "crawl")
            #expect(try await run("/usr/bin/touch", ["-d", "2001-02-03T04:05:06", path]).code == 0)
            #expect(try await store.open("crawl.wacz").archive == "crawl-2")
            #expect(try await store.open("crawl.wacz").archive == "crawl-2")
        }
    }

    @Test func linkedFileIsRecognized() async throws {
        try await withStore { store in
            try store.files.write(GeneratedArchive(), to: "crawl.wacz")
            #expect(try await store.open("--reference", "crawl.wacz", "--port", "0").archive == "crawl")
            #expect(try await store.open("crawl.wacz").archive == "crawl")
            let listed = try objects(try await store.run("list", "--json").outputLines)
            #expect(listed.map { $0["storage"] as? String } == ["linked"])
        }
    }

    @Test func multiWACZOpensAsCollection() async throws {
        try await withStore { store in
            let members = (1...2).map { ("m\($0).wacz", GeneratedArchive(seed: UInt64($0)).bytes(), String?.none) }
            let bytes = GeneratedArchive.packageOfPackages(
                title: "A crawl", members.map { (name: $0.0, bytes: $0.1, sha256: $0.2) })
            try store.files.folder.write(bytes, to: "crawl.wacz")
            #expect(try await store.open("crawl.wacz", "--port", "0").collection == "crawl")
        }
    }

    @Test func refusedFileDoesNotStartAServer() async throws {
        try await withStore { store in
            try store.files.folder.write("<html>", to: "no.wacz")
            let result = try await store.run("open", "no.wacz", "--no-browser", "--port", "0", "--json")
            #expect((result.code, try errorCodes(result)) == (4, ["archive-refused"]))
            #expect(!FileManager.default.fileExists(atPath: store.files.folder.path("state")))
        }
    }

    @Test func simultaneousCommandsShareOneServer() async throws {
        try await withStore { store in
            for number in 1...4 { try store.files.write(GeneratedArchive(seed: UInt64(number)), to: "a\(number).wacz") }
            let opened = try await withThrowingTaskGroup(of: Opened.self) { group in
                for number in 1...4 {
                    group.addTask { try await store.open("a\(number).wacz", "--port", "0") }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(opened.map(\.pid)).count == 1)
            #expect(opened.filter(\.started).count == 1)
            #expect(Set(opened.compactMap(\.archive)) == ["a1", "a2", "a3", "a4"])
        }
    }

    @Test func killedServerIsReplaced() async throws {
        try await withStore { store in
            let killed = try await store.open("--port", "0")
            kill(killed.pid, SIGKILL)
            let file = store.files.folder.path("store/server.json")
            #expect(FileManager.default.fileExists(atPath: file))
            let next = try await store.open("--port", "0")
            #expect(next.started)
            #expect(next.pid != killed.pid)
            #expect(try await next.status("/api/health") == 200)
        }
    }

    /// A program that locks the store as `serve` does, and reports another version.
    private static let otherServer = """
        import fcntl, http.server, json, os, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = b'{"status":"ok","version":"0.0.9","engine":null,"stockUI":false}'
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            protocol_version = "HTTP/1.1"
        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        file = open(sys.argv[1], "w")
        fcntl.flock(file, fcntl.LOCK_EX)
        port = server.server_port
        pid = int(sys.argv[2]) if len(sys.argv) > 2 else os.getpid()
        json.dump({"address": f"http://localhost:{port}", "port": port, "pid": pid, "token": ""}, file)
        file.flush()
        print("ready", flush=True)
        server.serve_forever()
        """

    private func withOtherServer<Value: Sendable>(
        _ store: OpenStore, pid: Int32? = nil, _ body: @Sendable (ProgramRun) async throws -> Value
    ) async throws -> Value {
        let file = store.files.folder.path("store/server.json")
        let program = try ProgramRun(
            "/usr/bin/python3", ["-c", Self.otherServer, file] + (pid.map { ["\($0)"] } ?? []))
        defer { program.send(SIGKILL) }
        _ = try await onThread { try #require(program.outputLine { $0 == "ready" }, "\(program.wait().errors)") }
        return try await body(program)
    }

    @Test func serverOfAnotherVersionIsUsedWithANote() async throws {
        try await withStore { store in
            try store.files.write(GeneratedArchive(), to: "crawl.wacz")
            #expect(try await store.run("import", "crawl.wacz").code == 0)
            try await withOtherServer(store) { program in
                let result = try await store.run("open", "crawl", "--no-browser")
                #expect(result.code == 0)
                #expect(result.errors.contains("the running server is version 0.0.9"))
                #expect(result.errors.contains("(process \(program.processID))"))
                #expect(try await store.run("stop").code == 0)
                #expect(try await onThread { program.wait().wasKilled })
            }
        }
    }

    @Test func stopEndsOnlyTheProcessThatLocksTheStore() async throws {
        try await withStore { store in
            #expect(try await store.run("open", "--no-browser", "--port", "0").code == 0)
            #expect(try await store.run("stop").code == 0)
            let bystander = try ProgramRun("/usr/bin/sleep", ["600"])
            defer { bystander.send(SIGKILL) }
            try await withOtherServer(store, pid: bystander.processID) { _ in
                let result = try await store.run("stop", "--json")
                #expect(result.code == 1)
                #expect(try errorCodes(result) == ["failed"])
                #expect(result.errors.contains("the server isn't process \(bystander.processID)"))
                #expect(kill(bystander.processID, 0) == 0)
            }
        }
    }

    @Test func serverStartErrorsAreReported() async throws {
        try await withStore { store in
            let assets = try await store.run("open", "--no-browser", "--port", "0", "--assets", "none", "--json")
            #expect((assets.code, try errorCodes(assets)) == (3, ["not-found"]))
            #expect(assets.errors.contains("no web app in this folder"))
            #expect(
                assets.errors.contains(store.files.folder.path("none")),
                "an absolute path, because the server runs in another folder")
            let taken = try TakenPort.alone(isIPv6: false)
            let port = try await store.run("open", "--no-browser", "--port", "\(taken.port)", "--json")
            #expect((port.code, try errorCodes(port)) == (6, ["port-in-use"]))
            let state = try await store.run(
                "open", "--no-browser", "--port", "0", environment: ["XDG_STATE_HOME": "/proc/state"])
            #expect(state.code == 1)
            #expect(state.errors.contains("can't create the folder for the server's log"))
        }
    }

    @Test func largeLogIsEmptied() async throws {
        try await withStore { store in
            let log = try #require(try await store.open("--port", "0").log)
            #expect(try await store.run("stop").code == 0)
            let small = try contents(of: log).count
            _ = try await store.open("--port", "0")
            #expect(try await store.run("stop").code == 0)
            #expect(try contents(of: log).count > small, "a small log is kept")
            try store.files.folder.write(
                String(repeating: "x", count: ServerLog.bytesMax + 1),
                to: String(log.dropFirst(store.files.folder.path("").count)))
            _ = try await store.open("--port", "0")
            #expect(try contents(of: log).count < 2 * small)
        }
    }
}
