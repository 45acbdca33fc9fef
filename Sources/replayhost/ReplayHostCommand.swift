import ArgumentParser
import CommandSupport
import Foundation
import ReplayHostKit
import ReplayServer

/// The `replayhost` command. Each subcommand is a file in `Commands/`.
@main
struct ReplayHostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replayhost",
        abstract: "Store, search and replay web archives (WACZ, WARC) on your computer, offline.",
        discussion: """
            Example:
              replayhost open crawl.wacz

            Exit codes: 0 success, 1 failure, 2 usage, 3 not found,
            4 damaged or refused archive, 5 store locked or unusable,
            6 port in use, 130 interrupted.
            """,
        version: versionText,
        subcommands: [
            OpenCommand.self, StopCommand.self, ImportCommand.self, ServeCommand.self, ListCommand.self,
            InfoCommand.self, SearchCommand.self, PagesCommand.self, URLsCommand.self,
            CDXCommand.self, GetCommand.self, ExplainCommand.self, VerifyCommand.self,
            EditCommand.self, ExportCommand.self, CollectionCommand.self,
            GroupCommand.self,
            JobsCommand.self, RemoveCommand.self,
            BackupCommand.self, RestoreCommand.self, DoctorCommand.self,
        ])

    static let missingEngine = (
        what: "the replay engine is missing, so pages can't be shown",
        hint: "run `make setup` in the replayhost folder"
    )

    /// The versions of the program and of the replay engine.
    private static var versionText: String {
        let assets = AssetsLocation.choose(
            option: nil, environment: ProcessInfo.processInfo.environment, executable: Terminal.executablePath)
        guard let engine = try? Assets(folder: assets).engine() else {
            return "replayhost \(ReplayHost.version)\nreplay engine: not installed"
        }
        return
            "replayhost \(ReplayHost.version)\nreplay engine: \(engine.name) \(engine.version) (sha256 \(engine.sha256))"
    }

    static func main() async {
        await CommandRun.main(
            ReplayHostCommand.self, SearchCommand.withExcludedWords(Array(CommandLine.arguments.dropFirst())))
    }
}
