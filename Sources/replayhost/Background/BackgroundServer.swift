import ArchiveStore
import CommandSupport
import Foundation
import ReplayHostKit
import WebArchive

/// Finds the running server of a store, or starts one in the background.
struct BackgroundServer {
    let layout: StoreLayout
    /// Whether the store is read-only, so that its server can't write `server.json` there.
    let isReadOnly: Bool
    /// The absolute path of the folder `www`; `nil` for the server's default.
    let assets: String?
    /// The port; `nil` for the default one, or any free one if it's in use.
    let port: Int?
    /// Options that set which users of this computer can connect.
    let users: [String]
    let interrupts: Interrupts

    static let defaultPort = 8080
    private static let secondsMax: Double = 60
    private static let secondsForOtherServer: Double = 10
    private static let attemptsMax = 3
    private var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// A server that responds.
    struct Found {
        let address: String
        let processID: Int32
        let version: String
        /// The path of the log; `nil` unless the server was started here.
        var log: String?
        /// Whether the server was started here.
        var isStarted: Bool { log != nil }
        /// A note for the user.
        var note: String?
    }

    /// Finds or starts the server.
    ///
    /// - Throws: `CommandError` with the error of a server that couldn't start; `StoreError`.
    func find() throws -> Found {
        if let found = try running() { return found }
        // If systemd listens on the port for replayhost, a request starts the server.
        if HealthResponse.request(port: port ?? Self.defaultPort) != nil, let found = try running() { return found }
        for _ in 0..<Self.attemptsMax {
            if let found = try start() { return found }
        }
        throw StoreError(
            .locked, "other programs use the library, but no server responds", place: layout.root,
            hint: "check the library with `replayhost doctor`")
    }

    /// Returns where the server of a read-only store is recorded.
    static func recordLayout(forStore root: String, environment: [String: String]) -> StoreLayout {
        StoreLayout(root: "\(ServerLog.folder(environment))/\(ServerLog.name(ofStore: root)).running")
    }

    /// Returns the running server of a store, from `server.json` or from the record of a read-only store.
    static func description(_ layout: StoreLayout, environment: [String: String]) -> ServerDescription? {
        ServerFile.running(layout: layout)
            ?? ServerFile.running(layout: recordLayout(forStore: layout.root, environment: environment))
    }

    /// The running server of this store.
    var description: ServerDescription? { Self.description(layout, environment: environment) }

    /// Waits until the store's server responds; `nil` when no server is running, or it stops meanwhile.
    private func running() throws -> Found? {
        guard let first = Self.description(layout, environment: environment) else { return nil }
        let found = try waiting { () -> [Found]? in
            guard let now = Self.description(layout, environment: environment) else { return [] }
            return HealthResponse.request(port: now.port).map { health in
                [
                    Found(
                        address: now.address, processID: now.pid, version: health.version,
                        note: note(version: health.version, port: now.port))
                ]
            }
        }
        guard let found else { throw Self.noResponse(first) }
        return found.first
    }

    private static func noResponse(_ description: ServerDescription) -> StoreError {
        StoreError(
            .failed, "the server (process \(description.pid)) doesn't respond", place: description.address,
            hint: "stop it with `replayhost stop`, then try again")
    }

    private func note(version: String, port: Int) -> String? {
        if version != ReplayHost.version {
            return
                "the running server is version \(version), this is \(ReplayHost.version); to update it, run "
                + "`replayhost stop`, then `replayhost open` again"
        }
        if let wanted = self.port, wanted != 0, wanted != port {
            return "the server is already running on port \(port); --port \(wanted) has no effect"
        }
        if users.isEmpty { return nil }
        return "the server is already running; \(users.joined(separator: " ")) has no effect until you stop it"
    }

    // Starting

