import ArchiveStore
import ArgumentParser
import CommandSupport

/// `replayhost-capture stop`
struct StopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop the capture server.",
        discussion: """
            Running downloads continue at its next start. The library isn't stopped (`replayhost stop`). Succeeds even \
            if no capture server is running.

            Example:
              replayhost-capture stop
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        common.noteStore()
        let layout = StoreLayout(root: common.location.path)
        guard let running = try RunningServer(at: layout.captureServerFile) else {
            return common.tell(StoppedServer(nil), "no capture server is running")
        }
        try running.stop()
        let server = running.server
        common.tell(StoppedServer(server), "stopped the capture server at \(server.address) (process \(server.pid))")
    }
}
