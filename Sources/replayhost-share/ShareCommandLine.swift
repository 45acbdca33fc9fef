import ArgumentParser
import Foundation
import ShareKit

/// The `replayhost-share` command. Each subcommand is a file in `Commands/`.
@main
struct ShareCommandLine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replayhost-share",
        abstract: "Share URLs with the computer on which replayhost-capture runs, which saves them.",
        usage: """
            replayhost-share URL …
            replayhost-share COMMAND
            """,
        discussion: """
            A URL is kept on this computer before it's sent, and sent again until the server has it.

            Example:
              replayhost-share connect code.json
              replayhost-share --wait https://example.org/film

            Exit codes: 0 the server has it, 1 refused or failed, 2 usage, 3 not found,
            4 a download failed, 75 kept for later.
            """,
        version: "replayhost-share 0.2.0",
        subcommands: [
            AddCommand.self, ConnectCommand.self, PendingCommand.self, RetryCommand.self, HistoryCommand.self,
            StatusCommand.self, LogCommand.self, TestCommand.self, SettingsCommand.self,
        ],
        defaultSubcommand: AddCommand.self)

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let isJSON = arguments.contains("--json")
        do {
            var command = try parseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let status as ExitStatus {
            Foundation.exit(status.rawValue)
        } catch let error as ShareError {
            Output.report(error, asJSON: isJSON)
            Foundation.exit(ExitStatus(error).rawValue)
        } catch  where exitCode(for: error) == .success {
            Output.writeText(fullMessage(for: error))
        } catch  where exitCode(for: error) == .validationFailure {
            Output.report(code: "usage", message(for: error), hint: "see `replayhost-share --help`", asJSON: isJSON)
            Foundation.exit(ExitStatus.usage.rawValue)
        } catch {
            Output.report(code: "failed", "\(error)", hint: nil, asJSON: isJSON)
            Foundation.exit(ExitStatus.failed.rawValue)
        }
    }
}

/// An exit code. Commands throw it after they have reported their errors.
enum ExitStatus: Int32, Error {
    case done = 0
    case failed = 1
    case usage = 2
    case notFound = 3
    case downloadFailed = 4
    /// `EX_TEMPFAIL` of sysexits(3).
    case keptForLater = 75

    init(_ error: ShareError) { self = error.code == .notFound ? .notFound : .failed }

    /// Throws the most important of several statuses, unless all are `done`.
    static func throwUnlessDone(_ statuses: [ExitStatus]) throws {
        let order = [failed, downloadFailed, notFound, keptForLater]
        if let status = order.first(where: statuses.contains) { throw status }
    }
}
