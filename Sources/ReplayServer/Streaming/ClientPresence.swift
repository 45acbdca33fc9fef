import NIOCore
import Synchronization

/// Tells whether a client is still connected, for long work before anything is sent.
///
/// As in nginx, a client that has closed its sending side counts as disconnected. Browsers and curl don't half-close.
package final class ClientPresence: Sendable {
    private let flag = Atomic(true)
    private let ending = Mutex<(@Sendable () -> Void)?>(nil)

    var isThere: Bool { flag.load(ordering: .sequentiallyConsistent) }

    /// Calls `body` once when the client disconnects, or immediately if it already has.
    package func onEnd(_ body: @escaping @Sendable () -> Void) {
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

    /// Watches the client of a connection. A connection that is closed has no handlers, so its client isn't there.
    static func watch(_ channel: any Channel) -> ClientPresence {
        let presence = ClientPresence()
        channel.triggerUserOutboundEvent(presence).whenFailure { _ in presence.end() }
        return presence
    }
}

/// Reports when the client closes the connection. It comes first in the pipeline, because later handlers delay that
/// event.
final class PresenceHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData

    private var isGone = false
    private var watching: ClientPresence?

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let presence = event as? ClientPresence else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        // Only one request is handled at a time, so the previous one is done.
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
