import ArchiveStore
import Foundation
import ReplayHostKit
import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The server of a store: the one that runs, else one that is started in the background.
struct BackgroundServer {
    let layout: StoreLayout
    /// Servers of such a store cannot say in it that they run.
    let isReadOnly: Bool
    /// Absolute path of the folder `www`; `nil` lets the server find it.
    let assets: String?
    /// `nil` for the usual one, or any other when that is taken.
    let port: Int?
    /// Options that say which users of this computer it answers.
    let users: [String]
    let interrupts: Interrupts

    static let usualPort = 8080
    private static let secondsMax: Double = 60
    private static let secondsForOthers: Double = 10
    private static let attemptsMax = 3
    private var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// A server that answers.
    struct Found {
        let address: String
        let processID: Int32
        let version: String
        /// Where it writes to, when it was started here.
        var log: String?
        /// Whether it was started here.
        var isStarted: Bool { log != nil }
        /// Something about it that a person should know.
        var remark: String?
    }

    /// - Throws: `Fault` with what the server said when it could not start; `StoreError`.
    func find() throws -> Found {
        if let found = try running() { return found }
        // A port that systemd holds for replayhost starts it when it is asked.
        if HealthAnswer.ask(port: port ?? Self.usualPort) != nil, let found = try running() { return found }
        for _ in 0..<Self.attemptsMax {
            if let found = try start() { return found }
        }
        throw StoreError(
            .locked, "other programs hold the store, and no server of it answers", place: layout.root,
            hint: "`replayhost doctor` says what it finds there")
    }

    /// Where a server that cannot write in its store is noted.
    static func layoutOfRecord(forStore root: String, environment: [String: String]) -> StoreLayout {
        StoreLayout(root: "\(ServerLog.folder(environment))/\(ServerLog.name(ofStore: root)).running")
    }

    /// The server that holds the store, or that was started here for a store that can only be read.
    static func description(_ layout: StoreLayout, environment: [String: String]) -> ServerDescription? {
        ServerFile.running(layout: layout)
            ?? ServerFile.running(layout: layoutOfRecord(forStore: layout.root, environment: environment))
    }

    /// The server of this store while one runs.
    var description: ServerDescription? { Self.description(layout, environment: environment) }

    /// Waits for a server that has the store and does not answer yet; `nil` when none has it, or no longer.
    private func running() throws -> Found? {
        guard let first = Self.description(layout, environment: environment) else { return nil }
        let found = try waiting { () -> [Found]? in
            guard let now = Self.description(layout, environment: environment) else { return [] }
            return HealthAnswer.ask(port: now.port).map { health in
                [
                    Found(
                        address: now.address, processID: now.pid, version: health.version,
                        remark: remark(version: health.version, port: now.port))
                ]
            }
        }
        guard let found else { throw Self.silent(first) }
        return found.first
    }

    private static func silent(_ description: ServerDescription) -> StoreError {
        StoreError(
            .failed, "the server of this store (process \(description.pid)) does not answer",
            place: description.address,
            hint: "`replayhost stop` ends it; then try again")
    }

    private func remark(version: String, port: Int) -> String? {
        if version != ReplayHost.version {
            return
                "the running server is version \(version), this is \(ReplayHost.version); `replayhost stop`, and then "
                + "`replayhost open` once more, makes it the same"
        }
        if let wanted = self.port, wanted != 0, wanted != port {
            return "the server of this store runs already, on port \(port); --port \(wanted) was not used"
        }
        if users.isEmpty { return nil }
        return "this store's server is already running, so \(users.joined(separator: " ")) has no effect; stop it first"
    }

    // Starting

