import ArchiveStore
import ArgumentParser
import CaptureServer
import CaptureWorker
import CommandSupport
import EgressGuard
import Foundation
import Logging
import ReplayHostKit
import ReplayServer
import TerminalText
import UnixSignals

/// `replayhost-capture serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the server that saves URLs.",
        discussion: """
            Listens on 127.0.0.1 and ::1 only, until `replayhost-capture setup` connects a device on your network. Starts the library too, if it isn't running. Press Ctrl-C to stop; \
            running downloads continue at the next start. On Linux, only you, root and the user who ran sudo can connect, unless you \
            add --allow-user or --allow-other-users. `replayhost-capture config` sets defaults for these options.

            Example:
              replayhost-capture serve
            """)

    @Option(name: .long, help: ArgumentHelp("The port (default: 58443); 0 picks a free one.", valueName: "number"))
    var port: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The folder for saved files (default: ~/Downloads/VidSaver). Each user and genre has a folder below it.",
            valueName: "folder"))
    var downloads: String?

    @Flag(name: .customLong("no-media-file"), help: "Keep only archives; save no files to the downloads folder.")
    var noMediaFile = false

    @Flag(name: .customLong("no-library"), help: "Don't start the library.")
    var noLibrary = false

    @Option(name: .long, help: ArgumentHelp("The folder with the web app (www).", valueName: "path"))
    var assets: String?

    @Option(name: .customLong("log-level"), help: "How much to log to standard error (default: info).")
    var logLevel: LogLevel?

    // For tests, which can't wait for minutes, and ask no name server.

    @Option(name: .customLong("retry-delays"), help: .hidden)
    var retryDelays: String?

    @Option(name: .customLong("silence-limit"), help: .hidden)
    var silenceLimit: Int?

    @Option(name: .customLong("preview-seconds"), help: .hidden)
    var previewSeconds: Int?

    @Option(name: .customLong("hosts"), help: .hidden)
    var hosts: String?

    // Seconds, bytes and exchanges.
    @Option(name: .customLong("page-limits"), help: .hidden)
    var pageLimits: String?

    // Seconds for the least rate, for a file and for media; bytes.
    @Option(name: .customLong("attempt-limits"), help: .hidden)
    var attemptLimits: String?

    @Flag(name: .customLong("no-check"), help: .hidden)
    var noCheck = false

    @OptionGroup var users: UserOptions
    @OptionGroup var common: CommonOptions

    /// How much to log.
    enum LogLevel: String, ExpressibleByArgument, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    private struct Serving: Encodable {
        let address: String
        let store: String
        let library: String?
    }

    func validate() throws {
        if let port, !(0...65_535).contains(port) {
            throw ValidationError("--port \(port) is out of range; use 0 to 65535")
        }
        if downloads == "" { throw ValidationError("--downloads is empty; give a folder") }
    }

    func run() async throws {
        common.noteStore()
        let environment = ProcessInfo.processInfo.environment
        let folder = AssetsLocation.choose(
            option: assets, environment: environment, executable: Terminal.executablePath)
        guard FileManager.default.fileExists(atPath: folder + "/capture/index.html") else {
            throw StoreError(
                .notFound, "no web app in this folder", place: folder, hint: "choose the folder www with --assets")
        }
        let file = ConfigCommand.file(nil, common)
        let stamp = file.stamp
        let configuration = try ConfigCommand.read(file)
        let listening = try LoopbackPort(taking: port ?? configuration.server.port)
        let store = try common.openStore(repairing: true)
        let toolbox = Toolbox(environment: environment)
        let layout = CaptureLayout(store: store.layout, downloads: downloadsFolder(configuration, environment))
        try layout.makeFolders()
        var settings = try settings(configuration)
        let assets = Folder.resolved(folder)
        settings.assets = noCheck ? nil : assets
        settings.isolation = await .find(program: settings.program, toolbox: toolbox, readable: [assets])
        if configuration.isolation == .required, let reason = settings.isolation.reason {
            throw CommandError(
                .failed, code: "no-isolation", "\(Isolation.lack) (\(reason)), and isolation is required",
                hint: "install bubblewrap, or write `isolation: auto` (`replayhost-capture config edit`)")
        }
        let level = Current(level(configuration))
        let service = try CaptureService(
            store: store, downloads: layout.downloads, assets: Assets(folder: folder), port: listening.number,
            toolbox: toolbox, settings: settings, logger: try logger(layout, level))
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let library = noLibrary ? nil : await startLibrary()
        let overrides = settings
        try await service.start(
            on: listening, users: users.users(environment).identifiers,
            configuration: ConfigurationInForce(file, configuration, stamp: stamp, isPortFixed: port != nil) {
                changed, configuration in
                level.value = self.level(configuration)
                changed.downloads = downloadsFolder(configuration, environment)
                if noMediaFile { changed.keepsFiles = false }
                if retryDelays != nil { changed.rules.retryDelays = overrides.rules.retryDelays }
                if pageLimits != nil { changed.pageLimits = overrides.pageLimits }
            })
        let (addresses, faults) = await service.reachability
        tell(Serving(address: service.address, store: common.location.path, library: library), layout, toolbox)
        for address in addresses { common.note("network: \(address)") }
        for fault in faults { Terminal.writeError(fault, label: .warning) }
        if let reason = settings.isolation.reason {
            Terminal.writeError("\(Isolation.lack) (\(reason))", label: .warning)
        }
        for await _ in signals { break }
        await service.stop()
    }

    private func tell(_ serving: Serving, _ layout: CaptureLayout, _ toolbox: Toolbox) {
        if common.json { return Terminal.writeJSON(serving) }
        Terminal.write("Serving \(serving.address) (press Ctrl-C to stop)")
        if let library = serving.library { common.note("library: \(library)") }
        common.note("files: \(layout.downloads)")
        let missing = Toolbox.Tool.allCases.filter { toolbox.path(of: $0) == nil && $0.isOnlyFor == nil }
        guard !missing.isEmpty else { return }
        Terminal.writeError(
            "not installed: \(missing.map(\.rawValue).joined(separator: ", ")); downloads that need them wait",
            label: .warning
        )
        Terminal.writeError("run `replayhost-capture doctor`, which says how to install each", label: .hint)
    }

    private func settings(_ configuration: CaptureConfiguration) throws -> CaptureSettings {
        var settings = CaptureSettings(program: Terminal.executablePath, software: CaptureCommand.software)
        settings.apply(configuration)
        if noMediaFile { settings.keepsFiles = false }
        if let retryDelays {
            settings.rules.retryDelays = retryDelays.split(separator: ",").compactMap { Int($0) }.map { .seconds($0) }
        }
        if let pageLimits { settings.pageLimits = try Self.limits(pageLimits) }
        if let attemptLimits { try Self.change(&settings.attempt, attemptLimits) }
        if let silenceLimit { settings.silenceMax = .seconds(silenceLimit) }
        if let previewSeconds { settings.previewTime = .seconds(previewSeconds) }
        if let hosts { settings.names = .hosts(try String(contentsOfFile: hosts, encoding: .utf8)) }
        // For tests: the server dies right after a step of the hand-over, as if it was killed.
        if let step = ProcessInfo.processInfo.environment["REPLAYHOST_CAPTURE_CRASH_AFTER"] {
            settings.onHandOverStep = { if $0 == step { _exit(9) } }
        }
        return settings
    }

    /// Parses `SECONDS,SECONDS,SECONDS,BYTES`.
    private static func change(_ limits: inout AttemptLimits, _ text: String) throws {
        let numbers = text.split(separator: ",").compactMap { Int($0) }
        guard numbers.count == 4 else { throw ValidationError("--attempt-limits has four numbers") }
        limits.rateTime = .seconds(numbers[0])
        limits.fileTime = .seconds(numbers[1])
        limits.mediaTime = .seconds(numbers[2])
        limits.bytesMax = UInt64(clamping: numbers[3])
    }

    /// Parses `SECONDS,BYTES,EXCHANGES`.
    private static func limits(_ text: String) throws -> RecordingLimits {
        let numbers = text.split(separator: ",").compactMap { UInt64($0) }
        guard numbers.count == 3 else { throw ValidationError("--page-limits needs three numbers") }
        var limits = RecordingLimits()
        (limits.seconds, limits.bytes, limits.exchanges) = (Double(numbers[0]), numbers[1], Int(clamping: numbers[2]))
        return limits
    }

    private func downloadsFolder(_ configuration: CaptureConfiguration, _ environment: [String: String]) -> String {
        let home = environment["HOME"] ?? "/"
        let folder = downloads ?? configuration.downloads.rootDirectory ?? "\(home)/Downloads/VidSaver"
        return StoreLocation.absolute(folder, in: FileManager.default.currentDirectoryPath)
    }

    /// Logs to standard error and to `logs/server.log`.
    private func logger(_ layout: CaptureLayout, _ level: Current<Logger.Level>) throws -> Logger {
        let file = try LogFile(path: layout.serverLog)
        return Logger(label: "capture") { label in
            FollowingLevel(
                [StreamLogHandler(label: label, stream: ErrorLines()), StreamLogHandler(label: label, stream: file)],
                level)
        }
    }

    /// The option wins over the configuration.
    private func level(_ configuration: CaptureConfiguration) -> Logger.Level {
        logLevel.flatMap { Logger.Level(rawValue: $0.rawValue) } ?? configuration.logging.level
    }

    /// Starts the library in the background, or finds the one that runs.
    ///
    /// - Returns: Its URL; `nil` if it can't be started. URLs can still be saved.
    private func startLibrary() async -> String? {
        let program = (Terminal.executablePath as NSString).deletingLastPathComponent + "/replayhost"
        var arguments = ["open", "--no-browser", "--json", "--store", common.location.path]
        if let assets { arguments += ["--assets", assets] }
        do {
            let output = try await ProgramOutput.of(program, arguments)
            struct Opened: Decodable { let address: String }
            return try JSONDecoder().decode(Opened.self, from: Data(output.utf8)).address
        } catch {
            let reason = (error as? StoreError)?.description ?? "\(error)"
            Terminal.writeError("the library can't be started: \(reason)", label: .warning)
            return nil
        }
    }
}

/// A log file, which is emptied when it gets too large.
private struct LogFile: TextOutputStream, Sendable {
    private let file: Descriptor
    private static let bytesMax = 5 << 20

    init(path: String) throws {
        file = try Descriptor(path: path, flags: O_WRONLY | O_CREAT | O_APPEND)
    }

    mutating func write(_ line: String) {
        if let size = try? file.size(), size > Self.bytesMax { _ = ftruncate(file.number, 0) }
        // A full disk is no reason to stop.
        try? Array((TerminalText.oneLine(String(line.dropLast(line.hasSuffix("\n") ? 1 : 0))) + "\n").utf8)
            .withUnsafeBytes { try file.append($0) }
    }
}
