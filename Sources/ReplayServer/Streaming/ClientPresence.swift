import NIOCore
import Synchronization

/// Whether a client still waits for its answer, for work that takes long before anything can be sent.
///
/// A client that has closed its sending side counts as gone, as with nginx: one that only half-closes cannot be told from one
/// that left until something is sent, and neither browsers nor curl do that.
final class ClientPresence: Sendable {
    private let flag = Atomic(true)
    private let ending = Mutex<(@Sendable () -> Void)?>(nil)

    var isThere: Bool { flag.load(ordering: .sequentiallyConsistent) }

    /// Calls `body` once, when the client has gone; at once if it has already.
    func onEnd(_ body: @escaping @Sendable () -> Void) {
        ending.withLock { $0 = body }
        if !isThere { callOnce() }
    }

    fileprivate func end() {
        flag.store(false, ordering: .sequentiallyConsistent)
        callOnce()
    }

    private func callOnce() {
        let body = ending.withLock { ending in
            defer { ending = nil }
            return ending
        }
        body?()
    }

    /// Watches the client of a connection.
    static func watch(_ channel: any Channel) async throws -> ClientPresence {
        let presence = ClientPresence()
        try await channel.triggerUserOutboundEvent(presence).get()
        return presence
    }
}

/// Tells those who asked when the other side closes. It stands first in the pipeline: behind it that news waits for the answer.
final class PresenceHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData

    private var isGone = false
    private var watching: ClientPresence?

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let presence = event as? ClientPresence else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        // One request at a time is answered, so the one before needs no news any more.
        watching = presence
        if isGone { presence.end() }
        promise?.succeed()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { end() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        isGone = true
        watching?.end()
    }
}
