import ArgumentParser
import CaptureAPI
import CaptureWorker
import CommandSupport
import Foundation

/// `replayhost-capture tools`
struct ToolsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tools",
        abstract: "List, install or update the programs that saving needs.",
        discussion: """
            Sites change every week, and an old yt-dlp fails on some of them.

            Example:
              replayhost-capture tools update
            """,
        subcommands: [ListTools.self, InstallTools.self, UpdateTools.self, RollBackTools.self],
        defaultSubcommand: ListTools.self)

    private static var toolbox: Toolbox { Toolbox(environment: ProcessInfo.processInfo.environment) }

    /// `replayhost-capture tools list`
    struct ListTools: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the tools with their versions and paths.",
            discussion: """
                Example:
                  replayhost-capture tools list
                """)

        @OptionGroup var common: CommonOptions

        func run() async throws {
            let tools = await ToolsCommand.toolbox.descriptions()
            if common.json { return Terminal.writeJSON(each: tools) }
            var table = Table(["TOOL", "VERSION", "PATH"])
            for tool in tools {
                let version = tool.version ?? (tool.path == nil ? "not installed" : "doesn't start")
                table.add([tool.name, version, tool.path ?? ""])
            }
            if !common.quiet { table.write() }
        }
    }

    /// `replayhost-capture tools install`
    struct InstallTools: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "install",
            abstract: "Install yt-dlp and gallery-dl, with what belongs to them, from PyPI.",
            discussion: """
                They get an environment of their own, in ~/.local/share/replayhost-tools: 64 MB to download, 220 MB on disk. pip \
                compares each file with the hash that came with this program. Does nothing if they are installed.

                Example:
                  replayhost-capture tools install
                """)

        @OptionGroup var common: CommonOptions

        func run() async throws {
            if let version = try await environment.version(notBelow: requirements) {
                return common.tell("yt-dlp \(version) is installed")
            }
            common.note("yt-dlp, deno, curl-cffi and gallery-dl from PyPI: 64 MB to download, 220 MB on disk")
            try await ToolsCommand.install(.pinned(file: requirements), common)
        }

        private var environment: ToolEnvironment { ToolEnvironment(root: ToolsCommand.toolbox.root) }

        /// The versions and hashes: the file of the installation, else that of the checkout.
        private var requirements: String {
            let assets = AssetsLocation.choose(option: nil, environment: [:], executable: Terminal.executablePath)
            let folder = (assets as NSString).deletingLastPathComponent
            let name = "capture-requirements.txt"
            let checkout = "\(folder)/Packaging/\(name)"
            return FileManager.default.fileExists(atPath: checkout) ? checkout : "\(folder)/\(name)"
        }
    }

    /// `replayhost-capture tools update`
    struct UpdateTools: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "update",
            abstract: "Install the newest yt-dlp. `tools rollback` returns to the current one.",
            discussion: """
                Example:
                  replayhost-capture tools update
                """)

        @Flag(name: .long, help: "Install the nightly build, which has the latest repairs.")
        var nightly = false

        @OptionGroup var common: CommonOptions

        func run() async throws { try await ToolsCommand.install(.latest(nightly: nightly), common) }
    }

    /// `replayhost-capture tools rollback`
    struct RollBackTools: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rollback",
            abstract: "Return to the previous version of yt-dlp.",
            discussion: """
                Example:
                  replayhost-capture tools rollback
                """)

        @OptionGroup var common: CommonOptions

        func run() async throws {
            let version = try await ToolEnvironment(root: ToolsCommand.toolbox.root).rollBack()
            common.tell("yt-dlp \(version) is in use")
        }
    }

    private static func install(_ source: ToolEnvironment.Source, _ common: CommonOptions) async throws {
        let version = try await ToolEnvironment(root: toolbox.root).install(source) { common.note($0) }
        common.tell("yt-dlp \(version) is in use")
    }
}
