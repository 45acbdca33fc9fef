import Synchronization

/// Which clients look at previews. One that no client has looked at for some time is abandoned.
final class Previews: Sendable {
    private struct Preview {
        /// The clients that asked for it (`Caller.limitID`).
        var owners: Set<String>
        var seen: SuspendingClock.Instant
        /// Responses that are being sent.
        var uses = 0
    }

    private struct State {
        var previews: [String: Preview] = [:]
        /// How many event streams clients have.
        var listeners: [String: Int] = [:]
    }
    private let state = Mutex(State())

    /// A client that looks at previews, as long as the value exists.
    final class Presence: Sendable {
        private let end: @Sendable () -> Void

        fileprivate init(end: @escaping @Sendable () -> Void) { self.end = end }

        deinit { end() }
    }

    /// Adds a preview that a client has asked for.
    func add(_ id: String, for owner: String, now: SuspendingClock.Instant = .now) {
        state.withLock { state in
            var preview = state.previews[id] ?? Preview(owners: [], seen: now)
            preview.owners.insert(owner)
            preview.seen = now
            state.previews[id] = preview
        }
    }

    /// Notes a request about a download, which can be a preview.
    func note(_ id: String, now: SuspendingClock.Instant = .now) {
        state.withLock { $0.previews[id]?.seen = now }
    }

    /// Notes that a client has listed downloads, among which can be previews that it has asked for.
    func note(_ ids: [String], by owner: String, now: SuspendingClock.Instant = .now) {
        state.withLock { state in
            for id in ids where state.previews[id]?.owners.contains(owner) == true { state.previews[id]?.seen = now }
        }
    }

    /// Notes a response that takes some time.
    func use(_ id: String) -> Presence {
        change(id, by: 1)
        return Presence { [self] in change(id, by: -1) }
    }

    private func change(_ id: String, by number: Int) {
        state.withLock { state in
            state.previews[id]?.uses += number
            state.previews[id]?.seen = .now
        }
    }

    /// Notes an event stream of a client, which looks at all previews that it has asked for.
    func listen(as owner: String) -> Presence {
        state.withLock { $0.listeners[owner, default: 0] += 1 }
        return Presence { [self] in
            state.withLock { state in
                let left = (state.listeners[owner] ?? 1) - 1
                state.listeners[owner] = left > 0 ? left : nil
                for (id, preview) in state.previews where preview.owners.contains(owner) {
                    state.previews[id]?.seen = .now
                }
            }
        }
    }

    func remove(_ id: String) { state.withLock { $0.previews[id] = nil } }

    /// Returns the previews that no client has looked at for some time.
    func abandoned(for time: Duration, now: SuspendingClock.Instant = .now) -> [String] {
        state.withLock { state in
            state.previews.filter { _, preview in
                preview.uses <= 0 && preview.seen.duration(to: now) >= time
                    && !preview.owners.contains { state.listeners[$0] != nil }
            }.map(\.key)
        }
    }
}
