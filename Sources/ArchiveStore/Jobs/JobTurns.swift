import Foundation
import Synchronization

/// Lets one of several runners work at a time, each for a short while, so that jobs don't compete with each other and none
/// waits until a long one has ended.
package final class JobTurns: Sendable {
    private struct State {
        /// The number of the next one that asks for a turn.
        var next = 0
        /// The number of the one whose turn it is.
        var current = 0
        var startedAt = ContinuousClock.now
    }
    private let state = Mutex(State())
    private let hasChanged = NSCondition()

    package init() {}

    /// Waits for a turn.
    func begin() {
        hasChanged.lock()
        defer { hasChanged.unlock() }
        let number = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        while state.withLock({ $0.current != number }) { hasChanged.wait() }
        state.withLock { $0.startedAt = .now }
    }

    /// Ends the turn.
    func end() {
        hasChanged.lock()
        defer { hasChanged.unlock() }
        state.withLock { $0.current += 1 }
        hasChanged.broadcast()
    }

    /// Lets the others have a turn, if they wait for it and this one has taken a while.
    func pass() {
        let isDue = state.withLock { state in
            state.next > state.current + 1 && state.startedAt.duration(to: .now) >= Self.length
        }
        guard isDue else { return }
        end()
        begin()
    }

    private static let length = Duration.milliseconds(100)
}
