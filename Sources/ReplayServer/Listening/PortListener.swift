import Foundation
import Logging
import NIOCore
import NIOExtras
import NIOPosix
import Synchronization

/// Accepts and serves connections on one port until it is stopped.
final class PortListener: Sendable {
    let connections = Connections()
    private let sockets: [(quiescing: ServerQuiescingHelper, accepting: ManagedTask<Void>)]

    /// Starts serving connections on listening sockets, which it closes.
    init(taking sockets: [Int32], channel: ReplayChannel, logger: Logger) async throws {
        var started: [(ServerQuiescingHelper, ManagedTask<Void>)] = []
        for (number, socket) in sockets.enumerated() {
            do {
                let (quiescing, server) = try await Self.listen(socket, channel, connections, logger)
                started.append((quiescing, ManagedTask { await Self.accept(server, channel, logger) }))
            } catch {
                for rest in sockets[(number + 1)...] { close(rest) }
                for (quiescing, _) in started { quiescing.initiateShutdown(promise: nil) }
                throw error
            }
        }
        self.sockets = started
    }

    private static func listen(
        _ socket: Int32, _ channel: ReplayChannel, _ connections: Connections, _ logger: Logger
    ) async throws -> (ServerQuiescingHelper, NIOAsyncChannel<ReplayChannel.Value, Never>) {
        let quiescing = ServerQuiescingHelper(group: MultiThreadedEventLoopGroup.singleton)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(ChannelOptions.backlog, value: 512)
            .serverChannelInitializer { server in
                server.eventLoop.makeCompletedFuture {
                    try server.pipeline.syncOperations.addHandler(quiescing.makeServerChannelHandler(channel: server))
                }
            }
            // TLS ends both directions at once.
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: !channel.isEncrypted)
            .bind(socket) { connection in
                let isAccepted = connections.add(connection)
                return channel.setup(channel: connection, logger: logger).always { _ in
                    // Closed before it's read from, so that no request is lost.
                    if !isAccepted { connection.close(promise: nil) }
                }
            }
        return (quiescing, server)
    }

    private static func accept(
        _ server: NIOAsyncChannel<ReplayChannel.Value, Never>, _ channel: ReplayChannel, _ logger: Logger
    ) async {
        await withDiscardingTaskGroup { group in
            do {
                try await server.executeThenClose { inbound in
                    for try await connection in inbound {
                        group.addTask { await channel.handle(value: connection, logger: logger) }
                    }
                }
            } catch {
                logger.error("stopped accepting connections", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Stops accepting connections, closes idle ones, and waits for responses in progress.
    ///
    /// - Parameter grace: The time after which remaining connections are closed; `nil` for never.
    func stop(within grace: Duration?) async {
        for socket in sockets { socket.quiescing.initiateShutdown(promise: nil) }
        await withTaskGroup(of: Void.self) { group in
            if let grace {
                group.addTask { [connections] in
                    guard (try? await Task.sleep(for: grace)) != nil else { return }
                    connections.closeAll()
                }
            }
            for socket in sockets { await socket.accepting.finish() }
            group.cancelAll()
        }
    }
}

/// The open connections of a listener.
final class Connections: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any Channel] = [:]
        var changedAt = ContinuousClock.now
        var hasEnded = false
    }
    private let state = Mutex(State())

    /// The time since the last connection was closed; `nil` while there are any.
    var idleTime: Duration? {
        state.withLock { $0.open.isEmpty ? $0.changedAt.duration(to: .now) : nil }
    }

    var count: Int { state.withLock { $0.open.count } }

    /// Accepts no more connections, unless there are any or the last one was closed less than `time` ago.
    ///
    /// - Returns: Whether none is accepted from now on.
    func endIfIdle(for time: Duration = .zero) -> Bool {
        state.withLock { state in
            guard state.open.isEmpty, state.changedAt.duration(to: .now) >= time else { return false }
            state.hasEnded = true
            return true
        }
    }

    /// - Returns: Whether the connection is accepted.
    func add(_ channel: any Channel) -> Bool {
        let identifier = ObjectIdentifier(channel)
        let isAccepted = state.withLock { state in
            state.open[identifier] = channel
            return !state.hasEnded
        }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { state in
                state.open[identifier] = nil
                state.changedAt = .now
            }
        }
        return isAccepted
    }

    /// Resets the idle time, because a connection is expected.
    func touch() { state.withLock { $0.changedAt = .now } }

    func closeAll() {
        for channel in state.withLock({ Array($0.open.values) }) { channel.close(promise: nil) }
    }
}
