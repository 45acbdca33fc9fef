import ArchiveStore
import ArgumentParser
import Foundation
import Logging
import ReplayHostKit

/// `replayhost serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the library to the browser on this computer.",
        discussion: """
            Listens on 127.0.0.1 and ::1, never on another address. Ctrl-C finishes downloads that are moving, then stops; Ctrl-\\ stops at once.

            Example:
              replayhost serve --port 0
            """)

    @Option(name: .long, help: ArgumentHelp("The port; 0 takes any free one.", valueName: "number"))
    var port = 8080

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
        // What can only be read can be served as well: a library on a disc.
        let opened = try common.openStore(repairing: false)
        let store = opened.isReadOnly ? opened : try common.openStore(repairing: true)
        if let adaptation = store.catalog.adaptation { common.remark("about this store: \(adaptation)") }
        var logger = Logger(label: "replayhost", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = Logger.Level(rawValue: logLevel.rawValue) ?? .info
        let folder = AssetsLocation.choose(
            option: assets, environment: ProcessInfo.processInfo.environment, executable: Terminal.executablePath)
        guard FileManager.default.fileExists(atPath: folder + "/index.html") else {
            throw StoreError(
                .notFound, "the user interface is not there", place: folder, hint: "give the folder www with --assets")
        }
        let host = try ReplayHost(.init(store: store, assetsFolder: folder, port: port, logger: logger))
        let (common, location, open) = (common, common.location.path, open)
        try await host.run { ready in
            if common.json {
                Terminal.write(Terminal.json(Serving(address: ready.address, store: location)))
            } else {
                Terminal.write("replayhost serves \(ready.address) (Ctrl-C stops)")
            }
            if !ready.hasEngine {
                Terminal.writeError(
                    "\(Terminal.yellow("warning:")) the replay engine is missing, no page can be shown\n"
                        + "\(Terminal.bold("hint:")) run `make setup` in the replayhost folder")
            }
            if open { Browser.open(ready.address) }
        }
    }
}
