/// Tells whether a loopback connection comes from a program of this user, of root, or of another user who is allowed.
package struct OwnUsers: Sendable {
    private let clients: ClientCheck

    /// - Parameters:
    ///   - users: The IDs of users who are allowed besides root and the user who runs this program; `nil` for everyone.
    ///   - port: A port whose sockets haven't been taken yet.
    /// - Throws: `ClientsUnknown` if access is limited to some users and the system can't determine them.
    package init(allowing users: Set<UInt32>?, port: LoopbackPort) throws(ClientsUnknown) {
        clients = try ClientCheck(allowing: users, port: port)
    }

    /// Returns whether a connection is from one of them; `false` if the system doesn't tell.
    package func include(_ context: ConnectionContext) async throws -> Bool {
        try await context.client(clients) == .allowed
    }
}
