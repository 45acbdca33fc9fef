import NIOCore
import NIOPosix
import Synchronization

/// A connection from the guard to a host.
enum HostConnection {
    typealias Stream = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Connects. If the task is cancelled, the attempt to connect ends at once.
    static func connect(to address: SocketAddress, _ rules: EgressRules) async throws -> Stream {
        let connecting = Mutex<(any Channel)?>(nil)
        return try await withTaskCancellationHandler {
            try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(.init(rules.connectTimeout))
                .channelOption(.allowRemoteHalfClosure, value: true)
                .connect(to: address) { channel in
                    connecting.withLock { $0 = channel }
                    return channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers(
                            IdleStateHandler(allTimeout: .init(rules.idleTimeout)), IdleCloser())
                        return try Stream(
                            wrappingChannelSynchronously: channel,
                            configuration: .init(isOutboundHalfClosureEnabled: true))
                    }
                }
        } onCancel: {
            connecting.withLock { $0 }?.close(promise: nil)
        }
    }

    /// Closes a connection on which nothing happens.
    private final class IdleCloser: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
            context.fireUserInboundEventTriggered(event)
        }
    }
}

/// Waits for a value until the task is cancelled. The work goes on, and its value is dropped.
///
/// - Throws: `CancellationError`
func abandonable<Value: Sendable>(
    _ work: @Sendable (@escaping @Sendable (Value) -> Void) -> Void
) async throws -> Value {
    let waiting = Mutex<(isCancelled: Bool, continuation: CheckedContinuation<Value, any Error>?)>((false, nil))
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            let isCancelled = waiting.withLock { waiting in
                waiting.continuation = waiting.isCancelled ? nil : continuation
                return waiting.isCancelled
            }
            if isCancelled { return continuation.resume(throwing: CancellationError()) }
            work { value in waiting.withLock { $0.continuation.take() }?.resume(returning: value) }
        }
    } onCancel: {
        waiting.withLock { waiting in
            waiting.isCancelled = true
            return waiting.continuation.take()
        }?.resume(throwing: CancellationError())
    }
}
