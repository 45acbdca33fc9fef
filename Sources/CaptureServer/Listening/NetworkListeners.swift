import EgressGuard
import Hummingbird
import Logging
import NIOCore
import ReplayServer

/// Listens on addresses that other computers reach, as the configuration asks.
actor NetworkListeners {
    /// An address and a port to listen on.
    struct Endpoint: Sendable, Hashable {
        let address: IPAddress
        let port: Int
        let isEncrypted: Bool
    }

    /// Responds to a request that arrived at an endpoint.
    typealias Responder = @Sendable (Request, ConnectionContext, Endpoint) async throws -> Response

    private var open: [Endpoint: RequestListener] = [:]
    /// Why endpoints aren't open.
    private(set) var failures: [Endpoint: String] = [:]
    private let limits: ConnectionLimits
    private let encrypt: @Sendable (any Channel) throws -> Void
    private let respond: Responder
    private let logger: Logger

    /// - Parameter encrypt: Adds TLS to a connection.
    init(
        limits: ConnectionLimits, encrypt: @escaping @Sendable (any Channel) throws -> Void, logger: Logger,
        respond: @escaping Responder
    ) {
        (self.limits, self.encrypt, self.logger, self.respond) = (limits, encrypt, logger, respond)
    }

    /// The endpoints that are open.
    var endpoints: Set<Endpoint> { Set(open.keys) }

    /// Opens and closes endpoints until these are open. Those that can't be opened are tried again by the next call; the
    /// ones that they replace stay open until then.
    func open(_ wanted: Set<Endpoint>) async {
        // A port that changes between http and https must be free first.
        await close(wanted) { old in wanted.contains { $0.address == old.address && $0.port == old.port } }
        failures = failures.filter { wanted.contains($0.key) }
        for endpoint in wanted where open[endpoint] == nil {
            do {
                open[endpoint] = try await listen(endpoint)
                failures[endpoint] = nil
                logger.notice("listening for other computers", metadata: ["address": "\(endpoint)"])
            } catch {
                if failures.updateValue("\(error)", forKey: endpoint) == nil { logger.error("\(error)") }
            }
        }
        // Nothing is half applied.
        let failed = failures.keys
        await close(wanted) { old in !failed.contains { $0.isEncrypted == old.isEncrypted } }
    }

    /// Closes unwanted endpoints that meet a condition.
    private func close(_ wanted: Set<Endpoint>, where condition: (Endpoint) -> Bool) async {
        for (endpoint, listener) in open where !wanted.contains(endpoint) && condition(endpoint) {
            open[endpoint] = nil
            logger.info("stopped listening", metadata: ["address": "\(endpoint)"])
            await listener.stop(within: .seconds(5))
        }
    }

    private func listen(_ endpoint: Endpoint) async throws -> RequestListener {
        let socket = try NetworkSockets.open(on: endpoint.address, port: endpoint.port)
        let (limits, encrypt, respond) = (limits, encrypt, respond)
        var clients = ClientLimits()
        (clients.firstHead, clients.bodyBytesPerSecond) = (.seconds(10), 1000)
        return try await RequestListener(
            taking: [socket], isEncrypted: endpoint.isEncrypted, limits: clients,
            prepare: { channel, activity in
                // A closed channel needs no more.
                guard limits.admit(channel, activity) else { return channel.close(promise: nil) }
                if endpoint.isEncrypted { try encrypt(channel) }
                try channel.pipeline.syncOperations.addHandler(SocketSide(), position: .first)
            }, logger: logger
        ) { try await respond($0, $1, endpoint) }
    }

    /// Closes all endpoints; responses in progress have some time to finish.
    func stop() async {
        await withDiscardingTaskGroup { group in
            for listener in open.values { group.addTask { await listener.stop(within: .seconds(10)) } }
        }
        open = [:]
    }
}

extension NetworkListeners.Endpoint: CustomStringConvertible {
    var description: String { "\(isEncrypted ? "https" : "http")://\(address.hostText):\(port)" }
}
