import EgressGuard
import Foundation
import NIOCore

/// Opens listening sockets on addresses of this computer. Only the capture server has this; `replayhost` can't listen on anything
/// but loopback addresses.
enum NetworkSockets {
    /// A socket can't be opened.
    struct Failure: Error, Hashable, CustomStringConvertible {
        let address: IPAddress
        let port: Int
        let reason: String

        var description: String { "can't listen on \(address.hostText):\(port) (\(reason))" }
    }

    /// Returns a listening TCP socket.
    static func open(on address: IPAddress, port: Int) throws(Failure) -> Int32 {
        #if os(Linux)
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(address.isIPv4 ? AF_INET : AF_INET6, kind, 0)
        func failure() -> Failure {
            let reason = errno == EADDRINUSE ? "another program uses this port" : String(cString: strerror(errno))
            return Failure(address: address, port: port, reason: reason)
        }
        guard descriptor >= 0 else { throw failure() }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        if !address.isIPv4 {
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        let isBound = address.socketAddress(port: port)?.withSockAddr { bind(descriptor, $0, socklen_t($1)) == 0 }
        guard isBound == true, listen(descriptor, backlog) == 0 else {
            defer { close(descriptor) }
            throw failure()
        }
        return descriptor
    }

    private static let backlog: Int32 = 128
}

extension IPAddress {
    var isIPv4: Bool { bytes.count == 4 }

    /// fe80::/10. RFC 4291 §2.5.6.
    var isLinkLocal6: Bool { bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 }

    /// As in a URL: IPv6 in brackets. RFC 3986 §3.2.2.
    package var hostText: String { isIPv4 ? description : "[\(description)]" }
}
