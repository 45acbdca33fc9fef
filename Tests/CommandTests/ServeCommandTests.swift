import Foundation
import TestSupport
import Testing

struct ServeCommandTests {
    /// Returns the port of the URL in a line of output.
    private static func port(_ line: String) -> Int? {
        line.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) }
    }

    private static func awaitPort(_ program: ProgramRun) throws -> Int {
        let line = program.outputLine { $0.contains("http://localhost:") }
        return try #require(line.flatMap { port($0) }, "\(program.wait().errors)")
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func serverPrintsItsURLAndStopsOnSignals(signal: Int32) async throws {
        let store = try CommandStore()
        let file = store.folder.path("store/server.json")
        let result = try await store.start("serve", "--port", "0") { program in
            let port = try Self.awaitPort(program)
            let description = try #require(
                try JSONSerialization.jsonObject(with: Data(try contents(of: file))) as? [String: Any])
            #expect(description["address"] as? String == "http://localhost:\(port)")
            #expect(description["port"] as? Int == port)
            #expect(description["pid"] as? Int32 == program.processID)
            #expect((description["token"] as? String)?.count == 64)
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #if os(Linux)
            // proc_pid_limits(5)
            let limits = String(decoding: try contents(of: "/proc/\(program.processID)/limits"), as: UTF8.self)
            let files = try #require(limits.firstMatch(of: /Max open files +(\d+) +(\d+)/))
            let (soft, hard) = (try #require(Int(files.1)), try #require(Int(files.2)))
            #expect(soft >= min(hard, 10_240))
            #endif
            for isIPv6 in [false, true] {
                let response = try HTTPConnection(port: port, isIPv6: isIPv6)
                    .ask("GET", "/api/health", host: "localhost:\(port)")
                #expect(response.status == 200)
            }
            program.send(signal)
            return program.wait()
        }
        #expect(result.code == 0)
        #expect(!result.wasKilled)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(result.errors.contains("the replay engine is missing"))
    }

    @Test func jsonContainsAddressAndStore() async throws {
        let store = try CommandStore()
        let result = try await store.start("serve", "--port", "0", "--json") { program in
            _ = try Self.awaitPort(program)
            program.send(SIGTERM)
            return program.wait()
        }
        let object = try #require(try objects(result.outputLines).first)
        #expect(Set(object.keys) == ["address", "store"])
        #expect(object["store"] as? String == store.store)
        #expect(result.outputLines.count == 1)
    }

    @Test func secondServerReportsTheFirst() async throws {
        let store = try CommandStore()
        let (port, results) = try await store.start("serve", "--port", "0") { program in
            let port = try Self.awaitPort(program)
            // On the same port, too, the error is about the store.
            let results = try ["0", "\(port)"].map { wanted in
                try ProgramRun(
                    Checkout.binary, ["serve", "--port", wanted],
                    environment: [
                        "REPLAYHOST_STORE": store.store, "REPLAYHOST_ASSETS": store.folder.path("www"),
                    ]
                ).wait()
            }
            #expect(try HTTPConnection(port: port).ask("GET", "/api/health", host: "localhost:\(port)").status == 200)
            program.send(SIGTERM)
            #expect(program.wait().code == 0)
            return (port, results)
        }
        for second in results {
            #expect(second.code == 5)
            #expect(second.errors.contains("another server is using this store at http://localhost:\(port)"))
            #expect(second.output.isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func portInUseEndsWith6AndNamesTheProcess(isIPv6: Bool) async throws {
        let store = try CommandStore()
        let taken = try TakenPort.alone(isIPv6: isIPv6)
        var result = try await store.run("serve", "--port", "\(taken.port)")
        let own = "(process \(ProcessInfo.processInfo.processIdentifier))"
        // /proc changes while it's read. It may lack the process, or name a child of another test that has a copy of the
        // socket for a moment.
        for _ in 0..<20 where !result.errors.contains(own) {
            result = try await store.run("serve", "--port", "\(taken.port)")
        }
        #expect(result.code == 6)
        let place = isIPv6 ? "[::1]" : "127.0.0.1"
        #expect(result.errors.contains("error: port \(taken.port) is in use on \(place) by "))
        #expect(result.errors.contains(own))
        #expect(result.errors.contains("hint: "))
        #expect(
            !FileManager.default.fileExists(atPath: store.store), "a server that can't listen doesn't create a store")
        let json = try await store.run("serve", "--port", "\(taken.port)", "--json")
        #expect(try errorCodes(json) == ["port-in-use"])
    }

    @Test func storeCanBeUsedWhileItIsServed() async throws {
        let store = try CommandStore()
        try store.write(GeneratedArchive(seed: 1), to: "one.wacz")
        try store.write(GeneratedArchive(seed: 2), to: "two.wacz")
        try await store.start("serve", "--port", "0") { program in
            let port = try Self.awaitPort(program)
            let environment = ["REPLAYHOST_STORE": store.store]
            let command = { (arguments: [String]) in
                let run = try ProgramRun(
                    Checkout.binary, arguments, environment: environment, folder: store.folder.path)
                return run.wait()
            }
            let status = { (id: String) in
                try HTTPConnection(port: port).ask("GET", "/archives/\(id).wacz", host: "localhost:\(port)").status
            }
            #expect(try status("one") == 404)
            #expect(try command(["import", "one.wacz", "two.wacz"]).code == 0)
            #expect(try status("one") == 200)
            #expect(try status("two") == 200)
            #expect(try command(["list", "--json"]).outputLines.count == 2)
            #expect(try command(["remove", "one", "--yes"]).code == 0)
            #expect(
                try HTTPConnection(port: port).ask("GET", "/api/archives/one", host: "localhost:\(port)").status == 404)
            #expect(
                try command(["doctor", "--port", "\(port)"]).output.contains("running at http://localhost:\(port)"))
            program.send(SIGTERM)
            #expect(program.wait().code == 0)
        }
        #expect(try await store.run("list", "--json").outputLines.count == 1)
    }
}
