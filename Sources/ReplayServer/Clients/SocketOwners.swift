#if os(Linux)
import ArchiveStore
import CLinux
import Glibc
import Synchronization

/// Asks the kernel which users have TCP sockets open. Source: sock_diag(7).
///
/// The kernel answers within the call and waits for nothing, so event loops ask it themselves. One socket serves all of them: a
/// question takes 6 µs, and with a socket of its own 17 µs.
final class SocketOwners: Sendable {
    private let netlink: Descriptor
    /// The number of the last question.
    private let sequence = Mutex<UInt32>(0)

    /// - Throws: `ClientsUnknown` when the kernel does not tell.
    init() throws(ClientsUnknown) {
        let number = socket(AF_NETLINK, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), NETLINK_SOCK_DIAG)
        guard number >= 0 else { throw ClientsUnknown(errno) }
        netlink = Descriptor(owning: number, path: "sock_diag")
        // Connected to the kernel: messages of other programs are not accepted.
        var kernel = sockaddr_nl()
        kernel.nl_family = sa_family_t(AF_NETLINK)
        let isConnected = withUnsafePointer(to: &kernel) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_nl>.size)) == 0
            }
        }
        guard isConnected else { throw ClientsUnknown(errno) }
    }

    /// - Returns: `nil` when there is no answer, as for a message that can't be sent.
    func reply(to query: SocketQuery) -> SocketReply? {
        sequence.withLock { sequence -> SocketReply? in
            sequence &+= 1
            let message = query.message(sequence: sequence)
            guard send(netlink.number, message, message.count, 0) == message.count else { return nil }
            return withUnsafeTemporaryAllocation(byteCount: Self.replyMax, alignment: 8) { buffer in
                // The first may be a late reply to a question whose answer could not be read.
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

    /// Bytes; an answer with its attributes has 124.
    private static let replyMax = 1024
    private static let repliesMax = 8
}
#endif
