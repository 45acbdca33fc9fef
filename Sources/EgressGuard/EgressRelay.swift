import NIOCore
import NIOPosix

/// A port of this computer that leads to a guard's unix socket: tools know proxies by host and port.
///
/// In a network namespace of its own, it is the only thing that a tool can reach.
package enum EgressRelay {
    private typealias Stream = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Runs the body while the relay works.
    ///
    /// - Parameters:
    ///   - socket: The path of the guard's socket. Use a relative one if the absolute path could exceed 107 bytes.
    ///   - body: Gets the port on 127.0.0.1.
    package static func with<Result: Sendable>(
        socket: String, _ body: @escaping @Sendable (Int) async throws -> Result
    ) async throws -> Result {
        // A tool or a guard that goes away is no error of the relay.
        let connections = Connections<Stream> { try? await relay($0, to: socket) }
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try connections.accept(channel) { try stream(channel) } }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = server.localAddress?.port else { throw ChannelError.unknownLocalAddress }
        return try await connections.run(on: server) { try await body(port) }
    }

    private static func stream(_ channel: any Channel) throws -> Stream {
        try Stream(wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
    }

    private static func relay(_ tool: Stream, to socket: String) async throws {
        try await tool.executeThenClose { fromTool, toTool in
            let guardian = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .channelOption(.allowRemoteHalfClosure, value: true)
                .connect(unixDomainSocketPath: socket) { channel in
                    channel.eventLoop.makeCompletedFuture { try stream(channel) }
                }
            try await guardian.executeThenClose { fromGuard, toGuard in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for try await bytes in fromTool { try await toGuard.write(bytes) }
                        toGuard.finish()
                    }
                    for try await bytes in fromGuard { try await toTool.write(bytes) }
                    // The guard closes when the connection is over.
                    group.cancelAll()
                }
            }
            // Closing drops what isn't sent yet.
            try await tool.channel.writeAndFlush(ByteBuffer()).get()
        }
    }
}
