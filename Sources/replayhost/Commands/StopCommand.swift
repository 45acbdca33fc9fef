import ArchiveStore
import ArgumentParser
import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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

    private static let secondsMax: Double = 60

    /// docs/json.md, "On the command line".
    private struct Stopped: Encodable {
        let stopped: Bool
        var address: String?
        var pid: Int32?
    }

    func run() throws {
        common.noteStore()
        guard let running = try running() else {
            return common.tell(Stopped(stopped: false), "no server is running")
        }
        let (file, server) = (running.file, running.server)
        guard try ServerFile.isOpen(file, in: server.pid) else {
            throw StoreError(
                .failed, "the server isn't process \(server.pid), as its file claims", place: file.path,
                hint: "it may run in a container or as another user; stop it there")
        }
        guard kill(server.pid, SIGTERM) == 0 else {
            throw StoreError.system(errno, doing: "stopping process \(server.pid)", path: server.address)
        }
        try waitForEnd(file, server)
        common.tell(
            Stopped(stopped: true, address: server.address, pid: server.pid),
            "stopped the server at \(server.address) (process \(server.pid))")
    }

    /// A running server and the file that it keeps locked.
    private struct RunningServer {
        let file: Descriptor
        let server: ServerDescription
    }

    /// `nil` when no server runs.
    private func running() throws -> RunningServer? {
        let layout = StoreLayout(root: common.location.path)
        let record = BackgroundServer.recordLayout(
            forStore: layout.root, environment: ProcessInfo.processInfo.environment)
        return try server(at: layout.serverFile) ?? server(at: record.serverFile)
    }

    private func server(at path: String) throws -> RunningServer? {
        guard access(path, F_OK) == 0 else { return nil }
        let file = try ServerFile.open(at: path, flags: O_RDONLY)
        guard file.lock() == .heldByAnother else { return nil }
        guard let server = ServerFile.description(in: file) else {
            throw StoreError(
                .failed, "the server is just starting or stopping", place: path, hint: "try again in a moment")
        }
        return RunningServer(file: file, server: server)
    }

    /// Waits until the process releases its lock on the file.
    private func waitForEnd(_ file: Descriptor, _ server: ServerDescription) throws {
        let interrupts = Interrupts(isInstalled: true)
        let end = ContinuousClock.now + .seconds(Self.secondsMax)
        while file.lock() == .heldByAnother {
            if interrupts.wereReceived {
                throw StoreError(.interrupted, "interrupted while waiting for process \(server.pid) to stop")
            }
            guard ContinuousClock.now < end else {
                throw StoreError(
                    .failed, "process \(server.pid) didn't stop within \(Int(Self.secondsMax)) seconds",
                    place: server.address,
                    hint: "downloads may still be running; `kill -QUIT \(server.pid)` stops it at once")
            }
            usleep(20_000)
        }
    }
}