    /// - Returns: The server that was started here, or by somebody else at the same time; `nil` when that one is gone again.
    private func start() throws -> Found? {
        let log = try ServerLog(root: layout.root, environment: environment)
        var record: ServerFile?
        if isReadOnly {
            let layout = Self.layoutOfRecord(forStore: layout.root, environment: environment)
            try ServerLog.make(layout.root)
            do { record = try ServerFile(layout: layout) } catch let error as StoreError where error.code == .locked {
                return try othersServer()
            }
        }
        let first = try attempt(port: port ?? Self.usualPort, log, record)
        switch first {
        case .success(let found): return found
        case .failure(let fault) where fault.status == .portInUse && port == nil:
            var found = try attempt(port: 0, log, record).get()
            found.remark = "\(fault.what); another port was taken"
            return found
        case .failure(let fault) where fault.code == StoreError.Code.locked.rawValue:
            return try othersServer()
        case .failure(let fault): throw fault
        }
    }

    private func othersServer() throws -> Found? {
        try waiting(seconds: Self.secondsForOthers) { try running() }
    }

    private func attempt(port: Int, _ log: ServerLog, _ record: ServerFile?) throws -> Result<Found, Fault> {
        var arguments = ["serve", "--json", "--store", layout.root, "--port", "\(port)"]
        if let assets { arguments += ["--assets", assets] }
        arguments += users
        try log.note("replayhost \(arguments.joined(separator: " "))")
        // In the root folder, so that it holds on to no volume that somebody wants to detach.
        let program = try BackgroundProgram(
            Terminal.executablePath, arguments, folder: "/", output: log.descriptor, inherited: record?.descriptor)
        let outcome = try waiting { () -> Result<Found, Fault>? in
            // Asked before its files are: what it wrote at its end counts.
            let code = program.exitCode()
            if let found = try answering(program, log, record) { return .success(found) }
            return try code.map { .failure(try Self.fault(endedWith: $0, log)) }
        }
        if let outcome { return outcome }
        throw StoreError(
            .failed, "the server (process \(program.processID)) did not answer within \(Int(Self.secondsMax)) seconds",
            place: log.path, hint: "it may still be at work on the store: see that log, and try again later")
    }

    /// The server once it answers. One that can write says in the store where it is, another one in its log, which nobody else
    /// writes to while `record` is held.
    private func answering(_ program: BackgroundProgram, _ log: ServerLog, _ record: ServerFile?) throws -> Found? {
        var address = try record.flatMap { _ in try log.lines().lazy.compactMap(Self.address).last }
        if record == nil, let own = ServerFile.running(layout: layout), own.pid == program.processID {
            address = own.address
        }
        guard let address, let port = URL(string: address)?.port, let health = HealthAnswer.ask(port: port) else {
            return nil
        }
        try record?.write(ServerDescription(address: address, port: port, pid: program.processID, token: ""))
        return Found(address: address, processID: program.processID, version: health.version, log: log.path)
    }

    /// What `serve --json` prints when it accepts connections.
    private static func address(_ line: String) -> String? {
        struct Serving: Decodable { let address: String }
        guard line.hasPrefix("{") else { return nil }
        return (try? JSONDecoder().decode(Serving.self, from: Data(line.utf8)))?.address
    }

    /// The error that a server ended with, from its log.
    private static func fault(endedWith code: Int32, _ log: ServerLog) throws -> Fault {
        let lines = try log.lines().dropFirst()
        if let fault = lines.reversed().lazy.compactMap({ Fault(json: $0, status: ExitStatus(rawValue: code)) }).first {
            return fault
        }
        let last = lines.suffix(5).joined(separator: "; ")
        return Fault(
            StoreError(
                .failed, "the server ended at once (\(code)): \(last.isEmpty ? "it said nothing" : last)",
                place: log.path))
    }

    // Waiting

    /// Asks again and again until there is an answer.
    ///
    /// - Returns: `nil` when it takes too long.
    /// - Throws: `interrupted` when the person does not want to wait.
    private func waiting<Value>(seconds: Double = secondsMax, _ ask: () throws -> Value?) throws -> Value? {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            if let value = try ask() { return value }
            if interrupts.happened { throw StoreError(.interrupted, "interrupted while waiting for the server") }
            if ContinuousClock.now > end { return nil }
            usleep(20_000)
        }
    }
}
