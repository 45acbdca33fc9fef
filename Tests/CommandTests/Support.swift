import Foundation
import TestSupport
import Testing

/// A new store, and the program to run on it.
struct CommandStore: Sendable {
    let folder: TemporaryFolder
    var store: String { folder.path("store") }

    init() throws { folder = try TemporaryFolder() }

    /// A store with the sample archive.
    static func withSample() async throws -> CommandStore {
        let store = try CommandStore()
        try store.folder.write(try contents(of: Checkout.fixture("sample.wacz")), to: "sample.wacz")
        #expect(try await store.run("import", "sample.wacz").code == 0)
        return store
    }

    /// Runs a command on this store.
    func run(
        _ arguments: String..., input: String = "", environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        try await run(arguments, input: Array(input.utf8), environment: environment)
    }

    func run(
        _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:]
    ) async throws -> ProgramResult {
        try await TestSupport.run(
            Checkout.binary, arguments, input: input,
            environment: ["REPLAYHOST_STORE": store, "REPLAYHOST_ASSETS": try assets()].merging(environment) { $1 },
            folder: folder.path)
    }

    /// Runs a command whose standard output is a terminal.
    func runOnTerminal(_ columns: Int, _ arguments: [String]) async throws -> ProgramResult {
        let script = """
            import fcntl, os, pty, struct, sys, termios
            errors = os.dup(2)
            child, terminal = pty.fork()
            if child == 0:
                fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
                os.dup2(errors, 2)
                os.execv(sys.argv[2], sys.argv[2:])
            while True:
                try:
                    data = os.read(terminal, 65536)
                except OSError:
                    data = b""
                if not data:
                    break
                os.write(1, data.replace(b"\\r\\n", b"\\n"))
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            """
        return try await TestSupport.run(
            "/usr/bin/python3", ["-c", script, "\(columns)", Checkout.binary] + arguments,
            environment: [
                "REPLAYHOST_STORE": store, "REPLAYHOST_ASSETS": try assets(), "NO_COLOR": "1",
            ],
            folder: folder.path)
    }

    /// Starts a command and passes it to `body`; kills it if it still runs at the end.
    func start<Value: Sendable>(
        _ arguments: String..., environment: [String: String] = [:],
        _ body: @escaping @Sendable (ProgramRun) throws -> Value
    ) async throws -> Value {
        try await onThread {
            let program = try launch(arguments, environment: environment)
            defer { program.send(SIGKILL) }
            return try body(program)
        }
    }

    /// Starts a command. For code that runs on its own thread.
    func launch(_ arguments: [String], environment: [String: String] = [:]) throws -> ProgramRun {
        try ProgramRun(
            Checkout.binary, arguments,
            environment: ["REPLAYHOST_STORE": store, "REPLAYHOST_ASSETS": try assets()].merging(environment) { $1 },
            folder: folder.path)
    }

    /// Creates the smallest `www` that `serve` accepts.
    private func assets() throws -> String {
        if !FileManager.default.fileExists(atPath: folder.path("www/index.html")) {
            try folder.write("<!doctype html>", to: "www/index.html")
        }
        return folder.path("www")
    }

    @discardableResult
    func write(_ archive: GeneratedArchive, to name: String) throws -> String {
        try folder.write(archive.bytes(), to: name)
    }
}

/// The path of a golden file.
func golden(_ name: String) -> String { Checkout.path("Tests/CommandTests/Golden/\(name).txt") }

/// Parses JSON objects, one per line.
func objects(_ lines: [String]) throws -> [[String: Any]] {
    try lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any], "\($0)") }
}

/// Returns the `code` of each error object on standard error.
func errorCodes(_ result: ProgramResult) throws -> [String] {
    try objects(result.errorLines).map { try #require(($0["error"] as? [String: Any])?["code"] as? String) }
}
