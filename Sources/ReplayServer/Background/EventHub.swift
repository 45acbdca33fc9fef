import Synchronization

/// Wakes listeners when something changes. The number of listeners is limited.
final class EventHub: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var next = 0
        var isClosed = false
    }
    private let state = Mutex(State())

    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// - Returns: `nil` if there are too many listeners, or the server is stopping.
    func listen() -> EventListener? {
        let (wakes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number: Int? = state.withLock { state in
            guard !state.isClosed, state.listeners.count < Self.listenersMax else { return nil }
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        return number.map { EventListener(hub: self, number: $0, wakes: wakes) }
    }

    /// Wakes all listeners.
    func wake() {
        for listener in state.withLock({ $0.listeners.values.map { $0 } }) { listener.yield() }
    }

    /// Ends all listeners and refuses new ones, because the server is stopping.
    func close() {
        let listeners = state.withLock { state in
            state.isClosed = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    fileprivate func remove(_ number: Int) {
        state.withLock { $0.listeners.removeValue(forKey: number) }?.finish()
    }

    static let listenersMax = 64
    /// The time without an event after which a keep-alive is sent.
    static let silence = Duration.seconds(15)
}

/// A listener, which is removed with the value.
final class EventListener: Sendable {
    /// Yields whenever something may have changed. Ends when the server stops or `end` is called.
    let wakes: AsyncStream<Void>
    private let hub: EventHub
    private let number: Int

    fileprivate init(hub: EventHub, number: Int, wakes: AsyncStream<Void>) {
        self.hub = hub
        self.number = number
        self.wakes = wakes
    }

    deinit { hub.remove(number) }

    /// Ends the listener, because its client has disconnected.
    func end() { hub.remove(number) }
}
