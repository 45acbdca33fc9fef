#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The two addresses that replayhost ever listens on. There is no way to name another one.
package enum LoopbackAddress: String, Sendable, Hashable, CaseIterable {
    case v4 = "127.0.0.1"
    case v6 = "::1"
}

/// One thing that accepts connections: where, and for which names.
package struct Listener: Sendable, Hashable {
    package let address: LoopbackAddress
    package let hosts: HostPolicy

    package var port: Int { hosts.port }
}

/// The port that was asked for belongs to another program.
package struct PortInUse: Error, Hashable, CustomStringConvertible {
    package let port: Int
    package let address: LoopbackAddress
    /// Name and process id, where this user may see them.
    package let holder: String?

    package var description: String {
        let place = address == .v4 ? "127.0.0.1" : "[::1]"
        return "port \(port) is in use on \(place)" + (holder.map { " by \($0)" } ?? "")
    }
}

extension Listener {
    /// Finds out on which addresses the port is free, before anything is announced.
    ///
    /// - Parameter port: 0 for any that is free on both.
    /// - Returns: One listener for each loopback address that this machine has.
    /// - Throws: `PortInUse` when another program has the port on either.
    package static func plan(port: Int) throws -> [Listener] {
        var attempt = 0
        while true {
            do {
                return try tryPlan(port: port)
            } catch is PortInUse where port == 0 && attempt < attemptsMax {
                // Free on one address and taken on the other: another number.
                attempt += 1
            }
        }
    }

    private static func tryPlan(port: Int) throws -> [Listener] {
        let first = try Probe(.v4, port: port)
        guard let first else { throw ListenFailure(port: port, reason: "this machine has no address 127.0.0.1") }
        let hosts = HostPolicy(port: first.port)
        var listeners = [Listener(address: .v4, hosts: hosts)]
        if try Probe(.v6, port: first.port) != nil { listeners.append(Listener(address: .v6, hosts: hosts)) }
        return listeners
    }

    private static let attemptsMax = 20
}

/// A socket that listens for an instant, to learn whether it could.
private final class Probe {
    let port: Int
    private let descriptor: Int32

    /// `nil` when the machine has no such address (IPv6 switched off).
    init?(_ address: LoopbackAddress, port: Int) throws {
        let family = address == .v4 ? AF_INET : AF_INET6
        #if os(Linux)
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(family, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else {
            self.port = 0
            return nil
        }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        if address == .v6 {
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        guard Self.take(descriptor, address, port: port), listen(descriptor, 1) == 0 else {
            let number = errno
            self.port = 0
            switch number {
            case EADDRINUSE:
                throw PortInUse(port: port, address: address, holder: PortHolder.name(port: port, address: address))
            case EADDRNOTAVAIL, EAFNOSUPPORT: return nil
            default: throw ListenFailure(port: port, reason: String(cString: strerror(number)))
            }
        }
        self.port = Self.localPort(descriptor)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    private static func take(_ descriptor: Int32, _ address: LoopbackAddress, port: Int) -> Bool {
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

    private static func localPort(_ descriptor: Int32) -> Int {
        var name = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        withUnsafeMutablePointer(to: &name) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        // The port has the same place in both kinds of address.
        return Int(in_port_t(bigEndian: name.sin6_port))
    }
}

/// Listening failed for another reason than a taken port: a port below 1024 without the right to it, for one.
package struct ListenFailure: Error, Hashable, CustomStringConvertible {
    package let port: Int
    package let reason: String

    package var description: String { "cannot listen on port \(port) (\(reason))" }
}
