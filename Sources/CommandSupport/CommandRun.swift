package import ArgumentParser
import Foundation

/// Runs a program's command, and ends the program.
package enum CommandRun {
    /// Parses the arguments and runs the command. Reports an error as one line, a hint and an exit code.
    package static func main(_ root: any ParsableCommand.Type, _ arguments: [String]) async {
        let command: any ParsableCommand
        do {
            command = try root.parseAsRoot(arguments)
        } catch {
            return exitAsParser(error, root)
        }
        do {
            try await run(command)
        } catch let status as ExitStatus {
            Foundation.exit(status.rawValue)
        } catch let error where root.exitCode(for: error) != .failure {
            // The parser's help and version commands end by throwing, as do invalid arguments.
            exitAsParser(error, root)
        } catch {
            let failure = CommandError(error)
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
    private static func exitAsParser(_ error: any Error, _ root: any ParsableCommand.Type) {
        let arguments = Array(CommandLine.arguments.dropFirst())
        // For help about an unknown command, the parser would show the general help.
        let isUnknown = arguments.first == "help" && UnknownCommand(in: arguments, of: root) != nil
        if root.exitCode(for: error) == .success, !isUnknown {
            print(root.fullMessage(for: error))
            Foundation.exit(ExitStatus.done.rawValue)
        }
        CommandError(parserError: error, arguments: arguments, of: root).report(asJSON: arguments.contains("--json"))
        Foundation.exit(ExitStatus.usage.rawValue)
    }
}
