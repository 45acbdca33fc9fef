import ArchiveStore
import ArgumentParser
import Foundation
import Logging
import ReplayHostKit
import ReplayServer

/// `replayhost serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the library to the browser on this computer.",
        discussion: """
            Listens on 127.0.0.1 and ::1, never on another address. Ctrl-C finishes downloads that are moving, then stops; Ctrl-\\ stops at once. On Linux, only your own programs and root's are answered, and those of the user who started it with sudo. Sockets that systemd passes on (LISTEN_FDS) are used instead of --port.

            Example:
              replayhost serve --port 0
            """)

    @Option(name: .long, help: ArgumentHelp("The port; 0 takes any free one.", valueName: "number"))
    var port = 8080

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How archives are kept apart in the browser: names (http://ID.replayhost.localhost), ports (each has one of its own on localhost), or auto: names, and ports where the browser does not find the names."
        ))
    var origins = Origins.auto

    @Flag(name: .long, help: "Open the library in the browser.")
    var open = false

    @Option(name: .long, help: ArgumentHelp("The folder www: user interface and replay engine.", valueName: "path"))
    var assets: String?

    @Option(name: .customLong("log-level"), help: "How much is logged, on standard error.")
    var logLevel = LogLevel.info

    /// How much is logged.
    enum LogLevel: String, ExpressibleByArgument, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// How archives are kept apart.
    enum Origins: String, ExpressibleByArgument, CaseIterable {
        case auto, names, ports

        fileprivate var kit: ReplayHost.Origins {
            switch self {
            case .auto: .automatic
            case .names: .names
            case .ports: .ports
            }
        }
    }

    @OptionGroup var users: UserOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is \(port); 0 to 65535 are possible") }
    }

    private struct Serving: Encodable {
        let address: String
        let store: String
    }

    func run() async throws {
        common.sayWhichStore()
        OpenFiles.raiseLimit()
        let folder = AssetsLocation.choose(
            option: assets, environment: ProcessInfo.processInfo.environment, executable: Terminal.executablePath)
        guard FileManager.default.fileExists(atPath: folder + "/index.html") else {
            throw StoreError(
                .notFound, "the user interface is not there", place: folder, hint: "give the folder www with --assets")
        }
        let sockets = InheritedSockets.listed(in: ProcessInfo.processInfo.environment)
        // A server that can't listen makes no store.
        if !common.hasStore, sockets.isEmpty { _ = try LoopbackPort(taking: port) }
        // What can only be read can be served as well: a library on a disc.
        let opened = try common.openStore(repairing: false)
        let store = opened.isReadOnly ? opened : try common.openStore(repairing: true)
        if let adaptation = store.adaptation { common.remark("about this store: \(adaptation)") }
        var logger = Logger(label: "replayhost", factory: { StreamLogHandler(label: $0, stream: ErrorLines()) })
        logger.logLevel = Logger.Level(rawValue: logLevel.rawValue) ?? .info
        var configuration = ReplayHost.Configuration(
            storeFolder: URL(fileURLWithPath: common.location.path), assetsFolder: URL(fileURLWithPath: folder),
            port: port == 0 ? .any : .fixed(port), origins: origins.kit,
            allowedUsers: users.users(ProcessInfo.processInfo.environment), logger: logger)
        configuration.inheritedSockets = sockets
        let host = ReplayHost(configuration: configuration, store: store)
        try await host.serveUntilSignal { addresses in
            let address = addresses.library.absoluteString
            if common.json {
                Terminal.write(Terminal.json(Serving(address: address, store: common.location.path)))
            } else {
                Terminal.write("replayhost serves \(address) (Ctrl-C stops)")
            }
            #if !os(Linux)
            common.remark("other users of this computer can connect too: this system doesn't tell them apart")
            #endif
            if !host.hasEngine {
                Terminal.writeError("the replay engine is missing, no page can be shown", label: .warning)
                Terminal.writeError("run `make setup` in the replayhost folder", label: .hint)
            }
            if open { Browser.open(address) }
        }
    }
}
