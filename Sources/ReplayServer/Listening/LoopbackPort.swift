import Foundation

/// The only addresses that replayhost listens on.
package enum LoopbackAddress: String, Sendable, Hashable, CaseIterable {
    case v4 = "127.0.0.1"
    case v6 = "::1"
}

/// A listening port on the loopback addresses.
///
/// Connections are queued until a `PortListener` takes the sockets.
package final class LoopbackPort {
    package let number: Int
    /// A listening socket for each loopback address that this computer has.
    private(set) var sockets: [LoopbackAddress: Int32]

    /// Opens a port.
    ///
    /// - Parameter number: The port; 0 for any that is free on both addresses.
    /// - Throws: `PortInUse` if another program has the port on either address, `ListenFailure`.
    package convenience init(taking number: Int) throws {
        var attempt = 0
        while true {
            do {
                try self.init(onceTaking: number)
                return
            } catch is PortInUse where number == 0 && attempt < Self.attemptsMax {
                // Free on one address but not on the other: try another number.
                attempt += 1
            }
        }
    }

    /// Opens any free port outside the ephemeral range (Linux, RFC 6335 §6), so that it is likely to be free after a
    /// restart. Browsers don't block any of these ports.
    ///
    /// - Throws: `PortInUse`, `ListenFailure`.
    package static func any() throws -> LoopbackPort {
        for _ in 0..<attemptsMax {
            do {
                return try LoopbackPort(onceTaking: Int.random(in: range))
            } catch is PortInUse {
                continue
            }
        }
        return try LoopbackPort(taking: 0)
    }

    private init(onceTaking number: Int) throws {
        guard let (v4, port) = try Self.listeningSocket(.v4, port: number) else {
            throw ListenFailure(port: number, reason: "this computer has no address 127.0.0.1")
        }
        self.number = port
        sockets = [.v4: v4]
        // All properties are set, so `deinit` closes the sockets after an error.
        if let (v6, _) = try Self.listeningSocket(.v6, port: port) { sockets[.v6] = v6 }
    }

    /// Takes ownership of listening sockets, for example from systemd socket activation. Source: sd_listen_fds(3).
    ///
    /// - Parameter sockets: Sockets that listen on one port of the loopback addresses.
    /// - Throws: `ListenFailure` for any other socket.
    package init(inheriting sockets: [Int32]) throws {
        var found: [LoopbackAddress: Int32] = [:]
        var ports: Set<Int> = []
        for socket in sockets {
            guard Self.isStream(socket), let (address, port) = Self.boundAddress(of: socket),
                found.updateValue(socket, forKey: address) == nil
            else {
                throw ListenFailure(
                    port: 0,
                    reason: "the inherited socket \(socket) isn't a stream socket on 127.0.0.1 or [::1]")
            }
            ports.insert(port)
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        }
        guard let port = ports.first, ports.count == 1 else {
            throw ListenFailure(port: 0, reason: "the inherited sockets must have one port, not \(ports.count)")
        }
        number = port
        self.sockets = found
    }

    /// The addresses of sockets that haven't been taken.
    var addresses: Set<LoopbackAddress> { Set(sockets.keys) }

    deinit {
        for socket in sockets.values { close(socket) }
    }

    /// Returns its sockets, which the caller has to close.
    func takeSockets() -> [Int32] {
        defer { sockets = [:] }
        return Array(sockets.values)
    }

    private static let attemptsMax = 20
    /// Below the ports of archives.
    private static let range = 10_240..<16_384
    private static let backlog: Int32 = 512
}

/// Another program uses the requested port.
package struct PortInUse: Error, Hashable, CustomStringConvertible {
    package let port: Int
    package let address: LoopbackAddress
    /// The name and the process ID of that program, if known.
    package let holder: String?

    package var description: String {
        let host = address == .v4 ? "127.0.0.1" : "[::1]"
        return "port \(port) is in use on \(host)" + (holder.map { " by \($0)" } ?? "")
    }
}

