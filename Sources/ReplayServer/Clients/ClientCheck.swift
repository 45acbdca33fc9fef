import Foundation
import NIOCore

/// Checks which user a connection comes from.
///
/// All users of a computer can connect to its loopback addresses. Linux tells which user a socket belongs to. On other
/// systems all users are allowed.
package struct ClientCheck: Sendable {
    /// The decision about a connection and all its requests.
    package enum Verdict: Sendable, Hashable {
        case allowed
        /// A user, by ID, who isn't allowed.
        case otherUser(UInt32)
        /// The user can't be determined.
        case unknownUser
    }

    #if os(Linux)
    private let owners: SocketOwners?
    private let allowed: Set<UInt32>
    /// The ID of all users that aren't mapped into this user namespace; `nil` if all are.
    private let unmapped: UInt32?

    /// - Parameters:
    ///   - users: The IDs of users who may connect besides root and the user who runs this program; `nil` for everyone.
    ///   - port: A port to test the kernel interface with, whose sockets haven't been taken yet.
    /// - Throws: `ClientsUnknown` if access is limited to some users and the system can't determine them.
    package init(allowing users: Set<UInt32>?, port: LoopbackPort) throws(ClientsUnknown) {
        guard let users else {
            self = .everyone
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

    private init() { (owners, allowed, unmapped) = (nil, [], nil) }

    /// Allows every user.
    static let everyone = ClientCheck()

    /// Determines the user of a connection. Call this on its event loop.
    func verdict(on channel: any Channel) -> Verdict {
        guard let owners else { return .allowed }
        guard let peer = SocketQuery.Endpoint(channel.remoteAddress),
            let own = SocketQuery.Endpoint(channel.localAddress)
        else {
            return .unknownUser
        }
        let query = SocketQuery(source: peer, destination: own)
        guard case .socket(let socket) = owners.reply(to: query), let user = query.user(of: socket),
            // If the client has reset this connection, the socket may belong to another one with the same addresses and
            // ports.
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
        // Completes at once on the event loop. If it didn't, the connection would be refused.
        (channel as? any SocketOptionProvider)?.getTCPInfo().assumeIsolated().whenSuccess { info in
            isConnected = [UInt8(TCP_ESTABLISHED), UInt8(TCP_CLOSE_WAIT)].contains(info.tcpi_state)
        }
        return isConnected
    }
    #else
    private init() {}

    static let everyone = ClientCheck()

    package init(allowing users: Set<UInt32>?, port: LoopbackPort) throws(ClientsUnknown) {}

    func verdict(on channel: any Channel) -> Verdict { .allowed }
    #endif

    /// Whether a connection is from a user who is allowed; `false` if the system doesn't tell.
    package func allows(_ context: ConnectionContext) async throws -> Bool {
        try await verdict(on: context) == .allowed
    }

    /// Determines the user of the connection of a request.
    package func verdict(on context: ConnectionContext) async throws -> Verdict { try await context.client(self) }
}

/// The users of connections can't be determined.
package struct ClientsUnknown: Error, Hashable, CustomStringConvertible {
    private let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    init(_ number: Int32) {
        self.init("sock_diag: \(String(cString: strerror(number)))")
    }

    package var description: String {
        "can't determine which user a connection comes from (\(reason))"
    }
}

#if os(Linux)
/// The mapping of user IDs in this process. Source: user_namespaces(7).
enum UserNamespace {
    /// Returns the ID that stands for all unmapped users; `nil` if all users are mapped.
    static func unmappedUser() -> UInt32? {
        let map = (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8)) ?? ""
        if mapsAllUsers(map) { return nil }
        let text = (try? String(contentsOfFile: "/proc/sys/kernel/overflowuid", encoding: .utf8)) ?? ""
        return UInt32(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 65_534
    }

    /// Whether a `uid_map` contains all IDs: 0 to 2³² - 2.
    static func mapsAllUsers(_ map: String) -> Bool {
        let counts = map.split(separator: "\n").compactMap { line in
            line.split(separator: " ").last.flatMap { UInt64($0) }
        }
        return counts.reduce(0, +) == UInt64(UInt32.max)
    }
}
#endif
