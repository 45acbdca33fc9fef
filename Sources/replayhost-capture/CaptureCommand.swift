import ArgumentParser
import CommandSupport
import ReplayHostKit

/// The `replayhost-capture` command. Each subcommand is a file in `Commands/`.
@main
struct CaptureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replayhost-capture",
        abstract: "Save pages, videos, audio, photos, PDFs and e-books from the web into your replayhost library.",
        discussion: """
            Each URL becomes an archive in your library, which opens offline, and a file in your folder, except for pages.

            Example:
              replayhost-capture serve
              replayhost-capture add https://example.org/film

            Exit codes: 0 success, 1 failure, 2 usage, 3 not found,
            4 a download failed, 5 store locked or unusable, 6 port in use,
            75 kept for later, 130 interrupted.
            """,
        version: software,
        subcommands: [
            ServeCommand.self, SetupCommand.self, AddCommand.self, ListCommand.self, ShowCommand.self, LogCommand.self,
            CancelCommand.self, RetryCommand.self, CheckCommand.self, RemoveCommand.self, StopCommand.self,
            AdminCommand.self, CookiesCommand.self, KeysCommand.self, UsersCommand.self, ConfigCommand.self,
            ToolsCommand.self, DoctorCommand.self, WorkCommand.self,
        ])

    /// The name and version that archives name.
    static let software = "replayhost-capture \(ReplayHost.version)"

    static func main() async {
        await CommandRun.main(CaptureCommand.self, Array(CommandLine.arguments.dropFirst()))
    }
}
