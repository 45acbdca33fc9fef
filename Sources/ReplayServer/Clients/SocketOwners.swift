#if os(Linux)
import ArchiveStore
import CLinux
import Glibc
import Synchronization

/// Queries the kernel for the owners of TCP sockets. Source: sock_diag(7).
///
/// The kernel replies without blocking, so event loops can call this. They share one socket: a query takes 6 µs instead
/// of 17 µs with a new one.
final class SocketOwners: Sendable {
    private let netlink: Descriptor
    /// The sequence number of the last query.
    private let sequence = Mutex<UInt32>(0)

    /// - Throws: `ClientsUnknown` if the interface isn't available.
    init() throws(ClientsUnknown) {
        let number = socket(AF_NETLINK, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), NETLINK_SOCK_DIAG)
        guard number >= 0 else { throw ClientsUnknown(errno) }
        netlink = Descriptor(owning: number, path: "sock_diag")
        // Connect to the kernel, so that messages from other programs are rejected.
        var kernel = sockaddr_nl()
        kernel.nl_family = sa_family_t(AF_NETLINK)
        let isConnected = withUnsafePointer(to: &kernel) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_nl>.size)) == 0
            }
        }
        guard isConnected else { throw ClientsUnknown(errno) }
    }

    /// - Returns: `nil` if there is no reply.
    func reply(to query: SocketQuery) -> SocketReply? {
        sequence.withLock { sequence -> SocketReply? in
            sequence &+= 1
            let message = query.message(sequence: sequence)
            guard send(netlink.number, message, message.count, 0) == message.count else { return nil }
            return withUnsafeTemporaryAllocation(byteCount: Self.replyMax, alignment: 8) { buffer in
                // Skip late replies to earlier queries.
                for _ in 0..<Self.repliesMax {
                    let count = recv(netlink.number, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                    guard count > 0 else { break }
                    let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                    if let reply = SocketReply(bytes, sequence: sequence) { return reply }
                }
                return nil
            }
        }
    }

    /// The buffer size; a reply with its attributes has 124 bytes.
    private static let replyMax = 1024
    private static let repliesMax = 8
}
#endif
