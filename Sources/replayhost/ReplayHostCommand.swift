import ArgumentParser
import Foundation
import ReplayHostKit
import ReplayServer

/// The program. Each verb is a file in `Commands/`.
@main
struct ReplayHostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replayhost",
        abstract: "Keep, find and visit web archives (.wacz) on your own computer, offline.",
        discussion: """
            Example:
              replayhost open crawl.wacz
              replayhost list

            Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 damaged or refused archive,
            5 store locked or unusable, 6 port in use, 130 interrupted.
            """,
        version: versionText,
        subcommands: [
            OpenCommand.self, StopCommand.self, ImportCommand.self, ServeCommand.self, ListCommand.self,
            InfoCommand.self, PagesCommand.self,
            CDXCommand.self, GetCommand.self, EditCommand.self, CollectionCommand.self, GroupCommand.self,
            JobsCommand.self, RemoveCommand.self,
            BackupCommand.self, RestoreCommand.self, DoctorCommand.self,
        ])

    /// The program's version and the engine's, so that a report of a problem names both.
    private static var versionText: String {
        let assets = AssetsLocation.choose(
            option: nil, environment: ProcessInfo.processInfo.environment, executable: Terminal.executablePath)
        guard let engine = try? Assets(folder: assets).engine() else {
            return "replayhost \(ReplayHost.version)\nreplay engine: not installed"
        }
        return
            "replayhost \(ReplayHost.version)\nreplay engine: \(engine.name) \(engine.version) (sha256 \(engine.sha256))"
    }

    /// Parses, runs, and turns every way to fail into one line, a hint, and an exit code.
    static func main() async {
        let command: any ParsableCommand
        do {
            command = try parseAsRoot()
        } catch {
            return exitAsParser(error)
        }
        do {
            try await run(command)
        } catch let status as ExitStatus {
            Foundation.exit(status.rawValue)
        } catch let error where exitCode(for: error) != .failure {
            // Help and version are commands of the parser's own, which end by throwing; so does a refused argument.
            exitAsParser(error)
        } catch {
            let fault = error as? Fault ?? Fault(error)
            fault.report(asJSON: CommandLine.arguments.contains("--json"))
            Foundation.exit(fault.status.rawValue)
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

    /// What the argument parser has to say: help and version end well, a wrong call ends with 2.
    private static func exitAsParser(_ error: any Error) {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // The parser shows all commands when it is asked for help about one that there isn't.
        let isUnknown = arguments.first == "help" && UnknownCommand(in: arguments) != nil
        if exitCode(for: error) == .success, !isUnknown {
            print(fullMessage(for: error))
            Foundation.exit(ExitStatus.done.rawValue)
        }
        Fault(refused: error, arguments: arguments).report(asJSON: arguments.contains("--json"))
        Foundation.exit(ExitStatus.usage.rawValue)
    }
}
