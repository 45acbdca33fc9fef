import ArchiveStore
import ArgumentParser
import CommandSupport
import Foundation

/// `replayhost stop`
struct StopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop the running server.",
        discussion: """
            Finishes running downloads first. Succeeds even if no server is running.

            Example:
              replayhost stop
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        common.noteStore()
        guard let running = try running() else {
            return common.tell(StoppedServer(nil), "no server is running")
        }
        try running.stop()
        let server = running.server
        common.tell(StoppedServer(server), "stopped the server at \(server.address) (process \(server.pid))")
    }

    /// `nil` when no server runs.
    private func running() throws -> RunningServer? {
        let layout = StoreLayout(root: common.location.path)
        let record = BackgroundServer.recordLayout(
            forStore: layout.root, environment: ProcessInfo.processInfo.environment)
        return try RunningServer(at: layout.serverFile) ?? RunningServer(at: record.serverFile)
    }
}