/// Listening failed for another reason, for example missing permission for a port below 1024.
package struct ListenFailure: Error, Hashable, CustomStringConvertible {
    package let port: Int
    package let reason: String

    package var description: String {
        port == 0 ? "can't listen: \(reason)" : "can't listen on port \(port) (\(reason))"
    }
}

extension LoopbackPort {
    /// Opens a listening socket. Returns `nil` if the computer doesn't have the address, because IPv6 is disabled.
    private static func listeningSocket(_ address: LoopbackAddress, port: Int) throws -> (Int32, Int)? {
        let descriptor = openSocket(address == .v4 ? AF_INET : AF_INET6)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        set(SO_REUSEADDR, SOL_SOCKET, of: descriptor)
        if address == .v6 { set(IPV6_V6ONLY, Int32(IPPROTO_IPV6), of: descriptor) }
        if bindSocket(descriptor, address, port: port), listen(descriptor, backlog) == 0,
            let bound = boundAddress(of: descriptor)
        {
            return (descriptor, bound.port)
        }
        let number = errno
        close(descriptor)
        switch number {
        case EADDRINUSE:
            throw PortInUse(port: port, address: address, holder: PortHolder.name(port: port, address: address))
        case EADDRNOTAVAIL, EAFNOSUPPORT: return nil
        default: throw ListenFailure(port: port, reason: String(cString: strerror(number)))
        }
    }

    private static func openSocket(_ family: Int32) -> Int32 {
        #if os(Linux)
        // Not with fcntl afterwards: a child process started in between would inherit the socket.
        socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #else
        socket(family, SOCK_STREAM, 0)
        #endif
    }

    private static func isStream(_ descriptor: Int32) -> Bool {
        var type: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        #if os(Linux)
        let stream = Int32(SOCK_STREAM.rawValue)
        #else
        let stream = SOCK_STREAM
        #endif
        return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == stream
    }

    private static func set(_ option: Int32, _ level: Int32, of descriptor: Int32) {
        var yes: Int32 = 1
        setsockopt(descriptor, level, option, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func bindSocket(_ descriptor: Int32, _ address: LoopbackAddress, port: Int) -> Bool {
        let port = in_port_t(truncatingIfNeeded: port).bigEndian
        switch address {
        case .v4:
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port
            inet_pton(AF_INET, address.rawValue, &name.sin_addr)
            return withGeneric(&name) { bind(descriptor, $0, $1) == 0 }
        case .v6:
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_port = port
            inet_pton(AF_INET6, address.rawValue, &name.sin6_addr)
            return withGeneric(&name) { bind(descriptor, $0, $1) == 0 }
        }
    }

    private static func withGeneric<Name, Result>(
        _ name: inout Name, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Name>.size)) }
        }
    }

    /// Returns the address and the port of a socket; `nil` if it isn't bound to a loopback address.
    private static func boundAddress(of descriptor: Int32) -> (address: LoopbackAddress, port: Int)? {
        var name = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let isKnown = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
        }
        guard isKnown else { return nil }
        // The port has the same offset in both address structures.
        let port = Int(in_port_t(bigEndian: name.sin6_port))
        switch Int32(name.sin6_family) {
        case AF_INET:
            let isLoopback = withUnsafeBytes(of: &name) { bytes in
                bytes.loadUnaligned(
                    fromByteOffset: MemoryLayout.offset(of: \sockaddr_in.sin_addr) ?? 0, as: UInt32.self)
                    == UInt32(0x7f00_0001).bigEndian
            }
            return isLoopback ? (.v4, port) : nil
        case AF_INET6:
            let bytes = withUnsafeBytes(of: name.sin6_addr) { Array($0) }
            return bytes == Array(repeating: 0, count: 15) + [1] ? (.v6, port) : nil
        default: return nil
        }
    }
}
