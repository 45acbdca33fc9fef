import ArchiveStore
import ArgumentParser
import CommandSupport
import Foundation
import Logging
import ReplayHostKit
import ReplayServer

/// `replayhost serve`
struct ServeCommand: AsyncParsableCommand {
    private static let defaultPort = 8080

    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the library to browsers on this computer.",
        discussion: """
            Listens on 127.0.0.1 and ::1 only. Press Ctrl-C to finish running downloads and stop, or Ctrl-\\ to stop at once. On Linux, only you, root and the user who ran sudo can connect. Sockets from systemd (LISTEN_FDS) replace --port.

            Example:
              replayhost serve --port 0
            """)

    @Option(name: .long, help: ArgumentHelp("The port; 0 picks a free one.", valueName: "number"))
    var port = Self.defaultPort

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How archives are separated: by names (http://ID.replayhost.localhost), by ports, or auto: by names, or by ports if the browser can't resolve names."
        ))
    var origins = Origins.auto

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Verify each archive again in the background when its last verification is this old.", valueName: "days"))
    var audit: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Import the archives in this folder and below it, now and as they appear.", valueName: "folder"))
    var watch: String?

    @Flag(name: .customLong("watch-link"), help: "Link the files in the watched folder instead of copying them.")
    var watchLink = false

    @Flag(name: .long, help: "Open the library in the browser.")
    var open = false

    @Option(name: .long, help: ArgumentHelp("The folder with the web app and replay engine (www).", valueName: "path"))
    var assets: String?

    @Option(name: .customLong("log-level"), help: "How much to log to standard error.")
    var logLevel = LogLevel.info

    /// How much to log.
    enum LogLevel: String, ExpressibleByArgument, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// The origin mode: how archives are separated in the browser.
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

    @OptionGroup var pdf: PDFOption
    @OptionGroup var users: UserOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port \(port) is out of range; use 0 to 65535")
        }
        guard audit.map({ (1...36_500).contains($0) }) ?? true else {
            throw ValidationError("--audit needs a number of days from 1 to 36500")
        }
        if watchLink, watch == nil { throw ValidationError("--watch-link needs --watch") }
        if watch == "" { throw ValidationError("--watch is empty; give a folder") }
    }

    private struct Serving: Encodable {
        let address: String
        let store: String
    }

    /// Returns the folder to watch, which must exist and not be in the store.
    private static func folder(_ path: String, store: String) throws -> URL {
        let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        guard Folder.isFolder(url.path) else {
            throw StoreError(.notFound, "no folder to watch", place: path, hint: "create it first")
        }
        let root = URL(fileURLWithPath: store).resolvingSymlinksInPath().path
        guard url.path != root, !url.path.hasPrefix(root + "/"), !root.hasPrefix(url.path + "/") else {
            throw StoreError(.notPossible, "the watched folder and the store can't contain each other", place: path)
        }
        return url
    }

    /// The command that starts this server again, with the same store and port.
    private var startCommand: String {
        var words = ["replayhost serve"]
        if ![0, Self.defaultPort].contains(port) { words.append("--port \(port)") }
        if common.location.isChosen {
            let path = common.location.path
            let isPlain = path.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-".contains($0)) }
            words.append("--store \(isPlain ? path : Terminal.quoted(path))")
        }
        return words.joined(separator: " ")
    }

    func run() async throws {
        common.noteStore()
        OpenFiles.raiseLimit()
        UnusedMemory.returnToSystem()
        let folder = AssetsLocation.choose(
            option: assets, environment: ProcessInfo.processInfo.environment, executable: Terminal.executablePath)
        guard FileManager.default.fileExists(atPath: folder + "/index.html") else {
            throw StoreError(
                .notFound, "no web app in this folder", place: folder, hint: "choose the folder www with --assets")
        }
        let sockets = InheritedSockets.listed(in: ProcessInfo.processInfo.environment)
        // A server that can't listen doesn't create a store.
        if !common.hasStore, sockets.isEmpty { _ = try LoopbackPort(taking: port) }
        // A read-only store, such as one on a disc, is served without repairs.
        let opened = try common.openStore(repairing: false)
        let store = opened.isReadOnly ? opened : try common.openStore(repairing: true)
        if let adaptation = store.adaptation { common.note("note: \(adaptation)") }
        var logger = Logger(label: "replayhost", factory: { StreamLogHandler(label: $0, stream: ErrorLines()) })
        logger.logLevel = Logger.Level(rawValue: logLevel.rawValue) ?? .info
        var configuration = ReplayHost.Configuration(
            storeFolder: URL(fileURLWithPath: common.location.path), assetsFolder: URL(fileURLWithPath: folder),
            port: port == 0 ? .any : .fixed(port), origins: origins.kit,
            allowedUsers: users.users(ProcessInfo.processInfo.environment), logger: logger)
        configuration.inheritedSockets = sockets
        configuration.startCommand = startCommand
        configuration.auditDays = audit
        configuration.watchedFolder = try watch.map { try Self.folder($0, store: common.location.path) }
        configuration.linksWatchedFiles = watchLink
        configuration.readsPDFsWithoutSandbox = pdf.isGiven
        let host = ReplayHost(configuration: configuration, store: store)
        try await host.serveUntilSignal { addresses in
            let address = addresses.library.absoluteString
            if common.json {
                Terminal.writeJSON(Serving(address: address, store: common.location.path))
            } else {
                Terminal.write("Serving \(address) (press Ctrl-C to stop)")
            }
            #if !os(Linux)
            common.note("note: all users of this computer can connect, because this system can't tell them apart")
            #endif
            if !host.hasEngine {
                Terminal.writeError(ReplayHostCommand.missingEngine.what, label: .warning)
                Terminal.writeError(ReplayHostCommand.missingEngine.hint, label: .hint)
            }
            if open { Browser.open(address) }
        }
    }
}
