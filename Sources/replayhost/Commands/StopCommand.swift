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
        abstract: "End the running server of the store.",
        discussion: """
            Downloads that are moving are finished first. That no server runs is no error.

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
        common.sayWhichStore()
        guard let held = try running() else {
            return common.tell(Stopped(stopped: false), "no server runs on this store")
        }
        let (file, server) = (held.file, held.server)
        guard try ServerFile.isOpen(file, in: server.pid) else {
            throw StoreError(
                .failed, "process \(server.pid), which server.json names, is not the one that holds the store",
                place: file.path, hint: "it may run in a container, or as another user: end it there")
        }
        guard kill(server.pid, SIGTERM) == 0 else {
            throw StoreError.system(errno, doing: "ending process \(server.pid)", path: server.address)
        }
        try waitForEnd(file, server)
        common.tell(
            Stopped(stopped: true, address: server.address, pid: server.pid),
            "stopped the server at \(server.address) (process \(server.pid))")
    }

    /// The file that a server holds, and what it says.
    private struct Held {
        let file: Descriptor
        let server: ServerDescription
    }

    /// `nil` when no server runs.
    private func running() throws -> Held? {
        let layout = StoreLayout(root: common.location.path)
        let record = BackgroundServer.layoutOfRecord(
            forStore: layout.root, environment: ProcessInfo.processInfo.environment)
        return try held(at: layout.serverFile) ?? held(at: record.serverFile)
    }

    private func held(at path: String) throws -> Held? {
        guard access(path, F_OK) == 0 else { return nil }
        let file = try ServerFile.open(at: path, flags: O_RDONLY)
        guard file.lock() == .heldByAnother else { return nil }
        guard let server = ServerFile.description(in: file) else {
            throw StoreError(
                .failed, "a server is just starting or ending", place: path, hint: "try again in a moment")
        }
        return Held(file: file, server: server)
    }

    /// The lock on that very file is free once the process is gone, whoever holds the store next.
    private func waitForEnd(_ file: Descriptor, _ server: ServerDescription) throws {
        let interrupts = Interrupts(isInstalled: true)
        let end = ContinuousClock.now + .seconds(Self.secondsMax)
        while file.lock() == .heldByAnother {
            if interrupts.happened {
                throw StoreError(.interrupted, "interrupted while waiting for process \(server.pid) to end")
            }
            guard ContinuousClock.now < end else {
                throw StoreError(
                    .failed, "process \(server.pid) has not ended within \(Int(Self.secondsMax)) seconds",
                    place: server.address,
                    hint: "downloads may still be moving; `kill -QUIT \(server.pid)` ends it at once")
            }
            usleep(20_000)
        }
    }
}
