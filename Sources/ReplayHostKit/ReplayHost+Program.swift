@_exported public import ArchiveStore
import Foundation
import ReplayServer
import UnixSignals
@_exported public import WebArchive

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// What only the program `replayhost` needs: it is built out of this kit alone, and sees through it what is `package` in the rooms
// below. Programs that embed the kit see nothing of that.

extension ReplayHost {
    /// Serves until SIGINT or SIGTERM; then answers under way are finished first.
    ///
    /// - Parameter onReady: Called when connections are accepted.
    package func serveUntilSignal(onReady: (Addresses) -> Void) async throws(ReplayHostError) {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        onReady(try await start())
        for await _ in signals { break }
        await stop(within: nil)
    }

    /// Where an archive or a group is looked at: the path at a server's address.
    package static func viewerPath(of replayable: Replayable) -> String { ViewerAddress.path(of: replayable) }

    /// The engine that the assets hold; `nil` when it was not fetched.
    package static func engine(assetsFolder: String) throws -> (name: String, version: String, sha256: String)? {
        try Assets(folder: assetsFolder).engine().map { ($0.name, $0.version, $0.sha256) }
    }

    /// Why a server could not listen on the port; for `doctor`.
    package static func portProblem(_ port: Int) -> String? {
        do {
            _ = try LoopbackPort(taking: port)
            return nil
        } catch {
            return "\(error)"
        }
    }
}

/// Sockets that whoever started this program opened for it. Source: sd_listen_fds(3).
package enum InheritedSockets {
    /// - Returns: Their descriptors; none when they are meant for another process.
    package static func listed(in environment: [String: String]) -> [Int32] {
        guard environment["LISTEN_PID"] == "\(getpid())", let count = environment["LISTEN_FDS"].flatMap(Int32.init),
            (1...1024).contains(count)
        else { return [] }
        return Array(first..<first + count)
    }

    private static let first: Int32 = 3
}
