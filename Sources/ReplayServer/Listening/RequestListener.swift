package import Hummingbird
import HummingbirdCore
package import Logging

/// Serves another program's routes on a loopback port, with the limits and the client check of `ReplayServer`'s connections.
package struct LoopbackListener: Sendable {
    /// Responds to a request. An error closes the connection.
    package typealias Responder = @Sendable (Request, ConnectionContext) async throws -> Response

    private let listener: PortListener
    private let stopSignal: StopSignal

    /// Starts to accept connections.
    ///
    /// - Parameters:
    ///   - hosts: The policy for security headers. `respond` must check the host.
    ///   - users: The IDs of users who may connect besides root and the user who runs this program; `nil` for everyone.
    /// - Throws: `ClientsUnknown` if access is limited to some users and the system can't determine them.
    package init(
        on port: LoopbackPort, hosts: HostPolicy, users: Set<UInt32>? = [], logger: Logger,
        respond: @escaping Responder
    ) async throws {
        let clients = try ClientCheck(allowing: users, port: port)
        let stopSignal = StopSignal()
        let handler = RequestHandler(logger: logger, answer: respond)
        let channel = ReplayChannel(
            responder: { try await handler.respond($0, $1, $2) }, archives: nil, hosts: hosts, stop: stopSignal,
            clients: clients)
        listener = try await PortListener(on: port, channel: channel, logger: logger)
        self.stopSignal = stopSignal
    }

    /// Stops accepting connections and waits for responses in progress.
    ///
    /// - Parameter grace: The time after which remaining connections are closed; `nil` to wait as long as they make
    ///   progress.
    package func stop(within grace: Duration?) async {
        stopSignal.raise()
        await listener.stop(within: grace)
    }
}
