#if os(Linux)
import CLinux
import Glibc
import NIOCore

/// A query for one TCP socket, identified by its two endpoints. Source: sock_diag(7).
struct SocketQuery: Hashable {
    /// One end of a connection.
    struct Endpoint: Hashable {
        /// 16 bytes. IPv4 is mapped to IPv6, because the two sockets of a connection can have different families.
        let address: [UInt8]
        let port: UInt16
    }

    /// The local endpoint.
    let source: Endpoint
    /// The remote endpoint.
    let destination: Endpoint

    /// Returns the message that queries exactly this socket.
    func message(sequence: UInt32) -> [UInt8] {
        let isIPv4 = source.isIPv4 && destination.isIPv4
        var request = inet_diag_req_v2()
        request.sdiag_family = UInt8(isIPv4 ? AF_INET : AF_INET6)
        request.sdiag_protocol = UInt8(IPPROTO_TCP)
        request.idiag_states = .max
        request.id.idiag_sport = source.port.bigEndian
        request.id.idiag_dport = destination.port.bigEndian
        // Four bytes for IPv4, sixteen for IPv6.
        withUnsafeMutableBytes(of: &request.id.idiag_src) { $0.copyBytes(from: source.address.suffix(isIPv4 ? 4 : 16)) }
        withUnsafeMutableBytes(of: &request.id.idiag_dst) {
            $0.copyBytes(from: destination.address.suffix(isIPv4 ? 4 : 16))
        }
        // Needed to find sockets that are bound to the loopback interface.
        request.id.idiag_if = Self.loopbackInterface
        request.id.idiag_cookie = (.max, .max)
        let header = nlmsghdr(
            nlmsg_len: UInt32(MemoryLayout<nlmsghdr>.size + MemoryLayout<inet_diag_req_v2>.size),
            nlmsg_type: UInt16(SOCK_DIAG_BY_FAMILY), nlmsg_flags: UInt16(NLM_F_REQUEST), nlmsg_seq: sequence,
            nlmsg_pid: 0)
        return withUnsafeBytes(of: header) { Array($0) } + withUnsafeBytes(of: request) { Array($0) }
    }

    /// Returns the user who has the socket open.
    ///
    /// A client that has sent its request may have closed its sending side (FIN_WAIT). A socket that its process has
    /// closed has no inode, and its user may read as 0, which is root.
    ///
    /// - Returns: `nil` for another socket, a listening one, and one that no process has open.
    func user(of socket: SocketReply.Socket) -> UInt32? {
        guard socket.source == source, socket.destination == destination, socket.inode != 0,
            Self.connectedStates.contains(socket.state)
        else { return nil }
        return socket.user
    }

    private static let connectedStates: Set<UInt8> = [
        UInt8(TCP_ESTABLISHED), UInt8(TCP_FIN_WAIT1), UInt8(TCP_FIN_WAIT2),
    ]
    /// The same in every network namespace (LOOPBACK_IFINDEX in Linux).
    private static let loopbackInterface: UInt32 = 1
}

extension SocketQuery {
    /// Queries a listening socket of a port.
    init(listener port: LoopbackPort) {
        let number = UInt16(truncatingIfNeeded: port.number)
        if port.addresses.contains(.v4) {
            source = Endpoint(ipv4: [127, 0, 0, 1], port: number)
            destination = Endpoint(ipv4: [0, 0, 0, 0], port: 0)
        } else {
            source = Endpoint(address: [UInt8](repeating: 0, count: 15) + [1], port: number)
            destination = Endpoint(address: [UInt8](repeating: 0, count: 16), port: 0)
        }
    }
}

extension SocketQuery.Endpoint {
    /// - Returns: `nil` for a Unix socket.
    init?(_ address: SocketAddress?) {
        switch address {
        case .v4(let address):
            let bytes = withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
            self.init(ipv4: bytes, port: UInt16(bigEndian: address.address.sin_port))
        case .v6(let address):
            let bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
            self.init(address: bytes, port: UInt16(bigEndian: address.address.sin6_port))
        case .unixDomainSocket, nil: return nil
        }
    }

    init(ipv4 bytes: [UInt8], port: UInt16) {
        self.init(address: Self.mappedPrefix + bytes, port: port)
    }

    fileprivate var isIPv4: Bool { address.starts(with: Self.mappedPrefix) }

    /// ::ffff:0:0/96. RFC 4291 §2.5.5.2.
    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
}

/// The kernel's reply to a `SocketQuery`. Source: netlink(7), linux/inet_diag.h.
enum SocketReply: Hashable {
    case socket(Socket)
    /// An error number; `ENOENT` if there is no such socket.
    case failure(Int32)

    /// A TCP socket.
    struct Socket: Hashable {
        let source: SocketQuery.Endpoint
        let destination: SocketQuery.Endpoint
        let state: UInt8
        /// The user ID in this process's user namespace.
        let user: UInt32
        /// 0 if no process has it open.
        let inode: UInt32
    }

    /// - Returns: `nil` for anything but a complete reply with that sequence number.
    init?(_ bytes: UnsafeRawBufferPointer, sequence: UInt32) {
        guard bytes.count >= Self.headerSize else { return nil }
        let header = bytes.loadUnaligned(as: nlmsghdr.self)
        guard header.nlmsg_seq == sequence, (Self.headerSize...bytes.count).contains(Int(header.nlmsg_len)) else {
            return nil
        }
        let body = UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize..<Int(header.nlmsg_len)])
        switch Int32(header.nlmsg_type) {
        case NLMSG_ERROR where body.count >= MemoryLayout<Int32>.size:
            self = .failure(0 &- body.loadUnaligned(as: Int32.self))
        case SOCK_DIAG_BY_FAMILY where body.count >= MemoryLayout<inet_diag_msg>.size:
            guard let socket = Socket(body.loadUnaligned(as: inet_diag_msg.self)) else { return nil }
            self = .socket(socket)
        default: return nil
        }
    }

    private static let headerSize = MemoryLayout<nlmsghdr>.size
}

extension SocketReply.Socket {
    fileprivate init?(_ message: inet_diag_msg) {
        let (source, destination) = (message.id.idiag_src, message.id.idiag_dst)
        let ends = [(source, message.id.idiag_sport), (destination, message.id.idiag_dport)].map { address, port in
            (bytes: withUnsafeBytes(of: address) { Array($0) }, port: UInt16(bigEndian: port))
        }
        switch Int32(message.idiag_family) {
        case AF_INET:
            self.source = SocketQuery.Endpoint(ipv4: Array(ends[0].bytes.prefix(4)), port: ends[0].port)
            self.destination = SocketQuery.Endpoint(ipv4: Array(ends[1].bytes.prefix(4)), port: ends[1].port)
        case AF_INET6:
            self.source = SocketQuery.Endpoint(address: ends[0].bytes, port: ends[0].port)
            self.destination = SocketQuery.Endpoint(address: ends[1].bytes, port: ends[1].port)
        default: return nil
        }
        (state, user, inode) = (message.idiag_state, message.idiag_uid, message.idiag_inode)
    }
}
#endif
