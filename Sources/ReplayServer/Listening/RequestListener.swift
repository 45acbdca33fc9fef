package import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore

/// Serves another program's routes, with the limits and the client check of `ReplayServer`'s connections.
package struct RequestListener: Sendable {
    /// Responds to a request. An error closes the connection.
    package typealias Responder = @Sendable (Request, ConnectionContext) async throws -> Response

    private let listener: PortListener
    private let stopSignal: StopSignal

    /// Starts to accept connections of all users of this computer. `respond` must check the host, and who asks (`ClientCheck`).
    package init(on port: LoopbackPort, logger: Logger, respond: @escaping Responder) async throws {
        try await self.init(
            taking: port.takeSockets(), isEncrypted: false, prepare: { _, _ in }, logger: logger, respond: respond)
    }

    /// Starts to accept connections on sockets that the caller has opened. `respond` must check the host, and who asks.
    ///
    /// - Parameters:
    ///   - sockets: Listening TCP sockets. They are closed when the listener stops, and after an error.
    ///   - isEncrypted: Whether `prepare` adds TLS.
    ///   - limits: What clients must do in time.
    ///   - prepare: Called for each connection on its event loop; an error closes it.
    package init(
        taking sockets: [Int32], isEncrypted: Bool, limits: ClientLimits = ClientLimits(),
        prepare: @escaping @Sendable (any Channel, RequestActivity) throws -> Void,
        logger: Logger, respond: @escaping Responder
    ) async throws {
        let stopSignal = StopSignal()
        let handler = RequestHandler(logger: logger, answer: respond)
        let channel = ReplayChannel(
            responder: { try await handler.respond($0, $1, $2) }, archives: nil, hosts: nil, stop: stopSignal,
            clients: .everyone, isEncrypted: isEncrypted, limits: limits, prepare: prepare)
        listener = try await PortListener(taking: sockets, channel: channel, logger: logger)
        self.stopSignal = stopSignal
    }

    /// The number of open connections.
    package var connectionCount: Int { listener.connections.count }

    /// Stops accepting connections and waits for responses in progress.
    ///
    /// - Parameter grace: The time after which remaining connections are closed; `nil` to wait as long as they make
    ///   progress.
    package func stop(within grace: Duration?) async {
        stopSignal.raise()
        await listener.stop(within: grace)
    }
}
