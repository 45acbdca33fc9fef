import Synchronization

/// Those who want to be told when something changes. Bounded; what has changed each of them looks up by itself.
final class EventHub: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var next = 0
        var isClosed = false
    }
    private let state = Mutex(State())

    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// - Returns: `nil` when there are as many already as are possible, or the server stops.
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

    /// Tells everybody to look.
    func wake() {
        for listener in state.withLock({ $0.listeners.values.map { $0 } }) { listener.yield() }
    }

    /// The server stops: everybody is sent away, and nobody comes in.
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
    /// Somebody who is told nothing for so long is told that: the connection lives.
    static let silence = Duration.seconds(15)
}

/// A place among the listeners, given up with the value.
final class EventListener: Sendable {
    /// An element each time that something may have changed; ends when the server stops or `end` was called.
    let wakes: AsyncStream<Void>
    private let hub: EventHub
    private let number: Int

    fileprivate init(hub: EventHub, number: Int, wakes: AsyncStream<Void>) {
        self.hub = hub
        self.number = number
        self.wakes = wakes
    }

    deinit { hub.remove(number) }

    /// The client is gone.
    func end() { hub.remove(number) }
}