    /// Starts a server.
    ///
    /// - Returns: This server, or one that another process started at the same time; `nil` if that one stopped again.
    private func start() throws -> Found? {
        let log = try ServerLog(root: layout.root, environment: environment)
        var record: ServerFile?
        if isReadOnly {
            let layout = Self.recordLayout(forStore: layout.root, environment: environment)
            try ServerLog.make(layout.root)
            do { record = try ServerFile(layout: layout) } catch let error as StoreError where error.code == .locked {
                return try otherServer()
            }
        }
        let first = try attempt(port: port ?? Self.defaultPort, log, record)
        switch first {
        case .success(let found): return found
        case .failure(let failure) where failure.status == .portInUse && port == nil:
            var found = try attempt(port: 0, log, record).get()
            found.note = "\(failure.what); using another port"
            return found
        case .failure(let failure) where failure.code == StoreError.Code.locked.rawValue:
            return try otherServer()
        case .failure(let failure): throw failure
        }
    }

    private func otherServer() throws -> Found? {
        try waiting(seconds: Self.secondsForOtherServer) { try running() }
    }

    private func attempt(port: Int, _ log: ServerLog, _ record: ServerFile?) throws -> Result<Found, CommandError> {
        var arguments = ["serve", "--json", "--store", layout.root, "--port", "\(port)"]
        if let assets { arguments += ["--assets", assets] }
        arguments += users
        try log.append("replayhost \(arguments.joined(separator: " "))")
        // Runs in the root folder, so that it doesn't keep a volume from being unmounted.
        let program = try BackgroundProcess(
            Terminal.executablePath, arguments, folder: "/", output: log.descriptor, inherited: record?.descriptor)
        let outcome = try waiting { () -> Result<Found, CommandError>? in
            // Checked before the files, so that the last output isn't missed.
            let code = program.exitCode()
            if let found = try answering(program, log, record) { return .success(found) }
            return try code.map { .failure(try Self.failure(endedWith: $0, log)) }
        }
        if let outcome { return outcome }
        throw StoreError(
            .failed, "the server (process \(program.processID)) didn't respond within \(Int(Self.secondsMax)) seconds",
            place: log.path, hint: "it may still be busy; check this log, and try again later")
    }

    /// Returns the server once it responds.
    ///
    /// Its URL comes from `server.json` or, for a read-only store, from the log, which `record` reserves for this server.
    private func answering(_ program: BackgroundProcess, _ log: ServerLog, _ record: ServerFile?) throws -> Found? {
        var address = try record.flatMap { _ in try log.lines().lazy.compactMap(Self.address).last }
        if record == nil, let own = ServerFile.running(layout: layout), own.pid == program.processID {
            address = own.address
        }
        guard let address, let port = URL(string: address)?.port, let health = HealthResponse.request(port: port) else {
            return nil
        }
        try record?.write(ServerDescription(address: address, port: port, pid: program.processID, token: ""))
        return Found(address: address, processID: program.processID, version: health.version, log: log.path)
    }

    /// Returns the URL in a line of `serve --json`.
    private static func address(_ line: String) -> String? {
        struct Serving: Decodable { let address: String }
        guard line.hasPrefix("{") else { return nil }
        return (try? JSONDecoder().decode(Serving.self, from: Data(line.utf8)))?.address
    }

    /// Returns the last error in the log of a server that has stopped.
    private static func failure(endedWith code: Int32, _ log: ServerLog) throws -> CommandError {
        let lines = try log.lines().dropFirst()
        if let failure = lines.reversed().lazy.compactMap({ CommandError(json: $0, status: ExitStatus(rawValue: code)) }
        ).first {
            return failure
        }
        let last = lines.suffix(5).joined(separator: "; ")
        return CommandError(
            StoreError(
                .failed, "the server stopped at once with exit code \(code): \(last.isEmpty ? "no output" : last)",
                place: log.path))
    }

    // Waiting

    /// Polls until there is a value.
    ///
    /// - Returns: `nil` after a timeout.
    /// - Throws: `StoreError` `interrupted` after Ctrl-C.
    private func waiting<Value>(seconds: Double = secondsMax, _ poll: () throws -> Value?) throws -> Value? {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            if let value = try poll() { return value }
            if interrupts.wereReceived { throw StoreError(.interrupted, "interrupted while waiting for the server") }
            if ContinuousClock.now > end { return nil }
            usleep(20_000)
        }
    }
}
