import ArgumentParser
import Foundation
import ReplayHostKit
import ReplayServer

/// The `replayhost` command. Each subcommand is a file in `Commands/`.
@main
struct ReplayHostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replayhost",
        abstract: "Store, search and replay web archives (.wacz) on your computer, offline.",
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

    /// Parses the arguments and runs the command. Reports an error as one line, a hint and an exit code.
    static func main() async {
        let command: any ParsableCommand
        do {
            command = try parseAsRoot(SearchCommand.withExcludedWords(Array(CommandLine.arguments.dropFirst())))
        } catch {
            return exitAsParser(error)
        }
        do {
            try await run(command)
        } catch let status as ExitStatus {
            Foundation.exit(status.rawValue)
        } catch let error where exitCode(for: error) != .failure {
            // The parser's help and version commands end by throwing, as do invalid arguments.
            exitAsParser(error)
        } catch {
            let failure = error as? CommandError ?? CommandError(error)
            failure.report(asJSON: CommandLine.arguments.contains("--json"))
            Foundation.exit(failure.status.rawValue)
        }
    }

    private static func run(_ command: any ParsableCommand) async throws {
        var command = command
        if var asynchronous = command as? any AsyncParsableCommand {
            try await asynchronous.run()
        } else {
            try command.run()
        }
    }

    /// Prints help or the version, or reports a usage error, and exits.
    private static func exitAsParser(_ error: any Error) {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // For help about an unknown command, the parser would show the general help.
        let isUnknown = arguments.first == "help" && UnknownCommand(in: arguments) != nil
        if exitCode(for: error) == .success, !isUnknown {
            print(fullMessage(for: error))
            Foundation.exit(ExitStatus.done.rawValue)
        }
        CommandError(parserError: error, arguments: arguments).report(asJSON: arguments.contains("--json"))
        Foundation.exit(ExitStatus.usage.rawValue)
    }
}
