package import ArchiveStore
import Foundation

/// A running server, and the file that it keeps locked.
package struct RunningServer {
    private let file: Descriptor
    package let server: ServerDescription

    private static let secondsMax: Double = 60
    /// What is wrong with a server that has no description yet.
    package static let starting = "the server is just starting or stopping"

    /// Finds the server that keeps the file at `path` locked; `nil` when none runs.
    ///
    /// - Throws: `StoreError` `failed` if it's just starting or stopping.
    package init?(at path: String) throws {
        guard access(path, F_OK) == 0 else { return nil }
        let file = try ServerFile.open(at: path, flags: O_RDONLY)
        guard file.lock() == .heldByAnother else { return nil }
        guard let server = ServerFile.description(in: file) else {
            throw StoreError(
                .failed, Self.starting, place: path, hint: "try again in a moment")
        }
        (self.file, self.server) = (file, server)
    }

    /// Ends the server with SIGTERM, and waits until it has released its lock on the file.
    package func stop() throws {
        guard try ServerFile.isOpen(file, in: server.pid) else {
            throw StoreError(
                .failed, "the server isn't process \(server.pid), as its file claims", place: file.path,
                hint: "it may run in a container or as another user; stop it there")
        }
        guard kill(server.pid, SIGTERM) == 0 else {
            throw StoreError.system(errno, doing: "stopping process \(server.pid)", path: server.address)
        }
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

/// What `stop --json` prints. docs/json.md, "On the command line".
package struct StoppedServer: Encodable {
    private let stopped: Bool
    private let address: String?
    private let pid: Int32?

    /// - Parameter server: `nil` if none was running.
    package init(_ server: ServerDescription?) {
        (stopped, address, pid) = (server != nil, server?.address, server?.pid)
    }
}
