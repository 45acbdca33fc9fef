import Synchronization

/// Wakes listeners when something changes. The number of listeners is limited.
package final class EventHub: Sendable {
    private struct State {
        var listeners: [Int: (owner: String, wakes: AsyncStream<Void>.Continuation)] = [:]
        var next = 0
        var isClosed = false
    }
    private let state = Mutex(State())

    package init() {}

    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// - Parameters:
    ///   - owner: Who listens.
    ///   - ownerMax: How many listeners an owner can have.
    /// - Returns: `nil` if there are too many listeners, or the server is stopping.
    package func listen(by owner: String = "", ownerMax: Int = EventHub.listenersMax) -> EventListener? {
        let (wakes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number: Int? = state.withLock { state in
            guard !state.isClosed, state.listeners.count < Self.listenersMax,
                state.listeners.count(where: { $0.value.owner == owner }) < ownerMax
            else { return nil }
            state.next += 1
            state.listeners[state.next] = (owner, continuation)
            return state.next
        }
        return number.map { EventListener(hub: self, number: $0, wakes: wakes) }
    }

    /// Wakes all listeners.
    package func wake() {
        for listener in state.withLock({ $0.listeners.values.map(\.wakes) }) { listener.yield() }
    }

    /// Ends all listeners and refuses new ones, because the server is stopping.
    package func close() {
        let listeners = state.withLock { state in
            state.isClosed = true
            return state.listeners.values.map(\.wakes)
        }
        for listener in listeners { listener.finish() }
    }

    fileprivate func wake(_ number: Int) { state.withLock { $0.listeners[number]?.wakes }?.yield() }

    fileprivate func remove(_ number: Int) {
        state.withLock { $0.listeners.removeValue(forKey: number) }?.wakes.finish()
    }

    package static let listenersMax = 64
    /// The time without an event after which a keep-alive is sent.
    package static let silence = Duration.seconds(15)
}

/// A listener, which is removed with the value.
package final class EventListener: Sendable {
    /// Yields whenever something may have changed. Ends when the server stops or `end` is called.
    package let wakes: AsyncStream<Void>
    private let hub: EventHub
    private let number: Int

    fileprivate init(hub: EventHub, number: Int, wakes: AsyncStream<Void>) {
        self.hub = hub
        self.number = number
        self.wakes = wakes
    }

    deinit { hub.remove(number) }

    /// Wakes this listener only.
    package func wake() { hub.wake(number) }

    /// Ends the listener, because its client has disconnected.
    package func end() { hub.remove(number) }
}
