import Foundation
import NIOCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Decides which connections are answered, by the user whose program is at the other end.
///
/// Loopback addresses are open to everyone on a computer, and on Linux the kernel says whose socket a connection comes from. Other
/// systems don't: there everyone is answered.
struct ClientCheck: Sendable {
    /// What is decided about a connection, once for all of its requests.
    enum Verdict: Hashable {
        case allowed
        /// A user, by ID, who is not allowed.
        case otherUser(UInt32)
        /// It can't be found out whose connection it is.
        case unknownUser
    }

    #if os(Linux)
    private let owners: SocketOwners?
    private let allowed: Set<UInt32>
    /// Stands for every user that this user namespace has no ID for; `nil` when it has all.
    private let unmapped: UInt32?

    /// - Parameters:
    ///   - users: IDs of those who are answered beside root and the user that runs this program; `nil` for everyone.
    ///   - port: The kernel is asked for it, to see that it answers.
    /// - Throws: `ClientsUnknown` when users can't be told apart.
    init(allowing users: Set<UInt32>?, port: LoopbackPort) throws(ClientsUnknown) {
        guard let users else {
            (owners, allowed, unmapped) = (nil, [], nil)
            return
        }
        let owners = try SocketOwners()
        switch owners.reply(to: SocketQuery(listener: port)) {
        case .socket: break
        case .failure(let number): throw ClientsUnknown(number)
        case nil: throw ClientsUnknown(EIO)
        }
        self.owners = owners
        unmapped = UserNamespace.unmappedUser()
        guard geteuid() != unmapped else { throw ClientsUnknown("this user namespace has no ID for your user") }
        allowed = users.union([geteuid(), 0])
    }

    /// Finds out whose connection it is. To be called on its event loop.
    func verdict(on channel: any Channel) -> Verdict {
        guard let owners else { return .allowed }
        guard let peer = SocketQuery.Endpoint(channel.remoteAddress),
            let own = SocketQuery.Endpoint(channel.localAddress)
        else {
            return .unknownUser
        }
        let query = SocketQuery(source: peer, destination: own)
        guard case .socket(let socket) = owners.reply(to: query), let user = query.user(of: socket),
            // Only while our own end is still connected no other connection can have the same two ends. When the client has reset
            // this one, the socket that was found may be somebody else's.
            Self.isConnected(channel)
        else { return .unknownUser }
        return verdict(of: user)
    }

    private func verdict(of user: UInt32) -> Verdict {
        if user == unmapped { return .unknownUser }
        return allowed.contains(user) ? .allowed : .otherUser(user)
    }

    private static func isConnected(_ channel: any Channel) -> Bool {
        var isConnected = false
        // On the event loop the answer is there at once; if it weren't, the connection would be refused.
        (channel as? any SocketOptionProvider)?.getTCPInfo().assumeIsolated().whenSuccess { info in
            isConnected = [UInt8(TCP_ESTABLISHED), UInt8(TCP_CLOSE_WAIT)].contains(info.tcpi_state)
        }
        return isConnected
    }
    #else
    init(allowing users: Set<UInt32>?, port: LoopbackPort) throws(ClientsUnknown) {}

    func verdict(on channel: any Channel) -> Verdict { .allowed }
    #endif
}

/// The users of this computer can't be told apart.
package struct ClientsUnknown: Error, Hashable, CustomStringConvertible {
    private let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    init(_ number: Int32) {
        self.init("sock_diag: \(String(cString: strerror(number)))")
    }

    package var description: String {
        "can't find out which user of this computer a connection comes from (\(reason))"
    }
}

#if os(Linux)
/// The user IDs that this program sees. Source: user_namespaces(7).
enum UserNamespace {
    /// The ID that stands for all users without one of their own here; `nil` when every user has one.
    static func unmappedUser() -> UInt32? {
        let map = (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8)) ?? ""
        if isWhole(map) { return nil }
        let text = (try? String(contentsOfFile: "/proc/sys/kernel/overflowuid", encoding: .utf8)) ?? ""
        return UInt32(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 65_534
    }

    /// Whether a `uid_map` has every ID: 0 to 2³² - 2.
    static func isWhole(_ map: String) -> Bool {
        let counts = map.split(separator: "\n").compactMap { line in
            line.split(separator: " ").last.flatMap { UInt64($0) }
        }
        return counts.reduce(0, +) == UInt64(UInt32.max)
    }
}
#endif
