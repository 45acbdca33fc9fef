import Foundation

/// Sockets that systemd passes to this program. Source: sd_listen_fds(3).
enum InheritedSockets {
    /// Returns their descriptors; none if they are meant for another process.
    static func listed(in environment: [String: String]) -> [Int32] {
        guard environment["LISTEN_PID"] == "\(ProcessInfo.processInfo.processIdentifier)",
            let count = environment["LISTEN_FDS"].flatMap(Int32.init), (1...1024).contains(count)
        else { return [] }
        return Array(first..<first + count)
    }

    private static let first: Int32 = 3
}
